"""The tables, by family; `every` imports all of them."""

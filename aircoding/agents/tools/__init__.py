"""What a worker can do, by family; `runner` is the one gate to all of it."""

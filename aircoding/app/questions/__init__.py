"""Questions put to the record: each opens the store, and asks `audit` over what it reads."""

"""Frozen values that cross rooms; they hold no I/O and import nothing of ours."""

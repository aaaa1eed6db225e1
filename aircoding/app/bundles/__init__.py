"""A recorded run as a bundle: written here, taken in elsewhere."""

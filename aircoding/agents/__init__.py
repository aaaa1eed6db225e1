"""One session of one role: the loop and its tools, from ports only."""

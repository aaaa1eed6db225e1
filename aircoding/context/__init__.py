"""One assembly: snapshot in, request and manifest out. Pure."""

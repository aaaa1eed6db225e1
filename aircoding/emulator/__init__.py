"""A local Messages API server, for tests and rehearsals."""

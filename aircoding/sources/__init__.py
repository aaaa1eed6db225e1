"""Edge: reads files, packaged resources and records into segments."""

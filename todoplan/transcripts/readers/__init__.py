"""One reader for each dialect."""

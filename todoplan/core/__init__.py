"""The planning core: pure values and functions on the standard library and attrs alone."""

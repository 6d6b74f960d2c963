"""What each command does: a function that prints, and returns the exit code."""

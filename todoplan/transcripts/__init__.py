"""Recordings of real agents: read in any of a dozen dialects, replayed through the core."""

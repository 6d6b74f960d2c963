"""Strands Agents pins what other frameworks pin otherwise: it has its own environment."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("strands") else ["test_strands.py"]

"""Strands Agents pins what others pin otherwise: its environment is its own, without psycopg."""

from importlib.util import find_spec

NEEDS = {
    "test_strands.py": "strands",
    "test_goal_loop.py": "strands",
    "test_postgres_store.py": "psycopg_pool",
}

collect_ignore = [file for file, library in NEEDS.items() if not find_spec(library)]

"""These want an environment of their own: where it is not there, they are left out."""

from importlib.util import find_spec

NEEDS = {"test_langgraph_server.py": "langgraph_api", "test_deepagents_acp.py": "deepagents_acp"}

collect_ignore = [file for file, library in NEEDS.items() if not find_spec(library)]

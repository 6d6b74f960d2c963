"""These tests run real AgentScope; where it is not installed there is nothing to test."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("agentscope") else ["test_*.py"]

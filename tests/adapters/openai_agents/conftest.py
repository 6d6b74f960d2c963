"""These tests run the real SDK; where it is not installed there is nothing to test."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("agents") else ["test_*.py"]

if find_spec("agents"):
    from agents import set_tracing_disabled

    set_tracing_disabled(disabled=True)

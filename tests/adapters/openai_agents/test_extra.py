"""The extra: named where it is missing, never loaded by others."""

import subprocess
import sys

import pytest

from todoplan.errors import MissingExtraError


def test_a_missing_extra_is_named(monkeypatch):
    """Without the SDK the import says which pip command brings it."""
    for name in [n for n in sys.modules if n.startswith("todoplan.adapters.openai_agents")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "agents", None)
    wanted = r"pip install 'todoplan\[openai-agents\]'"
    with pytest.raises(MissingExtraError, match=wanted) as caught:
        __import__("todoplan.adapters.openai_agents")
    assert caught.value.data["missing"] == "agents"


def test_todoplan_alone_loads_no_sdk():
    """Neither the package nor its dialogue and planner load the framework."""
    code = "import sys, todoplan, todoplan.planner, todoplan.codec; print('agents' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

"""The extra: named where it is missing, never loaded by others."""

import subprocess
import sys

import pytest

from todoplan.errors import MissingExtraError


def test_a_missing_extra_is_named(monkeypatch):
    """Without Pydantic AI the import says which pip command brings it."""
    for name in [name for name in sys.modules if name.startswith("todoplan.adapters.pydantic_ai")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'todoplan\[pydantic-ai\]'") as caught:
        __import__("todoplan.adapters.pydantic_ai")
    assert caught.value.data["missing"] == "pydantic_ai"


def test_todoplan_alone_loads_no_pydantic():
    """Neither the package nor its dialogue and planner load the framework."""
    code = (
        "import sys, todoplan, todoplan.planner, todoplan.codec, todoplan.adapters;"
        " print([name for name in sys.modules if name.startswith('pydantic')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

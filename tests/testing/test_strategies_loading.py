"""What loads what: Hypothesis is asked for by nobody but the tester, and finds our types itself."""

import subprocess
import sys

import pytest

from todoplan import testing

ENTRY = "[hypothesis]\ntodoplan = todoplan.testing.registering:register\n"


def run(code, *path):
    """
    Return what a fresh Python prints; the paths come before all others.
    """
    code = f"import sys; sys.path[:0] = {[str(each) for each in path]!r}\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_bare_import_loads_no_hypothesis():
    """`import todoplan`, and the planner, load neither Hypothesis nor pytest."""
    code = "import todoplan; todoplan.Planner; print({'hypothesis', 'pytest'} & set(sys.modules))"
    assert run(code) == "set()"


def test_hypothesis_finds_our_types_by_its_entry_point(tmp_path):
    """With the entry point installed `from_type(Plan)` needs no import of ours."""
    info = tmp_path / "todoplan_entry-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: todoplan-entry\nVersion: 1\n")
    (info / "entry_points.txt").write_text(ENTRY)
    code = """
from hypothesis import find, strategies as st
print(any(name.startswith("todoplan.testing.strategies") for name in sys.modules))
from todoplan import Plan
print(len(find(st.from_type(Plan), lambda plan: len(plan) > 1)))
"""
    assert run(code, tmp_path).split() == ["False", "2"]


def test_without_hypothesis_the_error_says_what_to_install(tmp_path):
    """The missing extra is an error that names its pip command."""
    code = """
import importlib.util
importlib.util.find_spec = lambda name: None
try:
    import todoplan.testing
except ImportError as error:
    print(type(error).__name__, error)
"""
    said = run(code)
    assert said.startswith("MissingExtraError ")
    assert said.endswith("pip install 'todoplan[testing]'")


def test_names_come_when_they_are_asked_for():
    """The package has its names without having loaded them; another name is an error."""
    assert testing.strategies.plans
    assert testing.PlanMachine.__name__ == "PlanMachine"
    assert testing.ToolMachine.__name__ == "ToolMachine"
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = testing.nonsense

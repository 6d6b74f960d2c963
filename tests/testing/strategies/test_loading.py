"""Only tests import Hypothesis, and Hypothesis finds todoplan's types by itself."""

import importlib.util
import subprocess
import sys

import pytest

from todoplan import testing
from todoplan.errors import MissingExtraError


def run(code):
    """Run code in a new Python process, and return its output."""
    command = [sys.executable, "-c", f"import sys\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_bare_import_loads_no_hypothesis():
    """`import todoplan`, and the planner, load neither Hypothesis nor pytest."""
    code = "import todoplan; todoplan.Planner; print({'hypothesis', 'pytest'} & set(sys.modules))"
    assert run(code) == "set()"


@pytest.mark.slow
def test_hypothesis_finds_our_types_by_its_entry_point():
    """Where todoplan is installed `from_type(Plan)` needs no import of `todoplan.testing`."""
    code = """
from hypothesis import find, strategies as st; from todoplan import Plan; st.from_type(Plan)
print(len(find(st.from_type(Plan), lambda plan: len(plan) > 1)))
"""
    assert run(code) == "2"


@pytest.mark.parametrize(
    "first",
    [
        "from todoplan.testing.strategies import plans",
        "from todoplan.testing import strategies",
        "import todoplan.testing.registering",
        "from todoplan.testing import PlanMachine",
    ],
)
def test_ours_may_be_imported_before_hypothesis(first):
    """The types are registered whichever of the two is imported first."""
    code = f"{first}\nfrom hypothesis import strategies as st; import todoplan"
    assert run(f"{code}\nprint(st.from_type(todoplan.Plan))").startswith("plans(")


def test_hypothesis_alone_stays_light():
    """The entry point imports the core and its texts, but no strategy, tool, codec or framework."""
    loaded = run("import hypothesis; print(*sys.modules)").split()
    ours = {name for name in loaded if name.startswith("todoplan.")}
    known = {"todoplan.errors", "todoplan.lazy", "todoplan.testing", "todoplan.testing.registering"}
    assert known < ours
    assert {
        name for name in ours - known if not name.startswith(("todoplan.core", "todoplan.texts"))
    } == set()
    assert not {"cattrs", "pytest", "langchain_core", "pydantic"} & set(loaded)


def anew():
    """Return `todoplan.testing` newly imported, before any of its names is used."""
    spec = importlib.util.spec_from_file_location("todoplan.testing", testing.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_without_hypothesis_the_error_says_what_to_install(monkeypatch):
    """Without Hypothesis the import raises an error that names the pip command."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'todoplan\[testing\]'"):
        anew()


def test_names_come_when_they_are_asked_for():
    """The package lists its names without loading them; another name is an error."""
    fresh = anew()
    assert not {"strategies", "PlanMachine", "ToolMachine"} & vars(fresh).keys()
    assert fresh.strategies is testing.strategies
    assert fresh.PlanMachine is testing.PlanMachine
    assert fresh.ToolMachine is testing.ToolMachine
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = fresh.nonsense

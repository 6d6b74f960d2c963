"""The README keeps its word: its examples run, its diagram, loop, figures and outputs are real."""

import inspect
import re
import subprocess
from typing import get_args

import pytest
import test_agent_loop
from support.docs import ROOT, fenced, page
from support.tokens import fixed_cost

from todoplan.core.rules import RULES
from todoplan.dialogue.tools import BASIC_TOOLSETS, Length
from todoplan.render.markup import lifecycle_diagram


def test_the_diagram_is_drawn_from_the_table():
    """The state diagram equals what the renderer makes of the transition table."""
    assert fenced("rules", "diagram: lifecycle", "mermaid").rstrip("\n") == lifecycle_diagram()


def test_the_loop_is_the_tested_one_and_short():
    """The agent loop is, to the letter, the function that runs against scripted models."""
    source = inspect.getsource(test_agent_loop.work).rstrip("\n")
    for name in ("README", "own-loop"):
        assert fenced(name, "code: loop", "python").rstrip("\n").endswith(source)
    assert len(source.splitlines()) <= 15


def test_the_table_of_rules_is_complete():
    """Every rule stands in it once, in the order of the code."""
    told = "\n".join(rows("rules", "rule"))
    assert re.findall(r"^\| `(\w+)`", told, re.MULTILINE) == list(RULES)


def test_the_rules_that_the_strict_preset_leaves_off_are_named():
    """Each rule that no preset switches on, and no other."""
    _, _, rest = page("rules").partition("every rule is an error, except")
    told = re.findall(r"`(\w+)`", rest.partition("switch them on")[0])
    assert sorted(told) == sorted(name for name, rule in RULES.items() if rule.opt_in)


def rows(name, first):
    """Return the rows of the table whose first column has this head."""
    _, _, rest = page(name).partition(f"\n| {first} |")
    return rest.partition("\n\n")[0].splitlines()[2:]


@pytest.mark.parametrize("name", BASIC_TOOLSETS)
def test_token_figures_are_counted(name):
    """The table's figures are those of a real vocabulary."""
    table = {row.split("`")[1]: row for row in rows("README", "tool set")}
    compact, guided = (fixed_cost(BASIC_TOOLSETS[name], length) for length in get_args(Length))
    assert table[name].endswith(f"| {compact} / {guided} |")


def test_only_what_belongs_stands_at_the_top():
    """Beside dotfiles the project's top level holds seven entries."""
    listed = subprocess.run(
        ["git", "ls-files"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    top = {name.partition("/")[0] for name in listed.stdout.splitlines()}
    allowed = {
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "todoplan",
        "tests",
        "benchmarks",
    }
    assert {name for name in top if not name.startswith(".")} <= allowed

"""The README keeps its word: its examples run, its diagram, loop, figures and outputs are real."""

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import test_agent_loop
from support.tokens import fixed_cost
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

from todoplan import AGENTSCOPE, CLAUDE, DEFAULT, LANGCHAIN
from todoplan.core.rules.builtin import RULES
from todoplan.dialogue import LEAN, TASKS, TODOS
from todoplan.render.mermaid import lifecycle_diagram

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def block(mark, language):
    """
    Return the fenced block behind a marking comment.
    """
    found = re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", README, re.DOTALL)
    assert found, mark
    return found[1].rstrip("\n")


def test_every_python_example_runs_as_shown(tmp_path):
    """
    What the README shows of an example's output is what it prints.

    Examples with a framework need a scripted model: they are run beside its adapter's tests.
    """
    before, _, rest = README.partition("<!-- frameworks: start -->")
    own = tmp_path / "README.md"
    own.write_text(before + rest.partition("<!-- frameworks: end -->")[2], "utf-8")
    parser = PythonCodeBlockParser(doctest_optionflags=doctest.NORMALIZE_WHITESPACE)
    examples = list(Sybil(parsers=[parser]).parse(own).examples())
    for example in examples:
        example.evaluate()
    assert len(examples) > 20


def test_the_diagram_is_drawn_from_the_table():
    """
    The state diagram equals what the renderer makes of the transition table.
    """
    assert block("diagram: lifecycle", "mermaid") == lifecycle_diagram()


def test_the_loop_is_the_tested_one_and_short():
    """
    The agent loop is, to the letter, the function that runs against scripted models.
    """
    source = inspect.getsource(test_agent_loop.work).rstrip("\n")
    assert block("code: loop", "python").endswith(source)
    assert len(source.splitlines()) <= 15


def test_the_table_of_rules_is_complete_and_true():
    """
    Every rule stands in it once, with its severity under the four policies that differ.
    """
    cells = [re.findall(r"[^|`]+", row.replace(" ", "")) for row in rows("rule")]
    told = {name: severities for name, _, *severities in cells}
    policies = LANGCHAIN, AGENTSCOPE, DEFAULT, CLAUDE
    assert {name: [s.replace("-", "off") for s in told[name]] for name in told} == {
        name: [policy.severity(name).value for policy in policies] for name in RULES
    }
    assert len(cells) == len(RULES)


def rows(first):
    """
    Return the rows of the table whose first column has this head.
    """
    _, _, rest = README.partition(f"\n| {first} |")
    return rest.partition("\n\n")[0].splitlines()[2:]


@pytest.mark.parametrize("toolset", [TODOS, TASKS, LEAN], ids=lambda toolset: toolset.name)
def test_token_figures_are_counted(toolset):
    """
    The table's figures are those of a real vocabulary.
    """
    row = next(line for line in README.splitlines() if line.startswith(f"| `{toolset.name}`"))
    compact, guided = fixed_cost(toolset, "compact"), fixed_cost(toolset, "guided")
    assert row.endswith(f"| {compact} / {guided} |")


@pytest.mark.parametrize(
    ("command", "output"),
    re.findall(r"```console\n\$ (todoplan [^\n]+)\n(.*?)```", README, re.DOTALL),
)
def test_commands_print_what_is_shown(command, output):
    """
    A shown command line gives the shown output.
    """
    arguments = [sys.executable, "-m", *command.split()]
    ran = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=ROOT)
    assert ran.stdout.strip() == output.strip()
    assert output.strip()


def test_only_what_belongs_stands_at_the_top():
    """
    Beside dotfiles the project's top level holds seven entries.
    """
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

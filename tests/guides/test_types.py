"""What the README and the guides show passes the type checkers: nobody copies an error."""

import doctest
import json
import re
import subprocess
import sys
from textwrap import dedent

import pytest
from support.docs import PAGES, ROOT, page

pytestmark = pytest.mark.slow

BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)

MODEL = """
from langchain_core.language_models import BaseChatModel
model: BaseChatModel = cast(Any, None)
"""
FOLDER = """
from pathlib import Path
folder: Path = Path()
"""
MY_TOOLS = """
MY_TOOLS: list[Any] = []
def run_my_tool(call: Any) -> str:
    return ""
def my_tool_message(call: Any) -> Any: ...
"""
LEFT_TO_THE_READER = {
    "README": MY_TOOLS,
    "other-frameworks": "# pyright: reportMissingImports=false, reportCallIssue=false\n",
    "own-loop": MY_TOOLS,
    "langchain": MODEL + FOLDER,
    "agentscope": FOLDER + "model: Any = None\n",
    "deepagents": MODEL,
    "evidence": MODEL,
    "several-agents": "ADDRESSES: list[str] = []\n",
    "write-a-store": "from todoplan import Planner\n",
}
"""What the examples of a page take for granted, or say is the reader's."""

# Functions of a sketch may go without annotations. The general options are those of pyproject.toml:
# with others mypy would throw away what it has cached of the package and of the frameworks.
# CrewAI is not there: it wants an environment of its own. Its `Agent` and Agno's share a name.
MYPY = """
[mypy]
strict = True
warn_unreachable = True
enable_error_code = ignore-without-code, redundant-expr, truthy-bool
[mypy-PAGES]
allow_untyped_defs = True
allow_incomplete_defs = True
allow_untyped_calls = True
warn_unreachable = False
disable_error_code = ignore-without-code, redundant-expr, truthy-bool
[mypy-crewai.*]
ignore_missing_imports = True
[mypy-page_other_frameworks]
disallow_subclassing_any = False
"""


def module(name):
    """Return the code of a page, from top to bottom, as one module."""
    parts = ["from typing import Any, cast\n", LEFT_TO_THE_READER.get(name, "")]
    for block in map(dedent, BLOCK.findall(page(name))):
        examples = doctest.DocTestParser().get_examples(block)
        parts.append("".join(each.source for each in examples) if examples else block)
    return "\n".join(parts)


@pytest.fixture
def modules(tmp_path):
    """Every page with code, as a module of its own."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for name in PAGES:
        if BLOCK.search(page(name)):
            (folder / f"page_{name.replace('-', '_').lower()}.py").write_text(module(name), "utf-8")
    assert len([*folder.iterdir()]) > 15
    return folder


def _run(command):
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


def _mypy(config, shown):
    pages = ",".join(path.stem for path in shown)
    config.write_text(MYPY.replace("PAGES", pages), "utf-8")
    return _run(["mypy", "--config-file", config, "--no-error-summary", *shown])


def test_mypy_finds_nothing_in_what_is_shown(modules, tmp_path):
    """Strictly; a line of the answer names the page, and the line of its code."""
    ran = _mypy(tmp_path / "mypy.ini", sorted(modules.glob("*.py")))
    assert ran.stdout == "", ran.stdout
    assert ran.returncode == 0, ran.stderr


def test_pyright_finds_nothing_in_what_is_shown(modules):
    """Warnings are left aside: a line that shows a value uses it by showing it."""
    ran = _run(["pyright", "--outputjson", "--pythonpath", sys.executable, modules])
    found = json.loads(ran.stdout)["generalDiagnostics"]
    errors = [each for each in found if each["severity"] == "error"]
    assert not errors, json.dumps(errors, indent=1)


def test_a_wrong_line_on_a_page_would_be_found(tmp_path):
    """The settings let a sketch pass and no mistake."""
    shown = tmp_path / "page_shown.py"
    shown.write_text("from todoplan import Plan, decide\n\nPlaner()\ndecide(Plan(), 5)\n", "utf-8")
    ran = _mypy(tmp_path / "mypy.ini", [shown])
    assert re.findall(r"page_shown\.py:(\d+): error", ran.stdout) == ["3", "4"]

"""The guide `write-an-adapter`: the names that it says may be used exist."""

import ast
import importlib
import re

import pytest
from support.docs import ROOT, page

from todoplan.dialogue.guidance import Message, is_final_answer, is_refusal
from todoplan.testing.adapters.host import Capability
from todoplan.texts import say

GUIDE = "write-an-adapter"
ROWS = re.findall(r"^\| `(todoplan\.[\w.]+)` \| (.+?) \|", page(GUIDE), re.MULTILINE)
WORDS = dict.fromkeys(("name", "title", "adapter", "host"), "toy")
PROMISED = {module: re.findall(r"`(\w+)`", names) for module, names in ROWS}


def is_public(module, name):
    """Return whether a name is in the `__all__` of a namespace."""
    package = importlib.import_module(module)
    if module == "todoplan.errors":
        return True
    return hasattr(package, "__path__") and name in package.__all__


@pytest.mark.parametrize("module", PROMISED)
def test_what_may_be_built_on_is_there(module):
    """Each name is in the `__all__` of its module, and in no public namespace."""
    assert PROMISED[module]
    assert [n for n in PROMISED[module] if not hasattr(importlib.import_module(module), n)] == []
    public = importlib.import_module("todoplan.dialogue").__all__
    assert not set(PROMISED[module]) & set(public)


@pytest.mark.parametrize(
    "code",
    [
        (ROOT / "tests/support/strands_by_hand.py").read_text("utf-8"),
        *(say("adapter", kind, **WORDS) for kind in ("adapter", "host", "test")),
    ],
    ids=["adapter", "new adapter", "new host", "new test"],
)
def test_the_examples_build_on_nothing_else(code):
    """
    The adapter, and what `todoplan new-adapter` writes, import what is public, or what the table
    promises.
    """
    froms = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in froms if (node.module or "").split(".")[0] == "todoplan"]
    names = [(node.module, alias.name) for node in ours for alias in node.names]
    assert names
    assert [
        each for each in names if not is_public(*each) and each[1] not in PROMISED.get(each[0], ())
    ] == []


def test_what_the_text_names_is_in_the_table():
    """The table has every name that the section on edits mentions."""
    section = page(GUIDE).partition("## A person's edits")[2].partition("## What you may")[0]
    named = {each for names in PROMISED.values() for each in names}
    assert {"edited", "Base", "opened", "opened_async"} <= named
    assert all(f"`{each}" in section for each in ("edited", "Base", "opened", "opened_async"))


def test_each_capability_says_what_it_takes():
    """The table of the guide has a row for each capability, in the same order."""
    table = page(GUIDE).partition("| capability | what host and adapter offer |")[2]
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", table.split("\n\n")[0], re.MULTILINE)
    assert [name for name, _ in rows] == [each.name for each in Capability]
    assert all(takes.strip() for _, takes in rows)


def test_finish_reasons_count_as_the_reference_says():
    """The reasons in the table are no final answers, or refusals; others are final answers."""
    rows = page("reference").partition("<!-- table: finish-reasons -->")[2].split("\n")[3:5]
    no_end, refusals = (re.findall(r"`(\w+)`", row) for row in rows)
    assert {"tooluse"} <= {*no_end}
    assert {"safety"} <= {*refusals}
    for reasons, found in (
        (no_end, (False, False)),
        (refusals, (True, True)),
        (("stop", "end_turn", "length", "max_tokens", ""), (True, False)),
    ):
        for reason in reasons:
            answer = Message("assistant", "Done.", finish=reason)
            assert (is_final_answer(answer), is_refusal(answer)) == found, reason

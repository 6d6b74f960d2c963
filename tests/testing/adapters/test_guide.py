"""The guide for writers of adapters keeps its word: what it says may be built on is there."""

import ast
import importlib
import re

import pytest
from support.docs import fenced, page

from todoplan.testing.adapters.host import OFFERED, Capability

GUIDE = "write-an-adapter"
ROWS = re.findall(r"^\| `(todoplan\.[\w.]+)` \| (.+?) \|", page(GUIDE), re.MULTILINE)
PROMISED = {module: re.findall(r"`(\w+)`", names) for module, names in ROWS}


def is_public(module, name):
    """
    Say whether a name is in the list of a namespace that shows it.
    """
    package = importlib.import_module(module)
    return hasattr(package, "__path__") and name in package.__all__


@pytest.mark.parametrize("module", PROMISED)
def test_what_may_be_built_on_is_there(module):
    """Each name stands in the `__all__` of its module, and no public namespace has it already."""
    assert PROMISED[module]
    assert [n for n in PROMISED[module] if not hasattr(importlib.import_module(module), n)] == []
    public = importlib.import_module("todoplan.dialogue").__all__
    assert not set(PROMISED[module]) & set(public)


@pytest.mark.parametrize("mark", ["strands", "strands host"])
def test_the_examples_build_on_nothing_else(mark):
    """Adapter and host import what is public, or what the table promises."""
    tree = ast.parse(fenced(GUIDE, f"code: {mark}", "python"))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in froms if node.module.startswith("todoplan")]
    names = [(node.module, alias.name) for node in ours for alias in node.names]
    assert names
    assert [
        each for each in names if not is_public(*each) and each[1] not in PROMISED.get(each[0], ())
    ] == []


def test_what_the_text_names_is_in_the_table():
    """Whatever the section on edits tells of can be found there."""
    section = page(GUIDE).partition("## A person's edits")[2].partition("## What you may")[0]
    named = {each for names in PROMISED.values() for each in names}
    assert {"edited", "Base", "opened", "opened_async"} <= named
    assert all(f"`{each}" in section for each in ("edited", "Base", "opened", "opened_async"))


def test_each_capability_says_what_it_takes():
    """The table of the guide has a row for each, in their order."""
    assert list(OFFERED) == list(Capability)

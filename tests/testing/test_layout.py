"""The rooms of `todoplan.testing`: who may use whom, and no circle, not even for type checkers."""

import ast

import pytest
from support.architecture import ROOT, is_module, modules

ROOMS = {
    "": {"counterexamples", "machine", "strategies"},
    "registering": {"strategies"},
    "assertions": set(),
    "failures": {"assertions"},
    "strategies": {"registering"},
    "machine": {"assertions", "strategies"},
    "counterexamples": {"machine", "strategies"},
    "adapters": {"assertions", "failures", "strategies"},
    "stores": {"assertions", "failures", "strategies"},
}
"""What each may import of the others; Hypothesis' entry point and the package itself do it late."""


def room(name):
    """Return the room of a module, by its dotted name below the package."""
    return [*name.split("."), ""][1]


def imports_within():
    """
    Return the modules with what they import of `todoplan.testing`, wherever the import stands.
    """
    ours = [module for module in modules() if module.unit == "testing"]
    return {
        each.name: {name for name, _ in each.ours() if name.startswith("testing")} for each in ours
    }


IMPORTS = imports_within()


@pytest.mark.parametrize("name", IMPORTS)
def test_rooms_import_downwards(name):
    """A suite knows nothing of the other, strategies nothing of those who draw from them."""
    used = {room(target) for target in IMPORTS[name]} - {room(name)}
    assert used <= ROOMS[room(name)]


def circular(edges):
    """Return the modules that import themselves by way of others."""
    while leaves := {name for name, targets in edges.items() if not targets & set(edges)}:
        edges = {name: edges[name] for name in edges.keys() - leaves}
    return set(edges)


def test_no_module_imports_itself():
    """What is imported for a type checker alone counts: that is how the machines' circle hid."""
    edges = {}
    for module in (each for each in modules() if each.unit == "testing"):
        functions = [n for n in ast.walk(module.tree) if isinstance(n, ast.FunctionDef)]
        late = {inner for function in functions for inner in ast.walk(function)}
        found = set(ast.walk(module.tree)) - late
        nodes = [node for node in found if isinstance(node, ast.ImportFrom)]
        pairs = {(n.module.removeprefix("todoplan."), a.name) for n in nodes for a in n.names}
        names = {f"{m}.{a}" if is_module(ROOT, f"{m}.{a}") else m for m, a in pairs}
        edges[module.name] = names - {module.name}
    assert circular(edges) == set()
    edges["testing.strategies.text"] = {"testing.strategies.values"}
    assert "testing.strategies.values" in circular(edges)

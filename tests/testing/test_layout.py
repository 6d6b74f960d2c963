"""The rooms of `todoplan.testing`: which may import which, also for type checkers."""

import ast

import pytest
from support.architecture import modules

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


OURS = [module for module in modules() if module.unit == "testing"]
IMPORTS = {
    each.name: {name for name, _ in each.ours() if name.startswith("testing")} for each in OURS
}
"""The modules with what they import of `todoplan.testing`, wherever the import stands."""


@pytest.mark.parametrize("name", IMPORTS)
def test_rooms_import_downwards(name):
    """No suite imports the other, and strategies import none of the modules that use them."""
    used = {room(target) for target in IMPORTS[name]} - {room(name)}
    assert used <= ROOMS[room(name)]


def test_no_module_imports_for_type_checkers_alone():
    """Only the package itself does, so `cycles` of the architecture sees every cycle."""
    assert [m.name for m in OURS if "TYPE_CHECKING" in ast.unparse(m.tree)] == ["testing"]

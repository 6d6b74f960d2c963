"""
What a public namespace is made of: names that are loaded when asked for, and a short `dir()`.

`loader` has each name come from its home: importing the package costs nothing, and it brings along
only what is used. `listing` leaves out of `dir()` what a module itself imports.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["listing", "loader"]


def loader(package: str, homes: Mapping[str, Sequence[str] | str]) -> Callable[[str], Any]:
    """
    Return a package's `__getattr__`. `homes` has the names that each module below it defines, or,
    as one text, the name of the module itself.
    """
    home_of = {
        name: f"{package}.{home}"
        for home, names in homes.items()
        for name in ((names,) if isinstance(names, str) else names)
    }
    modules = {names for names in homes.values() if isinstance(names, str)}

    def load(name: str) -> Any:
        if name not in home_of:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        home = import_module(home_of[name])
        found = home if name in modules else getattr(home, name)
        # Kept in the package: Python asks `__getattr__` only for what is not there.
        setattr(sys.modules[package], name, found)
        return found

    return load


def listing(names: Sequence[str]) -> Callable[[], list[str]]:
    """
    Return a module's `__dir__`, which shows the public names and nothing else.
    """
    return lambda: sorted(names)

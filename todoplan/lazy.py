"""
Lazy imports for public namespaces, and a short `dir()`.

`loader` imports each public name from its module on first access, so that importing a package is
cheap and loads only the modules that are used. With `listing`, `dir()` shows the public names of a
module, but not the names that the module itself imports.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def loader(package: str, homes: Mapping[str, Sequence[str] | str]) -> Callable[[str], Any]:
    """
    Return a package's `__getattr__`.

    `homes` maps each module below the package to the public names that it defines. If the value is
    a string, it is the public name of the module itself.
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
        # Stored in the package: Python calls `__getattr__` only for a missing attribute.
        setattr(sys.modules[package], name, found)
        return found

    return load


def listing(names: Sequence[str]) -> Callable[[], list[str]]:
    """Return a module's `__dir__`, which lists only the public names."""
    return lambda: sorted(names)

"""
Packages that have names without having loaded them: each comes from its home when asked for.

It costs nothing to import such a package, and it brings along only what is used.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["loader"]


def loader(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """
    Return a package's `__getattr__`. `homes` has the names of each home, a module or a package
    below this one; a name that is not defined there is a module in it.
    """
    home_of = {name: f"{package}.{home}" for home, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in home_of:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        home = import_module(home_of[name])
        found = getattr(home, name) if hasattr(home, name) else _module(home.__name__, name)
        setattr(sys.modules[package], name, found)
        return found

    return load


def _module(package: str, name: str) -> Any:
    return import_module(f"{package}.{name}")

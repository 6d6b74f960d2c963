"""
Packages that have names without having loaded them: each comes from its home when asked for.

It costs nothing to import such a package, and it brings along only what is used.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["loader"]


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
        setattr(sys.modules[package], name, found)
        return found

    return load

"""Where two values differ first: a path to the field, what is there and what is wanted."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import attrs

__all__ = ["Difference", "difference"]

_SHOWN = 200


class Difference(NamedTuple):
    """
    The first field, item or value that is not as it should be; the path begins with "." or "[".
    """

    path: str
    found: str
    wanted: str


def difference(found: Any, wanted: Any, path: str = "") -> Difference:
    """
    Return where two values that are not equal differ first: as deep in them as can be said.
    """
    if type(found) is not type(wanted):
        kinds = type(found).__name__, type(wanted).__name__
        return Difference(path, *map("{}: {}".format, kinds, (_shown(found), _shown(wanted))))
    for step, mine, theirs in _parts(found, wanted):
        if mine != theirs:
            return difference(mine, theirs, path + step)
    return Difference(path, _shown(found), _shown(wanted))


def _parts(found: Any, wanted: Any) -> Iterable[tuple[str, Any, Any]]:
    if attrs.has(type(wanted)):
        names = attrs.fields_dict(type(wanted))
        return ((f".{name}", getattr(found, name), getattr(wanted, name)) for name in names)
    if isinstance(wanted, list | tuple):
        pairs = enumerate(zip(found, wanted, strict=False))
        return ((f"[{place}]", mine, theirs) for place, (mine, theirs) in pairs)
    if isinstance(wanted, Mapping):
        both = found.keys() & wanted.keys()
        return ((f"[{_shown(key)}]", found[key], wanted[key]) for key in both)
    return ()


def _shown(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"

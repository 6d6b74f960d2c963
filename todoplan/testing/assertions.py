"""
Assertions of the suites. Their messages say in sentences what was found and what was wanted.

They raise errors instead of using `assert`: pytest rewrites `assert` only in registered modules,
and failures must read the same wherever the suite is imported from.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

__tracebackhide__ = True  # pytest then ends its traceback at the check

# Stores are tested with texts of 5,000 characters. Failures must remain readable.
_LONGEST = 200
_LONGEST_MESSAGE = 2_000
_BEFORE = 40  # characters shown before a difference
_MOST_PARTS = 5


def must(holds: object, message: str) -> None:
    """
    Fail the check unless `holds` is true.

    Raises:
        AssertionError: `holds` is false.
    """
    if not holds:
        raise AssertionError(clipped(message, _LONGEST_MESSAGE))


def same(found: object, wanted: object, what: str) -> None:
    """
    Fail the check unless the two values are equal. Long values are shown from shortly before the
    first difference.
    """
    if found != wanted:
        mine, theirs = _cut(repr(found), repr(wanted))
        must(holds=False, message=f"{what}:\n  found  {mine}\n  wanted {theirs}")


def same_parts(found: Mapping[str, object], wanted: Mapping[str, object], what: str) -> None:
    """
    Fail the check unless both mappings have equal items. The message lists only items that differ.
    """
    names = [name for name in {**wanted, **found} if _part(found, name) != _part(wanted, name)]
    pairs = {name: _cut(_part(found, name), _part(wanted, name)) for name in names[:_MOST_PARTS]}
    lines = [f"  {name}: found {mine}, wanted {theirs}" for name, (mine, theirs) in pairs.items()]
    if len(names) > _MOST_PARTS:
        lines.append(f"  and {len(names) - _MOST_PARTS} more")
    must(not names, "\n".join((f"differences in {what}:", *lines)))


def _part(parts: Mapping[str, object], name: str) -> str:
    return repr(parts[name]) if name in parts else "nothing"


def clipped(text: str, most: int = _LONGEST) -> str:
    """Return the text; if it is longer than `most`, return its beginning and its length."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def _cut(found: str, wanted: str) -> tuple[str, str]:
    differing = (place for place, (a, b) in enumerate(zip(found, wanted, strict=False)) if a != b)
    is_long = max(len(found), len(wanted)) > _LONGEST
    start = max(next(differing, min(len(found), len(wanted))) - _BEFORE, 0) if is_long else 0
    before = "..." if start else ""
    return before + clipped(found[start:]), before + clipped(wanted[start:])


def difference(found: Any, wanted: Any, path: str = "") -> tuple[str, str, str]:
    """
    Return the path to the first field, item or value that differs, and the texts of both values.

    The path is as deep as possible, and begins with "." or "[".
    """
    if type(found) is not type(wanted):
        mine, theirs = (f"{type(each).__name__}: {_shown(each)}" for each in (found, wanted))
        return path, mine, theirs
    inner: Iterable[tuple[str, Any, Any]] = ()
    if attrs.has(type(wanted)):
        names = attrs.fields_dict(type(wanted))
        inner = ((f".{name}", getattr(found, name), getattr(wanted, name)) for name in names)
    elif isinstance(wanted, list | tuple):
        pairs = enumerate(zip(found, wanted, strict=False))
        inner = ((f"[{place}]", mine, theirs) for place, (mine, theirs) in pairs)
    elif isinstance(wanted, Mapping):
        both = found.keys() & wanted.keys()
        inner = ((f"[{_shown(key)}]", found[key], wanted[key]) for key in both)
    for step, mine, theirs in inner:
        if mine != theirs:
            return difference(mine, theirs, path + step)
    return path, _shown(found), _shown(wanted)


def _shown(value: Any) -> str:
    # In ASCII: two texts that a store has confused may look alike on the screen.
    return clipped(ascii(value))

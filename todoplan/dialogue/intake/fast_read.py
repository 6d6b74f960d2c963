"""
The short way through intake: a call that needs no mend is read in one pass, any other not at all.

Law: what is read here is what the careful way (`todoplan.dialogue.intake.read`) reads, without a
repair or a problem; whatever could need one is left to it.
"""

import json
from typing import Any

from todoplan.dialogue.intake.fast_objects import reader_of
from todoplan.dialogue.intake.fast_values import DEFER
from todoplan.dialogue.intake.fields import Field
from todoplan.dialogue.intake.jsonish import InputLimits

__all__ = ["DEFER", "fast_read"]

_DECODE = json.JSONDecoder(strict=False).raw_decode
_DEEPEST = 5
_NODE = 64


def fast_read(raw: object, fields: tuple[Field, ...], limits: InputLimits) -> Any:
    """
    Return a call's arguments by target name, or `DEFER`. `raw` is a JSON text or a dict of it.
    """
    given = _value(raw, limits.chars) if type(raw) is str else raw
    if type(given) is not dict or limits.depth < _DEEPEST:
        return DEFER
    values = reader_of(fields, limits.items)(given)
    bounded = given is not raw or values is DEFER or _weight(given) <= limits.chars
    return values if bounded else DEFER


def _weight(value: dict[str, Any] | list[Any]) -> int:
    """
    Return a size that the careful way does not find larger.
    """
    weight = 0
    for inner in value.values() if type(value) is dict else value:
        if isinstance(inner, dict | list):
            weight += _weight(inner)
        else:
            weight += _NODE + len(inner) if isinstance(inner, str) else _NODE
    return weight


def _value(text: str, most: int) -> Any:
    """
    Return the value of a JSON text in which no key stands twice, if that is plain to see.

    It is where as many colons end a key as the value has keys.
    """
    if len(text) > most:
        return DEFER
    try:
        value, end = _DECODE(text)
    except (ValueError, RecursionError):
        return DEFER
    if end != len(text):
        return DEFER
    keys = _keys(value)
    return value if keys == text.count(":") or keys == _key_colons(text) else DEFER


def _keys(value: Any) -> int:
    """
    Return how many keys {"a": 1, "b": [{...}, ...]} and its entries have; deeper ones do not count.
    """
    if type(value) is not dict:
        return -1
    keys = len(value)
    for inner in value.values():
        if type(inner) is list:
            keys += sum(len(item) for item in inner if type(item) is dict)
    return keys


def _key_colons(text: str) -> int:
    if "\\" in text or any(loose in text for loose in (" :", "\n:", "\t:", "\r:")):
        return -1
    return text.count('":')

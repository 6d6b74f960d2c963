"""
Keys that stand twice in one object, which JSON parsers pass over: none is lost silently.

Law: a document has as many quotes as its value has texts, twice over, unless a key was lost. That
is counted quickly; only where it is not so, the objects are looked at one by one.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from todoplan.codec.faults import field_path

__all__ = ["Doubled", "an_object", "doubled_paths", "has_lost_keys"]


def has_lost_keys(document: str, value: Any) -> bool:
    """
    Say whether the JSON text that was read as this value holds more texts than the value does.
    """
    if "\\" in document:
        document = document.replace("\\\\", "").replace('\\"', "")
    return document.count('"') != 2 * _texts_in(value)


def _texts_in(value: Any) -> int:
    count = 0
    waiting = [[value]]
    while waiting:
        here: Any = waiting.pop()
        if type(here) is dict:
            count += len(here)
            here = here.values()
        for item in here:
            kind = type(item)
            if kind is str:
                count += 1
            elif kind is dict or kind is list:
                waiting.append(item)
    return count


class Doubled(dict[str, Any]):
    """
    An object of a document in which the keys `twice` stand more than once.
    """

    twice: tuple[str, ...]


def an_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """
    Return the object of these pairs, as `json.JSONDecoder` asks for it.
    """
    read = dict(pairs)
    if len(read) == len(pairs):
        return read
    doubled = Doubled(read)
    doubled.twice = tuple(key for key, times in Counter(k for k, _ in pairs).items() if times > 1)
    return doubled


def doubled_paths(value: Any) -> Iterator[str]:
    """
    Yield the paths of all keys that stand twice, in what `an_object` made.
    """
    waiting = [("", value)]
    while waiting:
        path, here = waiting.pop()
        if isinstance(here, Doubled):
            yield from (path + field_path(key) for key in here.twice)
        if isinstance(here, dict):
            waiting += [(path + field_path(key), item) for key, item in here.items()]
        elif isinstance(here, list):
            waiting += [(f"{path}[{place}]", item) for place, item in enumerate(here)]

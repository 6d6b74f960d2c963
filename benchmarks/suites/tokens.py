"""Tokens: what each tool set adds to a request, and the bill of a plan's life."""

from collections.abc import Callable
from typing import Any

import attrs

from benchmarks.talks.bill import bill
from benchmarks.talks.speakers import speakers
from benchmarks.talks.vocabulary import tokens

__all__ = ["run"]

_SIZES = (5, 10, 20, 50)
_QUICK = (5, 20)


def run(
    *, quick: bool, say: Callable[[str], None], only: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """
    Count for every tool set; with `only`, for those whose name begins so.
    """
    found: list[dict[str, Any]] = []
    for speaker in speakers():
        if only and not speaker.name.startswith(only):
            continue
        host = speaker.host()
        system, tools = tokens(host.system()), tokens(host.tools)
        row = {"contender": speaker.name, "system": system, "tools": tools, "fixed": system + tools}
        found.append(row)
        say(f"{speaker.name:38} system {system:5,} + tools {tools:5,} = {system + tools:6,}")
        if speaker.script is None:
            continue
        for size in _QUICK if quick else _SIZES:
            life = bill(speaker.host(), speaker.script(size))
            found.append({"contender": speaker.name, "n": size, **attrs.asdict(life)})
            say(f"  n={size}: {life}")
    return found

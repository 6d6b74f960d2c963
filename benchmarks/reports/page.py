"""The page of a run: the tables, the machine and versions, and how to repeat it."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from string import Template
from typing import Any

from benchmarks.reports import prices, speed

__all__ = ["page"]

_SECTIONS: dict[str, tuple[tuple[str, Callable[[Any], str]], ...]] = {
    "operations": (("overview", speed.overview), ("operations", speed.operations)),
    "life": (("life", speed.life),),
    "guidance": (("guidance", speed.guidance),),
    "adapters": (("adapters", speed.adapters),),
    "stored": (("stored", speed.stored),),
    "footprint": (("footprint", speed.footprint),),
    "tokens": (
        ("fixed", prices.fixed),
        ("lives", prices.lives),
        ("bills", partial(prices.bills, size=20)),
    ),
    "recordings": (("recordings", prices.recordings),),
}


def page(found: dict[str, Any]) -> str:
    """Return the page for a run, as Markdown."""
    return "\n".join([_head(found), *_tables(found)])


def _head(found: dict[str, Any]) -> str:
    made = found["made"]
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    seconds = ", ".join(f"{name} {taken} s" for name, taken in found["seconds"].items())
    told = {**made, "versions": versions, "seconds": seconds}
    return Template(_text("head")).substitute(told)


def _tables(found: dict[str, Any]) -> Iterator[str]:
    for suite, sections in _SECTIONS.items():
        if suite in found:
            for name, table in sections:
                yield f"{_text(name)}\n{table(found[suite])}"


def _text(name: str) -> str:
    return files("benchmarks.reports").joinpath("texts", f"{name}.md").read_text("utf-8")

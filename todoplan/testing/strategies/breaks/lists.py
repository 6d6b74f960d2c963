"""Breaks of lists: as texts, alone, of other things than entries, too long."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.tools.toolset import Tool
from todoplan.testing.strategies.breaks.breaking import (
    Break,
    Expected,
    Given,
    Pair,
    Spot,
    given_with,
    of_spot,
    spots,
)
from todoplan.testing.strategies.calls import arguments_of, makes_sense
from todoplan.testing.strategies.text import titles

__all__ = ["BREAKS"]

_LISTS = (Kind.ITEMS, Kind.IDS, Kind.REFS)
# One more than `InputLimits.items`.
_MANY = 1_001
# Read as a list of one, or of none, each of these emptied a plan, and the answer was ok (law 17).
_NO_LISTS = (
    *("null", "undefined", "None", "true", "x", "same as before", "[object Object]"),
    *("{content: 'Write', status: 'pending'}", "[a, b, c]", "[1, 2", "<todos>", "- a", "1. a"),
)


def _encoded(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    # Seen in opencode#10813, kilocode#10168, hermes#14185, oh-my-openagent#625, jcode#357.
    text = spot.holder(given)[spot.field.name]
    for __ in range(draw(st.integers(1, 3))):
        text = json.dumps(text)
    return spot.put(given, text), given


def _cut(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    text = json.dumps(given[spot.outer.name])
    return spot.put(given, text[: draw(st.integers(1, len(text) - 1))]), None


def _with_entry(
    name: str,
    expected: Expected,
    about: str,
    spoil: Callable[[dict[str, Any], list[Any]], Pair],
) -> Break:
    """
    Return a break of a list's first entry, which is an object.
    """

    def fitting(tool: Tool) -> list[Spot]:
        return [spot for spot in spots(tool) if spot.inner]

    def make(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
        spot = draw(st.sampled_from(fitting(tool)))
        given = draw(given_with(spot, tool, plan))
        entry, *rest = given[spot.outer.name]
        sent, meant = spoil(entry, rest)
        return given | {spot.outer.name: sent}, given | {spot.outer.name: meant}

    return Break(name, expected, about, make, lambda tool, _: bool(fitting(tool)))


def _entry_text(entry: dict[str, Any], rest: list[Any]) -> Pair:
    # kimi-cli#2513, livekit#5411: encoded once more, and only within.
    return [json.dumps(entry), *rest], [entry, *rest]


def _one_entry(entry: dict[str, Any], _: list[Any]) -> Pair:
    # SonettoHere#319. A guess: was it the one entry of the list, or the one that has changed?
    return entry, [entry]


def _bare_text(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    return spot.put(given, draw(st.sampled_from(_NO_LISTS) | titles())), None


def _list_of_titles(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    # Without blanks around: among bare titles these say what lies in what.
    listed = draw(st.lists(titles().map(str.strip), min_size=1, max_size=3))
    name = spot.field.items[0].name
    return spot.put(given, listed), spot.put(given, [{name: text} for text in listed])


def _checklist(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    listed = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3))
    marks = [draw(st.sampled_from([" ", "x", "~"])) for _ in listed]
    name, status = (field.name for field in _titled(spot.field))
    lines = "\n".join(f"- [{mark}] {text}" for mark, text in zip(marks, listed, strict=True))
    meant = [{name: t, status: _MARKED[m]} for m, t in zip(marks, listed, strict=True)]
    return spot.put(given, lines), spot.put(given, meant)


_MARKED = {" ": "pending", "x": "completed", "~": "in_progress"}


def _titled(field: Field) -> tuple[Field, ...]:
    """
    Return the title's and the status' field of a list's entries, if entries have a status.
    """
    status = next((inner for inner in field.items if inner.kind is Kind.STATUS), None)
    return (field.items[0], status) if status and not status.hidden else ()


def _only_title_needed(field: Field) -> bool:
    title, *rest = field.items
    return title.kind is Kind.LINE and not any(f.required and not f.lenient for f in rest)


def _in_itself(draw: DrawFn, spot: Spot, given: Given, _: Plan) -> Pair:
    # openclaw#142304: models imitate what stands in their history, about 127 times in that report.
    wrapped = given[spot.outer.name]
    for __ in range(draw(st.integers(1, 2))):
        wrapped = {spot.outer.name: wrapped}
    return spot.put(given, wrapped), given


def _many(_: DrawFn, spot: Spot, given: Given, __: Plan) -> Pair:
    return spot.put(given, ["a"] * _MANY), None


def _listed(tool: Tool) -> list[Field]:
    """
    Return the tool's only list of entries, if it can be called with nothing else.
    """
    lists = [field for field in tool.fields if field.kind is Kind.ITEMS]
    alone = len(lists) == 1 and makes_sense(tool, {lists[0].name: [{lists[0].items[0].name: "a"}]})
    return lists if alone else []


def _bare_list(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    name = _listed(tool)[0].name
    listed = draw(arguments_of(tool, plan, name))[name]
    return listed, {name: listed}


_ENTRIES = (Kind.ITEMS,)

BREAKS = (
    of_spot(
        "list_as_text", "repaired", "a list as its JSON text, up to three times", _LISTS, _encoded
    ),
    of_spot("list_cut_off", "refused", "the JSON text of a list, cut off", _LISTS, _cut),
    _with_entry("entry_as_text", "repaired", "an entry as its JSON text", _entry_text),
    _with_entry("one_entry", "guessed", "one entry instead of a list", _one_entry),
    of_spot("bare_text", "refused", "a text instead of a list of entries", _ENTRIES, _bare_text),
    of_spot(
        "list_of_titles",
        "taken",
        "titles instead of entries",
        _ENTRIES,
        _list_of_titles,
        here=_only_title_needed,
    ),
    of_spot(
        "checklist",
        "guessed",
        "a Markdown checklist instead of a list",
        _ENTRIES,
        _checklist,
        here=lambda field: bool(_titled(field)) and _only_title_needed(field),
    ),
    Break(
        "bare_list",
        "guessed",
        "the list alone instead of the arguments",
        _bare_list,
        lambda tool, _: bool(_listed(tool)),
    ),
    of_spot("too_many", "refused", "more entries than one call may bring", _ENTRIES, _many),
    of_spot("list_in_list", "guessed", "a list in an object of its own name", _ENTRIES, _in_itself),
)

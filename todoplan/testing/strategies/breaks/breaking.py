"""
What a break is, and how one is made: of a whole call, or at a spot of it.

A spot is where something can be broken: a field of a tool, or a field of a list's entries.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any, Literal

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.tools.toolset import Tool
from todoplan.testing.strategies.calls import arguments_of

__all__ = [
    "OMITTED",
    "Break",
    "Expected",
    "Given",
    "Pair",
    "Spot",
    "given_with",
    "of_spot",
    "of_values",
    "of_whole",
    "spots",
]

OMITTED: Any = object()
"""Put at a spot: the argument is not given."""


@attrs.frozen(eq=False)
class Spot:
    """
    A top-level field, or the field `inner` of the first entry of the list `outer`.
    """

    outer: Field
    inner: Field | None = None

    @property
    def field(self) -> Field:
        """
        The field itself.
        """
        return self.inner or self.outer

    def put(self, given: dict[str, Any], value: Any) -> dict[str, Any]:
        """
        Return a copy of the arguments with a value at the spot.
        """
        # A copy: the drawn arguments are also what the broken ones mean.
        changed = copy.deepcopy(given)
        _set(self.holder(changed), self.field.name, value)
        return changed

    def holder(self, given: dict[str, Any]) -> dict[str, Any]:
        """
        Return the object that the spot is a key of.
        """
        if self.inner is None:
            return given
        first: dict[str, Any] = given[self.outer.name][0]
        return first


def _set(holder: dict[str, Any], name: str, value: Any) -> None:
    if value is OMITTED:
        holder.pop(name, None)
    else:
        holder[name] = value


def spots(tool: Tool, *kinds: Kind) -> Iterator[Spot]:
    """
    Yield the published spots of these kinds; of any kind if none is named.
    """
    for outer in tool.fields:
        if outer.hidden:
            continue
        if not kinds or outer.kind in kinds:
            yield Spot(outer)
        for inner in outer.items:
            if not inner.hidden and (not kinds or inner.kind in kinds):
                yield Spot(outer, inner)


Expected = Literal["taken", "repaired", "guessed", "refused", "ruled"]
Given = dict[str, Any]
Pair = tuple[Any, Any]
"""What is sent, and what it means."""

_Make = Callable[[DrawFn, Tool, Plan], Pair]
_Fits = Callable[[Tool, Plan], bool]
_Here = Callable[[Field], bool]


@attrs.frozen(eq=False)
class Break:
    """
    One way of breaking arguments.

    `expected` says what is to come of it. `raw`: what is sent is a text, which a framework that
    parses arguments itself never hands on. `fits` says whether a tool can be called so.
    """

    name: str
    expected: Expected
    about: str
    make: _Make = attrs.field(repr=False)
    fits: _Fits = attrs.field(repr=False)
    raw: bool = False


def of_whole(
    name: str,
    expected: Expected,
    about: str,
    spoil: Callable[[DrawFn, Given], Any],
    fits: _Fits | None = None,
) -> Break:
    """
    Return a break of the call's JSON text, of at least one argument unless `fits` says otherwise.
    """

    def make(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
        # One at least: of `{}` there is nothing to repeat, wrap or cut off.
        must = draw(st.sampled_from([*spots(tool)])).outer.name if fits is None else ""
        given = draw(arguments_of(tool, plan, must))
        return spoil(draw, given), given

    return Break(name, expected, about, make, fits or _has_arguments, raw=True)


def _has_arguments(tool: Tool, _: Plan) -> bool:
    return any(spots(tool))


def given_with(
    spot: Spot, tool: Tool, plan: Plan, *, sparse: bool = False
) -> SearchStrategy[Given]:
    """
    Draw well-formed arguments that have a value at the spot.
    """
    within = spot.inner.name if spot.inner else ""
    return arguments_of(tool, plan, spot.outer.name, within, sparse=sparse)


def of_spot(  # noqa: PLR0913 - the first five say what every break says
    name: str,
    expected: Expected,
    about: str,
    kinds: tuple[Kind, ...],
    spoil: Callable[[DrawFn, Spot, Given, Plan], Pair],
    *,
    here: _Here = lambda _: True,
    sparse: bool = False,
    raw: bool = False,
) -> Break:
    """
    Return a break at a field of these kinds, given the arguments with that field in them.
    """

    def fitting(tool: Tool) -> list[Spot]:
        return [spot for spot in spots(tool, *kinds) if here(spot.field)]

    def make(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
        spot = draw(st.sampled_from(fitting(tool)))
        return spoil(draw, spot, draw(given_with(spot, tool, plan, sparse=sparse)), plan)

    return Break(name, expected, about, make, lambda tool, _: bool(fitting(tool)), raw)


def of_values(  # noqa: PLR0913 - the first five say what every break says
    name: str,
    expected: Expected,
    about: str,
    kinds: tuple[Kind, ...],
    pairs: SearchStrategy[Pair] | Callable[[Field, Plan], SearchStrategy[Pair]],
    *,
    here: _Here = lambda _: True,
    sparse: bool = False,
) -> Break:
    """
    Return a break of one value: pairs of what is put at the field, and what it means there.
    """

    def spoil(draw: DrawFn, spot: Spot, given: Given, plan: Plan) -> Pair:
        drawn = pairs if isinstance(pairs, SearchStrategy) else pairs(spot.field, plan)
        bad, good = draw(drawn)
        return spot.put(given, bad), spot.put(given, good)

    return of_spot(name, expected, about, kinds, spoil, here=here, sparse=sparse)

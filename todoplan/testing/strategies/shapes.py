"""Plans of a size and a shape, built whole and checked by `plan_of`."""

from collections.abc import Callable, Iterable
from typing import Literal, get_args

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.decide.assembly import plan_of
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.testing.strategies.values import STATUSES, tasks

__all__ = ["SHAPES", "Shape", "plans"]

Shape = Literal["any", "chain", "diamond", "wide", "disconnected"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
"""`chain`: each task waits for the one before; `diamond`: one first, one last, the rest between;
`wide`: all wait for one; `disconnected`: no edges; `any`: each waits for some of those before."""

_FEW = st.integers(0, 2)
_SELDOM = st.sampled_from([False, False, True])
_Blockers = list[list[int]]
"""For each task, by its place, the places of its blockers."""


def _any(draw: DrawFn, size: int) -> _Blockers:
    return [
        sorted({draw(st.integers(0, place - 1)) for _ in range(draw(_FEW))}) if place else []
        for place in range(size)
    ]


def _chain(_: DrawFn, size: int) -> _Blockers:
    return [[place - 1] if place else [] for place in range(size)]


def _wide(_: DrawFn, size: int) -> _Blockers:
    return [[0] if place else [] for place in range(size)]


def _diamond(draw: DrawFn, size: int) -> _Blockers:
    between = list(range(1, size - 1))
    last = between or list(range(size - 1))
    return [*_wide(draw, size - 1), last] if size else []


def _disconnected(_: DrawFn, size: int) -> _Blockers:
    return [[] for _ in range(size)]


_MAKERS: dict[str, Callable[[DrawFn, int], _Blockers]] = {
    "any": _any,
    "chain": _chain,
    "diamond": _diamond,
    "wide": _wide,
    "disconnected": _disconnected,
}


@st.composite
def plans(  # noqa: PLR0913 - all are options, by name
    draw: DrawFn,
    *,
    shape: Shape = "any",
    min_size: int = 0,
    max_size: int = 6,
    text: SearchStrategy[str] | None = None,
    status: SearchStrategy[Status] = STATUSES,
) -> Plan:
    """
    Draw a valid plan of `min_size` to `max_size` tasks whose edges make a shape.

    Its order need not follow its edges, its ids may have gaps, and its revision is any.
    """
    size = draw(st.integers(min_size, max_size))
    blockers = _MAKERS[shape](draw, size)
    numbers = _numbers(draw, size)
    made = [draw(tasks(text, status, st.just(str(number)))) for number in numbers]
    order = draw(st.permutations(range(size))) if draw(_SELDOM) else range(size)
    placed = _placed(made, blockers, order)
    later = draw(_FEW)
    return plan_of(placed, next_id=max(numbers, default=0) + 1 + later, revision=size + later)


def _numbers(draw: DrawFn, size: int) -> list[int]:
    gaps = [draw(_FEW) if draw(_SELDOM) else 0 for _ in range(size)]
    return [place + 1 + sum(gaps[: place + 1]) for place in range(size)]


def _placed(made: list[Task], blockers: _Blockers, order: Iterable[int]) -> list[Task]:
    """
    Return the tasks in this order, with the edges at both ends.
    """
    ids = [task.id for task in made]
    linked = [
        attrs.evolve(
            task,
            blocked_by=tuple(ids[end] for end in blockers[place]),
            blocks=tuple(ids[end] for end in range(len(made)) if place in blockers[end]),
        )
        for place, task in enumerate(made)
    ]
    return [linked[place] for place in order]

"""
Plans of a size and a shape: with edges, with subtasks, or both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from todoplan.core.decide.assembly import plan_of
from todoplan.core.plan.model import FieldKind, Task
from todoplan.core.plan.plan import Plan
from todoplan.testing.strategies.values import (
    STATUSES,
    ByKind,
    Statuses,
    Texts,
    approvals,
    tasks,
)

__all__ = ["SHAPES", "Shape", "plans"]

Shape = Literal["any", "chain", "diamond", "wide", "disconnected", "tree"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
"""`chain`: each task waits for the one before; `diamond`: one first, one last, the rest between;
`wide`: all wait for one; `disconnected`: no edges; `tree`: no edges, and each lies in one before,
or in none; `any`: each waits for some of those before, and may lie in another one of them."""

_FEW = st.integers(0, 2)
_SELDOM = st.sampled_from([False, False, True])


def _any(draw: DrawFn, place: int, _: int) -> list[int]:
    return sorted({draw(st.integers(0, place - 1)) for _ in range(draw(_FEW))}) if place else []


def _diamond(_: DrawFn, place: int, size: int) -> list[int]:
    return (place == size - 1 and [*range(1, place)]) or [0][:place]


# What a shape has for blockers of the task in a place, of so many, by their places.
_BLOCKERS: dict[str, Callable[[DrawFn, int, int], list[int]]] = {
    "any": _any,
    "chain": lambda _, place, __: [place - 1][:place],
    "diamond": _diamond,
    "wide": lambda _, place, __: [0][:place],
    "disconnected": lambda *_: [],
    "tree": lambda *_: [],
}
_TOPS = {"tree": 1, "any": 4}
"""In which shapes tasks lie in others, and how much weight "in none" has beside each of those."""


@st.composite
def plans(  # noqa: PLR0913 - all are options, by name
    draw: DrawFn,
    *,
    shape: Shape = "any",
    min_size: int = 0,
    max_size: int = 6,
    text: Texts | None = None,
    status: Statuses = STATUSES,
    kinds: ByKind | None = None,
) -> Plan:
    """
    Draw a valid plan of `min_size` to `max_size` tasks whose edges and subtasks make a shape.

    Its order need not follow its edges, its ids may have gaps, its revision is any, and it may be
    approved. `text`, `status` and `kinds` are those of `tasks`; `kinds` with `FieldKind.PARENT`
    means no subtasks, whatever the shape.
    """
    size = draw(st.integers(min_size, max_size))
    tops = 0 if FieldKind.PARENT in (kinds or {}) else _TOPS.get(shape, 0)
    ids: list[str] = []
    made: list[Task] = []
    above: list[set[str]] = []
    for _ in range(size):
        # All that belongs to a task is one draw: a counterexample loses the task in one step.
        drawn = draw(_placed(shape, size, tops, ids, above, tasks_like=(text, status, kinds)))
        ids.append(drawn.id)
        made.append(drawn)
        outer = () if drawn.parent is None else above[ids.index(drawn.parent)]
        above.append({*outer, *filter(None, [drawn.parent])})
    order = draw(st.permutations(range(size))) if draw(_SELDOM) else range(size)
    later = draw(_FEW)
    approved = draw(st.none() | approvals())
    return plan_of(
        [_mirrored(made[place], made) for place in order],
        next_id=int(ids[-1] if ids else 0) + 1 + later,
        revision=size + later,
        approved=approved,
    )


@st.composite
def _placed(  # noqa: PLR0913, PLR0917 - the plan as far as it is drawn
    draw: DrawFn,
    shape: Shape,
    size: int,
    tops: int,
    ids: list[str],
    above: list[set[str]],
    tasks_like: tuple[Texts | None, Statuses, ByKind | None],
) -> Task:
    """
    Draw the next task, with its parent and what blocks it among those that are there.
    """
    place = len(ids)
    # Edges and parents lead from earlier to later places, which closes no cycle. What contains a
    # task must not block it either. "In none" stands first, so that trees shrink away.
    parent = draw(st.sampled_from([*[None] * tops, *range(place)])) if tops else None
    inside = set() if parent is None else {ids[parent], *above[parent]}
    ends = [ids[end] for end in _BLOCKERS[shape](draw, place, size)]
    gap = draw(_FEW) if draw(_SELDOM) else 0
    text, status, kinds = tasks_like
    task = draw(
        tasks(text, status, st.just(str(int(ids[-1] if ids else 0) + 1 + gap)), kinds=kinds)
    )
    blocked_by = tuple(end for end in ends if end not in inside)
    within = None if parent is None else ids[parent]
    return attrs.evolve(task, blocked_by=blocked_by, parent=within)


def _mirrored(task: Task, made: list[Task]) -> Task:
    blocks = tuple(other.id for other in made if task.id in other.blocked_by)
    return attrs.evolve(task, blocks=blocks)

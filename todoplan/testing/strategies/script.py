"""Commands that make sense for a plan, sequences of them for a plan that evolves, its events."""

from __future__ import annotations

from collections.abc import Callable

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.commands import (
    Batch,
    ClearPlan,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide.decide import Accepted, decide
from todoplan.core.events.apply import replay
from todoplan.core.events.types import Event
from todoplan.core.plan.graph import topological_order
from todoplan.core.plan.model import Status, Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.testing.strategies.command import CHANGES, commands, creations
from todoplan.testing.strategies.text import titles
from todoplan.testing.strategies.values import STATUSES, times, todos

__all__ = ["histories", "scripts", "sensible_commands"]

_NO_RULES = Policy()


@st.composite
def sensible_commands(draw: DrawFn, plan: Plan) -> Command:
    """
    Draw commands whose ids are the plan's and whose edges close no cycle: only a rule refuses them.
    """
    here = list(plan)
    make = draw(_KINDS if here else _FIRST)
    return make(draw, here)


@st.composite
def scripts(
    draw: DrawFn,
    *,
    start: Plan | None = None,
    policy: Policy = _NO_RULES,
    max_size: int = 8,
    blind: bool = False,
) -> tuple[Command, ...]:
    """
    Draw commands to be carried out in order, each sensible for the plan that it will meet.

    `policy` is the one that they will run under. `blind`: each knows nothing of the plan.
    """
    plan = start or Plan()
    script: list[Command] = []
    for _ in range(draw(st.integers(0, max_size))):
        command = draw(commands() if blind else sensible_commands(plan))
        answer = decide(plan, command, policy)
        plan = answer.plan if isinstance(answer, Accepted) else plan
        script.append(command)
    return tuple(script)


@st.composite
def histories(draw: DrawFn, max_size: int = 8) -> tuple[Event, ...]:
    """
    Draw the events of a plan's life: replaying them from an empty plan gives a plan.
    """
    plan = Plan()
    happened: list[Event] = []
    for command in draw(scripts(max_size=max_size)):
        answer = decide(plan, command, at=draw(times()))
        brought = answer.events if isinstance(answer, Accepted) else ()
        plan = replay(plan, brought)
        happened += brought
    return tuple(happened)


def _some(draw: DrawFn, here: list[Task], most: int) -> tuple[str, ...]:
    """
    Draw different ids.
    """
    many = draw(st.integers(0, min(most, len(here))))
    return tuple(dict.fromkeys(_one(draw, here).id for _ in range(many)))


def _one(draw: DrawFn, here: list[Task]) -> Task:
    return here[draw(st.integers(0, len(here) - 1))]


def _creation(draw: DrawFn, here: list[Task]) -> CreateTask:
    return attrs.evolve(draw(_UNLINKED), blocked_by=_some(draw, here, 2))


def _list(draw: DrawFn, here: list[Task]) -> CreateTasks:
    items: list[CreateTask] = []
    for place in range(draw(st.integers(1, 4))):
        local = draw(st.integers(-1, place - 1))
        ends = _some(draw, here, 1) if local < 0 else (f"#{local}",)
        items.append(CreateTask(draw(titles()), status=draw(STATUSES), blocked_by=ends))
    return CreateTasks(tuple(items))


def _write(draw: DrawFn, here: list[Task]) -> WriteTodos:
    """
    Draw the list as it is, but shortened, shuffled, moved on, by id or not, with new lines behind.
    """
    kept = (task for task in here if draw(_KEPT))
    lines = [Todo(task.subject, draw(_NEXT[task.status]), id=draw(_IDS)(task)) for task in kept]
    lines = draw(st.permutations(lines)) if draw(st.booleans()) else lines
    return WriteTodos((*lines, *draw(_NEW_LINES)), draw(st.booleans()))


def _move(draw: DrawFn, here: list[Task]) -> UpdateTask:
    return UpdateTask(_one(draw, here).id, status=draw(STATUSES))


def _edit(draw: DrawFn, here: list[Task]) -> UpdateTask:
    changes = {name: draw(CHANGES[name]) for name in draw(_NAMED)}
    return UpdateTask(_one(draw, here).id, **changes)


def _link(draw: DrawFn, here: list[Task]) -> UpdateTask:
    # From earlier to later only: such an edge closes no cycle.
    order = topological_order(here)
    place = draw(st.integers(0, len(order) - 1))
    blockers = {order[draw(st.integers(0, place - 1))] for _ in range(min(place, 2))}
    return UpdateTask(order[place], add_blocked_by=tuple(sorted(blockers)))


def _unlink(draw: DrawFn, here: list[Task]) -> UpdateTask:
    task = _one(draw, [task for task in here if task.blocked_by] or here)
    return UpdateTask(task.id, remove_blocked_by=task.blocked_by[:1])


def _batch(draw: DrawFn, here: list[Task]) -> Batch:
    makers = (draw(_HARMLESS) for _ in range(draw(st.integers(0, 3))))
    return Batch(tuple(make(draw, here) for make in makers))


_Make = Callable[[DrawFn, list[Task]], Command]
# All parts are drawn for the plan before the batch: none may take away what a later one names.
_HARMLESS: SearchStrategy[_Make] = st.sampled_from([_creation, _move, _edit])
# What needs no task to be there.
_FIRST: SearchStrategy[_Make] = st.sampled_from([_creation, _list, _write])
# Hypothesis shrinks to what stands first: a plain creation, and to what removes only at last.
_KINDS: SearchStrategy[_Make] = st.sampled_from(
    [
        _creation,
        _move,
        _link,
        _list,
        _write,
        _edit,
        _unlink,
        lambda draw, here: DeleteTask(_one(draw, here).id),
        lambda _, __: StartNext(),
        _batch,
        lambda _, __: ClearPlan(),
        lambda _, here: RestorePlan(tuple(here)),
    ]
)
_UNLINKED = creations(titles(), st.just(()))
_KEPT = st.sampled_from([True, True, True, False])
_IDS: SearchStrategy[Callable[[Task], str | None]] = st.sampled_from(
    [lambda _: None, lambda task: task.id]
)
_NEXT = {status: st.sampled_from([status, None, *Status]) for status in Status}
_NEW_LINES = st.lists(todos(titles(), st.nothing()), max_size=2)
_NAMED = st.lists(st.sampled_from([*CHANGES]), min_size=1, max_size=2)

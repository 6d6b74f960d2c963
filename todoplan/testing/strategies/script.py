"""Commands that make sense for a plan, sequences of them for a plan that evolves, its events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.commands import (
    UNSET,
    AnswerTask,
    ApprovePlan,
    Batch,
    ClearPlan,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    MoveTask,
    RecordEvidence,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide.decide import Accepted, decide
from todoplan.core.events.apply import replay
from todoplan.core.events.types import Event
from todoplan.core.plan.graph import ancestors, may_contain, topological_order
from todoplan.core.plan.model import OPEN, Status, Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.testing.strategies.command import (
    CHANGES,
    agreements,
    commands,
    findings,
)
from todoplan.testing.strategies.text import titles
from todoplan.testing.strategies.values import STATUSES, times, todos

__all__ = ["histories", "scripts", "sensible_commands"]

_NO_RULES = Policy()


@st.composite
def sensible_commands(draw: DrawFn, plan: Plan) -> Command:
    """
    Draw commands whose ids are the plan's and whose edges close no cycle: only a rule refuses them.
    """
    make = draw(_KINDS if len(plan) else _FIRST)
    return make(draw, plan)


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


def _one(draw: DrawFn, here: Iterable[Task]) -> Task:
    tasks = tuple(here)
    return tasks[draw(st.integers(0, len(tasks) - 1))]


def _some(draw: DrawFn, ids: Sequence[str], most: int) -> tuple[str, ...]:
    """
    Draw different ids.
    """
    many = draw(st.integers(0, min(most, len(ids))))
    return tuple(dict.fromkeys(ids[draw(st.integers(0, len(ids) - 1))] for _ in range(many)))


def _above(plan: Plan, parent: str | None) -> set[str]:
    """
    Return what a task lies in that lies in this one: none of that may block it.
    """
    return set() if parent is None else {parent, *ancestors(plan, parent)}


def _parent(draw: DrawFn, ids: Sequence[str]) -> str | None:
    # Above every task as often as in one: a counterexample loses its tree in one step.
    return draw(st.sampled_from([*[None] * max(len(ids), 1), *ids]))


def _creation(draw: DrawFn, plan: Plan) -> CreateTask:
    ids = [task.id for task in plan]
    parent = _parent(draw, ids)
    above = _above(plan, parent)
    ends = _some(draw, [end for end in ids if end not in above], 2)
    status, subject = draw(STATUSES), draw(titles())
    # Only what is set is drawn: a plain creation is the least that a step shrinks to.
    given = {name: draw(CHANGES[name]) for name in draw(_MORE)}
    if status is not Status.PENDING:
        given.pop("waiting", None)
    return CreateTask(
        **{**given, "subject": subject}, status=status, blocked_by=ends, parent=parent
    )


def _list(draw: DrawFn, plan: Plan) -> CreateTasks:
    ids = [task.id for task in plan]
    items: list[CreateTask] = []
    above: dict[str, set[str]] = {each: _above(plan, each) for each in ids}
    for place in range(draw(st.integers(1, 4))):
        # Each item has edges and a parent among those before it: that closes no cycle.
        local = [f"#{number}" for number in range(place)]
        parent = _parent(draw, [*local, *ids])
        inside = above[parent] if parent else set()
        ends = _some(draw, [end for end in [*local, *ids] if end not in inside], 1)
        above[f"#{place}"] = {*inside, f"#{place}"}
        status, subject = draw(STATUSES), draw(titles())
        items.append(CreateTask(subject, status=status, blocked_by=ends, parent=parent))
    return CreateTasks(tuple(items))


def _write(draw: DrawFn, plan: Plan) -> WriteTodos:
    """
    Draw the list as it is, but shortened, shuffled, moved on, by id or not, with new lines behind.
    """
    kept = (task for task in plan if draw(_KEPT))
    lines = [_line(draw, task) for task in kept]
    lines = draw(st.permutations(lines)) if draw(st.booleans()) else lines
    return WriteTodos((*lines, *draw(_NEW_LINES)), draw(st.booleans()))


def _indented(draw: DrawFn, plan: Plan) -> WriteTodos:
    """
    Draw the list as it is, indented as it is, with new lines behind that lie where they may. Where
    no edge could join what then lies in each other, any line may be left out or lie elsewhere.
    """
    free = not any(task.blocked_by for task in plan)
    kept = [task for task in plan if not free or draw(_KEPT)]
    lines = []
    for task in kept:
        level = draw(_LEVELS) if free else len(_above(plan, task.parent))
        lines.append(attrs.evolve(_line(draw, task), level=level, id=task.id))
    new = [attrs.evolve(todo, level=draw(_LEVELS)) for todo in draw(_NEW_LINES)]
    return WriteTodos((*lines, *new), draw(st.booleans()))


def _line(draw: DrawFn, task: Task) -> Todo:
    line = Todo(task.subject, draw(_NEXT[task.status]), id=draw(_IDS)(task))
    # Said to be pending: without an id it may mean another task of this text, and that be closed.
    pending = line.status is Status.PENDING
    return attrs.evolve(line, waiting=draw(CHANGES["waiting"])) if pending else line


def _new_line(todo: Todo) -> Todo:
    status = todo.status if todo.waiting is None else Status.PENDING
    return attrs.evolve(todo, status=status, level=None)


def _move(draw: DrawFn, plan: Plan) -> UpdateTask:
    return UpdateTask(_one(draw, plan).id, status=draw(STATUSES))


def _edit(draw: DrawFn, plan: Plan) -> UpdateTask:
    changes = {name: draw(CHANGES[name]) for name in draw(_NAMED)}
    return UpdateTask(_one(draw, plan).id, **changes)


def _link(draw: DrawFn, plan: Plan) -> UpdateTask:
    # From earlier to later only: such an edge closes no cycle.
    order = topological_order(plan)
    place = draw(st.integers(0, len(order) - 1))
    above = _above(plan, order[place])
    ends = _some(draw, [end for end in order[:place] if end not in above], 2)
    return UpdateTask(order[place], add_blocked_by=tuple(sorted(ends)))


def _unlink(draw: DrawFn, plan: Plan) -> UpdateTask:
    task = _one(draw, [task for task in plan if task.blocked_by] or plan)
    return UpdateTask(task.id, remove_blocked_by=task.blocked_by[:1])


def _nest(draw: DrawFn, plan: Plan) -> UpdateTask:
    task = _one(draw, plan)
    fit = [each.id for each in plan if may_contain(plan, each.id, task.id)]
    return UpdateTask(task.id, parent=draw(st.sampled_from([*fit, None])))


def _place(draw: DrawFn, plan: Plan) -> MoveTask:
    task = _one(draw, plan)
    fit = {None, *(each.id for each in plan if may_contain(plan, each.id, task.id))}
    beside = _one(draw, [each for each in plan if each.parent in fit | {task.parent}]).id
    before, after = (beside, None) if draw(st.booleans()) else (None, beside)
    return MoveTask(task.id, before, after)


def _wait(draw: DrawFn, plan: Plan) -> UpdateTask:
    task = _one(draw, plan)
    # What is closed has nothing to wait for: it is opened in the same step.
    status = UNSET if task.status in OPEN else Status.PENDING
    return UpdateTask(task.id, status=status, waiting=draw(CHANGES["waiting"]))


def _answer(draw: DrawFn, plan: Plan) -> Command:
    waiting = tuple(plan.waiting())
    return AnswerTask(_one(draw, waiting).id, "yes") if waiting else _wait(draw, plan)


def _find(draw: DrawFn, plan: Plan) -> RecordEvidence:
    return attrs.evolve(draw(findings()), task_id=_one(draw, plan).id)


def _agree(draw: DrawFn, _: Plan) -> ApprovePlan:
    return draw(agreements())


def _delete(draw: DrawFn, plan: Plan) -> DeleteTask:
    task = _one(draw, plan)
    removes = draw(st.booleans())
    if not plan.children(task.id):
        return DeleteTask(task.id)
    return DeleteTask(task.id, "remove" if removes else "lift")


def _batch(draw: DrawFn, plan: Plan) -> Batch:
    makers = (draw(_HARMLESS) for _ in range(draw(st.integers(0, 3))))
    return Batch(tuple(make(draw, plan) for make in makers))


_Make = Callable[[DrawFn, Plan], Command]
# All parts are drawn for the plan before the batch: none may take away what a later one names.
_HARMLESS: SearchStrategy[_Make] = st.sampled_from([_creation, _move, _edit, _find, _agree])
# What needs no task to be there.
_FIRST: SearchStrategy[_Make] = st.sampled_from([_creation, _list, _write, _indented, _agree])
# Hypothesis shrinks to what stands first: a plain creation, and to what removes only at last.
_KINDS: SearchStrategy[_Make] = st.sampled_from(
    [
        _creation,
        _move,
        _link,
        _nest,
        _list,
        _write,
        _indented,
        _edit,
        _wait,
        _answer,
        _find,
        _place,
        _unlink,
        _agree,
        # Once more: what is cleared away and deleted has to grow again, or most plans are empty.
        *(_list, _nest, _creation, _list),
        _delete,
        lambda _, __: StartNext(),
        _batch,
        lambda _, __: ClearPlan(),
        lambda _, plan: RestorePlan(tuple(plan), approved=plan.approved),
    ]
)
_KEPT = st.sampled_from([True, True, True, False])
_LEVELS = st.integers(0, 2)
_IDS: SearchStrategy[Callable[[Task], str | None]] = st.sampled_from(
    [lambda _: None, lambda task: task.id]
)
_NEXT = {status: st.sampled_from([status, None, *Status]) for status in Status}
_NEW_LINES = st.lists(todos(titles(), st.nothing()).map(_new_line), max_size=2)
_BUT_WAITING = [name for name in CHANGES if name != "waiting"]  # not everything may wait
_NAMED = st.lists(st.sampled_from(_BUT_WAITING), min_size=1, max_size=2)
_MORE = st.lists(st.sampled_from([*CHANGES]), max_size=6)

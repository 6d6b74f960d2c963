"""
Commands and events: some are drawn independently of a plan, others make sense for a given plan.

Independent commands may have wrong ids, edges and texts, so they may be refused. Every event can be
applied to every plan. A sensible command has only ids of the plan, adds no edge that closes a
cycle, and has the fencing token of a claimed task. So only a rule can refuse it. `meddling` draws
commands that change a task that another actor has claimed (law 19).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from inspect import signature
from typing import Any, TypeVar, get_args

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.commands import (
    UNSET,
    AnswerTask,
    ApprovePlan,
    Batch,
    ClaimTask,
    ClearPlan,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    MoveTask,
    RecordEvidence,
    ReleaseClaim,
    RenewClaim,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Accepted, decide
from todoplan.core.events.apply import replay
from todoplan.core.events.types import Event, PlanRestored, TaskId
from todoplan.core.plan.model import (
    EDITABLE,
    OPEN,
    TASK_FIELDS,
    Approval,
    Claim,
    Evidence,
    FieldKind,
    FrozenDict,
    Status,
    Task,
    Todo,
    Waiting,
)
from todoplan.core.plan.plan import Plan, ancestors, may_contain, topological_order
from todoplan.core.rules import Limits, Policy
from todoplan.testing.strategies import values
from todoplan.testing.strategies.text import any_ids, few, ids, texts, titles
from todoplan.testing.strategies.values import FENCES, STATUSES, WORKERS, field_values, tasks, times

T = TypeVar("T")

# A command has metadata in the caller's form, an event in the form in which a plan stores it.
_GIVEN = field_values({FieldKind.METADATA: values.metadata()})
_ENDS = few(any_ids())
_ID_OR_NONE = st.none() | any_ids()
# References to items of the command, also past the end, and texts that only look like references.
_LOCAL = st.integers(0, 3).map("#{}".format) | ids() | st.sampled_from(["#", "#01", "#-1"])
_FIELDS: dict[str, SearchStrategy[Any]] = {
    **_GIVEN,
    "subject": texts(),
    "blocks": _ENDS,
    "blocked_by": _ENDS,
    "parent": _ID_OR_NONE,
    "task_id": any_ids(),
    "fence": FENCES,
    # The times in a machine are minutes apart: at the next step, some leases have expired.
    "lease": st.sampled_from([300.0, 30.0, 10.0**9]),
    "children": st.sampled_from(["refuse", "lift", "remove"]),
    "answer": st.sampled_from(["yes", "the first"]),
    "passed": st.booleans(),
    "summary": values.SUMMARIES,
    "by": values.INSPECTORS,
    "tag": st.sampled_from([None, None, "fast"]),
    "attempts": st.sampled_from([None, None, 1, 2]),
    "give_to": st.sampled_from([None, "ann"]),
    "todos": few(values.todos(texts()), 6),
    "clear": st.booleans(),
    "next_id": st.integers(0, 20),
    "approved": st.none() | values.APPROVALS,
}
"""Strategies for the fields of commands, by the field's name. Ids and edges may be wrong."""

CHANGES = {name: _GIVEN[name] for name in sorted(EDITABLE & attrs.fields_dict(UpdateTask).keys())}
"""Strategies for the value of each editable field in a change of a task, by the field's name."""


def made(kind: Callable[..., T], **given: SearchStrategy[Any]) -> SearchStrategy[T]:
    """Draw commands of a class; `given` replaces the strategies for some of its fields."""
    by_name = {**_FIELDS, **given}
    return st.builds(kind, **{name: by_name[name] for name in signature(kind).parameters})


def claimings(task_id: SearchStrategy[str | None] = _ID_OR_NONE) -> SearchStrategy[ClaimTask]:
    """Draw claims of the next task or of a named one; `task_id` draws the id."""
    return made(ClaimTask, owner=WORKERS, task_id=task_id)


_SOME_ENDS = few(any_ids(), 2)
_EDGES = ("add_blocks", "add_blocked_by", "remove_blocks", "remove_blocked_by")
# `UNSET` leaves a field as it is. Metadata is merged by key, so the empty dict leaves it as it is.
_CHANGED: dict[str, SearchStrategy[Any]] = {
    name: st.just({} if name == "metadata" else UNSET) | _FIELDS[name] for name in TASK_FIELDS
}
_ITEMS = made(CreateTask, blocks=few(_LOCAL), blocked_by=few(_LOCAL), parent=st.none() | _LOCAL)
_RESTORED = st.builds(
    Task.but,
    tasks(texts(), given_ids=any_ids()),
    blocks=_SOME_ENDS,
    blocked_by=_SOME_ENDS,
    parent=_ID_OR_NONE,
)
_APPROVALS = made(ApprovePlan, by=values.APPROVERS)
_WITH_OWN_FIELDS: dict[type, SearchStrategy[Any]] = {
    CreateTask: made(CreateTask),
    CreateTasks: made(CreateTasks, items=few(_ITEMS, 4)),
    UpdateTask: made(
        UpdateTask,
        **{**_CHANGED, "fence": st.none() | FENCES, **dict.fromkeys(_EDGES, _SOME_ENDS)},
    ),
    MoveTask: st.builds(MoveTask, any_ids(), before=any_ids())
    | st.builds(MoveTask, any_ids(), after=any_ids()),
    ClaimTask: claimings(),
    ApprovePlan: _APPROVALS,
    # Most restored plans are invalid.
    RestorePlan: made(RestorePlan, tasks=few(_RESTORED)),
}
_OTHERS = [kind for kind in get_args(Command) if kind not in {*_WITH_OWN_FIELDS, Batch}]
COMMANDS = {**_WITH_OWN_FIELDS, **{kind: made(kind) for kind in _OTHERS}}
"""A strategy for each type of command except `Batch`."""

_SINGLES = st.one_of(*COMMANDS.values())
# Also nested batches.
_BATCHES = st.recursive(
    st.builds(Batch, few(_SINGLES, 4)),
    lambda batch: st.builds(Batch, few(_SINGLES | batch)),
    max_leaves=3,
)


def commands() -> SearchStrategy[Command]:
    """Draw any command, legal or not."""
    return _SINGLES | _BATCHES


# -------- events --------


_KEPT = field_values()
_SOME = st.sets(st.sampled_from(sorted(EDITABLE)), min_size=1, max_size=3)
_EDITS = _SOME.flatmap(lambda names: st.fixed_dictionaries({n: _KEPT[n] for n in names}))
_IDS = ids(6)  # as many as drawn plans have tasks: most events then fit such a plan
_ABOVE = st.none() | _IDS
_ID: Any = TaskId  # pyright does not know `|` of an annotated type
_BY_TYPE: dict[Any, SearchStrategy[Any]] = {
    Task: st.builds(Task.but, tasks(), parent=_ABOVE),
    _ID: _IDS,
    _ID | None: _ABOVE,
    tuple[TaskId, ...]: few(_IDS),
    Status: STATUSES,
    FrozenDict: _EDITS.map(FrozenDict),
    Claim: values.CLAIMS,
    str | None: st.none() | WORKERS,
    datetime | None: times(),
}


def events_of(
    kind: type[Any], by_type: Mapping[Any, SearchStrategy[Any]] = _BY_TYPE
) -> SearchStrategy[Any]:
    """Draw events of one class; `by_type` has a strategy for each type of field."""
    return st.builds(kind, **{field.name: by_type[field.type] for field in attrs.fields(kind)})


EVENTS: dict[type, SearchStrategy[Any]] = {
    **{kind: events_of(kind) for kind in get_args(Event) if kind is not PlanRestored},
    PlanRestored: st.builds(
        lambda plan, approved: PlanRestored(tuple(plan), plan.next_id, approved=approved),
        values.plans(max_size=3),
        _FIELDS["approved"],
    ),
}
"""
A strategy for each type of event. Events are independent of a plan; `apply` accepts any of them.
"""


def events() -> SearchStrategy[Event]:
    """Draw any event, also one that fits no plan."""
    return st.one_of(*EVENTS.values())


BY_TYPE: dict[type, SearchStrategy[Any]] = {
    Plan: values.plans(),
    Task: tasks(),
    Todo: values.todos(),
    Waiting: values.WAITS,
    Claim: values.CLAIMS,
    Evidence: values.EVIDENCE,
    Approval: values.APPROVALS,
    Policy: values.policies(),
    Limits: values.limits(),
    **COMMANDS,
    Batch: _BATCHES,
    **EVENTS,
}
"""A strategy for each of todoplan's types, for `st.from_type`."""


# -------- commands that make sense for a plan --------


def containers(plan: Plan, parent: str | None) -> set[str]:
    """Return the tasks that may not block a child of `parent`: the parent and its ancestors."""
    return set() if parent is None else {parent, *ancestors(plan, parent)}


def rewritten(draw: DrawFn, plan: Plan) -> WriteTodos:
    """
    Draw the current list with some entries omitted, in another order, with changed statuses, with
    or without ids, and with new entries at the end.
    """
    # If a task is claimed, every entry has its id, because an entry without one could match the
    # claimed task.
    known = any(task.claim for task in plan)
    lines = [_line(draw, task, known=known) for task in plan if draw(_LEFT) or task.claim]
    lines = draw(st.permutations(lines)) if draw(st.booleans()) else lines
    return WriteTodos((*lines, *draw(_NEW_LINES)), draw(st.booleans()))


def indented(draw: DrawFn, plan: Plan) -> WriteTodos:
    """
    Draw the current list with its indentation, and new entries at the end at allowed levels.

    If the plan has no edges, which could contradict nesting, entries may be omitted or indented
    differently.
    """
    free = not any(task.blocked_by for task in plan)
    kept = [task for task in plan if not free or draw(_LEFT) or task.claim]
    lines = []
    for task in kept:
        level = draw(_LEVELS) if free else len(containers(plan, task.parent))
        lines.append(attrs.evolve(_line(draw, task, known=True), level=level))
    new = [attrs.evolve(todo, level=draw(_LEVELS)) for todo in draw(_NEW_LINES)]
    return WriteTodos((*lines, *new), draw(st.booleans()))


def _line(draw: DrawFn, task: Task, *, known: bool) -> Todo:
    status = draw(_NEXT[task.status]) if task.claim is None else task.status
    line = Todo(task.subject, status, id=task.id if known or draw(st.booleans()) else None)
    # Only an entry with the status pending gets a wait. Without a status, an entry without an id
    # may match another task with the same text, and this task may be closed.
    pending = line.status is Status.PENDING
    return attrs.evolve(line, waiting=draw(CHANGES["waiting"])) if pending else line


def _new_line(todo: Todo) -> Todo:
    status = todo.status if todo.waiting is None else Status.PENDING
    return attrs.evolve(todo, status=status, level=None)


_LEFT = st.sampled_from([True, True, True, False])
_LEVELS = st.integers(0, 2)
_NEXT = {status: st.sampled_from([status, None, *Status]) for status in Status}
_NEW_LINES = st.lists(values.todos(titles(), st.nothing()).map(_new_line), max_size=2)


@st.composite
def sensible_commands(draw: DrawFn, plan: Plan) -> Command:
    """
    Draw commands with ids of the plan whose edges close no cycle: only a rule can refuse them.
    """
    make = draw(_KINDS if len(plan) else _FIRST)
    return make(draw, plan)


def one(draw: DrawFn, here: Iterable[Task]) -> Task:
    """Draw one of the tasks."""
    tasks = tuple(here)
    return tasks[draw(st.integers(0, len(tasks) - 1))]


def _some(draw: DrawFn, ids: Sequence[str], most: int) -> tuple[str, ...]:
    """Draw different ids."""
    many = draw(st.integers(0, min(most, len(ids))))
    return tuple(dict.fromkeys(ids[draw(st.integers(0, len(ids) - 1))] for _ in range(many)))


def _parent(draw: DrawFn, ids: Sequence[str]) -> str | None:
    # "No parent" is as likely as any parent, so that a counterexample can drop its tree in one
    # step.
    return draw(st.sampled_from([*[None] * max(len(ids), 1), *ids]))


def fence_of(task: Task) -> int | None:
    """Return the fencing token that a change of the task's status must carry (law 19)."""
    return None if task.claim is None else task.claim.fence


def _creation(draw: DrawFn, plan: Plan) -> CreateTask:
    ids = [task.id for task in plan]
    parent = _parent(draw, ids)
    above = containers(plan, parent)
    ends = _some(draw, [end for end in ids if end not in above], 2)
    status, subject = draw(STATUSES), draw(titles())
    # Only fields that are set are drawn, so that a step shrinks to a plain creation.
    given = {name: draw(CHANGES[name]) for name in draw(_MORE)}
    if status is not Status.PENDING:
        given.pop("waiting", None)
    return CreateTask(
        **{**given, "subject": subject}, status=status, blocked_by=ends, parent=parent
    )


def _list(draw: DrawFn, plan: Plan) -> CreateTasks:
    ids = [task.id for task in plan]
    items: list[CreateTask] = []
    above: dict[str, set[str]] = {each: containers(plan, each) for each in ids}
    for place in range(draw(st.integers(1, 4))):
        # Edges and parents of an item are among earlier items, so there is no cycle.
        local = [f"#{number}" for number in range(place)]
        parent = _parent(draw, [*local, *ids])
        inside = above[parent] if parent else set()
        ends = _some(draw, [end for end in [*local, *ids] if end not in inside], 1)
        above[f"#{place}"] = {*inside, f"#{place}"}
        status, subject = draw(STATUSES), draw(titles())
        items.append(CreateTask(subject, status=status, blocked_by=ends, parent=parent))
    return CreateTasks(tuple(items))


growth = st.composite(_list)
"""Draw a command that adds several tasks."""


def _move(draw: DrawFn, plan: Plan) -> UpdateTask:
    task = one(draw, plan)
    return UpdateTask(task.id, status=draw(STATUSES), fence=fence_of(task))


def _finish(draw: DrawFn, plan: Plan) -> Command:
    """Draw the completion of one or several open tasks, or a creation if no task is open."""
    left = [task.id for task in plan if task.status in OPEN]
    if not left:
        return _creation(draw, plan)
    chosen = _some(draw, left, 3) or left[:1]
    done = [
        UpdateTask(each, status=Status.COMPLETED, fence=fence_of(plan[each])) for each in chosen
    ]
    return done[0] if len(done) == 1 else Batch(tuple(done))


def _move_free(draw: DrawFn, plan: Plan) -> UpdateTask:
    # In a batch, an earlier part may end the claim whose fencing token a later part carries.
    task = one(draw, [task for task in plan if task.claim is None] or plan)
    return UpdateTask(task.id, status=UNSET if task.claim else draw(STATUSES))


def _edit(draw: DrawFn, plan: Plan) -> UpdateTask:
    changes = {name: draw(CHANGES[name]) for name in draw(_NAMED)}
    return UpdateTask(one(draw, plan).id, **changes)


def link(draw: DrawFn, plan: Plan) -> UpdateTask:
    """Draw new blockers of a task."""
    # Edges go only from earlier to later tasks, so there is no cycle.
    order = topological_order(plan)
    place = draw(st.integers(0, len(order) - 1))
    above = containers(plan, order[place])
    ends = _some(draw, [end for end in order[:place] if end not in above], 2)
    return UpdateTask(order[place], add_blocked_by=tuple(sorted(ends)))


def unlink(draw: DrawFn, plan: Plan) -> UpdateTask:
    """Draw the removal of a blocker."""
    task = one(draw, [task for task in plan if task.blocked_by] or plan)
    return UpdateTask(task.id, remove_blocked_by=task.blocked_by[:1])


def nest(draw: DrawFn, plan: Plan) -> UpdateTask:
    """Draw a new parent of a task."""
    task = one(draw, plan)
    fit = [each.id for each in plan if may_contain(plan, each.id, task.id)]
    return UpdateTask(task.id, parent=draw(st.sampled_from([*fit, None])))


def _place(draw: DrawFn, plan: Plan) -> MoveTask:
    task = one(draw, plan)
    fit = {None, *(each.id for each in plan if may_contain(plan, each.id, task.id))}
    beside = one(draw, [each for each in plan if each.parent in fit | {task.parent}]).id
    before, after = (beside, None) if draw(st.booleans()) else (None, beside)
    return MoveTask(task.id, before, after)


def _wait(draw: DrawFn, plan: Plan) -> UpdateTask:
    task = one(draw, plan)
    # A closed task cannot wait, so it is reopened in the same step.
    status = UNSET if task.status in OPEN else Status.PENDING
    waiting = draw(CHANGES["waiting"])
    return UpdateTask(task.id, status=status, waiting=waiting, fence=fence_of(task))


def _answer(draw: DrawFn, plan: Plan) -> Command:
    """Draw an answer to a waiting task, or a wait if no task waits."""
    waiting = tuple(plan.waiting())
    return AnswerTask(one(draw, waiting).id, "yes") if waiting else _wait(draw, plan)


def _find(draw: DrawFn, plan: Plan) -> RecordEvidence:
    return draw(made(RecordEvidence, task_id=st.just(one(draw, plan).id)))


def _claim(draw: DrawFn, plan: Plan) -> ClaimTask:
    free = [task.id for task in plan.ready()]
    return draw(claimings(st.sampled_from([None, *free])))


def _hold(draw: DrawFn, plan: Plan) -> Command:
    """Draw a command of the owner of a claim, or a new claim if no task is claimed."""
    held = [task for task in plan if task.claim]
    if not held:
        return _claim(draw, plan)
    task = one(draw, held)
    fence = fence_of(task) or 1
    return ReleaseClaim(task.id, fence) if draw(st.booleans()) else RenewClaim(task.id, fence)


def _approve(draw: DrawFn, _: Plan) -> Command:
    return draw(_APPROVALS)


def delete(draw: DrawFn, plan: Plan) -> Command:
    """Draw the deletion of a task that nobody has claimed, or a claim if all tasks are claimed."""
    # A claimed task must not be removed, nor an ancestor of one together with its descendants.
    free = [task for task in plan if task.claim is None]
    if not free:
        return _claim(draw, plan)
    # Tasks with dependents are twice as likely: deletions of these went wrong in other systems.
    task = one(draw, [*free, *(task for task in free if task.blocks)])
    claimed = [each for each in plan if each.claim and task.id in containers(plan, each.parent)]
    removes = draw(st.booleans()) and not claimed
    if not plan.children(task.id):
        return DeleteTask(task.id)
    return DeleteTask(task.id, "remove" if removes else "lift")


def _batch(draw: DrawFn, plan: Plan) -> Batch:
    makers = (draw(_HARMLESS) for _ in range(draw(st.integers(0, 3))))
    return Batch(tuple(make(draw, plan) for make in makers))


_Make = Callable[[DrawFn, Plan], Command]
# All parts are drawn for the plan before the batch. So no part may remove a task that a later part
# may name.
_HARMLESS: SearchStrategy[_Make] = st.sampled_from([_creation, _move_free, _edit, _find, _approve])
# Commands that need no existing task.
_FIRST: SearchStrategy[_Make] = st.sampled_from([_creation, _list, rewritten, indented, _approve])
# Hypothesis shrinks towards the start: a plain creation comes first, removals come last.
_KINDS: SearchStrategy[_Make] = st.sampled_from(
    [
        *(_creation, _move, link, nest, _list, rewritten, indented, _edit, _finish, _wait, _answer),
        *(_find, _claim, _hold, _place, unlink, _approve),
        # Repeated: creations must outweigh removals, or most plans would be empty.
        *(_list, nest, _creation, _list),
        # Repeated: most cases of a rule concern completed tasks, alone or with others.
        *(_finish, _finish),
        delete,
        lambda _, __: StartNext(),
        _batch,
        lambda _, plan: StartNext() if any(task.claim for task in plan) else ClearPlan(),
        lambda _, plan: RestorePlan(tuple(plan), approved=plan.approved),
    ]
)
_BUT_WAITING = [name for name in CHANGES if name != "waiting"]  # only a pending task may wait
_NAMED = st.lists(st.sampled_from(_BUT_WAITING), min_size=1, max_size=2)
_MORE = st.lists(st.sampled_from([*CHANGES]), max_size=6)


@st.composite
def meddling(draw: DrawFn, plan: Plan) -> Command:
    """
    Draw a command on a claimed task of the plan: without a fencing token, with the current one, or
    with a wrong one.
    """
    held = [(task.id, task.claim.fence) for task in plan if task.claim]
    claimed, current = draw(st.sampled_from(held))
    fence = draw(st.sampled_from([None, current, max(current - 1, 1), current + 1]))
    changes = UpdateTask(claimed, status=draw(STATUSES), fence=fence)
    others = [Todo(task.subject, id=task.id) for task in plan if task.id != claimed]
    given = current if fence is None else fence
    done: list[Command] = [
        changes,
        UpdateTask(claimed, subject="b", fence=fence),
        UpdateTask(claimed, waiting=Waiting("ann"), fence=fence),
        # A token given in one part of a batch also counts for the next part.
        Batch((UpdateTask(claimed, fence=fence), DeleteTask(claimed, "lift"))),
        Batch((changes, ClaimTask("w2", task_id=claimed))),
        DeleteTask(claimed, "remove"),
        WriteTodos(tuple(others)),
        ClearPlan(),
        ClaimTask("w2", task_id=claimed),
        RenewClaim(claimed, given, 900.0),
        ReleaseClaim(claimed, given),
    ]
    return draw(st.sampled_from(done))


_NO_RULES = Policy()


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
    Draw commands to run in order, each sensible for the plan at that point.

    `policy` is the policy under which they will run. With `blind`, the commands are drawn
    independently of the plan.
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
    """Draw the events of a plan's history: replaying them on an empty plan gives a plan."""
    plan = Plan()
    happened: list[Event] = []
    for command in draw(scripts(max_size=max_size)):
        answer = decide(plan, command, at=draw(times()))
        brought = answer.events if isinstance(answer, Accepted) else ()
        plan = replay(plan, brought)
        happened += brought
    return tuple(happened)

"""
Reading and writing plans in the format of LangChain's `write_todos`: a list of todos, each with
`content` and `status`.

Such a list has no ids, descriptions, owners, edges, subtasks, checks, estimates, metadata and
times, so these are lost. It has three statuses. None of them fits a cancelled task, so cancelled
tasks are left out. A failed task becomes `pending` with the extra key `failed`, because the tasks
that it blocks cannot begin. A waiting task gets the extra key `waiting`. On reading, these two keys
are ignored if the status is not `pending`: somebody has then set a new status.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from todoplan.codec.documents import (
    TASK,
    VERSION,
    assembled,
    entry_line,
    head,
    plan_from_data,
    plan_to_data,
    read_recent,
    write_task,
)
from todoplan.codec.engine import (
    STATUSES,
    MisfitError,
    misfit,
    one_of,
    read_array,
    read_object,
    text,
    write_fields,
    wrong_shape,
)
from todoplan.core.events.apply import Entry
from todoplan.core.events.merge import joined, rebased
from todoplan.core.events.types import PlanRestored
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan

_OPTIONAL = {"active_form": "activeForm", "priority": "priority"}
"""Task fields that Claude Code's list has too, with the names there."""

_THEIRS = Status.PENDING, Status.IN_PROGRESS, Status.COMPLETED
_FAILED, _WAITING = "failed", "waiting"


def _failed(value: Any) -> bool:
    if value is True:
        return True
    raise misfit(value, "not true, the only value that is allowed; leave it out")


_FIELDS = {
    "content": text,
    "status": one_of({word: status for word, status in STATUSES.items() if status in _THEIRS}),
    _FAILED: _failed,
    _WAITING: TASK.readers["waiting"],
    **{theirs: TASK.readers[name] for name, theirs in _OPTIONAL.items()},
}


def to_langchain(tasks: Iterable[Task]) -> list[dict[str, Any]]:
    """
    Return the todos of a plan. `activeForm`, `priority`, `failed` and `waiting` are present only if
    set.

    Raises:
        CodecError: a `waiting` value cannot be represented in JSON.
    """
    todos = []
    for task in tasks:
        if task.status is Status.CANCELLED:
            continue
        status = task.status if task.status in _THEIRS else Status.PENDING
        todo: dict[str, Any] = {"content": task.subject, "status": status.value}
        if task.status is Status.FAILED:
            todo[_FAILED] = True
        if task.waiting is not None:
            try:
                todo[_WAITING] = write_fields(task.waiting)
            except MisfitError as error:
                raise wrong_shape(error.below(_WAITING), "todo that JSON can hold") from None
        for name, theirs in _OPTIONAL.items():
            value = getattr(task, name)
            if value is not None:
                todo[theirs] = str(value)
        todos.append(todo)
    return todos


def from_langchain(todos: list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with these todos, numbered from 1.

    Raises:
        CodecError: the data are not a list of todos, or a field would be lost.
    """
    try:
        read = read_array(todos, lambda todo: read_object(todo, _FIELDS, ("content", "status")))
    except MisfitError as error:
        raise wrong_shape(error.below("todos"), "list of todos") from None
    tasks = []
    for number, todo in enumerate(read, 1):
        rest = {name: todo.get(theirs) for name, theirs in _OPTIONAL.items()}
        status = todo["status"]
        if status is Status.PENDING and _FAILED in todo:
            status = Status.FAILED
        if status is Status.PENDING:
            rest["waiting"] = todo.get(_WAITING)
        tasks.append(Task(str(number), todo["content"], status=status, **rest))
    return assembled(tuple(tasks), 1, 0)


# -------- branches --------
# A plan in a graph's state, which branches of the graph write concurrently.
#
# A value is {"head": the last write, "plan": the document of `plan_to_data`}. A step is one call or
# command. Its value also has the journal entry (`line`), the `parent` (the write that the step
# follows) and the `turn`.
#
# A graph's state is never changed in place. Law: if two documents are the same object, they have
# the same plan. So a document that was written or read here is not parsed a second time. A copy, or
# a document that was sent or saved, is a plain dict, and is parsed.


_Value = Mapping[str, Any]
_MOST = 16  # plans of ended threads stay in memory until the cache is cleared
_read: dict[int, tuple[Any, "Document"]] = {}


def plan_in_value(value: _Value | None) -> Plan:
    """
    Return the plan of a value; the empty plan if none was written yet.

    Raises:
        CodecError: the value does not contain a plan.
    """
    return document_of(value.get("plan")).plan if value else Plan()


def head_of(value: _Value | None) -> str:
    """Return the id of the write that made a value: "revision:name", or "" without a value."""
    return value.get("head", "") if value else ""


def whole(plan: Plan, name: str) -> dict[str, Any]:
    """Return a value that replaces the plan in the state. Later steps are applied to this plan."""
    return {"head": f"{plan.revision}:{name}", "plan": write_document(plan), "replace": True}


@attrs.frozen
class Step:
    """
    The result of one call or command: the plan after it and its journal entry.

    `name` is unique. `parent` is the write that the step follows. When steps are merged, tasks may
    get new ids; later steps of the same `turn` then use the new ids.
    """

    plan: Plan
    entry: Entry
    name: str
    parent: str
    turn: str

    def value(self, before: _Value | None) -> dict[str, Any]:
        """Return the step as an update of the state. `before` is the value before the step."""
        value = {
            "head": f"{self.plan.revision}:{self.name}",
            "parent": self.parent,
            "turn": self.turn,
            "plan": write_document(self.plan, before["plan"] if before else None),
            "line": entry_line(self.entry),
        }
        # Merging a restore into another version needs the plan that the restore has changed.
        if any(isinstance(event, PlanRestored) for event in self.entry.events):
            value["was"] = write_document(plan_in_value(before))
        return value


def entry_in_step(update: _Value) -> Entry:
    """
    Return the journal entry of a step.

    Raises:
        CodecError: the entry is damaged.
    """
    return read_recent([update["line"]])[0]


# LangGraph silently ignores a reducer that is not the last item of `Annotated`.
def merge_plans(current: _Value, update: _Value) -> _Value:
    """
    Reducer: merge two writes of the plan.

    For a state key of your own, write `Annotated[dict, merge_plans]`. If a tool's step follows the
    current value, the step's plan becomes the current plan. If the step follows another value,
    because branches of one superstep ran concurrently, its events are applied to the current plan.
    New tasks of the step then get other ids if their ids are taken, and the result has the entry of
    the applied events as its `line`. The whole plan of a subgraph is merged in the same way. A
    whole plan that the application passes replaces the current plan.
    """
    if update.get("replace"):
        return _settled(update)
    if "parent" in update:
        if update["parent"] == head_of(current):
            return _settled(update)
        moved = current.get("moved", {})  # a key in saved states
        turn, entry = update["turn"], entry_in_step(update)
        was = document_of(update["was"]).plan if "was" in update else None
        plan, ids, events = rebased(plan_in_value(current), entry.events, moved.get(turn), was)
        line = entry_line(attrs.evolve(entry, revision=plan.revision, events=events))
        return {**_merged(current, update, plan), "moved": {**moved, turn: ids}, "line": line}
    # LangGraph initializes a channel that has a reducer with {}, not with None.
    if not current or not update:
        return _settled(update or current)
    # A subgraph that changed nothing returns the value that it received.
    if update.get("plan") == current["plan"]:
        return current
    theirs = plan_in_value(update)
    plan = joined(plan_in_value(current), theirs)
    return _settled(update) if plan is theirs else _merged(current, update, plan)


def _settled(value: _Value) -> _Value:
    # The other keys of a step are needed only while the step is merged.
    return {key: value[key] for key in ("head", "plan") if key in value}


def _merged(current: _Value, update: _Value, plan: Plan) -> _Value:
    return {"head": f"{head_of(current)}+{head_of(update)}", "plan": write_document(plan)}


# A dict, because LangGraph needs plain JSON: other objects come back from a checkpoint as dicts.
class Document(dict[str, Any]):
    """
    The data that `plan_to_data` returns for `plan`.

    Every copy is a plain dict, even if the copy is made by calling this class, as
    `dataclasses.asdict` does.
    """

    __slots__ = ("plan",)

    def __new__(cls, data: Any, *plan: Plan) -> Any:
        """Return a `Document`, or a plain dict if the data are passed without a plan."""
        return super().__new__(cls) if plan else dict(data)

    def __init__(self, data: dict[str, Any], plan: Plan) -> None:
        super().__init__(data)
        self.plan = plan

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def document_of(value: Any) -> Document:
    """
    Return the `Document` of a value in a state.

    Raises:
        CodecError: the value is not a plan document.
    """
    if isinstance(value, Document):
        return value
    # The cache refers to the object, so no other object can have its `id()`.
    known = _read.get(id(value))
    if known is not None and known[0] is value:
        return known[1]
    plan = plan_from_data(value)
    # `write_document` expects the tasks of a document in the order of the plan (tree order).
    in_order = [task["id"] for task in value["tasks"]] == [task.id for task in plan]
    data = value if value["version"] == VERSION and in_order else plan_to_data(plan)
    if len(_read) >= _MOST:
        _read.clear()
    made = Document(data, plan)
    _read[id(value)] = value, made
    return made


def write_document(plan: Plan, before: Any = None) -> Document:
    """
    Return the document of a plan, reusing unchanged tasks of the document `before`.

    Raises:
        CodecError: a task contains a value that JSON cannot represent, or `before` is not a plan
            document.
    """
    if not before:
        return Document(plan_to_data(plan), plan)
    old = document_of(before)
    # `old.plan` refers to the tasks, so no other object can have the `id()` of one.
    known = dict(zip(map(id, old.plan), old["tasks"], strict=True))
    try:
        tasks = [known.get(id(task)) or write_task(task) for task in plan]
    except MisfitError:
        tasks = plan_to_data(plan)["tasks"]  # raises an error that names the task
    return Document({**head(plan), "tasks": tasks}, plan)

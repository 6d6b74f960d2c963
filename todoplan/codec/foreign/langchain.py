"""
Plans in the format of LangChain's `write_todos`, in both directions: a list of `content` and
`status`.

What such a list cannot represent is lost: ids, descriptions, owners, edges, subtasks, checks,
estimates, metadata and times. The list has three statuses. None of them fits a cancelled task, so
cancelled tasks are left out. A failed task is not done, and the tasks that it blocks cannot begin:
it becomes `pending` with the extra key `failed`. A waiting task gets the extra key `waiting`. On
reading, both keys count only if the status is `pending`: if somebody has set another status, that
status is newer.
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
    read_each,
    read_object,
    text,
    write_fields,
    wrong_shape,
)
from todoplan.core.events.apply import Entry
from todoplan.core.events.merge import joined, rebased
from todoplan.core.plan.model import Status, Task, Waiting
from todoplan.core.plan.plan import Plan

_OPTIONAL = {"active_form": "activeForm", "priority": "priority"}
"""Task fields that Claude Code's list has too, with the names there."""

_THEIRS = Status.PENDING, Status.IN_PROGRESS, Status.COMPLETED
_FAILED, _WAITING = "failed", "waiting"


def _failed(value: Any) -> bool:
    if value is True:
        return True
    raise misfit(value, "not true, which is all that it can be; leave it out")


_FIELDS = {
    "content": text,
    "status": one_of({word: status for word, status in STATUSES.items() if status in _THEIRS}),
    _FAILED: _failed,
    _WAITING: TASK.readers["waiting"],
    **{theirs: TASK.readers[name] for name, theirs in _OPTIONAL.items()},
}
_WORDS = {status: word for word, status in STATUSES.items()}


def to_langchain(tasks: Iterable[Task]) -> list[dict[str, Any]]:
    """
    Return the todos of a plan. `activeForm`, `priority`, `failed` and `waiting` are present only if
    set.

    Raises:
        CodecError: a `waiting` value cannot be represented in JSON.
    """
    return [_todo(task) for task in tasks if task.status is not Status.CANCELLED]


def _todo(task: Task) -> dict[str, Any]:
    status = task.status if task.status in _THEIRS else Status.PENDING
    todo: dict[str, Any] = {"content": task.subject, "status": _WORDS[status]}
    if task.status is Status.FAILED:
        todo[_FAILED] = True
    if task.waiting is not None:
        todo[_WAITING] = _waiting(task.waiting)
    for name, theirs in _OPTIONAL.items():
        value = getattr(task, name)
        if value is not None:
            todo[theirs] = str(value)
    return todo


def _waiting(waiting: Waiting) -> dict[str, Any]:
    try:
        return write_fields(waiting)
    except MisfitError as error:
        raise wrong_shape(error.below(_WAITING), "todo that JSON can hold") from None


def from_langchain(todos: list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with these todos, numbered from 1.

    Raises:
        CodecError: the data are not a list of todos, or a field would be lost.
    """
    try:
        if not isinstance(todos, list):
            raise misfit(todos, "no array")
        read = read_each(todos, lambda todo: read_object(todo, _FIELDS, ("content", "status")))
    except MisfitError as error:
        raise wrong_shape(error.below("todos"), "list of todos") from None
    return assembled(tuple(_task(str(i), todo) for i, todo in enumerate(read, 1)), 1, 0)


def _task(task_id: str, todo: dict[str, Any]) -> Task:
    rest: dict[str, Any] = {name: todo.get(theirs) for name, theirs in _OPTIONAL.items()}
    status = todo["status"]
    if status is Status.PENDING and _FAILED in todo:
        status = Status.FAILED
    waiting = todo.get(_WAITING) if status is Status.PENDING else None
    return Task(task_id, todo["content"], status=status, waiting=waiting, **rest)


# -------- branches --------
# A plan in a graph's state that branches write concurrently: its values, and merging two writes.
#
# A value is {"head": the last write, "plan": the document of `plan_to_data`}. The value of a step
# also has its journal entry (`line`), the `parent` (the write that it follows) and its `turn`.
#
# A graph's state is never changed in place, and every node reads it. Law: if two documents are the
# same object, they have the same plan. So a document that was written or read here is not parsed a
# second time. A copy, or a document that was sent or saved, is a plain dict and is parsed again.


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
    """Return the id of the write that a value comes from: "revision:name", or "" for none."""
    return value.get("head", "") if value else ""


def whole(plan: Plan, name: str) -> dict[str, Any]:
    """
    Return a value that replaces the plan in the state; steps merged later are applied to this plan.
    """
    return {"head": f"{plan.revision}:{name}", "plan": write_document(plan), "replace": True}


@attrs.frozen
class Step:
    """
    The result of one call or command.

    It has the plan and the journal entry, a unique `name`, the `parent` (the write that it
    follows), and the `turn`. When steps are merged, tasks may get new ids; later steps of the same
    `turn` are changed accordingly.
    """

    plan: Plan
    entry: Entry
    name: str
    parent: str
    turn: str

    def value(self, before: _Value | None) -> dict[str, Any]:
        """Return the step as an update of the value on which it was decided."""
        return {
            "head": f"{self.plan.revision}:{self.name}",
            "parent": self.parent,
            "turn": self.turn,
            "plan": write_document(self.plan, before["plan"] if before else None),
            "line": entry_line(self.entry),
        }


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
    current value, its plan becomes the current plan. If a step was decided on another version, by a
    branch of the same superstep, its events are applied to the current plan; its new tasks get new
    ids if their ids are taken. A whole value, from a subgraph, is merged in the same way, unless
    the application passed it to replace the current plan.
    """
    if update.get("replace"):
        return _settled(update)
    if "parent" in update:
        follows = update["parent"] == head_of(current)
        return _settled(update) if follows else _rebased(current, update)
    # LangGraph initializes a channel that has a reducer with {}, not with None.
    if not current or not update:
        return _settled(update or current)
    # A subgraph that changed nothing returns the value that it received.
    return current if update.get("plan") == current["plan"] else _joined(current, update)


def _settled(value: _Value) -> _Value:
    # The line, parent and turn of a step are needed only for the merge of this step.
    return {key: value[key] for key in ("head", "plan") if key in value}


def _rebased(current: _Value, update: _Value) -> _Value:
    moved = current.get("moved", {})  # a key in saved states
    events = entry_in_step(update).events
    plan, ids = rebased(plan_in_value(current), events, moved.get(update["turn"]))
    return {**_merged(current, update, plan), "moved": {**moved, update["turn"]: ids}}


def _joined(current: _Value, update: _Value) -> _Value:
    theirs = plan_in_value(update)
    plan = joined(plan_in_value(current), theirs)
    return _settled(update) if plan is theirs else _merged(current, update, plan)


def _merged(current: _Value, update: _Value, plan: Plan) -> _Value:
    return {"head": f"{head_of(current)}+{head_of(update)}", "plan": write_document(plan)}


# A dict, because LangGraph needs plain JSON: other objects come back from a checkpoint as dicts.
class Document(dict[str, Any]):
    """
    The data that `plan_to_data` returns for `plan`, with the plan's tasks in `order`.

    Every copy is a plain dict, even one made by calling the object's type, as `dataclasses.asdict`
    does.
    """

    __slots__ = ("order", "plan")

    def __new__(cls, data: Any, *kept: Any) -> Any:
        """Return a `Document`, or a plain dict if the data are passed without a plan."""
        return super().__new__(cls) if kept else dict(data)

    def __init__(self, data: dict[str, Any], plan: Plan, order: tuple[Task, ...]) -> None:
        super().__init__(data)
        self.plan, self.order = plan, order

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
    # The cache keeps the object in memory, so its `id()` cannot be reused for another object.
    known = _read.get(id(value))
    if known is not None and known[0] is value:
        return known[1]
    plan = plan_from_data(value)
    order = tuple(plan)
    # `write_document` pairs the tasks of a document with the tasks of its plan, which are in tree
    # order. So the tasks of the document must have this order too.
    in_order = [task["id"] for task in value["tasks"]] == [task.id for task in order]
    data = value if value["version"] == VERSION and in_order else plan_to_data(plan)
    if len(_read) >= _MOST:
        _read.clear()
    made = Document(data, plan, order)
    _read[id(value)] = value, made
    return made


def write_document(plan: Plan, before: Any = None) -> Document:
    """
    Return the document of a plan, reusing unchanged tasks of the document `before`.

    Raises:
        CodecError: a task contains a value that JSON cannot represent, or `before` is not a plan
            document.
    """
    order = tuple(plan)
    if not before:
        return Document(plan_to_data(plan), plan, order)
    old = document_of(before)
    # `old.order` keeps the tasks in memory, so no `id()` can be reused for another object.
    known = dict(zip(map(id, old.order), old["tasks"], strict=True))
    try:
        tasks = [known.get(id(task)) or write_task(task) for task in order]
    except MisfitError:
        tasks = plan_to_data(plan)["tasks"]  # raises, and names the task
    return Document({**head(plan), "tasks": tasks}, plan, order)

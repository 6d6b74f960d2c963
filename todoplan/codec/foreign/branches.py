"""
A plan in a state that branches write at once: what stands there, and two writes made one.

A value is {"head": who wrote last, "plan": the document of `plan_to_data`}. A step has beside them
its `entry` of the journal, the `parent` that it follows from and its `turn`.

A graph's state is never changed in place, and every node reads it. Law of its documents: one that
is the same object holds the same plan, so that what was written or read here is not read a second
time. What anyone copied, sent or saved is a plain dict, and is read anew.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from todoplan.codec.faults import MisfitError
from todoplan.codec.journals import entry_from_data, entry_to_data
from todoplan.codec.plans import head, plan_from_data, plan_to_data
from todoplan.codec.tasks import write_task
from todoplan.codec.versions import VERSION
from todoplan.core.events.journal import Entry
from todoplan.core.events.merge import joined, rebased
from todoplan.core.events.types import Event
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan

__all__ = [
    "Document",
    "Step",
    "document_of",
    "head_of",
    "merge_plans",
    "plan_in_value",
    "whole",
    "write_document",
]

_Value = Mapping[str, Any]
_MOST = 16  # plans of ended threads stay in memory until others take their place
_read: dict[int, tuple[Any, "Document"]] = {}


def plan_in_value(value: _Value | None) -> Plan:
    """
    Return the plan of a value; the empty plan if none was written yet.

    Raises:
        CodecError: what stands there is no plan.
    """
    return document_of(value.get("plan")).plan if value else Plan()


def head_of(value: _Value | None) -> str:
    """
    Return which write a value comes from: "revision:name", "" for none.
    """
    return value.get("head", "") if value else ""


def whole(plan: Plan, name: str) -> dict[str, Any]:
    """
    Return the value that makes this the plan, whatever was there; steps beside it are not lost.
    """
    return {"head": f"{plan.revision}:{name}", "plan": write_document(plan), "replace": True}


@attrs.frozen
class Step:
    """
    What one call or command did: its plan and events, its `name`, which no other has, the `parent`
    that it follows from, and the `turn` whose steps know each other's new ids.
    """

    plan: Plan
    events: tuple[Event, ...]
    name: str
    parent: str
    turn: str

    def entry(self) -> dict[str, Any]:
        """
        Return the step as the journal has it.
        """
        return entry_to_data(Entry(self.plan.revision, self.events))

    def value(self, before: _Value | None) -> dict[str, Any]:
        """
        Return the step as an update of the value upon which it was decided.
        """
        return {
            "head": f"{self.plan.revision}:{self.name}",
            "parent": self.parent,
            "turn": self.turn,
            "plan": write_document(self.plan, before["plan"] if before else None),
            "entry": self.entry(),
        }


# LangGraph ignores, in silence, a reducer that is not the last item of `Annotated`.
def merge_plans(current: _Value, update: _Value) -> _Value:
    """
    Reduce two writes of the plan to one: for a key of your own, `Annotated[dict, merge_plans]`.

    A tool's step that follows from what is there is taken as it is. A step decided upon another
    version, by a branch of the same superstep, is applied to what is there now; its new tasks get
    new ids where theirs are taken. A whole value, from a subgraph, is joined the same way, unless
    the application gave it to replace what there is.
    """
    if update.get("replace"):
        return _settled(update)
    if "entry" in update:
        follows = update["parent"] == head_of(current)
        return _settled(update) if follows else _rebased(current, update)
    # LangGraph starts a channel that has a reducer with {}, not with None.
    if not current or not update:
        return _settled(update or current)
    # A subgraph that changed nothing hands back what it was given.
    return current if update.get("plan") == current["plan"] else _joined(current, update)


def _settled(value: _Value) -> _Value:
    # A step's entry, parent and turn are for one merge alone.
    return {key: value[key] for key in ("head", "plan") if key in value}


def _rebased(current: _Value, update: _Value) -> _Value:
    moved = current.get("moved", {})  # a key of the state: threads that are saved have it
    events = entry_from_data(update["entry"]).events
    plan, ids = rebased(plan_in_value(current), events, moved.get(update["turn"]))
    return {**_merged(current, update, plan), "moved": {**moved, update["turn"]: ids}}


def _joined(current: _Value, update: _Value) -> _Value:
    theirs = plan_in_value(update)
    plan = joined(plan_in_value(current), theirs)
    return _settled(update) if plan is theirs else _merged(current, update, plan)


def _merged(current: _Value, update: _Value, plan: Plan) -> _Value:
    return {"head": f"{head_of(current)}+{head_of(update)}", "plan": write_document(plan)}


# A dict, since LangGraph wants plain JSON: other objects come back from a checkpoint as dicts.
class Document(dict[str, Any]):
    """
    What `plan_to_data` returns of `plan`, and the plan's tasks in `order`. A copy is a plain dict,
    also one that is made by rebuilding what is found by its type, as `dataclasses.asdict` does.
    """

    __slots__ = ("order", "plan")

    def __new__(cls, data: Any, *kept: Any) -> Any:
        """
        Return a plain dict of the data if the plan does not come with them.
        """
        return super().__new__(cls) if kept else dict(data)

    def __init__(self, data: dict[str, Any], plan: Plan, order: tuple[Task, ...]) -> None:
        super().__init__(data)
        self.plan, self.order = plan, order

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def document_of(value: Any) -> Document:
    """
    Return the document that a value in a state is.

    Raises:
        CodecError: it is no plan document.
    """
    if isinstance(value, Document):
        return value
    # The object stands beside its document, so that its id cannot have passed to another.
    known = _read.get(id(value))
    if known is not None and known[0] is value:
        return known[1]
    plan = plan_from_data(value)
    order = tuple(plan)
    # As it would be written: `write_document` takes the tasks of a document for those of its plan,
    # which stand in the order of their tree.
    in_order = [task["id"] for task in value["tasks"]] == [task.id for task in order]
    data = value if value["version"] == VERSION and in_order else plan_to_data(plan)
    if len(_read) >= _MOST:
        _read.clear()
    made = Document(data, plan, order)
    _read[id(value)] = value, made
    return made


def write_document(plan: Plan, before: Any = None) -> Document:
    """
    Return the document of a plan; what it shares with the document `before` is taken from there.

    Raises:
        CodecError: a task holds what JSON cannot; `before` is no plan document.
    """
    order = tuple(plan)
    if not before:
        return Document(plan_to_data(plan), plan, order)
    old = document_of(before)
    # `old.order` holds the tasks, so that no id can have passed to another object.
    known = dict(zip(map(id, old.order), old["tasks"], strict=True))
    try:
        tasks = [known.get(id(task)) or write_task(task) for task in order]
    except MisfitError:
        tasks = plan_to_data(plan)["tasks"]  # says which task it is
    return Document({**head(plan), "tasks": tasks}, plan, order)

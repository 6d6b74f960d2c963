"""
A plan in a state that branches write at once: what stands there, and two writes made one.

A value is {"head": who wrote last, "plan": the document of `plan_to_data`}. A step has beside them
its `entry` of the journal, the `parent` that it follows from and its `turn`.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from todoplan.codec.documents import document_of, write_document
from todoplan.codec.journals import entry_from_data, entry_to_data
from todoplan.core.events.journal import Entry
from todoplan.core.events.merge import joined, rebased
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan

__all__ = ["Step", "head_of", "merge_plans", "plan_in_value", "whole"]

_Value = Mapping[str, Any]


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
    head = f"{plan.revision}:{name}"
    return {"head": head, "plan": write_document(plan), "replace": True}


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
    if not current or not update:
        return _settled(update or current)
    return current if update.get("plan") == current["plan"] else _joined(current, update)


def _settled(value: _Value) -> _Value:
    return {key: value[key] for key in ("head", "plan") if key in value}


def _rebased(current: _Value, update: _Value) -> _Value:
    moved = current.get("moved", {})
    events = entry_from_data(update["entry"]).events
    plan, ids = rebased(plan_in_value(current), events, moved.get(update["turn"]))
    return {**_merged(current, update, plan), "moved": {**moved, update["turn"]: ids}}


def _joined(current: _Value, update: _Value) -> _Value:
    theirs = plan_in_value(update)
    plan = joined(plan_in_value(current), theirs)
    return _settled(update) if plan is theirs else _merged(current, update, plan)


def _merged(current: _Value, update: _Value, plan: Plan) -> _Value:
    return {"head": f"{head_of(current)}+{head_of(update)}", "plan": write_document(plan)}

"""
The reducer of the plan's key: steps in order, branches, subgraphs and the application's own word.

A value is {"head": who wrote last, "plan": the document of `plan_to_data`}. A step has beside them
its `entry` of the journal, the `parent` that it follows from and its `turn`.
"""

from typing import Any

from todoplan.adapters.langgraph.documents import read_document, write_document
from todoplan.codec import entry_from_data
from todoplan.core.merge import joined, rebased
from todoplan.core.plan import Plan

__all__ = ["merge_plans"]

_Value = dict[str, Any]


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
        follows = update["parent"] == current.get("head", "")
        return _settled(update) if follows else _rebased(current, update)
    if not current or not update:
        return _settled(update or current)
    return current if update.get("plan") == current["plan"] else _joined(current, update)


def _settled(value: _Value) -> _Value:
    return {key: value[key] for key in ("head", "plan") if key in value}


def _rebased(current: _Value, update: _Value) -> _Value:
    moved = current.get("moved", {})
    events = entry_from_data(update["entry"]).events
    here = read_document(current["plan"]) if current else Plan()
    plan, ids = rebased(here, events, moved.get(update["turn"]))
    return {**_merged(current, update, plan), "moved": {**moved, update["turn"]: ids}}


def _joined(current: _Value, update: _Value) -> _Value:
    theirs = read_document(update.get("plan"))
    plan = joined(read_document(current["plan"]), theirs)
    return _settled(update) if plan is theirs else _merged(current, update, plan)


def _merged(current: _Value, update: _Value, plan: Plan) -> _Value:
    head = f"{current.get('head', '')}+{update.get('head', '')}"
    return {"head": head, "plan": write_document(plan)}

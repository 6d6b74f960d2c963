"""
What the model last saw of the plan, beside the plan in the state (law 15).

There is none while the model has seen everything. A change by the application leaves a base under
`base`: the plan as the model last saw it, and who changed what since. It goes where the plan goes,
so that it survives a checkpoint, a resume and a fork. It ends with an answer to a planning call.

A reminder is a look for the calls of the very response to it, since no later request holds it: the
version that it showed is written as `shown`, beside the base.

A look is written as `seen`, the version that was looked at. Where another branch of the same
superstep has changed the plan meanwhile, that change was not seen and the base stays. Where it is
uncertain what was seen, the base stays too: to hear of a change twice is cheap.
"""

import json
from collections.abc import Mapping
from typing import Any

import attrs

from todoplan.codec import entry_from_data
from todoplan.codec.foreign.branches import head_of, plan_in_value
from todoplan.codec.states import base_from_data, base_to_data
from todoplan.core.events.base import Base
from todoplan.dialogue.application import unseen_by_model
from todoplan.dialogue.last_seen import is_refused_check

__all__ = ["BASE", "SEEN", "SHOWN", "UPON", "base_after", "base_of", "looked_at"]

BASE = "base"
SEEN = "seen"
SHOWN = "shown"
UPON = "upon"

_Value = Mapping[str, Any]


def base_of(value: _Value | None) -> Base | None:
    """
    Return the base that stands in a value, `None` if the model has seen the plan as it is.

    Raises:
        CodecError: what stands there is no base.
    """
    data = value.get(BASE) if value else None
    if value is None or data is None:
        return None
    # What came since the reminder was made has not been seen: then it counts for nothing.
    is_shown = value.get(SHOWN) == head_of(value)
    return attrs.evolve(base_from_data(data), shown=plan_in_value(value) if is_shown else None)


def looked_at(current: _Value, update: _Value) -> _Value:
    """
    Return the value once the model has looked: at a version ({"seen": its head}), or from within a
    graph that hands back the same plan.
    """
    if SHOWN in update:
        return {**current, SHOWN: update[SHOWN]}
    unseen = SEEN in update and update[SEEN] != head_of(current)
    if unseen or BASE in update or BASE not in current:
        return current
    return {key: value for key, value in current.items() if key not in {BASE, SHOWN}}


def base_after(
    current: _Value, update: _Value, merged: _Value, line: str | None
) -> dict[str, Any] | None:
    """
    Return the base of `merged`, which was made of the other two.

    `line` is the journal's line of a step or a plan that was written here, as it was carried out;
    `None` for a whole value that a graph returns. A step of the model's has `seen`; of one by the
    application upon a list that no plan was made of yet, the plan of it stands under `upon`.

    Raises:
        CodecError: what stands there is no base, or no entry.
    """
    mine, theirs = current.get(BASE), update.get(BASE)
    if line is None:
        # It goes on from what is here if it is taken as it is; what was seen within was seen.
        if mine is None or merged["head"] == head_of(update):
            return theirs
        # Its ids stand, and new tasks of ours got others.
        here, ids = plan_in_value(current), dict[Any, str]()
        for task in plan_in_value(merged):
            ids[task.subject, task.created_at] = task.id
        actors = {}
        for task_id, actor in mine["actors"].items():
            old = here.get(task_id)
            key = (old.subject, old.created_at) if old is not None else ()
            actors[ids.get(key, task_id)] = actor
        return {**mine, "actors": actors | (theirs["actors"] if theirs else {})}
    # The answer to a step of the model's is a look, unless another branch has written meanwhile.
    if SEEN in update and (mine is None or update[SEEN] == head_of(current)):
        return None
    entry, base = entry_from_data(json.loads(line)), base_of(current)
    if base is not None and (SEEN in update or is_refused_check(entry, entry.actor)):
        # Decided beside an edit by another branch: its own work is no news, the edit is.
        return base_to_data(base.with_own(entry.events))
    before = plan_in_value(current or update.get(UPON))
    return base_to_data(unseen_by_model(base, before, entry))

"""
What a policy's rules say of a naive decision: each `(decision, limits) -> is it broken`.

Like the model these are written from the design. A rule looks at what came of a command more often
than at the command: a batch may break by its sum what none of its parts breaks.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from support.naive.decision import NaiveDecision
from support.naive.model import CLOSED, normalised

from todoplan.core.commands import Batch, CreateTasks, RestorePlan, WriteTodos
from todoplan.core.plan.model import TASK_FIELDS
from todoplan.core.rules import Limits

_Broken = Callable[[NaiveDecision, Limits], bool]


def problems(decision: NaiveDecision, severities: Mapping[str, str], limits: Limits) -> set[str]:
    """Return what is wrong: structural faults, or else the names of the rules broken at `error`."""
    faults = {code for code, times in decision.faults.items() if times}
    strict = {name for name, level in severities.items() if level == "error"}
    # No rule is asked about what is no plan.
    return faults or {name for name in strict if NAIVE_RULES[name](decision, limits)}


def _changes(decision: NaiveDecision) -> Iterator[tuple[dict[str, Any] | None, dict[str, Any]]]:
    """
    Yield each task that was created, edited or brought back, before (if it was there) and after.
    """
    restored = any(isinstance(part, RestorePlan) for part in decision.commands)
    for task_id in decision.after.ids() if restored else decision.written:
        new = decision.after.get(task_id)
        if new is not None:  # a later part of a batch may have deleted it
            yield decision.before.get(task_id), new


def _linked(decision: NaiveDecision) -> list[str]:
    """Return the ids of the tasks that have new blockers."""
    restored = [part for part in decision.commands if isinstance(part, RestorePlan)]
    edges = [(end, task.id) for part in restored for task in part.tasks for end in task.blocked_by]
    return decision.linked + [edge[1] for edge in edges if edge not in decision.before.edges]


# Rules about the plan as a whole ask whether it got worse: a plan that somebody else left with two
# tasks in progress, or over its limits, must not refuse every later command.


def _single(decision: NaiveDecision, _: Limits) -> bool:
    before, after = (
        {i for i in model.active() if model[i]["claim"] is None}
        for model in (decision.before, decision.after)
    )
    return len(after) > 1 and bool(after - before)


def _some(decision: NaiveDecision, _: Limits) -> bool:
    if not isinstance(decision.command, WriteTodos | Batch):
        return False
    # Single updates come one by one: completing a task before the next is started is no fault.
    idle_before = decision.before.open() and not decision.before.active()
    return bool(decision.after.open() and not decision.after.active() and not idle_before)


def _first(decision: NaiveDecision, _: Limits) -> bool:
    listed = bool(decision.writes()) or isinstance(decision.command, CreateTasks)
    fresh = listed and not decision.before.open()
    return bool(fresh and decision.after.open() and not decision.after.active())


def _final(decision: NaiveDecision, _: Limits) -> bool:
    done = [i for i in decision.before.ids() if decision.before.status(i) == "completed"]
    # A finished list may be cleared away to begin anew.
    gone = decision.before.open() and set(done) & set(decision.removed) - set(decision.after.ids())
    there = set(done) & set(decision.written) & set(decision.after.ids())
    reworded = any(decision.after[i]["subject"] != decision.before[i]["subject"] for i in there)
    return any(move[1] == "completed" for move in decision.moves) or reworded or bool(gone)


def _linear(decision: NaiveDecision, _: Limits) -> bool:
    return any(move[1:] == ("pending", "completed") for move in decision.moves)


def _blocked(status: str) -> _Broken:
    def broken(decision: NaiveDecision, _: Limits) -> bool:
        # Asked of the plan after it all: pydantic-ai-todo refuses the batch {complete a, start b},
        # the hand-off that it advertises.
        moved = [i for i, _, new in decision.moves if new == status]
        created = [i for i in decision.written if i not in decision.before.ids()]
        here = [i for i in moved + created if i in decision.after.ids()]
        return any(decision.after.status(i) == status and decision.after.blockers(i) for i in here)

    return broken


def _dropped(decision: NaiveDecision, _: Limits) -> bool:
    gone = set(decision.removed) & set(decision.before.open()) - set(decision.after.ids())
    return bool(gone) and any(not write.clear for write in decision.writes())


def _empty(decision: NaiveDecision, _: Limits) -> bool:
    # OpenHands takes a call without its list for an empty one, and wipes the plan.
    wiped = any(not write.todos and not write.clear for write in decision.writes())
    return wiped and bool(decision.before.open())


def _duplicate(decision: NaiveDecision, _: Limits) -> bool:
    now = Counter(normalised(task["subject"]) for task in decision.after.tasks)
    return any(
        now[normalised(new["subject"])] > 1
        for old, new in _changes(decision)
        if old is None or old["subject"] != new["subject"]
    )


def _required(field: str) -> _Broken:
    def broken(decision: NaiveDecision, _: Limits) -> bool:
        return any(
            not new[field] and (old is None or old[field]) for old, new in _changes(decision)
        )

    return broken


def _items(decision: NaiveDecision, limits: Limits) -> bool:
    more = limits.items < len(decision.after.tasks) > len(decision.before.tasks)
    return more or limits.open_items < len(decision.after.open()) > len(decision.before.open())


def _text(decision: NaiveDecision, limits: Limits) -> bool:
    sizes = (
        ("subject", limits.subject),
        ("description", limits.text),
        ("active_form", limits.active_form),
        ("owner", limits.owner),
        ("check", limits.text),
        ("answer", limits.text),
    )
    within = (("waiting", "reason"), ("waiting", "question"), ("evidence", "summary"))
    return any(
        len(new[field] or "") > most and (old is None or old[field] != new[field])
        for old, new in _changes(decision)
        for field, most in sizes
    ) or any(
        len(getattr(new[field], name, None) or "") > limits.text
        and (old is None or old[field] != new[field])
        for old, new in _changes(decision)
        for field, name in within
    )


def _metadata(decision: NaiveDecision, limits: Limits) -> bool:
    for old, new in _changes(decision):
        # A task without any has none of a size.
        if new["metadata"] and (old is None or old["metadata"] != new["metadata"]):
            text = json.dumps(new["metadata"], ensure_ascii=False)
            keys, levels = _shape(new["metadata"])
            size = len(text.encode("utf-8", "surrogatepass"))  # half a pair counts too
            most = (limits.metadata, limits.metadata_keys, limits.metadata_levels)
            if any(found > limit for found, limit in zip((size, keys, levels), most, strict=True)):
                return True
    return False


def _shape(value: Any) -> tuple[int, int]:
    """Return the keys of a JSON value in all, and its levels."""
    if not isinstance(value, dict | list):
        return 0, 0
    items = list(value.values()) if isinstance(value, dict) else value
    inner = [_shape(item) for item in items]
    own = len(value) if isinstance(value, dict) else 0
    return own + sum(keys for keys, _ in inner), 1 + max((n for _, n in inner), default=0)


def _edges(decision: NaiveDecision, limits: Limits) -> bool:
    counts = Counter(b for _, b in decision.after.edges)
    return any(counts[i] > limits.edges for i in _linked(decision))


def _completions(decision: NaiveDecision, _: Limits) -> bool:
    return len({i for i, _, new in decision.moves if new == "completed"}) > 1


def _no_op(decision: NaiveDecision, _: Limits) -> bool:
    return bool(decision.writes()) and not decision.changed


def _owner(decision: NaiveDecision, _: Limits) -> bool:
    # AgentScope overwrites an owner without a check.
    here = [i for i in decision.written if decision.before.get(i) and decision.after.get(i)]
    owners = [(decision.before[i]["owner"], decision.after[i]["owner"]) for i in here]
    return any(old and new and old != new for old, new in owners)


def _depth(decision: NaiveDecision, limits: Limits) -> bool:
    after = decision.after
    moved = _put_elsewhere(decision, _restored(decision))
    deep = [i for i in after.ids() if len(after.ancestors(i)) + 1 > limits.depth]
    return any(i in moved or set(after.ancestors(i)) & moved for i in deep)


def _put_elsewhere(decision: NaiveDecision, restored: list[str]) -> set[str]:
    """
    Return the tasks that lie in another one than before, by what was done to them or brought back.
    """
    before, after = decision.before, decision.after
    here = [i for i in [*decision.placed, *restored] if after.get(i) and after[i]["parent"]]
    return {i for i in here if (before.get(i) or {}).get("parent") != after[i]["parent"]}


def _restored(decision: NaiveDecision) -> list[str]:
    parts = [part for part in decision.commands if isinstance(part, RestorePlan)]
    return [task.id for part in parts for task in part.tasks]


def _parent_complete(decision: NaiveDecision, _: Limits) -> bool:
    after = decision.after
    done = {i for i, _, new in decision.moves if new == "completed" and i in after.ids()}
    parents = [i for i in done if after.status(i) == "completed"]
    return any(set(after.ancestors(i)) & set(parents) for i in after.open())


def _child_of_closed(decision: NaiveDecision, _: Limits) -> bool:
    after = decision.after
    reopened = {i for i, old, new in decision.moves if old in CLOSED and new not in CLOSED}
    here = [i for i in after.open() if i in reopened | _put_elsewhere(decision, [])]
    return any(after.status(above) in CLOSED for i in here for above in after.ancestors(i))


def _evidence(decision: NaiveDecision, _: Limits) -> bool:
    # Law 20: completed by whatever command, and without a check by none that takes it away.
    done = {i for i, status in decision.arrived if status == "completed"}
    for task_id in done & set(decision.after.ids()):
        task, was = decision.after[task_id], decision.before.get(task_id) or {"check": None}
        found = task["evidence"] is not None and task["evidence"].passed
        if task["status"] == "completed" and (task["check"] or was["check"]) and not found:
            return True
    return False


def _approval(decision: NaiveDecision, _: Limits) -> bool:
    begun = [i for i, status in decision.arrived if status in ("in_progress", "completed")]
    return bool(begun) and decision.after.approved is None


def _approved(decision: NaiveDecision, _: Limits) -> bool:
    approved = decision.before.approved
    others = set(decision.before.ids()) ^ set(decision.after.ids())
    if approved is None or not others:
        return False
    return decision.actor is None or decision.actor != approved["by"]


NAIVE_RULES: dict[str, _Broken] = {
    "single_in_progress": _single,
    "some_in_progress": _some,
    "first_in_progress": _first,
    "completed_is_final": _final,
    "linear_status": _linear,
    "blocked_start": _blocked("in_progress"),
    "blocked_complete": _blocked("completed"),
    "dropped_open_items": _dropped,
    "empty_write": _empty,
    "duplicate_content": _duplicate,
    **{f"{field}_required": _required(field) for field in TASK_FIELDS},
    "max_items": _items,
    "max_text": _text,
    "max_edges": _edges,
    "max_metadata": _metadata,
    "owner_taken": _owner,
    "batch_completion": _completions,
    "no_op_write": _no_op,
    "max_depth": _depth,
    "parent_complete": _parent_complete,
    "child_of_closed": _child_of_closed,
    "evidence_required": _evidence,
    "approval_required": _approval,
    "approved_changed": _approved,
}

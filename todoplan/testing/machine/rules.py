"""
What a policy's rules say of a naive decision: each `(decision, limits) -> is it broken`.

Like the model these are written from the design. A rule looks at what came of a command more often
than at the command: a batch may break by its sum what none of its parts breaks.
"""

from collections import Counter
from collections.abc import Callable, Mapping

from todoplan.core.commands import Batch, CreateTasks, RestorePlan, WriteTodos
from todoplan.core.rules.limits import Limits
from todoplan.testing.machine.decision import NaiveDecision
from todoplan.testing.machine.model import normalised

__all__ = ["NAIVE_RULES", "problems"]

_Broken = Callable[[NaiveDecision, Limits], bool]


def problems(decision: NaiveDecision, severities: Mapping[str, str], limits: Limits) -> set[str]:
    """
    Return what is wrong: structural faults, or else the names of the rules broken at `error`.
    """
    faults = {code for code, times in decision.faults.items() if times}
    strict = {name for name, level in severities.items() if level == "error"}
    return faults or {name for name in strict if NAIVE_RULES[name](decision, limits)}


def _written(decision: NaiveDecision) -> list[str]:
    """
    Return the ids of the tasks that were created, edited or brought back.
    """
    restored = any(isinstance(part, RestorePlan) for part in decision.commands)
    return decision.after.ids() if restored else decision.written


def _linked(decision: NaiveDecision) -> list[str]:
    """
    Return the ids of the tasks that have new blockers.
    """
    restored = [part for part in decision.commands if isinstance(part, RestorePlan)]
    edges = [(end, task.id) for part in restored for task in part.tasks for end in task.blocked_by]
    return decision.linked + [edge[1] for edge in edges if edge not in decision.before.edges]


def _single(decision: NaiveDecision, _: Limits) -> bool:
    return 1 < len(decision.after.active()) > len(decision.before.active())


def _some(decision: NaiveDecision, _: Limits) -> bool:
    if not isinstance(decision.command, WriteTodos | Batch):
        return False
    idle_before = decision.before.open() and not decision.before.active()
    return bool(decision.after.open() and not decision.after.active() and not idle_before)


def _first(decision: NaiveDecision, _: Limits) -> bool:
    listed = bool(decision.writes()) or isinstance(decision.command, CreateTasks)
    fresh = listed and not decision.before.open()
    return bool(fresh and decision.after.open() and not decision.after.active())


def _final(decision: NaiveDecision, _: Limits) -> bool:
    done = [i for i in decision.before.ids() if decision.before.status(i) == "completed"]
    gone = decision.before.open() and set(done) & set(decision.removed) - set(decision.after.ids())
    there = set(done) & set(decision.written) & set(decision.after.ids())
    reworded = any(decision.after[i]["subject"] != decision.before[i]["subject"] for i in there)
    return any(move[1] == "completed" for move in decision.moves) or reworded or bool(gone)


def _linear(decision: NaiveDecision, _: Limits) -> bool:
    return any(move[1:] == ("pending", "completed") for move in decision.moves)


def _blocked(status: str) -> _Broken:
    def broken(decision: NaiveDecision, _: Limits) -> bool:
        moved = [i for i, _, new in decision.moves if new == status]
        created = [i for i in decision.written if i not in decision.before.ids()]
        here = [i for i in moved + created if i in decision.after.ids()]
        return any(decision.after.status(i) == status and decision.after.waiting(i) for i in here)

    return broken


def _dropped(decision: NaiveDecision, _: Limits) -> bool:
    gone = set(decision.removed) & set(decision.before.open()) - set(decision.after.ids())
    return bool(gone) and any(not write.clear for write in decision.writes())


def _empty(decision: NaiveDecision, _: Limits) -> bool:
    wiped = any(not write.todos and not write.clear for write in decision.writes())
    return wiped and bool(decision.before.open())


def _duplicate(decision: NaiveDecision, _: Limits) -> bool:
    now = Counter(normalised(task["subject"]) for task in decision.after.tasks)
    for task_id in _written(decision):
        old, new = decision.before.get(task_id), decision.after.get(task_id)
        fresh = old is None or (new and old["subject"] != new["subject"])
        if new and fresh and now[normalised(new["subject"])] > 1:
            return True
    return False


def _required(field: str) -> _Broken:
    def broken(decision: NaiveDecision, _: Limits) -> bool:
        for task_id in _written(decision):
            old, new = decision.before.get(task_id), decision.after.get(task_id)
            if new and not new[field] and (old is None or old[field]):
                return True
        return False

    return broken


def _items(decision: NaiveDecision, limits: Limits) -> bool:
    more = limits.items < len(decision.after.tasks) > len(decision.before.tasks)
    return more or limits.open_items < len(decision.after.open()) > len(decision.before.open())


def _text(decision: NaiveDecision, limits: Limits) -> bool:
    for task_id in _written(decision):
        old, new = decision.before.get(task_id), decision.after.get(task_id)
        for field, most in (("subject", limits.subject), ("description", limits.text)):
            if new and len(new[field]) > most and (old is None or old[field] != new[field]):
                return True
    return False


def _edges(decision: NaiveDecision, limits: Limits) -> bool:
    counts = Counter(b for _, b in decision.after.edges)
    return any(counts[i] > limits.edges for i in _linked(decision))


def _completions(decision: NaiveDecision, _: Limits) -> bool:
    return len({i for i, _, new in decision.moves if new == "completed"}) > 1


def _no_op(decision: NaiveDecision, _: Limits) -> bool:
    return bool(decision.writes()) and not decision.changed


def _owner(decision: NaiveDecision, _: Limits) -> bool:
    for task_id in decision.written:
        old, new = decision.before.get(task_id), decision.after.get(task_id)
        if old and new and old["owner"] and new["owner"] and old["owner"] != new["owner"]:
            return True
    return False


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
    "active_form_required": _required("active_form"),
    "priority_required": _required("priority"),
    "max_items": _items,
    "max_text": _text,
    "max_edges": _edges,
    "owner_taken": _owner,
    "batch_completion": _completions,
    "no_op_write": _no_op,
}

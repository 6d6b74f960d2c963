"""The rules of a policy for the naive model: `(step, limits) -> is it broken`."""

import json
import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from todoplan.core.commands import Batch, CreateTasks, RestorePlan, WriteTodos
from todoplan.core.rules.limits import Limits

if TYPE_CHECKING:
    from todoplan.testing.machine_step import Step

__all__ = ["RULES", "plain"]

_Broken: TypeAlias = "Callable[[Step, Limits], bool]"


def plain(text: str) -> str:
    """
    Return the text in lower case with runs of anything but letters and digits as one space.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in folded).split()) or text


def _written(step: "Step") -> list[str]:
    """
    Return the ids of the tasks that were created, edited or brought back.
    """
    restored = any(isinstance(part, RestorePlan) for part in step.commands)
    return step.after.ids() if restored else step.written


def _linked(step: "Step") -> list[str]:
    """
    Return the ids of the tasks that have new blockers.
    """
    restored = [part for part in step.commands if isinstance(part, RestorePlan)]
    edges = [(end, task.id) for part in restored for task in part.tasks for end in task.blocked_by]
    return step.linked + [edge[1] for edge in edges if edge not in step.before.edges]


def _single(step: "Step", _: Limits) -> bool:
    return 1 < len(step.after.active()) > len(step.before.active())


def _some(step: "Step", _: Limits) -> bool:
    if not isinstance(step.command, WriteTodos | Batch):
        return False
    idle_before = step.before.open() and not step.before.active()
    return bool(step.after.open() and not step.after.active() and not idle_before)


def _first(step: "Step", _: Limits) -> bool:
    listed = bool(step.writes()) or isinstance(step.command, CreateTasks)
    fresh = listed and not step.before.open()
    return bool(fresh and step.after.open() and not step.after.active())


def _final(step: "Step", _: Limits) -> bool:
    done = [i for i in step.before.ids() if step.before.status(i) == "completed"]
    gone = step.before.open() and set(done) & set(step.removed) - set(step.after.ids())
    there = set(done) & set(step.written) & set(step.after.ids())
    reworded = any(step.subject(i) != step.before.known(i)["subject"] for i in there)
    return any(move[1] == "completed" for move in step.moves) or reworded or bool(gone)


def _linear(step: "Step", _: Limits) -> bool:
    return any(move[1:] == ("pending", "completed") for move in step.moves)


def _blocked(status: str) -> _Broken:
    def broken(step: "Step", _: Limits) -> bool:
        moved = [i for i, _, new in step.moves if new == status]
        created = [i for i in step.written if i not in step.before.ids()]
        here = [i for i in moved + created if i in step.after.ids()]
        return any(step.after.status(i) == status and step.after.waiting(i) for i in here)

    return broken


def _dropped(step: "Step", _: Limits) -> bool:
    gone = set(step.removed) & set(step.before.open()) - set(step.after.ids())
    return bool(gone) and any(not write.clear for write in step.writes())


def _empty(step: "Step", _: Limits) -> bool:
    wiped = any(not write.todos and not write.clear for write in step.writes())
    return wiped and bool(step.before.open())


def _duplicate(step: "Step", _: Limits) -> bool:
    now = Counter(plain(task["subject"]) for task in step.after.tasks)
    for task_id in _written(step):
        old, new = step.before.task(task_id), step.after.task(task_id)
        fresh = old is None or (new and old["subject"] != new["subject"])
        if new and fresh and now[plain(new["subject"])] > 1:
            return True
    return False


def _required(field: str) -> _Broken:
    def broken(step: "Step", _: Limits) -> bool:
        for task_id in _written(step):
            old, new = step.before.task(task_id), step.after.task(task_id)
            if new and not new[field] and (old is None or old[field]):
                return True
        return False

    return broken


def _items(step: "Step", limits: Limits) -> bool:
    more = limits.items < len(step.after.tasks) > len(step.before.tasks)
    return more or limits.open_items < len(step.after.open()) > len(step.before.open())


def _text(step: "Step", limits: Limits) -> bool:
    for task_id in _written(step):
        old, new = step.before.task(task_id), step.after.task(task_id)
        for field, most in (
            ("subject", limits.subject),
            ("description", limits.text),
            ("active_form", limits.active_form),
            ("owner", limits.owner),
        ):
            text = (new or {}).get(field) or ""
            if len(text) > most and (old is None or old[field] != text):
                return True
    return False


def _metadata(step: "Step", limits: Limits) -> bool:
    for task_id in _written(step):
        old, new = step.before.task(task_id), step.after.task(task_id)
        if new and (old is None or old["metadata"] != new["metadata"]):
            text = json.dumps(new["metadata"], ensure_ascii=False)
            keys, levels = _shape(new["metadata"])
            size = len(text.encode("utf-8", "surrogatepass"))
            if (
                size > limits.metadata
                or keys > limits.metadata_keys
                or levels > limits.metadata_levels
            ):
                return True
    return False


def _shape(value: Any) -> tuple[int, int]:
    """
    Return the keys of a JSON value in all, and its levels.
    """
    if not isinstance(value, dict | list):
        return 0, 0
    items = list(value.values()) if isinstance(value, dict) else value
    inner = [_shape(item) for item in items]
    own = len(value) if isinstance(value, dict) else 0
    return own + sum(keys for keys, _ in inner), 1 + max((n for _, n in inner), default=0)


def _edges(step: "Step", limits: Limits) -> bool:
    counts = Counter(b for _, b in step.after.edges)
    return any(counts[i] > limits.edges for i in _linked(step))


def _completions(step: "Step", _: Limits) -> bool:
    return len({i for i, _, new in step.moves if new == "completed"}) > 1


def _no_op(step: "Step", _: Limits) -> bool:
    return bool(step.writes()) and not step.changed


def _owner(step: "Step", _: Limits) -> bool:
    for task_id in step.written:
        old, new = step.before.task(task_id), step.after.task(task_id)
        if old and new and old["owner"] and new["owner"] and old["owner"] != new["owner"]:
            return True
    return False


RULES: dict[str, _Broken] = {
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
    "max_metadata": _metadata,
    "max_edges": _edges,
    "owner_taken": _owner,
    "batch_completion": _completions,
    "no_op_write": _no_op,
}

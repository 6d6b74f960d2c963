"""
The rules of a policy for the reference model, naively: `(step, limits) -> is it broken`.
"""

import unicodedata
from collections import Counter

from todoplan.core.commands import CreateTasks


def plain(text):
    """
    Return the text in lower case with runs of anything but letters and digits as one space.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in folded).split()) or text


def _single(step, limits):
    return 1 < len(step.after.active()) > len(step.before.active())


def _some(step, limits):
    idle_before = step.before.open() and not step.before.active()
    return bool(step.after.open() and not step.after.active() and not idle_before)


def _first(step, limits):
    listed = bool(step.writes()) or isinstance(step.command, CreateTasks)
    fresh = listed and not step.before.open()
    return bool(fresh and step.after.open() and not step.after.active())


def _final(step, limits):
    done = [i for i in step.before.ids() if step.before.status(i) == "completed"]
    gone = step.before.open() and set(done) & set(step.removed) - set(step.after.ids())
    reworded = any(
        step.after.task(i) and step.after.task(i)["subject"] != step.before.task(i)["subject"]
        for i in set(done) & set(step.written)
    )
    return any(old == "completed" for _, old, _ in step.moves) or reworded or bool(gone)


def _linear(step, limits):
    return any((old, new) == ("pending", "completed") for _, old, new in step.moves)


def _blocked(status):
    def broken(step, limits):
        moved = [i for i, _, new in step.moves if new == status]
        created = [i for i in step.written if i not in step.before.ids()]
        here = [i for i in moved + created if i in step.after.ids()]
        return any(step.after.status(i) == status and step.after.waiting(i) for i in here)

    return broken


def _dropped(step, limits):
    gone = set(step.removed) & set(step.before.open()) - set(step.after.ids())
    return bool(gone) and any(not write.clear for write in step.writes())


def _empty(step, limits):
    wiped = any(not write.todos and not write.clear for write in step.writes())
    return wiped and bool(step.before.open())


def _duplicate(step, limits):
    now = Counter(plain(task["subject"]) for task in step.after.tasks)
    for task_id in step.written:
        old, new = step.before.task(task_id), step.after.task(task_id)
        fresh = new and (old is None or old["subject"] != new["subject"])
        if fresh and now[plain(new["subject"])] > 1:
            return True
    return False


def _required(field):
    def broken(step, limits):
        for task_id in step.written:
            old, new = step.before.task(task_id), step.after.task(task_id)
            if new and not new[field] and (old is None or old[field]):
                return True
        return False

    return broken


def _items(step, limits):
    more = limits.items < len(step.after.tasks) > len(step.before.tasks)
    return more or limits.open_items < len(step.after.open()) > len(step.before.open())


def _text(step, limits):
    for task_id in step.written:
        old, new = step.before.task(task_id), step.after.task(task_id)
        for field, most in (("subject", limits.subject), ("description", limits.text)):
            if new and len(new[field]) > most and (old is None or old[field] != new[field]):
                return True
    return False


def _edges(step, limits):
    counts = Counter(b for _, b in step.after.edges)
    return any(counts[i] > limits.edges for i in step.linked)


def _completions(step, limits):
    return len({i for i, _, new in step.moves if new == "completed"}) > 1


def _no_op(step, limits):
    return bool(step.writes()) and not step.changed


def _owner(step, limits):
    for task_id in step.written:
        old, new = step.before.task(task_id), step.after.task(task_id)
        if old and new and old["owner"] and new["owner"] and old["owner"] != new["owner"]:
            return True
    return False


RULES = {
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

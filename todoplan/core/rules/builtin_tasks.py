"""
The rules about the contents of tasks: texts, fields, owners, edges and sizes.

Each reports only new violations (see `todoplan.core.rules.rule`), and measures only what the change
affected.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from todoplan.core.events.types import EdgeAdded, PlanRestored, TaskCreated, TaskEdited
from todoplan.core.plan.frozen import EMPTY
from todoplan.core.plan.model import CLOSED, OPEN, Task
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.core.rules.limits import TEXTS
from todoplan.core.rules.matching import normalised
from todoplan.core.rules.rule import Rule, first_ids, moves, registering

__all__ = ["TASK_RULES"]

TASK_RULES: dict[str, Rule] = {}
_rule = registering(TASK_RULES)
_FILLED = TaskCreated, TaskEdited, PlanRestored
_other_texts = attrgetter(*(n for n in TEXTS if n != "subject"), "waiting", "evidence")


def _anew(change: Change, field: str) -> Iterator[Task]:
    for task in change.written():
        was = change.before.get(task.id)
        if was is None or getattr(was, field) != getattr(task, field):
            yield task


@_rule(*_FILLED, about_plan=True)
def _duplicate_content(change: Change) -> Iterator[Problem]:
    written = {normalised(task.subject) for task in _anew(change, "subject")}
    if not written:
        return
    # The only rule that reads the whole plan, so it does so only if a subject was written.
    texts = Counter(normalised(task.subject) for task in change.after)
    for text in written:
        if texts[text] > 1:
            same = first_ids(task for task in change.after if normalised(task.subject) == text)
            yield Problem("duplicate_content", same, seen=str(texts[text]))


def _missing(change: Change, field: str, code: str) -> Iterable[Problem]:
    lacking = tuple(task.id for task in _anew(change, field) if not getattr(task, field))
    return (Problem(code, lacking, seen=field),) if lacking else ()


@_rule(*_FILLED, about_plan=True, new_tasks_need="active_form", presets={"claude": "error"})
def _active_form_required(change: Change) -> Iterable[Problem]:
    return _missing(change, "active_form", "active_form_required")


@_rule(*_FILLED, about_plan=True, new_tasks_need="priority", presets={"claude-strict": "error"})
def _priority_required(change: Change) -> Iterable[Problem]:
    return _missing(change, "priority", "priority_required")


@_rule(
    *moves(OPEN, of=CLOSED),
    TaskCreated,
    PlanRestored,
    about_plan=True,
    limit="items",
    presets={"langchain": "error"},
)
def _max_items(change: Change) -> Iterator[Problem]:
    before, after, limits = change.before.counts, change.after.counts, change.limits
    if limits.items < after.total > before.total:
        yield Problem("max_items", seen=str(after.total), legal=str(limits.items))
    if limits.open_items < after.open > before.open:
        yield Problem("max_items", seen=f"{after.open} open", legal=str(limits.open_items))


@_rule(*_FILLED, about_plan=True, presets={"langchain": "error"})
def _max_text(change: Change) -> Iterable[Problem]:
    if not _may_be_large(change):
        return ()
    found: list[Problem] = []
    limits = change.limits.texts
    for task in change.written():
        was = change.before.get(task.id)
        for field, limit in limits.items():
            text = getattr(task, field)
            if text and len(text) > limit and (was is None or text != getattr(was, field)):
                seen = f"{field} of {len(text)} characters"
                found.append(Problem("max_text", (task.id,), seen=seen, legal=str(limit)))
        for field, text in _texts_within(task, was):
            if len(text) > change.limits.text:
                seen = f"{field} of {len(text)} characters"
                legal = str(change.limits.text)
                found.append(Problem("max_text", (task.id,), seen=seen, legal=legal))
    return tuple(found)


def _texts_within(task: Task, was: Task | None) -> Iterator[tuple[str, str]]:
    """Yield the new texts inside a task's `waiting` and `evidence`, each with its path."""
    if task.waiting is not None and (was is None or was.waiting != task.waiting):
        yield "waiting.reason", task.waiting.reason
        yield "waiting.question", task.waiting.question or ""
    if task.evidence is not None and (was is None or was.evidence != task.evidence):
        yield "evidence.summary", task.evidence.summary


def _may_be_large(change: Change) -> bool:
    """
    Return True if a text may be too long.

    For a list of thousands of lines with nothing but titles, only the lengths of these are checked.
    """
    shortest = change.limits.shortest
    for event in change.events:
        if type(event) is TaskCreated:
            texts = _other_texts(event.task)
            if len(event.task.subject) > shortest or (
                any(texts) and _is_any_large(texts, shortest)
            ):
                return True
        elif type(event) is TaskEdited or type(event) is PlanRestored:
            return True
    return False


def _is_any_large(texts: Iterable[Any], shortest: int) -> bool:
    # A value that is not a string contains texts.
    return any(type(text) is not str or len(text) > shortest for text in filter(None, texts))


@_rule(*_FILLED, about_plan=True, limit="metadata", presets={"langchain": "error"})
def _max_metadata(change: Change) -> Iterable[Problem]:
    for event in change.events:
        if type(event) is TaskCreated:
            if event.task.metadata is not EMPTY:
                return tuple(_large_metadata(change))
        elif type(event) is PlanRestored or (
            type(event) is TaskEdited and "metadata" in event.changes
        ):
            return tuple(_large_metadata(change))
    return ()


def _large_metadata(change: Change) -> Iterator[Problem]:
    limits = change.limits
    for task in _anew(change, "metadata"):
        if not task.metadata:
            continue  # no metadata, although its JSON has two bytes
        text = _JSON.encode(task.metadata)
        # Models send single surrogates, which plain UTF-8 refuses.
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        # Counting these characters gives upper bounds of keys and levels, so most metadata needs no
        # walk.
        few = text.count(":") <= limits.metadata_keys
        flat = text.count("{") + text.count("[") <= limits.metadata_levels
        keys, levels = (0, 0) if few and flat else _keys_and_levels(task.metadata)
        measured = (
            (size, limits.metadata, "bytes as JSON"),
            (keys, limits.metadata_keys, "keys"),
            (levels, limits.metadata_levels, "levels"),
        )
        for number, limit, unit in measured:
            if number > limit:
                seen = f"{number} {unit}"
                yield Problem("max_metadata", (task.id,), seen=seen, legal=str(limit))


# A value that JSON cannot represent is measured by its str; the codec refuses it later, with its
# path.
def _jsonable(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


_JSON = json.JSONEncoder(default=_jsonable, skipkeys=True, ensure_ascii=False)


def _keys_and_levels(value: Any) -> tuple[int, int]:
    """Return the number of keys at all levels, and the depth of nested objects and arrays."""
    keys = levels = 0
    layer = [value]
    while layer := [each for each in layer if isinstance(each, Mapping | tuple)]:
        levels += 1
        keys += sum(len(each) for each in layer if isinstance(each, Mapping))
        layer = [
            item
            for each in layer
            for item in (each.values() if isinstance(each, Mapping) else each)
        ]
    return keys, levels


@_rule(EdgeAdded, PlanRestored, about_plan=True, limit="edges", presets={"langchain": "error"})
def _max_edges(change: Change) -> Iterator[Problem]:
    linked: dict[str, None] = {}
    for event in change.events:
        if type(event) is EdgeAdded:
            linked[event.blocked] = None
        elif type(event) is TaskCreated:
            # In `inspect` every task counts as created, with its edges.
            linked[event.task.id] = None
        elif type(event) is PlanRestored:
            for task in event.tasks:
                was = change.before.get(task.id)
                if was is None or not set(task.blocked_by) <= set(was.blocked_by):
                    linked[task.id] = None
    most = change.limits.edges
    for now in filter(None, map(change.after.get, linked)):
        if len(now.blocked_by) > most:
            yield Problem("max_edges", (now.id,), seen=str(len(now.blocked_by)), legal=str(most))


# The only rule that stops every further change: a runaway model fills the disk with a journal that
# is read at each start, and no single step of it looks wrong.
@_rule(about_plan=True, limit="history", presets={"langchain": "error"})
def _max_history(change: Change) -> Iterable[Problem]:
    number, most = change.after.revision, change.limits.history
    if number <= most or number <= change.before.revision:
        return ()
    return (Problem("max_history", seen=str(number), legal=str(most)),)


# AgentScope's tasks change owners silently, and then two agents do the same work.
@_rule(TaskEdited, presets={"agentscope": "warn"})
def _owner_taken(change: Change) -> Iterator[Problem]:
    for was, task in change.edited():
        if was.owner and task.owner and was.owner != task.owner:
            yield Problem("owner_taken", (task.id,), seen=was.owner)

"""
The text of a tool reply: what changed, what is wrong, or the list.

This module is divided into sections. Read `views` first (tasks as lines, one task in full), then
`phrasing` (the text of an accepted change) and `error_texts` (the text of problems, warnings and
repairs). All wording is in `todoplan.texts`. A reply contains no character that is invisible to a
person. `views` states the maximum length of a list and of a task; every other reply is shorter than
12,000 characters.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, assert_never

from todoplan import texts as cleaning
from todoplan.core.commands import ClaimTask
from todoplan.core.events.base import Base, Difference
from todoplan.core.events.types import (
    ClaimRenewed,
    EdgeAdded,
    EdgeRemoved,
    Event,
    ParentChanged,
    PlanApproved,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskClaimed,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.plan.model import (
    EDITABLE,
    OPEN,
    RESOLVED,
    TASK_FIELDS,
    Claim,
    Evidence,
    FieldKind,
    FrozenDict,
    Status,
    Task,
    Waiting,
    thaw,
)
from todoplan.core.plan.plan import ChunkWriter, Plan, number_of
from todoplan.core.plan.questions import stuck, unresolved_blockers
from todoplan.core.problems import Problem, explain_all, ids_text
from todoplan.core.rules import Change
from todoplan.dialogue.calls import Reply
from todoplan.dialogue.intake import Repair, parts_of
from todoplan.texts import clipped, say

# -------- views --------
# The plan as text for a model: one line per task, or one task in full. Never a repr.
#
# Laws: a task is exactly one line of a list, whatever its texts contain. The model is shown
# no character that is invisible to a person (`todoplan.texts`). A list is cut at `LONGEST_LIST`
# characters and a task at `LONGEST_TASK`, with a note, because a plan may come from a file, and no
# rule limits the size of a file.
#
# A list is the most expensive reply, and most of its lines have not changed since the previous
# call. So the plan caches the text of each chunk of tasks (`ChunkWriter`). Only the parts that
# depend on other tasks are added each time: the indentation, the unresolved blockers, and whether
# the task can ever start.


LONGEST_LIST = 250_000
LONGEST_TASK = 95_000
# A line needs at most the first 65,536 characters of a text. Cleaning a megabyte of escape
# sequences would take a second.
_MOST_READ = 65_536

_LONGEST_LINE = 500
_LONGEST_REASON = 120
_DEEPEST_SHOWN = 12  # 10,000 nested tasks would be indented by 10,000 levels
_LONGEST_DETAIL = 4_000
_LONGEST_METADATA = 8_000
_LONGEST_DESCRIPTION = 16_384  # the default limit of the rule `max_text`
_CONTROLS_OF_ASCII = bytes((*range(0x20), 0x7F))


def one_line(text: str, most: int = _LONGEST_LINE) -> str:
    """Return the text as one line: clipped, and without line ends and hidden characters."""
    if text.isprintable() and len(text) <= most and "  " not in text and text == text.strip():
        return text
    line = cleaning.one_line(text[:_MOST_READ])
    return line if len(line) <= most else f"{line[: most - 3]}..."


def list_text(plan: Plan) -> str:
    """
    Return all tasks in order, one per line.

    A line has the id, status, subject, owner, wait, claim and unresolved blockers of the task.
    Subtasks are indented. The line of a task that can never start says why.
    """
    text = "\n".join(filter(None, _chunk_texts(plan)))
    if len(text) <= LONGEST_LIST:
        return text or say("replies", "empty_list")
    shown = text[:LONGEST_LIST].rpartition("\n")[0]
    left_out = len(plan) - shown.count("\n") - 1
    return f"{shown}\n{say('replies', 'more', count=left_out)}"


def _line(task: Task) -> str:
    # The property `value` returns `_value_`, but is slower.
    owner = f" ({one_line(task.owner)})" if task.owner else ""
    waiting = _waiting_note(task.waiting) if task.waiting else ""
    claim = _claim_note(task.claim) if task.claim else ""
    return f"#{task.id} [{task.status._value_}] {one_line(task.subject)}{owner}{waiting}{claim}"


def waiting_text(waiting: Waiting) -> str:
    """Return on one line why a task waits: its reason or, if there is none, its question."""
    return one_line(waiting.reason or waiting.question or "", _LONGEST_REASON)


def _waiting_note(waiting: Waiting) -> str:
    text = waiting_text(waiting)
    return f" [waiting: {text}]" if text else " [waiting]"


def _claim_note(claim: Claim) -> str:
    return f" [claimed by {one_line(claim.owner, _LONGEST_REASON)}]"


def _lines(tasks: Sequence[Task]) -> list[str]:
    # Most subjects are short and plain. One check of all lines together is much cheaper than a
    # check of each, and shows whether `one_line` would change any of them.
    lines = [
        f"#{task.id} [{task.status._value_}] {task.subject}"
        + (f" ({one_line(task.owner)})" if task.owner else "")
        + (_waiting_note(task.waiting) if task.waiting else "")
        + (_claim_note(task.claim) if task.claim else "")
        for task in tasks
    ]
    text = " ".join((*lines, ""))  # so that a blank at a line's end becomes two blanks
    if text.isascii():  # takes a quarter of the time of isprintable()
        printable = len(text.encode().translate(None, _CONTROLS_OF_ASCII)) == len(text)
    else:
        printable = text.isprintable()
    if printable and "  " not in text and max(map(len, lines), default=0) <= _LONGEST_LINE:
        return lines
    return [_line(task) for task in tasks]


_LINES = ChunkWriter(_line, _lines, "\n")


def _chunk_texts(plan: Plan) -> list[str]:
    """
    Return the text of each chunk of tasks.

    A line is indented by its depth, and names the unresolved blockers of its task. If the task can
    never start, the line also names the failed tasks that are the cause.
    """
    chunks, waits, nested = plan.written(_LINES), plan.waits(), plan.nested
    vain = stuck(plan) if plan.counts.failed else {}
    if not (waits or nested or vain):
        return [chunk.text for chunk in chunks]
    texts: list[str] = []
    depth: dict[str, int] = {}
    # There may be fewer counts than tasks: the remaining tasks then have no blockers. In place of a
    # deleted task, a chunk has `None`.
    for chunk, counts in zip(chunks, chain(waits, repeat(())), strict=False):
        if not (nested or vain or any(counts)):
            texts.append(chunk.text)
            continue
        lines = []
        for task, line, count in zip(
            chunk.items, chunk.pieces, chain(counts, repeat(0)), strict=False
        ):
            if task is None:
                continue
            text = line
            if count:
                # Law 7: the edge from a resolved blocker is kept, but the line does not show it.
                # AgentScope listed resolved blockers too (#2540).
                blockers = task.blocked_by
                if count < len(blockers):
                    blockers = unresolved_blockers(plan, task)
                text += f" [blocked by #{blockers[0]}]" if count == 1 else _blocked_by(blockers)
            if nested:
                depth[task.id] = depth.get(task.parent or "", -1) + 1
                text = "  " * min(depth[task.id], _DEEPEST_SHOWN) + text
            if vain and task.id in vain:
                text += f" [cannot start: {ids_text(vain[task.id])} failed]"
            lines.append(text)
        texts.append("\n".join(lines))
    return texts


@lru_cache(maxsize=1024)  # in a wide graph, many tasks wait for the same tasks
def _blocked_by(blockers: tuple[str, ...]) -> str:
    return f" [blocked by {ids_text(blockers)}]"


def task_text(plan: Plan, task: Task) -> str:
    """
    Return one task in full, with one line for each field that differs from its default.

    The description comes last, because text after it would look like a part of it. The lines of the
    description are kept but indented, so that none of them looks like a field of the task or like
    another task.
    """
    lines = []
    for (name, show, default), stored in zip(_DETAILS, _detail_values(task), strict=True):
        if stored == default and name != "status":
            continue
        value = unresolved_blockers(plan, task) if name == "blocked_by" else stored
        if value != default or name == "status":
            lines.append(say("replies", f"task.{name}", id=task.id, value=show(value)))
        if name == "waiting" and task.waiting and task.waiting.question:
            lines.append(say("replies", "task.question", value=_detail(task.waiting.question)))
    if children := plan.children(task.id):
        lines.append(say("replies", "task.children", value=ids_text(children)))
    if task.check and not task.evidence and task.status is Status.COMPLETED:
        lines.append(say("replies", "task.evidence", value=say("replies", "evidence.unverified")))
    if task.description:
        # The cleaner replaces tabs by blanks. Here tabs stay: a description may contain a Makefile.
        whole = task.description[: 2 * _LONGEST_DESCRIPTION]
        kept = "\t".join(map(cleaning.printable, whole.split("\t")))[:_LONGEST_DESCRIPTION]
        indented = kept.replace("\n", "\n  ")
        lines.append(say("replies", "task.description", value=indented))
        if len(task.description) > _LONGEST_DESCRIPTION:
            lines.append(say("replies", "cut", shown=len(kept), length=len(task.description)))
    return "\n".join(lines)


def _detail(text: str) -> str:
    return one_line(text, _LONGEST_DETAIL)


def _waiting(waiting: Waiting) -> str:
    reason = _detail(waiting.reason) or say("replies", "unnamed")
    if waiting.until is None:
        return reason
    until = waiting.until.isoformat(sep=" ", timespec="minutes")
    return say("replies", "task.waiting_until", reason=reason, until=until)


def _claim(claim: Claim) -> str:
    owner = _detail(claim.owner)
    if claim.until is None:
        return say("replies", "task.claim_by", owner=owner)
    until = claim.until.isoformat(sep=" ", timespec="seconds")
    return say("replies", "task.claim_until", owner=owner, until=until)


def _evidence(evidence: Evidence) -> str:
    summary = _detail(evidence.summary)
    if evidence.by:
        summary = say("replies", "by", text=summary, actor=_detail(evidence.by)).strip()
    return say(
        "replies", "evidence.passed" if evidence.passed else "evidence.refuted", summary=summary
    )


def _metadata(metadata: FrozenDict) -> str:
    # As JSON; AgentScope shows the repr of a Python object.
    text = json.dumps(thaw(metadata), ensure_ascii=False)
    start = text[:_MOST_READ]
    if cleaning.printable(start) != start:
        text = json.dumps(thaw(metadata))  # hidden characters become \\uXXXX, so nothing is lost
    return text if len(text) <= _LONGEST_METADATA else f"{text[: _LONGEST_METADATA - 3]}..."


_SHOWN: dict[FieldKind, Callable[[Any], str] | None] = {
    FieldKind.ID: None,  # part of the first line
    FieldKind.TEXT: _detail,
    FieldKind.TEXT_OR_NONE: _detail,
    FieldKind.STATUS: str,
    FieldKind.PRIORITY: str,
    FieldKind.PARENT: lambda parent: ids_text((parent,)),
    FieldKind.WAITING: _waiting,
    FieldKind.CLAIM: _claim,
    FieldKind.COUNT: None,  # the number of claims is internal
    FieldKind.EVIDENCE: _evidence,
    FieldKind.IDS: ids_text,
    FieldKind.NUMBER: "{:.15g}".format,  # all digits as they were sent: "{:g}" keeps only six
    FieldKind.DATE: str,
    FieldKind.METADATA: _metadata,
    FieldKind.TIME: None,  # does not help the model and costs tokens
}
"""For each kind of field, the function that formats a value, or `None` if the kind is not shown."""

_DETAILS = tuple(
    (name, show, field.default)
    for name, field in TASK_FIELDS.items()
    if name != "description" and (show := _SHOWN[field.kind])
)
_detail_values = attrgetter(*(name for name, _, _ in _DETAILS))


# -------- freed --------
# The tasks that a change made ready, because nothing blocks them any more.
#
# Law 7: cancelling a blocker frees the tasks that it blocks. The reply then says that the blocker
# was cancelled: a cancelled task has no result, and the model must not work as if it had one.
# Only tasks blocked by a changed task are checked, so the cost does not grow with the plan.


def few_ids(task_ids: Collection[str]) -> str:
    """Return task ids as text for a reply, such as "#3"; a single id is handled fast."""
    return f"#{next(iter(task_ids))}" if len(task_ids) == 1 else ids_text(filter(None, task_ids))


def freed_texts(change: Change) -> list[str]:
    """Return the sentences about the tasks that a change made ready, if there are such tasks."""
    before, after = change.before, change.after
    candidates = _perhaps_freed(change)
    if not candidates:  # as for most changes
        return []
    ready: list[str] = []
    # A cancelled blocker has no result, so the reply says which blockers were cancelled.
    ready_after: list[str] = []
    started_after: list[str] = []
    for task_id, cancelled in candidates.items():
        # An event shows only that a blocker is gone; the same call may have added another one.
        was = before.get(task_id)
        if was is None or before.is_ready(task_id):
            continue
        if after.is_ready(task_id):
            (ready_after if cancelled else ready).append(task_id)
        elif cancelled and was.status is not Status.IN_PROGRESS:
            task = after.get(task_id)
            if task is not None and task.status is Status.IN_PROGRESS:
                started_after.append(task_id)
    texts = [say("replies", "ready", ids=few_ids(ready))] if ready else []
    for ids, one, several in (
        (ready_after, "ready_after_cancelled", "ready_after_several"),
        (started_after, "started_after_cancelled", "started_after_several"),
    ):
        if ids:
            blockers = dict.fromkeys(chain.from_iterable(candidates[task_id] for task_id in ids))
            name = one if len(blockers) == 1 else several
            texts.append(say("replies", name, ids=few_ids(ids), by=few_ids(blockers)))
    return texts


def _perhaps_freed(change: Change) -> dict[str, list[str]]:
    """
    Return the tasks that may have become ready, each with its cancelled blockers.

    These are the tasks blocked by a changed task. Comparing all ready tasks before and after the
    change would walk the whole plan on every call.
    """
    before, after = change.before, change.after
    freed: dict[str, list[str]] = {}
    for event in change.events:
        if isinstance(event, StatusChanged):
            task = after.get(event.task_id) if event.new in RESOLVED else None
            for task_id in task.blocks if task is not None else ():
                cancelled = freed.setdefault(task_id, [])
                if event.new is Status.CANCELLED:
                    cancelled.append(event.task_id)
            # Starting or closing a task ends its wait, and then its subtasks no longer wait either.
            if before.nested and (was := before.get(event.task_id)) and was.waiting is not None:
                freed.setdefault(event.task_id, [])
        elif type(event) is TaskCreated or type(event) is EdgeAdded:
            continue  # the most frequent events free no task
        elif isinstance(event, EdgeRemoved):
            freed.setdefault(event.blocked, [])
        elif isinstance(event, TaskEdited):
            if event.changes.get("waiting", ...) is None:
                freed.setdefault(event.task_id, [])
        elif isinstance(event, TaskDeleted | ParentChanged):
            task = before.get(event.task_id)
            # Its parent may have become a task without subtasks.
            near = (task.parent, *before.children(task.id), *task.blocks) if task else ()
            if isinstance(event, ParentChanged):
                near = (event.task_id, *near)
            for task_id in filter(None, near):
                freed.setdefault(task_id, [])
    return _leaves(after, freed) if freed and after.nested else freed


def _leaves(plan: Plan, freed: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the tasks without subtasks among these tasks and their descendants."""
    leaves: dict[str, list[str]] = {}
    below = [*freed.items()]
    seen = set(freed)
    for task_id, cancelled in below:  # the list grows during the loop
        children = plan.children(task_id)
        below += [(child, cancelled) for child in children if child not in seen]
        seen.update(children)
        if not children:
            leaves[task_id] = cancelled
    return leaves


# -------- phrasing --------
# The short reply to an accepted call: the counts, the changes by id, and the tasks that became
# ready.
#
# Law: the length does not grow with the plan or the change. A reply is sent again with every later
# request and costs tokens each time. So ids are written as ranges, and titles are named only if
# something was lost. The counts come first, because this costs one token less than at the end.


# The codes of warnings that `whole_list_text` states in its own words ("removed while open", "no
# change").
_SAID_BY_WHOLE_LIST_TEXT = frozenset({"dropped_open_items", "no_op_write"})
_MOST_TITLES = 3
_LONGEST_TITLE = 60  # enough to recognise the task
_LONGEST_CLAIMED = 500
_SAID_WITH_MORE = (TaskEdited, TaskClaimed)


def counts_text(plan: Plan) -> str:
    """Return the progress of the plan, such as "3/20 completed"."""
    return _with_counts("counts", plan)


def _with_counts(name: str, plan: Plan, changes: str = "") -> str:
    pending, started, done, cancelled, failed = plan.counts
    total = pending + started + done + cancelled + failed
    # The total includes cancelled and failed tasks; they are named only if there are any.
    if not (cancelled or failed):
        return say("replies", name, done=done, total=total, changes=changes)
    named = (("cancelled", cancelled), ("failed", failed))
    others = ", ".join(f"{count} {word}" for word, count in named if count)
    texts = {"done": done, "total": total, "others": others, "changes": changes}
    return say("replies", f"{name}_others", **texts)


def whole_list_text(change: Change) -> str:
    """Return the reply to a whole-list write: the counts, and the open items that it removed."""
    # The reply never contains the list: LangChain repeats the list in the reply to every write,
    # which takes 1,591 characters for 20 short items.
    counts = counts_text(change.after)
    if not change.events:
        return say("replies", "unchanged", counts=counts)
    text = (
        say("replies", "written", counts=counts) if len(change.after) else say("replies", "emptied")
    )
    if dropped := [task.subject for task in change.removed() if not task.status.closed]:
        text = "; ".join([text, say("replies", "dropped", texts=_titles(dropped))])
    # `next` is a fast check: most plans have no waits, and every whole-list write calls this.
    if next(change.before.waiting(), None) and (over := [*_waits_over(change)]):
        subjects = [change.before[task_id].subject for task_id in over]
        text = "; ".join([text, say("replies", "wait_over", ids=_titles(subjects))])
    return text


def _titles(subjects: Collection[str]) -> str:
    # Tasks are named by title: a model that writes whole lists may never have seen an id.
    titles = [f'"{one_line(subject, _LONGEST_TITLE)}"' for subject in [*subjects][:_MOST_TITLES]]
    return ", ".join(and_more(titles, len(subjects)))


def and_more(shown: Sequence[str], total: int) -> Iterator[str]:
    """Yield the texts that are shown and, if there are more than these, how many more."""
    yield from shown
    if total > len(shown):
        yield say("replies", "more", count=total - len(shown))


def _waits_over(change: Change) -> Iterator[str]:
    """Yield the tasks whose wait ended because its end time was reached."""
    for event in change.events:
        if type(event) is TaskEdited and event.changes.get("waiting", ...) is None:
            was = change.before.get(event.task_id)
            until = was and was.waiting and was.waiting.until
            if until and event.at and until <= event.at:
                yield event.task_id


def all_done_text(change: Change) -> str:
    """Return the note for a change after which no task is open: all done, or the list is empty."""
    if failed := change.after.counts.failed:
        return say("replies", "done_note_failed", failed=failed)
    return say("replies", "done_note" if len(change.after) else "done_note_empty")


def change_text(change: Change) -> str:
    """Return the reply to a call for single tasks: the counts, changes by id, tasks now ready."""
    events = change.events
    if not events:
        return say("replies", "unchanged", counts=counts_text(change.after))
    if len(events) == 1 and type(events[0]) not in _SAID_WITH_MORE:
        # The most frequent change: one task changed its status.
        name, task_id = _words_for(events[0])
        text = say("replies", name, ids=f"#{task_id}")
    else:
        texts = []
        for name, ids in _by_words(change).items():
            if name != "claimed":
                texts.append(say("replies", name, ids=few_ids(ids)))
                continue
            # The claimant may never have seen the plan, so the reply contains the task's text.
            for task in filter(None, map(change.after.get, ids)):
                subject = one_line(task.subject, _LONGEST_CLAIMED)
                claim = {"ids": f"#{task.id}", "fence": task.claims, "subject": subject}
                texts.append(say("replies", "claim", **claim))
        text = "; ".join(texts)
    # The ready tasks are named, so that the model need not list the plan. AgentScope's replies say
    # "Call TaskList now": the model then reads 749,000 tokens for a plan of 20 tasks, and 319,000
    # without these calls.
    if freed := freed_texts(change):
        text = "; ".join([text, *freed])
    return _with_counts("steps", change.after, text)


def _by_words(change: Change) -> dict[str, dict[str, None]]:
    """Return the ids of changed tasks by the name of their reply text, in the order of events."""
    created = {event.task.id for event in change.events if type(event) is TaskCreated}
    over = set(_waits_over(change))
    groups: dict[str, dict[str, None]] = {}
    for name, task_id in map(_words_for, change.events):
        # The text "created" also covers the edges and the parent of a new task.
        if name in _PART_OF_NEW and task_id in created:
            continue
        group = "wait_over" if name == "resumed" and task_id in over else name
        groups.setdefault(group, {})[task_id] = None
    # A waiting task is pending, so the change to pending is not mentioned.
    for task_id in groups.get("waiting", ()):
        groups.get("pending", {}).pop(task_id, None)
    # A claimed task is in progress, so the change to in progress is not mentioned.
    for task_id in groups.get("claimed", ()):
        groups.get("in_progress", {}).pop(task_id, None)
    return {name: ids for name, ids in groups.items() if ids}


def claims_in_vain(change: Change) -> str:
    """Return a note if a claim of the next task found no task, otherwise ""."""
    asked = any(type(part) is ClaimTask for part in parts_of(change.command))
    got = any(type(event) is TaskClaimed for event in change.events)
    return say("replies", "nothing_to_claim") if asked and not got else ""


_PART_OF_NEW = frozenset({"updated", "moved"})


def _words_for(event: Event) -> tuple[str, str]:
    """Return the name of the reply text for an event, and the task's id ("" for the whole plan)."""
    if isinstance(event, StatusChanged):  # the most frequent event; an `if` is faster than a case
        return event.new, event.task_id  # the texts have the names of the statuses
    match event:
        case TaskCreated():
            return "created", event.task.id
        case TaskEdited() if "waiting" in event.changes:
            is_over = event.changes["waiting"] is None
            return "resumed" if is_over else "waiting", event.task_id
        case TaskEdited():
            return "updated", event.task_id
        case EdgeAdded() | EdgeRemoved():
            return "updated", event.blocked  # the blocked task, since the edge delays its start
        case TaskDeleted():
            return "deleted", event.task_id
        case ParentChanged():
            return "moved", event.task_id
        case TaskClaimed():
            return "claimed", event.task_id
        case ClaimRenewed():
            return "extended", event.task_id
        case TasksReordered():
            return "reordered", ""
        case PlanCleared():
            return "cleared", ""
        case PlanRestored():
            return "restored", ""
        case PlanApproved():
            return "approved", ""
        case _ as unreachable:
            assert_never(unreachable)


# -------- unseen --------
# The text about changes by others since a session last saw the plan (law 15).
#
# A model that does not learn of changes by others works against these changes. So the first reply
# after such a change, or the reminder before that reply, says which tasks changed, how, and by
# whom. If a whole-list write overwrote a value that somebody else had set, the reply names the
# value. A list cannot remove a task that its session has not listed, or that others have changed:
# the reply says that such tasks are kept and how to remove them. The text is short: it names a few
# tasks and counts the remaining ones. The answer to a question is quoted in full, up to a maximum
# length, because the model has waited for it.


_MOST_TASKS = 5
_LONGEST_ACTOR = 40
_LONGEST_QUESTION = 200
_LONGEST_ANSWER = 1_000
_FIELDS = ("status", *sorted(EDITABLE))


def news_text(base: Base, plan: Plan, reply: Reply) -> str:
    """
    Return the text that precedes a reply.

    The text names the changes by others since the merge base (the plan as this session's own calls
    last wrote or read it), and the values that the call overwrote. For a whole list, the text also
    names the open tasks that are kept although the list left them out, and the lines whose tasks
    were deleted. `plan` is the plan before the call.
    """
    has_list = reply.note.lines is not None
    if base.plan is plan and base.heard is None and not (has_list and base.listed is not None):
        return ""
    unseen = base.unseen(plan)
    parts = [_unseen(base, plan, unseen, reply.plan)]
    if has_list:
        parts += _about_list(base, plan, unseen, reply)
    return "; ".join(part for part in parts if part)


def unseen_text(base: Base, plan: Plan, after: Plan | None = None) -> str:
    """
    Return a text about changes by others between the merge base and the plan, or "" for none.

    The merge base is the plan as this session's own calls last wrote or read it. `after` is the
    plan after the session's own write; if it is given, the text also names the values that the
    write overwrote.
    """
    return _unseen(base, plan, base.unseen(plan), after)


def _unseen(base: Base, plan: Plan, unseen: Sequence[Difference], after: Plan | None) -> str:
    answered = [
        one
        for one in unseen
        if one.now and one.now.answer and one.now.answer != (one.was and one.was.answer)
    ]
    others = [_said(one) for one in unseen if one not in answered or _differs_more(one)]
    if base.is_newly_approved(plan):
        by = plan.approved.by if plan.approved else None
        others.insert(0, _by(say("replies", "approved"), by))
    parts = [say("replies", "unseen", items=_listed(others))] if others else []
    if answered:
        parts.append(say("replies", "answered", items=_listed([*map(_answer, answered)])))
    if after is not None and (over := [*_written_over(unseen, after)]):
        parts.append(say("replies", "written_over", items=_listed(over)))
    return "; ".join(parts)


def _about_list(
    base: Base, plan: Plan, unseen: Sequence[Difference], reply: Reply
) -> Iterator[str]:
    """
    Yield the texts about tasks on which a whole list and the plan disagree.

    These are the open tasks that are kept although the list left them out, and the open lines of
    the list whose tasks others deleted before the last reply.
    """
    lines = reply.note.lines or ()
    listed = {task_id for task_id, _ in lines}
    news = {one.task.id for one in unseen}
    # A task that was left out is kept if the session had not listed it, or if others changed it. If
    # an earlier reply has named it, it is named again only if others have changed it since.
    left = [
        task
        for task in reply.plan
        if task.status in OPEN
        and task.id in plan
        and task.id not in listed
        and (task.id in news or (not base.has_listed(task.id) and number_of(task.id) >= base.told))
    ]
    if left and all(task.id in news for task in left):
        yield say("replies", "stays_told")
    elif left:
        items = [f"#{task.id} {one_line(task.subject, _LONGEST_TITLE)}" for task in left]
        yield say("replies", "stays", items=_listed(items))
    # The last reply has reported the deletion. But a session that lists the task again may want the
    # task back, and without this text no reply would say that the line is ignored.
    deleted = [
        f"#{task_id} {one_line(line.content, _LONGEST_TITLE)}"
        for task_id, line in lines
        if (line.status is None or line.status in OPEN)
        and task_id not in plan
        and task_id not in reply.plan
        and task_id not in news
    ]
    if deleted:
        yield say("replies", "stays_deleted", items=_listed(deleted))


def _listed(items: list[str]) -> str:
    return ", ".join(and_more(items[:_MOST_TASKS], len(items)))


def _said(one: Difference) -> str:
    title = f"#{one.task.id} {one_line(one.task.subject, _LONGEST_TITLE)}"
    if one.was and one.was.subject != one.task.subject:
        # A whole-list write identifies a task by its text: a line with the old text would become a
        # new task.
        was = one_line(one.was.subject, _LONGEST_TITLE)
        title = say("replies", "renamed", title=title, was=was)
    claim, lost = one.now and one.now.claim, one.was and one.was.claim
    if claim and not (lost and lost.fence == claim.fence):
        text = _by(say("replies", "claimed", ids=title), claim.owner)
        loser = one_line(lost.owner, _LONGEST_ACTOR) if lost else ""
        return say("replies", "taken_over", text=text, loser=loser) if lost else text
    if one.was is None:
        name = "created"
    elif one.now is None:
        name = "deleted"
    elif one.was.status is not one.now.status:
        name = one.now.status.value
    elif one.was.waiting != one.now.waiting:
        name = "waiting" if one.now.waiting else "resumed"
    elif one.was.parent != one.now.parent:
        name = "moved"
    else:
        name = "updated"
    return _by(say("replies", name, ids=title), one.actor)


def _differs_more(one: Difference) -> bool:
    """Return whether a task whose question was answered has other changes too."""
    was, now = one.was, one.now
    return was is None or now is None or _unanswered(was) != _unanswered(now)


def _unanswered(task: Task) -> Task:
    return task.but(answer=None, waiting=None, updated_at=None)


def _answer(one: Difference) -> str:
    task, was = one.task, one.was
    asked = was.waiting.question or was.waiting.reason if was and was.waiting else ""
    # Only the last actor is known: if the task has other changes too, another actor may have
    # answered.
    known = one.actor and not _differs_more(one)
    return say(
        "replies",
        "answer_by" if known else "answer",
        id=task.id,
        question=one_line(asked or task.subject, _LONGEST_QUESTION),
        answer=one_line(task.answer or "", _LONGEST_ANSWER),
        actor=one_line(one.actor or "", _LONGEST_ACTOR),
    )


def _by(text: str, actor: str | None) -> str:
    return say("replies", "by", text=text, actor=one_line(actor, _LONGEST_ACTOR)) if actor else text


def _written_over(unseen: Sequence[Difference], after: Plan) -> Iterator[str]:
    for one in unseen:
        final = after.get(one.task.id)
        if one.was is None or one.now is None or final is None:
            continue
        for name in _FIELDS:
            was, now = getattr(one.was, name), getattr(one.now, name)
            # Others changed the value, and the final value is not theirs.
            if now not in (was, getattr(final, name)):
                if isinstance(now, Waiting):
                    now = waiting_text(now)
                elif isinstance(now, Evidence):
                    now = now.summary
                value = one_line(str(now), _LONGEST_TITLE)
                text = say("replies", "over", id=one.task.id, field=name, value=value)
                yield _by(text, one.actor)


# -------- error_texts --------
# The text of problems, warnings and repairs: what was seen, what is allowed, and what to do.
#
# Law: every problem of an input is counted and most are named, yet the text stays short. A model
# that reads its broken arguments again imitates them, so the text shows them clipped and cleaned.


# A model can only repair problems that are named. But a list with a fault mostly has the same fault
# in every entry, so an eleventh problem would mostly be the same as the first ten.
_MOST_PROBLEMS = 10
_MOST_WARNINGS = 5
_MOST_REPAIRS = 3


def error_text(problems: Sequence[Problem], example: str = "") -> str:
    """
    Return the reply to a refused call.

    It has up to ten problems, the number of further problems, and `example`, if not empty.
    """
    sentences = [*explain_all(problems, _MOST_PROBLEMS)]
    if example:
        sentences.append(say("problems", "example", example=example))
    return say("problems", "error", problems=" ".join(sentences))


def is_error_text(text: str) -> bool:
    """
    Return whether a planning tool's reply, or its beginning, reports a refused call.

    This is for frameworks that store a tool's reply as text without an error flag.
    """
    # OpenAI's Chat Completions and Responses have no error flag; Anthropic and Gemini have one.
    return text.startswith(say("problems", "error", problems="").rstrip())


def warnings_text(warnings: Iterable[Problem]) -> tuple[str, ...]:
    """
    Return at most five warnings as sentences, and the number of further warnings.

    Warnings that `whole_list_text` states in its own words are left out.
    """
    unsaid = (one for one in warnings if one.code not in _SAID_BY_WHOLE_LIST_TEXT)
    sentences = explain_all(unsaid, _MOST_WARNINGS)
    return tuple(say("problems", "warning", sentence=sentence) for sentence in sentences)


def repairs_text(repairs: Sequence[Repair]) -> str:
    """Return one line that names the repairs, or "" if there are none."""
    if not repairs:
        return ""
    clauses = []
    for repair in repairs[:_MOST_REPAIRS]:
        near = repair.code == "ignored_key" and repair.used
        clauses.append(
            say(
                "repairs",
                "ignored_key_near" if near else repair.code,
                path=clipped(repair.path) or "the arguments",
                seen=clipped(repair.seen),
                used=clipped(repair.used),
            )
        )
    if len(repairs) > _MOST_REPAIRS:
        clauses.append(say("repairs", "more", count=len(repairs) - _MOST_REPAIRS))
    return say("repairs", "note", clauses="; ".join(clauses))

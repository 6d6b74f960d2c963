"""
The wording of reminders. Titles are escaped, on one line and bounded; the text is inside one tag.

Law: whatever the task texts contain, a reminder has exactly one opening and one closing tag, and
its length does not grow with the plan. DeerFlow inserts titles into its tag without escaping: a
title that contains the closing tag ends the reminder, and the text after it reads as if it came
from the system.
"""

from collections.abc import Collection, Iterable
from typing import Literal

from todoplan.core.events.base import Base
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks, within_reach
from todoplan.dialogue.replies.phrasing import counts_text
from todoplan.dialogue.replies.unseen import unseen_text
from todoplan.dialogue.replies.views import one_line, waiting_text
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.errors import PlanError
from todoplan.texts.wording import say

__all__ = ["TAG", "ReminderKind", "is_reminder", "reminder", "unfinished_error"]

ReminderKind = Literal[
    "plan_lost", "changed", "changed_done", "empty", "stale", "unfinished", "all_done"
]
"""Each kind has a text of the same name, and a row in `guidance.REMINDERS`."""

TAG = "todoplan-reminder"
# A reminder is sent with every request in which it is due. So its titles have at most 4,000
# characters together, before brackets and ampersands are escaped.
_LONGEST_SUBJECT = 200
_MOST_TASKS = 20


def reminder(
    kind: ReminderKind,
    plan: Plan,
    toolset: ToolSet,
    tasks: Iterable[Task] | None = None,
    base: Base | None = None,
) -> str:
    """
    Return the text of a reminder; it lists `tasks`, by default all open tasks.

    `base` is the model's merge base, if known; the reminder then reports the changes by others.
    """
    unseen = unseen_text(base, plan) if base is not None else ""
    listed = open_tasks(plan) if tasks is None else tuple(tasks)
    lines = [
        say(
            "reminders",
            "item" if toolset.by_id else "item_plain",
            id=f"#{task.id}",
            status=task.status.value,
            subject=_escaped(one_line(task.subject, _LONGEST_SUBJECT) + _waiting(task)),
        )
        for task in listed[:_MOST_TASKS]
    ]
    if len(listed) > _MOST_TASKS:
        lines.append(say("reminders", "more", count=len(listed) - _MOST_TASKS))
    body = say(
        "reminders",
        kind,
        counts=counts_text(plan),
        items="\n".join(lines),
        unseen=f" ({_escaped(unseen)})" if unseen else "",
        # A tool's name may come from the user too, so it is escaped.
        write=_escaped(one_line(toolset.shown(toolset.writer))),
        # How to pause a task differs between tool sets; a user's own set may have no text for it.
        waiting=f" {how}" if (how := toolset.text("waiting")) else "",
    )
    return say("reminders", "frame", tag=TAG, body=body)


def _waiting(task: Task) -> str:
    return f" [waiting: {waiting_text(task.waiting)}]" if task.waiting else ""


def _escaped(text: str) -> str:
    # Every bracket, not only those of our tag: a list of forbidden tags would never be complete.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def is_reminder(text: str) -> bool:
    """Return whether a message's text is a reminder of this module."""
    return text.startswith(f"<{TAG}>\n") and text.endswith(f"\n</{TAG}>")


def unfinished_error(plan: Plan, claimed: Collection[str] = ()) -> PlanError:
    """Return the error for the verdict "raise"; `claimed` is as in `Guidance.after_model`."""
    ids = tuple(task.id for task in within_reach(plan, claimed))
    msg = (
        f"the model went on answering while {len(ids)} of {len(plan)} tasks are open, however often"
        " it was asked; allow more turns by Settings(unfinished=...), or let it go"
    )
    return PlanError(msg, task_ids=ids)

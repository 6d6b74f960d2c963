"""
Reminders in words: escaped, on one line, bounded, in exactly one tag of ours.

Law: whatever the task texts hold, a reminder has one opening and one closing tag, and its length
does not grow with the plan. DeerFlow puts titles as they are into its tag: one that holds the
closing tag ends the reminder, and what follows reads as if the system had said it.
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
"""Each has a text of its name, and a row in the table of `guidance` that says when it is due."""

TAG = "todoplan-reminder"
# A reminder is sent again with every request that it is due in. So its titles have 4,000 characters
# at most, before brackets and ampersands in them are escaped.
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
    Return the reminder of one kind about a plan; it lists `tasks`, or else all that is open.

    `base` is what the model last saw, where that is known: what others did since is said as well.
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
        # A name that a tool was given is text of somebody else as well.
        write=_escaped(one_line(toolset.shown(toolset.writer))),
        # How a task is made to wait differs from set to set; one of a user's own need not have it.
        waiting=f" {how}" if (how := toolset.text("waiting")) else "",
    )
    return say("reminders", "frame", tag=TAG, body=body)


def _waiting(task: Task) -> str:
    return f" [waiting: {waiting_text(task.waiting)}]" if task.waiting else ""


def _escaped(text: str) -> str:
    # Every bracket, not only those of our tag: a list of bad words is always one spelling short.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def is_reminder(text: str) -> bool:
    """
    Say whether a message's text is a reminder of ours.
    """
    return text.startswith(f"<{TAG}>\n") and text.endswith(f"\n</{TAG}>")


def unfinished_error(plan: Plan, claimed: Collection[str] = ()) -> PlanError:
    """
    Return what to raise on the verdict "raise". `claimed` is as of `Guidance.after_model`.
    """
    ids = tuple(task.id for task in within_reach(plan, claimed))
    msg = (
        f"the model went on answering while {len(ids)} of {len(plan)} tasks are open, however often"
        " it was asked; allow more turns by Settings(unfinished=...), or let it go"
    )
    return PlanError(msg, task_ids=ids)

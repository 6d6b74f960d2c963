"""
Reminders in words: escaped, on one line, bounded, in exactly one tag of ours.

Law: whatever the task texts hold, a reminder has one opening and one closing tag, and its length
does not grow with the plan.
"""

from collections.abc import Iterable, Sequence

from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks
from todoplan.dialogue.replies.phrasing import counts_text
from todoplan.dialogue.replies.views import one_line
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.texts.wording import say

__all__ = ["TAG", "is_reminder", "reminder"]

TAG = "todoplan-reminder"
_CLIP = 200
_SHOWN = 20


def reminder(kind: str, plan: Plan, toolset: ToolSet, tasks: Iterable[Task] | None = None) -> str:
    """
    Return the reminder of one kind about a plan; it lists `tasks`, or else all that is open.
    """
    listed = open_tasks(plan) if tasks is None else tuple(tasks)
    body = say(
        "reminders",
        kind,
        counts=counts_text(plan),
        items=_items(listed, toolset),
        write=_escaped(toolset.shown(toolset.writer)),
    )
    return say("reminders", "frame", tag=TAG, body=body)


def _items(tasks: Sequence[Task], toolset: ToolSet) -> str:
    style = "item" if toolset.by_id else "item_plain"
    lines = [
        say(
            "reminders",
            style,
            id=f"#{task.id}",
            status=task.status.value,
            subject=_escaped(one_line(task.subject, _CLIP)),
        )
        for task in tasks[:_SHOWN]
    ]
    if len(tasks) > _SHOWN:
        lines.append(say("reminders", "more", count=len(tasks) - _SHOWN))
    return "\n".join(lines)


def _escaped(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def is_reminder(text: str) -> bool:
    """
    Say whether a message's text is a reminder of ours.
    """
    return text.startswith(f"<{TAG}>\n") and text.endswith(f"\n</{TAG}>")

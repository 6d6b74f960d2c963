"""The words that models use for statuses, priorities and ids, and what they mean here."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from todoplan.core.plan.model import Priority, Status
from todoplan.dialogue.intake.fields import Kind, folded

__all__ = [
    "ABSENT",
    "DELETED",
    "EXACT_WORDS",
    "checklist",
    "id_of",
    "ids_in",
    "is_reference",
    "priority_of",
    "status_of",
]

DELETED = "deleted"
EXACT_WORDS: dict[Kind, Mapping[str, Any]] = {
    Kind.STATUS: {status.value: status for status in Status},
    Kind.STATUS_OR_DELETED: {**{status.value: status for status in Status}, DELETED: DELETED},
    Kind.PRIORITY: {priority.value: priority for priority in Priority},
}
"""The words that a field of a kind is published with, and what they mean here."""
ABSENT = frozenset({"", "none", "null", "undefined", "nil"})

# Closed tables: each word was seen in calls (comfyui-mcp#1018, kimi-code#1016, agentuity#1215).
# What is in none ("failed", "blocked", "changes_made") is refused with the list of statuses.
# Written as `folded` leaves them: without case, spaces, `_` and `-`.
_STATUSES = {
    Status.PENDING: "pending todo open notstarted notdone new queued waiting ☐ ⏳",
    Status.IN_PROGRESS: "inprogress doing active started running ongoing current wip 🔄",
    Status.COMPLETED: "completed complete done finished closed resolved success ✓ ✔ ✅ ☑",
    Status.CANCELLED: "cancelled canceled abandoned skipped dropped wontdo obsolete ❌",
}
_STATUS_BY_WORD = {word: status for status, words in _STATUSES.items() for word in words.split()}
_PRIORITIES = {
    Priority.HIGH: "high urgent critical p0 p1 important",
    Priority.MEDIUM: "medium normal mid moderate p2",
    Priority.LOW: "low minor p3 p4",
}
_PRIORITY_BY_WORD = {word: rank for rank, words in _PRIORITIES.items() for word in words.split()}
# [0-9] and not \d wherever a number is read: "\uff11\uff12".isdigit() is true as well.
_ID = re.compile(r"(?:(?:task|todo|item|step)[\s#_-]*|#\s*)?([0-9]{1,18})(?:\.0)?", re.IGNORECASE)
_REFERENCE = re.compile(r"#[0-9]{1,18}")
_MARKS = {
    " ": Status.PENDING,
    "x": Status.COMPLETED,
    "X": Status.COMPLETED,
    **dict.fromkeys("~*>/-", Status.IN_PROGRESS),  # "-" to some is cancelled: this drops no work
}
_BOX = re.compile(r"\[\s*+([xX~*>/-]?)\s*+\]")  # possessive, else blanks take quadratic time
_LINE = re.compile(r"(?:(?:[-*+]|\d{1,6}[.)])\s*)?\[([ xX~*>/-])\]\s++(\S.*)")
# Not before a box: a list in which only some lines have one is no checklist (law 17).
_NUMBERED = re.compile(r"\s*+([0-9]{1,6}[.)])\s++(?!\[.?\]\s)(\S.*)")
_BULLETED = re.compile(r"(\s*+)[-*]\s++(?!\[.?\]\s)(\S.*)")


def status_of(word: str) -> Status | None:
    """
    Return the status that the word means, or `None`: never a guess.
    """
    box = _BOX.fullmatch(word.strip())
    return _MARKS[box[1] or " "] if box else _STATUS_BY_WORD.get(folded(word))


def priority_of(word: str) -> Priority | None:
    """
    Return the priority that the word means, or `None`.
    """
    return _PRIORITY_BY_WORD.get(folded(word))


def id_of(value: object) -> str | None:
    """
    Return the id that 3, "3", "#3", "task-3", 3.0 or " 3 " means; `None` for anything else.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, float):  # 3.0 is how some frameworks hand over 3
        value = int(value) if value.is_integer() and abs(value) < 1e15 else ""  # noqa: PLR2004 - exact
    if isinstance(value, int):
        return str(value) if 0 < value < 10**18 else None
    if not isinstance(value, str):
        return None
    found = _ID.fullmatch(value.strip())
    # "007" means 7, since ids are written without zeros; 0 is no id, they count from 1.
    return found[1].lstrip("0") or None if found else None


def ids_in(text: str) -> list[str]:
    """
    Return the parts of "1,2", "1 and 2" or "1 2"; one part for a single id, such as "task 3".
    """
    if id_of(text) is not None:  # before it is split: "task 3" is one id
        return [text]
    return [part for part in re.split(r"[\s,;]+(?:and\s+)?|\band\b", text) if part]


def is_reference(text: str) -> bool:
    """
    Say whether the text is "#0" or the like: perhaps an item of the same call.
    """
    return _REFERENCE.fullmatch(text) is not None


def checklist(text: str) -> list[tuple[str, Status | None]] | None:
    """
    Return the items of a Markdown checklist, or of a list without boxes; `None` if it is neither.

    Every line is an item. A list has two or more, numbered from 1 or bulleted at one depth.
    """
    # One line without a box, a gap in the numbers or a deeper level may be one text with a list in
    # it, or half a list; law 17 wants what is clearly a checklist.
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    boxes = _all(_LINE, map(str.strip, lines))
    if boxes:
        return [(box[2], _MARKS[box[1]]) for box in boxes]
    found = (_numbered(lines) or _bulleted(lines)) if len(lines) > 1 else []
    return [(line[2], None) for line in found] or None


def _all(pattern: re.Pattern[str], lines: Iterable[str]) -> list[re.Match[str]]:
    """
    Return the match of each line; none at all if one of them does not match.
    """
    found: list[re.Match[str]] = []
    for line in lines:
        match = pattern.fullmatch(line)
        if match is None:
            return []
        found.append(match)
    return found


def _numbered(lines: Sequence[str]) -> list[re.Match[str]]:
    found = _all(_NUMBERED, lines)
    sign = found[0][1][-1] if found else ""
    in_order = all(line[1] == f"{number}{sign}" for number, line in enumerate(found, 1))
    return found if in_order else []


def _bulleted(lines: Sequence[str]) -> list[re.Match[str]]:
    found = _all(_BULLETED, lines)
    return found if len({line[1] for line in found}) == 1 else []

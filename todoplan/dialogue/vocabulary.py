"""The words that models use for statuses, priorities and ids, and what they mean here."""

import re

from todoplan.core.model import Priority, Status
from todoplan.dialogue.fields import folded

__all__ = [
    "ABSENT",
    "DELETED",
    "checklist",
    "id_of",
    "ids_in",
    "is_reference",
    "priority_of",
    "status_of",
]

DELETED = "deleted"
ABSENT = frozenset({"", "none", "null", "undefined", "nil"})

_STATUSES = {
    Status.PENDING: "pending todo open notstarted notdone new queued waiting ☐ [] ⏳",
    Status.IN_PROGRESS: "inprogress doing active started running ongoing current wip [~] [*] 🔄",
    Status.COMPLETED: "completed complete done finished closed resolved success ✓ ✔ ✅ [x] ☑",
    Status.CANCELLED: "cancelled canceled abandoned skipped dropped wontdo obsolete ❌",
}
_BY_WORD = {word: status for status, words in _STATUSES.items() for word in words.split()}
_PRIORITIES = {
    Priority.HIGH: "high urgent critical p0 p1 important",
    Priority.MEDIUM: "medium normal mid moderate p2",
    Priority.LOW: "low minor p3 p4",
}
_PRIORITY_BY_WORD = {word: rank for rank, words in _PRIORITIES.items() for word in words.split()}
_ID = re.compile(r"(?:(?:task|todo|item|step)[\s#_-]*|#\s*)?([0-9]{1,18})(?:\.0)?", re.IGNORECASE)
_REFERENCE = re.compile(r"#[0-9]{1,18}")
_LINE = re.compile(r"(?:(?:[-*+]|\d{1,6}[.)])\s*)?\[([ xX~*>/-])\]\s+(\S.*)")
_MARKS = {" ": Status.PENDING, "x": Status.COMPLETED, "X": Status.COMPLETED}


def status_of(word: str) -> Status | None:
    """
    Return the status that the word means, or `None`: never a guess.
    """
    return _BY_WORD.get(folded(word))


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
    if isinstance(value, float):
        value = int(value) if value.is_integer() and abs(value) < 1e15 else ""  # noqa: PLR2004
    if isinstance(value, int):
        return str(value) if 0 < value < 10**18 else None
    if not isinstance(value, str):
        return None
    found = _ID.fullmatch(value.strip())
    return found[1].lstrip("0") or None if found else None


def ids_in(text: str) -> list[str]:
    """
    Return the parts of "1,2", "1 and 2" or "1 2"; one part for a single id, such as "task 3".
    """
    if id_of(text) is not None:
        return [text]
    return [part for part in re.split(r"[\s,;]+(?:and\s+)?|\band\b", text) if part]


def is_reference(text: str) -> bool:
    """
    Say whether the text is "#0" or the like: perhaps an item of the same call.
    """
    return _REFERENCE.fullmatch(text) is not None


def checklist(text: str) -> list[tuple[str, Status]] | None:
    """
    Return the items of a Markdown checklist; `None` if a line of the text is none.
    """
    found = [_LINE.fullmatch(line) for line in map(str.strip, text.splitlines()) if line]
    if not found:
        return None
    items: list[tuple[str, Status]] = []
    for line in found:
        if line is None:
            return None
        items.append((line[2], _MARKS.get(line[1], Status.IN_PROGRESS)))
    return items

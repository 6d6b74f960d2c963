"""The words that models use for statuses, priorities and ids, and their meaning."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from todoplan.core.plan.model import Priority, Status
from todoplan.dialogue.intake.fields import Kind, folded

__all__ = [
    "ABSENT",
    "BLOCKED",
    "DELETED",
    "EXACT_WORDS",
    "PUBLISHED",
    "Line",
    "checklist",
    "id_of",
    "ids_in",
    "indentation",
    "is_reference",
    "priority_of",
    "status_of",
    "wait_of",
]

DELETED = "deleted"
BLOCKED = "blocked"
EXACT_WORDS: dict[Kind, Mapping[str, Any]] = {
    Kind.STATUS: {status.value: status for status in Status},
    Kind.STATUS_OR_DELETED: {**{status.value: status for status in Status}, DELETED: DELETED},
    Kind.PRIORITY: {priority.value: priority for priority in Priority},
}
"""The words that are accepted exactly, for each kind of field, and their meaning."""
# In a whole list, "failed" is accepted but not published, since the schema costs tokens in each
# request.
PUBLISHED: dict[Kind, tuple[str, ...]] = {
    **{kind: tuple(words) for kind, words in EXACT_WORDS.items()},
    Kind.STATUS: tuple(status.value for status in Status if status is not Status.FAILED),
}
"""The words in the published schema, for each kind of field."""
ABSENT = frozenset({"", "none", "null", "undefined", "nil"})

# Fixed tables: each word was seen in calls (comfyui-mcp#1018, kimi-code#1016, agentuity#1215). Any
# other word ("gone", "changes_made") is refused with the list of statuses. The words are written as
# `folded` returns them: without case, spaces, `_` and `-`.
_STATUSES = {
    Status.PENDING: "pending todo open notstarted notdone new queued ☐ ⏳",
    Status.IN_PROGRESS: "inprogress doing active started running ongoing current wip 🔄",
    Status.COMPLETED: "completed complete done finished closed resolved success ✓ ✔ ✅ ☑",
    Status.CANCELLED: "cancelled canceled abandoned skipped dropped wontdo obsolete ❌",
    # When "failed" was read as pending (eliza#28209), a model did a task again and again. Read as
    # done or cancelled, it would free the tasks that need its result. So it is a status of its own.
    Status.FAILED: "failed failure fail error errored unsuccessful",
}
_STATUS_BY_WORD = {word: status for status, words in _STATUSES.items() for word in words.split()}
# These mean pending and waiting, with the key as the reason. Waiting is no status: pydantic-ai-todo
# stores "blocked" as a status, and nothing ever resets it.
_WAITS = {
    BLOCKED: "blocked",
    "waiting": "waiting awaiting",
    "on hold": "onhold hold held paused suspended postponed deferred",
    "input": "needsinput inputneeded inputrequired waitingforinput awaitinginput needsinfo",
    "the user": "needsuser waitingforuser awaitinguser waitingonuser",
    "approval": "needsapproval waitingforapproval awaitingapproval pendingapproval",
    "review": "review inreview needsreview waitingforreview awaitingreview",
}
_WAIT_BY_WORD = {word: reason for reason, words in _WAITS.items() for word in words.split()}
_PRIORITIES = {
    Priority.HIGH: "high urgent critical p0 p1 important",
    Priority.MEDIUM: "medium normal mid moderate p2",
    Priority.LOW: "low minor p3 p4",
}
_PRIORITY_BY_WORD = {word: rank for rank, words in _PRIORITIES.items() for word in words.split()}
# [0-9], not \d, wherever a number is read: \d also matches digits such as "\uff11\uff12".
_ID = re.compile(r"(?:(?:task|todo|item|step)[\s#_-]*|#\s*)?([0-9]{1,18})(?:\.0)?", re.IGNORECASE)
_REFERENCE = re.compile(r"#[0-9]{1,18}")
_MARKS = {
    " ": Status.PENDING,
    "x": Status.COMPLETED,
    "X": Status.COMPLETED,
    **dict.fromkeys("~*>/-", Status.IN_PROGRESS),  # "-" is cancelled for some; this loses no work
}
_BOX = re.compile(r"\[\s*+([xX~*>/!-]?)\s*+\]")  # possessive, else blanks take quadratic time
_BLOCKED_BOX = "!"  # used by pydantic-ai-todo and pydantic-ai-harness
_LINE = re.compile(r"(\s*+)(?:(?:[-*+]|\d{1,6}[.)])\s*)?\[([ xX~*>/!-])\]\s++(\S.*)")
# Without a checkbox: a list in which only some lines have one is no checklist (law 17).
_ITEM = re.compile(
    r"(\s*+)(?:([-*])|([0-9]{1,6}(?:\.[0-9]{1,6}){0,9})([.)]?))\s++(?!\[.?\]\s)(\S.*)"
)


@attrs.frozen
class Line:
    """
    One line of a list that was written as text.

    `status` is the meaning of its checkbox, if it has one. `level` is its indentation, or `None` if
    all lines of the list have the same.
    """

    title: str
    status: str | None = None
    level: int | None = None


def status_of(word: str) -> Status | None:
    """Return the status that the word means, or `None` if it is unknown."""
    box = _BOX.fullmatch(word.strip())
    return _MARKS.get(box[1] or " ") if box else _STATUS_BY_WORD.get(folded(word))


def wait_of(word: str) -> str | None:
    """
    Return the reason for waiting that a status word expresses, such as "input" for "needs input".

    Return `None` if the word does not mean waiting.
    """
    box = _BOX.fullmatch(word.strip())
    return _WAIT_BY_WORD.get(BLOCKED if box and box[1] == _BLOCKED_BOX else folded(word))


def indentation(text: str) -> int:
    """Return the indentation of a line in levels; two spaces or a tab are one level."""
    margin = text[: len(text) - len(text.lstrip())]
    return (len(margin) + margin.count("\t")) // 2


def priority_of(word: str) -> Priority | None:
    """Return the priority that the word means, or `None` if it is unknown."""
    return _PRIORITY_BY_WORD.get(folded(word))


def id_of(value: object) -> str | None:
    """Return the id that 3, "3", "#3", "task-3", 3.0 or " 3 " means; `None` for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):  # some frameworks pass 3 as 3.0
        value = int(value) if value.is_integer() and abs(value) < 1e15 else ""  # noqa: PLR2004 - exact
    if isinstance(value, int):
        return str(value) if 0 < value < 10**18 else None
    if not isinstance(value, str):
        return None
    found = _ID.fullmatch(value.strip())
    # "007" means 7, since ids have no leading zeros. 0 is no id, since ids start at 1.
    return found[1].lstrip("0") or None if found else None


def ids_in(text: str) -> list[str]:
    """Return the parts of "1,2", "1 and 2" or "1 2"; one part for a single id, such as "task 3"."""
    if id_of(text) is not None:  # before it is split: "task 3" is one id
        return [text]
    return [part for part in re.split(r"[\s,;]+(?:and\s+)?|\band\b", text) if part]


def is_reference(text: str) -> bool:
    """Return whether the text has the form "#0", which may refer to an item of the same call."""
    return _REFERENCE.fullmatch(text) is not None


def checklist(text: str) -> list[Line] | None:
    """
    Return the items of a Markdown checklist, or of a list without boxes; `None` if it is neither.

    Every line is an item. A list without boxes must have at least two lines, numbered or bulleted.
    A line that is indented further is nested in one above it. Numbers start at 1 on each level.
    """
    # A single line without a box, or a gap in the numbers, may be a text that contains a list, or
    # half a list; law 17 requires that it is clearly a checklist.
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    boxes = _all(_LINE, lines)
    if boxes:
        return _levelled([(indentation(box[1]), box[3], _box_word(box[2])) for box in boxes])
    found = _all(_ITEM, lines) if len(lines) > 1 else []
    items = [(_depth(line), line[5], None) for line in found]
    if not found:
        return None
    if min(items)[0] == items[0][0] and _in_order([_marked(line) for line in found]):
        return _levelled(items)
    # If the numbers are consecutive over all lines, it is one flat list, whatever the indentation.
    goes_on = found[0][3] and _in_order([(0, *_marked(line)[1:]) for line in found])
    return [Line(line[5]) for line in found] if goes_on else None


def _box_word(mark: str) -> str:
    return BLOCKED if mark == _BLOCKED_BOX else _MARKS[mark].value


def _depth(line: re.Match[str]) -> int:
    # "2.1" is nested in "2" even if it is not indented.
    return indentation(line[1]) + (line[3] or "").count(".")


def _levelled(items: Sequence[tuple[int, str, str | None]]) -> list[Line]:
    nested = len({depth for depth, _, _ in items}) > 1
    return [Line(title, word, depth if nested else None) for depth, title, word in items]


def _all(pattern: re.Pattern[str], lines: Iterable[str]) -> list[re.Match[str]]:
    """Return the match of each line; an empty list if any line does not match."""
    found: list[re.Match[str]] = []
    for line in lines:
        match = pattern.fullmatch(line)
        if match is None:
            return []
        found.append(match)
    return found


def _marked(line: re.Match[str]) -> tuple[int, str, str]:
    """Return a line's depth, its number ("" for a bullet), and the punctuation after the number."""
    return _depth(line), line[3] or "", line[4] or ""


def _in_order(lines: Sequence[tuple[int, str, str]]) -> bool:
    """
    Return whether siblings are all bulleted, or all numbered from 1 with the same punctuation.
    """
    above: list[tuple[int, str, str]] = []  # the last line of each open level
    for depth, number, sign in lines:
        while above and above[-1][0] > depth:
            above.pop()
        if above and above[-1][0] == depth:
            _, last, one_sign = above.pop()
        else:
            last, one_sign = _before_first(number, above[-1][1] if above else ""), sign
        if sign != one_sign or number != _after(last):
            return False
        # "1 egg" is no item, since the number may be part of the text; "1.1 eggs" is one.
        if number and not (sign or "." in number):
            return False
        above.append((depth, number, sign))
    return True


def _before_first(number: str, outer: str) -> str:
    # The first number below "2" is "1" or "2.1".

    if not number:
        return ""
    return f"{outer}.0" if "." in number and outer else "0"


def _after(number: str) -> str:
    head, dot, last = number.rpartition(".")
    return f"{head}{dot}{int(last) + 1}" if last else ""

"""
Problems: mistakes of a model, as values. A mistake of a model never raises an exception.

Each code has a text of two lines in `todoplan/texts/problems.txt`: the cause and the remedy.
Replies to a model, messages for people and the table of all codes are made from these two lines.
"""

from collections.abc import Iterable

import attrs

from todoplan.core.plan.model import as_ids, as_text
from todoplan.core.plan.plan import number_of
from todoplan.texts import clipped, escaped, fill, say, wording

MOST_NAMED = 20
"""The maximum number of tasks that a problem names."""

_MOST_RANGES = 10
_MOST_OF_A_NOTE = 500
_MOST_OF_AN_ID = 40


@attrs.frozen
class Problem:
    """
    One mistake in an input.

    `code` is stable and machine-readable; `explain` returns its sentence. `seen` is the value that
    was given, `legal` the values that would be accepted, and `path` the place of the value in the
    arguments, such as "todos[2].status". `note` replaces the code's sentence, for rules that users
    add.
    """

    code: str = attrs.field(converter=as_text)
    task_ids: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    seen: str = attrs.field(default="", converter=as_text)
    legal: str = attrs.field(default="", converter=as_text)
    path: str = attrs.field(default="", converter=as_text)
    note: str = attrs.field(default="", converter=as_text)


def explain(problem: Problem) -> str:
    """Return one problem as a sentence on one line: what was seen, and what to do."""
    text = clipped(problem.note, _MOST_OF_A_NOTE) or fill(
        # A user's own rule has a code without a text.
        wording("problems", problem.code, wording("problems", "other")).replace("\n", " "),
        {
            "code": problem.code,
            "seen": clipped(problem.seen),
            "legal": clipped(problem.legal) or "nothing yet",
            "path": clipped(problem.path),
            "ids": ids_text(problem.task_ids),
        },
    )
    return (
        say("problems", "at", path=clipped(problem.path), sentence=text) if problem.path else text
    )


def explain_all(problems: Iterable[Problem], most: int = MOST_NAMED) -> tuple[str, ...]:
    """Return the first `most` problems as sentences. The last sentence counts the others."""
    listed = tuple(problems)
    sentences = [explain(problem) for problem in listed[:most]]
    if len(listed) > most:
        sentences.append(say("problems", "more", count=len(listed) - most))
    return tuple(sentences)


def ids_text(task_ids: Iterable[str]) -> str:
    """
    Return ids as "#1-#3, #7", in at most ten ranges.

    If any id is not a number, all ids are listed one by one, and long ids are shortened.
    """
    task_ids = tuple(task_ids)
    if not all(map(number_of, task_ids)):
        # Truncated before escaping: an id may be a megabyte long, and escaping makes it longer.
        safe = (escaped(task_id[: 2 * _MOST_OF_AN_ID]) for task_id in task_ids)
        short = (i if len(i) <= _MOST_OF_AN_ID else f"{i[: _MOST_OF_AN_ID - 3]}..." for i in safe)
        return clipped(", ".join(f"#{each}" for each in short))
    ranges: list[list[int]] = []
    # Sorted by number: Eino sorts ids as strings, and its lists put 10 before 2.
    for number in sorted(map(int, task_ids)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [f"#{a}" if a == b else f"#{a}-#{b}" for a, b in ranges[:_MOST_RANGES]]
    rest = sum(b - a + 1 for a, b in ranges[_MOST_RANGES:])
    return ", ".join(shown) + (" " + say("replies", "more", count=rest) if rest else "")

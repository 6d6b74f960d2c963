"""
A model's mistake, as a value: what was seen, what is allowed. Never an exception.

Each code has a text of two lines in `todoplan/texts/problems.txt`: the cause, and the remedy. What
a model is answered, what a person reads and the table of all codes are made of these two lines.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import attrs

from todoplan.core.plan.slots import number_of
from todoplan.core.plan.validation import as_ids, as_text
from todoplan.texts.cleaning import clipped, escaped
from todoplan.texts.wording import fill, names, say, wording

__all__ = [
    "MOST_NAMED",
    "CodeText",
    "Problem",
    "code_texts",
    "explain",
    "explain_all",
    "ids_text",
]

MOST_NAMED = 20
"""So many tasks does a problem name, however many there are."""

# Sections of problems.txt that stand around a sentence; no problem has them as its code.
_FRAMES = frozenset({"error", "example", "more", "at", "warning", "other"})
_MOST_RANGES = 10
_MOST_OF_A_NOTE = 500
_MOST_OF_AN_ID = 40


@attrs.frozen
class Problem:
    """
    One mistake in an input.

    `code` is stable and machine-readable; `explain` gives its sentence. `seen` is what was given,
    `legal` what would be accepted, `path` where in the arguments, such as "todos[2].status". `note`
    is a sentence of its own, for rules that users add.
    """

    code: str = attrs.field(converter=as_text)
    task_ids: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    seen: str = attrs.field(default="", converter=as_text)
    legal: str = attrs.field(default="", converter=as_text)
    path: str = attrs.field(default="", converter=as_text)
    note: str = attrs.field(default="", converter=as_text)


def explain(problem: Problem) -> str:
    """
    Return one problem in words, on one line: what was seen, and what to do.
    """
    text = clipped(problem.note, _MOST_OF_A_NOTE) or fill(
        # A rule of a user's own has a code without a text.
        wording("problems", problem.code, wording("problems", "other")).replace("\n", " "),
        {
            "code": problem.code,
            "seen": clipped(problem.seen),
            "legal": clipped(problem.legal) or "nothing yet",
            "path": clipped(problem.path),
            "ids": _named(problem.task_ids),
        },
    )
    return (
        say("problems", "at", path=clipped(problem.path), sentence=text) if problem.path else text
    )


def explain_all(problems: Iterable[Problem], most: int = MOST_NAMED) -> tuple[str, ...]:
    """
    Return the first problems in words, and last how many more there are.
    """
    listed = tuple(problems)
    said = [explain(problem) for problem in listed[:most]]
    if len(listed) > most:
        said.append(say("problems", "more", count=len(listed) - most))
    return tuple(said)


def _named(task_ids: Sequence[str]) -> str:
    if all(map(number_of, task_ids)):
        return ids_text(task_ids)
    # Cut first: a model may send a megabyte as an id, and an escape takes up to ten characters.
    safe = (escaped(task_id[: 2 * _MOST_OF_AN_ID]) for task_id in task_ids)
    short = (i if len(i) <= _MOST_OF_AN_ID else f"{i[: _MOST_OF_AN_ID - 3]}..." for i in safe)
    return clipped(", ".join(f"#{each}" for each in short))


def ids_text(task_ids: Iterable[str]) -> str:
    """
    Return ids as "#1-#3, #7", at most ten ranges.
    """
    ranges: list[list[int]] = []
    # By number: Eino sorts ids as texts, and its lists have 10 before 2.
    for number in sorted(map(int, task_ids)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [f"#{a}" if a == b else f"#{a}-#{b}" for a, b in ranges[:_MOST_RANGES]]
    rest = sum(b - a + 1 for a, b in ranges[_MOST_RANGES:])
    return ", ".join(shown) + (" " + say("replies", "more", count=rest) if rest else "")


class CodeText(NamedTuple):
    """
    A problem's code, why it comes, and what to do. `$seen`, `$legal` and `$ids` stand for what a
    problem has there.
    """

    code: str
    cause: str
    remedy: str


def code_texts() -> Iterator[CodeText]:
    """
    Yield every code that todoplan itself gives, in the order of the texts: rows for a table.
    """
    for code in names("problems"):
        if code not in _FRAMES:
            cause, _, remedy = wording("problems", code).partition("\n")
            yield CodeText(code, cause, remedy)

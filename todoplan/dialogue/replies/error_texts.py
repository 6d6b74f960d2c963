"""
Problems, warnings and repairs in words: what was seen, what is allowed, what to do.

Law: every problem of an input is counted and most are named, yet the text stays short. A model that
reads its own broken payload back imitates it, so what was seen is shown clipped and cleaned.
"""

from collections.abc import Iterable, Sequence

from todoplan.core.plan.slots import number_of
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.cleaning import quoted
from todoplan.dialogue.intake.repairs import Repair
from todoplan.dialogue.replies.views import MOST_READ, ids_text
from todoplan.texts import cleaning
from todoplan.texts.wording import fill, say, wording

__all__ = ["error_text", "is_error_text", "repairs_text", "sentence", "warnings_text"]

# A model repairs what it can name, and a list with one fault has it in every entry: more than these
# would say the same again.
_MOST_PROBLEMS = 10
_MOST_WARNINGS = 5
_MOST_REPAIRS = 3
_LONGEST_VALUE = 240
_SHOWN_START, _SHOWN_END = 200, 30
_LONGEST_NOTE = 500


def error_text(problems: Sequence[Problem], example: str = "") -> str:
    """
    Return what a refused call answers: every problem, at most ten in words, and a correct example.
    """
    sentences = [sentence(problem) for problem in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        sentences.append(say("problems", "more", count=len(problems) - _MOST_PROBLEMS))
    if example:
        sentences.append(say("problems", "example", example=example))
    return say("problems", "error", problems=" ".join(sentences))


def is_error_text(text: str) -> bool:
    """
    Say whether a planning tool's answer, or the beginning of it, is that of a refused call.

    For frameworks that keep a tool's answer as a text, without a mark for errors.
    """
    return text.startswith(say("problems", "error", problems="").rstrip())


def warnings_text(warnings: Iterable[Problem]) -> tuple[str, ...]:
    """
    Return each warning as a sentence of its own, at most five, and how many more there are.
    """
    listed = tuple(warnings)
    sentences = [sentence(problem) for problem in listed[:_MOST_WARNINGS]]
    if len(listed) > _MOST_WARNINGS:
        sentences.append(say("problems", "more", count=len(listed) - _MOST_WARNINGS))
    return tuple(say("problems", "warning", sentence=each) for each in sentences)


def sentence(problem: Problem) -> str:
    """
    Return one problem as a sentence; a rule of the developer's own brings it along as `note`.
    """
    if problem.note:  # may quote a task, and is as safe to show as one
        text = cleaning.printable(problem.note[:MOST_READ])[:_LONGEST_NOTE]
    else:
        ids = problem.task_ids
        numbered = all(map(number_of, ids))
        names = {
            "code": problem.code,
            "seen": _clipped(problem.seen),
            "legal": _clipped(problem.legal) or "nothing yet",
            "path": _clipped(problem.path),
            "ids": ids_text(ids)
            if numbered
            else _clipped(", ".join(f"#{quoted(task_id)}" for task_id in ids)),
        }
        text = fill(wording("problems", problem.code, wording("problems", "other")), names)
    if not problem.path:
        return text
    return say("problems", "at", path=_clipped(problem.path), sentence=text)


def _clipped(text: str) -> str:
    """
    Return a value on one line; of a long one its start and its end: of a cycle these say most.
    """
    line = cleaning.one_line(text[:MOST_READ])
    if len(line) <= _LONGEST_VALUE:
        return line
    return f"{line[:_SHOWN_START]} ... {line[-_SHOWN_END:]}"


def repairs_text(repairs: Sequence[Repair]) -> str:
    """
    Return one line that says what was read differently from what was sent; "" for nothing.
    """
    if not repairs:
        return ""
    clauses = []
    for repair in repairs[:_MOST_REPAIRS]:
        near = repair.code == "ignored_key" and repair.used
        clauses.append(
            say(
                "repairs",
                "ignored_key_near" if near else repair.code,
                path=_clipped(repair.path) or "the arguments",
                seen=_clipped(repair.seen),
                used=_clipped(repair.used),
            )
        )
    if len(repairs) > _MOST_REPAIRS:
        clauses.append(say("repairs", "more", count=len(repairs) - _MOST_REPAIRS))
    return say("repairs", "note", clauses="; ".join(clauses))

"""Problems, warnings and mends in words: what was seen, what is allowed, what to do."""

from collections.abc import Iterable, Sequence

from todoplan.core.plan.slots import number_of
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.cleaning import quoted
from todoplan.dialogue.intake.repairs import Repair
from todoplan.dialogue.replies.views import ids_text
from todoplan.texts.wording import fill, say, wording

__all__ = ["error_text", "repairs_text", "sentence", "warnings_text"]

_MOST = 10
_MOST_MENDS = 3
_MOST_WARNINGS = 5
_MOST_SEEN = 240


def sentence(problem: Problem) -> str:
    """
    Return one problem as a sentence; a rule of the user's own speaks by its `note`.
    """
    text = problem.note or fill(
        wording("problems", problem.code, wording("problems", "other")),
        {
            "code": problem.code,
            "seen": _clipped(problem.seen),
            "legal": _clipped(problem.legal) or "nothing yet",
            "path": problem.path,
            "ids": _ids(problem.task_ids),
        },
    )
    return say("problems", "at", path=problem.path, sentence=text) if problem.path else text


def _clipped(text: str) -> str:
    if len(text) <= _MOST_SEEN:
        return text
    return f"{text[: _MOST_SEEN - 40]} ... {text[-30:]}"


def _ids(task_ids: Sequence[str]) -> str:
    if all(map(number_of, task_ids)):
        return ids_text(task_ids)
    return _clipped(", ".join(f"#{quoted(task_id)}" for task_id in task_ids))


def error_text(problems: Sequence[Problem], example: str = "") -> str:
    """
    Return what a refused call answers: every problem, at most ten in words, and a correct example.
    """
    told = [sentence(problem) for problem in problems[:_MOST]]
    if len(problems) > _MOST:
        told.append(say("problems", "more", count=len(problems) - _MOST))
    if example:
        told.append(say("problems", "example", example=example))
    return say("problems", "error", problems=" ".join(told))


def warnings_text(warnings: Iterable[Problem]) -> tuple[str, ...]:
    """
    Return each warning as a sentence of its own, at most five, and how many more there are.
    """
    listed = tuple(warnings)
    told = [sentence(problem) for problem in listed[:_MOST_WARNINGS]]
    if len(listed) > _MOST_WARNINGS:
        told.append(say("problems", "more", count=len(listed) - _MOST_WARNINGS))
    return tuple(say("problems", "warning", sentence=each) for each in told)


def repairs_text(repairs: Sequence[Repair]) -> str:
    """
    Return one line that says what was read differently from what was given; "" for nothing.
    """
    if not repairs:
        return ""
    told = [_clause(repair) for repair in repairs[:_MOST_MENDS]]
    if len(repairs) > _MOST_MENDS:
        told.append(say("repairs", "more", count=len(repairs) - _MOST_MENDS))
    return say("repairs", "note", clauses="; ".join(told))


def _clause(repair: Repair) -> str:
    near = repair.code == "ignored_key" and repair.used
    name = "ignored_key_near" if near else repair.code
    path = repair.path or "the arguments"
    return say("repairs", name, path=path, seen=repair.seen, used=repair.used)

"""Problems, warnings and mends in words: what was seen, what is allowed, what to do."""

from collections.abc import Iterable, Sequence

from todoplan.core.problems import Problem, explain, explain_all
from todoplan.dialogue.intake.repairs import Repair
from todoplan.texts.wording import say

__all__ = ["error_text", "repairs_text", "sentence", "warnings_text"]

_MOST = 10
_MOST_MENDS = 3
_MOST_WARNINGS = 5

sentence = explain


def error_text(problems: Sequence[Problem], example: str = "") -> str:
    """
    Return what a refused call answers: every problem, at most ten in words, and a correct example.
    """
    told = [*explain_all(problems, _MOST)]
    if example:
        told.append(say("problems", "example", example=example))
    return say("problems", "error", problems=" ".join(told))


def warnings_text(warnings: Iterable[Problem]) -> tuple[str, ...]:
    """
    Return each warning as a sentence of its own, at most five, and how many more there are.
    """
    told = explain_all(warnings, _MOST_WARNINGS)
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

"""
Problems, warnings and repairs in words: what was seen, what is allowed, what to do.

Law: every problem of an input is counted and most are named, yet the text stays short. A model that
reads its own broken payload back imitates it, so what was seen is shown clipped and cleaned.
"""

from collections.abc import Iterable, Sequence

from todoplan.core.problems import Problem, explain, explain_all
from todoplan.dialogue.intake.repairs import Repair
from todoplan.texts.cleaning import clipped
from todoplan.texts.wording import say

__all__ = ["error_text", "is_error_text", "repairs_text", "sentence", "warnings_text"]

# A model repairs what it can name, and a list with one fault has it in every entry: more than these
# would say the same again.
_MOST_PROBLEMS = 10
_MOST_WARNINGS = 5
_MOST_REPAIRS = 3

sentence = explain


def error_text(problems: Sequence[Problem], example: str = "") -> str:
    """
    Return what a refused call answers: every problem, at most ten in words, and a correct example.
    """
    sentences = [*explain_all(problems, _MOST_PROBLEMS)]
    if example:
        sentences.append(say("problems", "example", example=example))
    return say("problems", "error", problems=" ".join(sentences))


def is_error_text(text: str) -> bool:
    """
    Say whether a planning tool's answer, or the beginning of it, is that of a refused call.

    For frameworks that keep a tool's answer as a text, without a mark for errors.
    """
    # OpenAI's chat completions and Responses have no flag for it; Anthropic and Gemini have.
    return text.startswith(say("problems", "error", problems="").rstrip())


def warnings_text(warnings: Iterable[Problem]) -> tuple[str, ...]:
    """
    Return each warning as a sentence of its own, at most five, and how many more there are.
    """
    sentences = explain_all(warnings, _MOST_WARNINGS)
    return tuple(say("problems", "warning", sentence=each) for each in sentences)


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
                path=clipped(repair.path) or "the arguments",
                seen=clipped(repair.seen),
                used=clipped(repair.used),
            )
        )
    if len(repairs) > _MOST_REPAIRS:
        clauses.append(say("repairs", "more", count=len(repairs) - _MOST_REPAIRS))
    return say("repairs", "note", clauses="; ".join(clauses))

"""
The text of problems, warnings and repairs: what was seen, what is allowed, and what to do.

Law: every problem of an input is counted and most are named, yet the text stays short. A model
imitates its own broken payload when it reads it again, so the text shows it clipped and cleaned.
"""

from collections.abc import Iterable, Sequence

from todoplan.core.problems import Problem, explain, explain_all
from todoplan.dialogue.intake.repairs import Repair
from todoplan.texts.cleaning import clipped
from todoplan.texts.wording import say

__all__ = ["error_text", "is_error_text", "repairs_text", "sentence", "warnings_text"]

# A model can only repair problems that are named. But a list with a fault mostly has the same fault
# in every entry, so naming more than these would only repeat it.
_MOST_PROBLEMS = 10
_MOST_WARNINGS = 5
_MOST_REPAIRS = 3

sentence = explain


def error_text(problems: Sequence[Problem], example: str = "") -> str:
    """
    Return the text of a refused call: at most ten problems in words, their number, and an example.
    """
    sentences = [*explain_all(problems, _MOST_PROBLEMS)]
    if example:
        sentences.append(say("problems", "example", example=example))
    return say("problems", "error", problems=" ".join(sentences))


def is_error_text(text: str) -> bool:
    """
    Return whether a planning tool's reply, or the beginning of one, is that of a refused call.

    For frameworks that store a tool's reply as text without an error flag.
    """
    # OpenAI's Chat Completions and Responses have no error flag; Anthropic and Gemini have one.
    return text.startswith(say("problems", "error", problems="").rstrip())


def warnings_text(warnings: Iterable[Problem]) -> tuple[str, ...]:
    """Return at most five warnings, each as a sentence, and the number of the others."""
    sentences = explain_all(warnings, _MOST_WARNINGS)
    return tuple(say("problems", "warning", sentence=each) for each in sentences)


def repairs_text(repairs: Sequence[Repair]) -> str:
    """Return one line that names the repairs; "" if there are none."""
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

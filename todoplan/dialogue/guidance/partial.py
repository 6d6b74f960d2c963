"""
What guidance goes by where a framework shows less than it should: results without a mark for
errors, or requests with only what is new, because the provider keeps the rest of the conversation.
"""

import attrs

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.guidance.conversation import Message
from todoplan.dialogue.guidance.guidance import Advice, Guidance, Memory
from todoplan.texts.wording import say

__all__ = ["before_partial", "is_error_text"]

_TURNS = 20


def is_error_text(text: str) -> bool:
    """
    Say whether a planning tool's answer, or the beginning of it, tells of an error.
    """
    return text.startswith(say("problems", "error", problems="").rstrip())


def before_partial(guidance: Guidance, plan: Plan, memory: Memory) -> Advice:
    """
    Say what the model should be reminded of in a request that shows only what is new.

    Whether the plan is still in the conversation cannot be seen. It counts as lost if the model has
    never been told of it, or has not changed it for 20 turns; then it is told once.
    """
    known = memory.revision >= 0 and memory.turn + 1 - memory.touched < _TURNS
    told = (Message("user", shows=plan.revision),) if known else ()
    advice = guidance.before_model(plan, told, memory)
    if advice.kind == "plan_lost":
        return attrs.evolve(advice, memory=advice.memory.saw(plan))
    return advice

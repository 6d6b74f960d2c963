"""
What a person is shown who is to agree to a plan, and what `Command(resume=...)` may bring back.

An answer that cannot be read is asked for again, with what was wrong in it, and not raised: a node
that raises keeps the answer that it was given, and would raise again at every attempt to go on.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from todoplan.adapters.langgraph.state import todos_of
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.dialogue.replies.views import list_text

__all__ = ["Answer", "read_answer", "request_of"]

_LEGAL = '{"approved": True, "by": "ann"}, or {"approved": False, "message": "what to change"}'


@attrs.frozen
class Answer:
    """
    What a person said of a plan: agreed or not, by what name, in what words, and of which revision.
    """

    approved: bool
    by: str | None = None
    message: str | None = None
    revision: int | None = None


def request_of(plan: Plan, problem: str = "") -> dict[str, Any]:
    """
    Return what the interrupt shows, as plain JSON values. `problem` is what was wrong in the answer
    before.
    """
    shown = {
        "kind": "plan_approval",
        "plan": list_text(plan),
        "todos": todos_of(plan),
        "revision": plan.revision,
        "answer": _LEGAL,
    }
    return {**shown, "problem": problem} if problem else shown


def read_answer(given: object, plan: Plan) -> Answer | str:
    """
    Return the answer, or what is wrong in it.

    `True` and `False` are answers too. Who names the `revision` that was shown agrees to no other.
    """
    if isinstance(given, bool):
        return Answer(given)
    kinds = {"approved": bool, "by": str, "message": str, "revision": int}
    if not isinstance(given, Mapping) or not isinstance(given.get("approved"), bool):
        return f"{short_repr(given)} is no answer; resume with {_LEGAL}"
    wrong = [
        key
        for key, value in given.items()
        if key not in kinds or not (value is None or type(value) is kinds[key])
    ]
    if wrong:
        return f"{short_repr(given)} has {', '.join(map(short_repr, wrong))}; resume with {_LEGAL}"
    answer = Answer(**given)
    if answer.approved and answer.revision not in {None, plan.revision}:
        return f"the plan is at revision {plan.revision} now, and {answer.revision} was agreed to"
    return answer

"""
`PlanApproval`: the run stops before the next request, and goes on when a person has agreed.

It stops by LangGraph's interrupt, so that the thread waits in its checkpoint, for days if need be,
and in any process. Meanwhile the plan is read, and changed by `edit_plan`, like any other: what the
person agrees to is the plan as it stands when the run is resumed. The node that stops is run again
from its beginning then, and so reads the plan anew, in the state or in the store.

An answer that cannot be read is asked for again, with what was wrong in it, and not raised: a node
that raises keeps the answer that it was given, and would raise again at every attempt to go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, NotRequired

import attrs
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import HumanMessage
from langgraph.types import interrupt

from todoplan.adapters.langgraph.middleware import PlanAgentState, PlanMiddleware
from todoplan.adapters.langgraph.plans import Steps, StoredPlans, at_once, awaited
from todoplan.adapters.langgraph.state import todos_of
from todoplan.adapters.langgraph.threads import command_update
from todoplan.core.commands import ApprovePlan
from todoplan.core.plan.model import short_repr
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.dialogue.replies import list_text
from todoplan.dialogue.toolbox import require
from todoplan.texts import say

_LEGAL = '{"approved": True, "by": "ann"}, or {"approved": False, "message": "what to change"}'
_REFUSED = "todoplan_refused"
# It is the person's to agree: no rule for a model's commands has a say in it.
_ANYTHING_GOES = Policy()


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


class ApprovalState(PlanAgentState):
    """The state of an agent, and the revision of the plan that the person last did not agree to."""

    todoplan_refused: Annotated[NotRequired[int], PrivateStateAttr]


class PlanApproval(AgentMiddleware[PlanAgentState, Any, Any]):
    """
    Stops before a request to the model while the plan has open tasks that nobody has agreed to.

    It goes beside the planner, in an agent with a checkpointer; the rule `approval_required` sees
    to it that nothing is started before.

        box = Toolbox(WRITE_TODOS, DEFAULT.but(approval_required="error"))
        planning = PlanMiddleware(box)
        agent = create_agent(model, middleware=[planning, PlanApproval(planning)], ...)
        shown = agent.invoke(request, config)["__interrupt__"][0].value
        edit_plan(agent, config, CreateTask("Ask Bo first"), actor="ann")
        agent.invoke(Command(resume={"approved": True, "by": "ann"}), config)

    An answer that does not agree, `{"approved": False, "message": "leave out the tests"}`, is told
    to the model, which changes the plan; then the run stops again.

    Raises:
        PlanError: this is no `PlanMiddleware`.
    """

    state_schema = ApprovalState

    def __init__(self, planning: PlanMiddleware) -> None:
        super().__init__()
        made = require(
            planning, PlanMiddleware, "the agent's PlanMiddleware: PlanApproval(planning)"
        )
        self._plans = made.plans

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
        """
        Stop until a person has answered, if the plan is to be agreed to; then say what was said.
        """
        return at_once(self._steps(state, awaits=False))

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
        """As `before_model`."""
        return await awaited(self._steps(state, awaits=True))

    def _steps(self, state: Any, *, awaits: bool) -> Steps[dict[str, Any] | None]:
        sight = yield from self._plans.sight(state, awaits=awaits)
        answer = _asked(state, sight.plan)
        if answer is None:
            return None
        if not answer.approved:
            return _refusing(sight.plan, answer)
        command = ApprovePlan(answer.by)
        given: dict[str, Any] = {"actor": answer.by, "policy": _ANYTHING_GOES}
        update: dict[str, Any] = {}
        if isinstance(self._plans, StoredPlans):
            planner = self._plans.planner(sight.plan_id, awaits=awaits)
            yield partial(planner.apply, command, **given)
        else:
            _, update = command_update(state, command, **given)
        return {**update, **_said("plan_agreed")}


def _asked(state: Any, plan: Plan) -> Answer | None:
    """Return what a person says of a plan, `None` if there is nothing to ask."""
    problem = ""
    # A plan that was not agreed to is asked about again once it has been changed.
    if not plan.counts.open or plan.approved or state.get(_REFUSED) == plan.revision:
        return None
    while True:
        # LangGraph hands the answers back in the order of the questions when the node runs again.
        answer = read_answer(interrupt(request_of(plan, problem)), plan)
        if isinstance(answer, Answer):
            return answer
        problem = answer


def _refusing(plan: Plan, answer: Answer) -> dict[str, Any]:
    if not answer.message:
        return {_REFUSED: plan.revision, **_said("plan_not_agreed_to")}
    return {_REFUSED: plan.revision, **_said("plan_not_agreed", message=answer.message)}


def _said(name: str, **values: object) -> dict[str, Any]:
    # A message that is kept: it is what the person has said, and the model may look back at it.
    return {"messages": [HumanMessage(say("replies", name, **values))]}

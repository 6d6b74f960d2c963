"""
`PlanApproval`: the run stops before the next request, and goes on when a person has agreed.

It stops by LangGraph's interrupt, so that the thread waits in its checkpoint, for days if need be,
and in any process. Meanwhile the plan is read, and changed by `edit_plan`, like any other: what the
person agrees to is the plan as it stands when the run is resumed. The node that stops is run again
from its beginning then, and so reads the plan anew, in the state or in the store.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import HumanMessage
from langgraph.types import interrupt

from todoplan.adapters.langgraph.agent_state import PlanAgentState
from todoplan.adapters.langgraph.approval.answers import Answer, read_answer, request_of
from todoplan.adapters.langgraph.editing import command_update
from todoplan.adapters.langgraph.middleware import PlanMiddleware
from todoplan.adapters.langgraph.runs import run_config
from todoplan.adapters.langgraph.stored_plans.look import look_of_state
from todoplan.adapters.langgraph.stored_plans.plan_store import PlanStore
from todoplan.adapters.langgraph.tools import PlanTool
from todoplan.core.commands import ApprovePlan
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.application import require
from todoplan.texts.wording import say

__all__ = ["PlanApproval"]

_REFUSED = "todoplan_refused"
# It is the person's to agree: no rule for a model's commands has a say in it.
_ANYTHING_GOES = Policy()


class ApprovalState(PlanAgentState):
    """
    The state of an agent, and the revision of the plan that the person last did not agree to.
    """

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
        self._plans: PlanStore | None = cast("PlanTool", made.tools[0]).plans

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
        """
        Stop until a person has answered, if the plan is to be agreed to; then say what was said.
        """
        look = self._plans.look(state) if self._plans else look_of_state(state)
        answer = _asked(state, look.plan)
        if answer is None:
            return None
        if not answer.approved:
            return _refusing(look.plan, answer)
        command = ApprovePlan(answer.by)
        if self._plans is None:
            return _agreeing(state, command)
        planner = self._plans.planner(self._plans.id_of(run_config()))
        planner.apply(command, actor=answer.by, policy=_ANYTHING_GOES)
        return _told("plan_agreed")

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
        """
        As `before_model`.
        """
        look = await self._plans.alook(state) if self._plans else look_of_state(state)
        answer = _asked(state, look.plan)
        if answer is None:
            return None
        if not answer.approved:
            return _refusing(look.plan, answer)
        command = ApprovePlan(answer.by)
        if self._plans is None:
            return _agreeing(state, command)
        planner = self._plans.aplanner(self._plans.id_of(run_config()))
        await planner.apply(command, actor=answer.by, policy=_ANYTHING_GOES)
        return _told("plan_agreed")


def _asked(state: Any, plan: Plan) -> Answer | None:
    """
    Return what a person says of a plan, `None` if there is nothing to ask.
    """
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


def _agreeing(state: Any, command: ApprovePlan) -> dict[str, Any]:
    _, update = command_update(state, command, actor=command.by, policy=_ANYTHING_GOES)
    return {**update, **_told("plan_agreed")}


def _refusing(plan: Plan, answer: Answer) -> dict[str, Any]:
    if not answer.message:
        return {_REFUSED: plan.revision, **_told("plan_not_agreed_to")}
    return {_REFUSED: plan.revision, **_told("plan_not_agreed", message=answer.message)}


def _told(name: str, **values: object) -> dict[str, Any]:
    # A message that is kept: it is what the person has said, and the model may look back at it.
    return {"messages": [HumanMessage(say("replies", name, **values))]}

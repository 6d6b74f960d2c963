"""
`PlanMiddleware` for `create_agent`: LangChain's `TodoListMiddleware`, and more on request.

The plan is the state's (see `state`); written by the tools, and read here before each request to
the model. What guidance remembers is saved in the state with it; a run's mark is not, so that caps
begin anew with each run. Reminders and answers that are sent back are in one request only: they are
neither in the state nor in a checkpoint (what was streamed has been seen, though).

LangChain marks no run's end, and its `after_agent` jumps fight other middleware, so a final answer
is judged where it arrives: in `wrap_model_call`, by asking the model again within the same step.
"""

import logging
from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
)
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langgraph.channels import UntrackedValue
from langgraph.types import Command

from todoplan.adapters.langgraph.conversation import neutral, protected
from todoplan.adapters.langgraph.seen import SEEN, base_of
from todoplan.adapters.langgraph.state import (
    PLAN,
    TODOS,
    merge_agent_plans,
    plan_in,
    plan_update,
    publishing,
    todos_of,
    value_in,
)
from todoplan.adapters.langgraph.tools import make_tools
from todoplan.codec.foreign.branches import head_of
from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.application import require
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.conversation import Conversation, is_final_answer
from todoplan.dialogue.guidance.guidance import Advice, Guidance, Memory, Settings, unfinished_error
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools.todos import WRITE_TODOS

__all__ = ["PlanAgentState", "PlanMiddleware"]

MEMORY = "todoplan_memory"
RUN = "todoplan_run"
logger = logging.getLogger("todoplan")

_Request = ModelRequest[Any]
_Response = ModelResponse[Any]
_Steps = Generator[_Request, _Response, ExtendedModelResponse[Any]]
_Guided = Generator[_Request, _Response, tuple[_Response, Memory, bool]]


def later(_: Any, update: Any) -> Any:
    """
    Reduce two writes to the later one.
    """
    return update


class PlanAgentState(AgentState[Any]):
    """
    What the middleware adds to the agent's state: the plan, the list that others read, and what
    guidance remembers of the thread. Caps belong to a run, and `todoplan_run` marks its requests.
    """

    # The reducer must come last: LangGraph does not look for it elsewhere, and says nothing.
    # Not in the input, since deepagents hands a subagent its caller's state, plan and all.
    todoplan: Annotated[NotRequired[dict[str, Any]], OmitFromInput, merge_agent_plans]
    # LangChain's own has no reducer, and two branches that write in one step end its run
    # (InvalidUpdateError). Nor is this left out of the input: a list from outside is taken over.
    todos: Annotated[NotRequired[list[dict[str, Any]] | None], later]
    # In the thread, not in the process: DeerFlow's counters there have a default key, by which one
    # user's reminders use up another's. Private keys never cross deepagents' `task`.
    todoplan_memory: Annotated[NotRequired[dict[str, int]], PrivateStateAttr]
    # Never saved, and so absent when a run begins: no hook is needed to know a new run.
    todoplan_run: Annotated[NotRequired[bool], UntrackedValue, PrivateStateAttr]


class PlanMiddleware(AgentMiddleware[PlanAgentState, Any, Any]):
    """
    Planning for an agent; holds no state of its own and may serve any number of agents and threads.

    `toolbox` is the tools and their policy, LangChain's `write_todos` under `DEFAULT` unless given;
    `settings` are those of guidance, `Settings(unfinished=0)` unless given: a final answer stands,
    as with LangChain's own; `clock` gives the aware time of every change. As LangChain's own, it
    takes a `system_prompt`, which is appended to the agent's ("" for none), and a
    `tool_description` for the tool that writes. `emit_events` is that of `make_tools`;
    `reminder_names` names a kind's messages, so that interfaces can hide them.

    Raises:
        PlanError: what was given is no toolbox, no settings or no clock.
    """

    state_schema = PlanAgentState

    def __init__(  # noqa: PLR0913 - two names of LangChain's, and ours
        self,
        toolbox: "Toolbox | None" = None,
        *,
        settings: "Settings | None" = None,
        clock: "Clock" = utc_now,
        system_prompt: str | None = None,
        tool_description: str | None = None,
        emit_events: bool = False,
        reminder_names: "Mapping[str, str] | None" = None,
    ) -> None:
        super().__init__()
        chosen = Toolbox(WRITE_TODOS) if toolbox is None else require(toolbox, Toolbox)
        toolset, writer = chosen.toolset, chosen.toolset.shown(chosen.toolset.writer)
        # A drop-in: an answer that was let stand before must not be sent back for a new import.
        self.guidance = Guidance(toolset, Settings(unfinished=0) if settings is None else settings)
        require(self.guidance.settings, Settings)
        self.system_prompt = toolset.system_prompt() if system_prompt is None else system_prompt
        self.tools = make_tools(chosen, clock=clock, emit_events=emit_events)
        for tool in self.tools:
            if tool.name == writer:
                tool.description = tool_description or tool.description
                self.tool_description = tool.description
        self._names = dict(reminder_names or {})

    @property
    def name(self) -> str:
        """
        The name by which stacks know the planner: theirs is replaced in place, never doubled.
        """
        # LangChain and deepagents compare middleware by name; two tools of one name would pass.
        # On deepagents up to 0.6, which always brings its own, this name raises instead.
        return "TodoListMiddleware"

    def wrap_model_call(
        self, request: "_Request", handler: "Callable[[_Request], _Response]"
    ) -> "ExtendedModelResponse[Any]":
        """
        Call the model, with a reminder at the tail if one is due, and again if it stops too early.
        """
        steps = self._steps(request)
        asked = next(steps)
        while True:
            try:
                asked = steps.send(handler(asked))
            except StopIteration as stop:
                return _result(stop)

    async def awrap_model_call(
        self, request: "_Request", handler: "Callable[[_Request], Awaitable[_Response]]"
    ) -> "ExtendedModelResponse[Any]":
        """
        As `wrap_model_call`.
        """
        steps = self._steps(request)
        asked = next(steps)
        while True:
            response = await handler(asked)
            try:
                asked = steps.send(response)
            except StopIteration as stop:
                return _result(stop)

    def _steps(self, request: _Request) -> _Steps:
        """
        Yield the requests that are to be sent, take the responses, and return what comes of them.
        """
        # LangChain wants this hook sync and async, each by itself: one generator decides for both.
        state: Any = request.state
        plan = plan_in(state)
        memory = Memory.of(state.get(MEMORY))
        if not state.get(RUN):
            memory = memory.new_run(plan)
            _say_what_is_ignored(state, plan)
        base = base_of(value_in(state))
        if base is None and memory.revision not in {-1, plan.revision}:
            memory = memory.saw(plan)  # what others did is kept until it has been seen
        names = self.guidance.toolset.tool_names
        if any(_name(tool) in names for tool in request.tools):
            response, memory, shown = yield from self._guided(request, plan, memory, base)
        else:  # a middleware has taken the planning tools out of this request
            response, shown = (yield request), False
        update = _update(state, plan, memory)
        if base is not None and shown:
            update[PLAN] = {SEEN: head_of(value_in(state))}
        return ExtendedModelResponse(response, Command(update=update))

    def _guided(self, request: _Request, plan: Plan, memory: Memory, base: Base | None) -> _Guided:
        guidance, messages = self.guidance, Conversation(request.messages, neutral)
        if memory.revision < 0:
            base = None  # it has never looked: what stands there is all new, and no news
        advice = guidance.before_model(plan, messages, memory, base=base)
        shown = advice.shows_plan
        # `asked` never holds a reminder, so that each request shows one at most: the latest.
        asked, stands = self._prompted(request), list[AnyMessage]()
        response = yield self._reminded(asked, advice)
        # A structured answer is its own check; sent back, it would be asked for twice.
        structured = request.response_format is not None
        while True:
            answer = cast("AnyMessage", response.result[-1])
            said = neutral(answer)
            advice = guidance.after_model(plan, said, advice.memory, structured=structured)
            if advice.verdict != "again":
                break
            stands = [answer] if advice.keeps(said) else []
            asked = asked.override(messages=[*asked.messages, answer])
            response = yield self._reminded(asked, advice)
        if advice.verdict == "raise":
            raise unfinished_error(plan)
        if stands and is_final_answer(said):
            response = ModelResponse([*stands, *response.result], response.structured_response)
        return response, advice.memory, shown

    def _prompted(self, request: _Request) -> _Request:
        """
        Return the request with the planning prompt behind the agent's, the same in every request.
        """
        names = self.guidance.toolset.tool_names
        request = request.override(messages=protected(request.messages, names))
        if not self.system_prompt:
            return request
        # Behind the agent's own and never changed, so that the provider's cache keeps the prefix.
        old = request.system_message
        text = f"\n\n{self.system_prompt}" if old else self.system_prompt
        blocks: list[Any] = [*(old.content_blocks if old else ()), {"type": "text", "text": text}]
        return request.override(system_message=SystemMessage(content=blocks))

    def _reminded(self, request: _Request, advice: Advice) -> _Request:
        if not advice.text:
            return request
        reminder = HumanMessage(advice.text, name=self._names.get(advice.kind))
        return request.override(messages=[*request.messages, reminder])


def _say_what_is_ignored(state: Any, plan: Plan) -> None:
    # Interfaces and other planners write this list too, and a thread must not end for it; but who
    # passes `todos` to invoke and is not heard should be able to learn why.
    todos = state.get(TODOS)
    if value_in(state) and todos and todos != todos_of(plan):
        logger.warning(
            "todos differ from the plan that this thread has, and are written over: change the plan"
            " by edit_plan(agent, config, command), or set it by seed_plan(agent, config, plan)"
        )


def _update(state: Any, plan: Plan, memory: Memory) -> dict[str, Any]:
    update: dict[str, Any] = {MEMORY: memory.to_data(), RUN: True}
    if not value_in(state):  # what plan there is was taken over from the list
        if plan.revision:
            update |= plan_update(plan)
            # What the model has seen of a list by others is unknown: the base is the plan as it is.
            update[PLAN][SEEN] = ""
        return update
    # Another middleware may have written the list, or answered in a tool's place.
    same = (state.get(TODOS) or []) == todos_of(plan)
    return update if same else {**update, **publishing(plan)}


def _name(tool: Any) -> Any:
    # Providers' own tools are dicts, flat or as OpenAI's chat API nests them.
    if isinstance(tool, Mapping):
        return tool.get("name") or tool.get("function", {}).get("name")
    return tool.name


def _result(stop: StopIteration) -> ExtendedModelResponse[Any]:
    result: ExtendedModelResponse[Any] = stop.value
    return result

"""`PlanMiddleware` for `create_agent`: LangChain's `TodoListMiddleware`, and more on request."""

from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Annotated, Any, NotRequired, cast

import attrs
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
from todoplan.adapters.langgraph.state import (
    is_models_own,
    plan_in,
    plan_update,
    value_in,
)
from todoplan.adapters.langgraph.todos import TODOS, publishing, todos_of
from todoplan.adapters.langgraph.tools import make_tools
from todoplan.codec.branches import merge_plans
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.conversation import Conversation, is_final_answer
from todoplan.dialogue.guidance.guidance import Advice, Guidance, Memory, Settings, ignored
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools.todos import WRITE_TODOS
from todoplan.dialogue.tools.toolset import ToolSet

__all__ = ["Options", "PlanAgentState", "PlanMiddleware"]

MEMORY = "todoplan_memory"
RUN = "todoplan_run"

_Request = ModelRequest[Any]
_Response = ModelResponse[Any]
_Steps = Generator[_Request, _Response, ExtendedModelResponse[Any]]
_Guided = Generator[_Request, _Response, tuple[_Response, Advice]]


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

    todoplan: Annotated[NotRequired[dict[str, Any]], PrivateStateAttr, merge_plans]
    todos: Annotated[NotRequired[list[dict[str, Any]] | None], OmitFromInput, later]
    todoplan_memory: Annotated[NotRequired[dict[str, int]], PrivateStateAttr]
    todoplan_run: Annotated[NotRequired[bool], UntrackedValue, PrivateStateAttr]


@attrs.frozen
class Options:
    """
    What costs tokens or serves user interfaces.

    `show_list` and `say_done` are those of `Toolbox`. `emit_events` tells each accepted call on the
    stream mode "custom". `reminder_names` names a kind's messages, so that interfaces can hide
    them. `clock` gives the aware time of every change.
    """

    show_list: bool = False
    say_done: bool = False
    emit_events: bool = False
    reminder_names: Mapping[str, str] = attrs.field(factory=dict)
    clock: Clock = utc_now


class PlanMiddleware(AgentMiddleware[PlanAgentState, Any, Any]):
    """
    Planning for an agent; holds no state of its own and may serve any number of agents and threads.

    `system_prompt` is appended to the agent's ("" for none) and `tool_description` is that of the
    tool that writes; both are the tool set's unless given.
    """

    state_schema = PlanAgentState

    def __init__(  # noqa: PLR0913 - two names of LangChain's, four of ours
        self,
        *,
        system_prompt: str | None = None,
        tool_description: str | None = None,
        toolset: ToolSet = WRITE_TODOS,
        policy: Policy = DEFAULT,
        settings: Settings | None = None,
        options: Options | None = None,
    ) -> None:
        super().__init__()
        chosen = options or Options()
        toolbox = Toolbox(toolset, policy, show_list=chosen.show_list, say_done=chosen.say_done)
        self.system_prompt = toolset.system_prompt() if system_prompt is None else system_prompt
        self.tools = make_tools(toolbox, clock=chosen.clock, emit_events=chosen.emit_events)
        for tool in self.tools:
            if tool_description is not None and tool.name == toolset.shown(toolset.writer):
                tool.description = tool_description
        self.guidance = Guidance(toolset, settings or Settings())
        self._names = chosen.reminder_names

    @property
    def name(self) -> str:
        """
        The name by which stacks know the planner: theirs is replaced in place, never doubled.
        """
        return "TodoListMiddleware"

    def wrap_model_call(
        self, request: _Request, handler: Callable[[_Request], _Response]
    ) -> ExtendedModelResponse[Any]:
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
        self, request: _Request, handler: Callable[[_Request], Awaitable[_Response]]
    ) -> ExtendedModelResponse[Any]:
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
        plan = plan_in(request.state)
        memory = _memory(request.state, plan)
        if self._is_offered(request):
            response, advice = yield from self._guided(request, plan, memory)
        else:
            response, advice = (yield request), Advice(memory)
        return ExtendedModelResponse(response, Command(update=_update(request.state, plan, advice)))

    def _is_offered(self, request: _Request) -> bool:
        names = self.guidance.toolset.tool_names
        return any(_name(tool) in names for tool in request.tools)

    def _guided(self, request: _Request, plan: Plan, memory: Memory) -> _Guided:
        guidance = self.guidance
        advice = guidance.before_model(plan, Conversation(request.messages, neutral), memory)
        asked, stands = self._prompted(request), list[AnyMessage]()
        response = yield self._reminded(asked, advice)
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
            raise ignored(plan)
        if stands and is_final_answer(said):
            response = ModelResponse([*stands, *response.result], response.structured_response)
        return response, advice

    def _prompted(self, request: _Request) -> _Request:
        """
        Return the request with the planning prompt behind the agent's, the same in every request.
        """
        names = self.guidance.toolset.tool_names
        request = request.override(messages=protected(request.messages, names))
        if not self.system_prompt:
            return request
        old = request.system_message
        text = f"\n\n{self.system_prompt}" if old else self.system_prompt
        blocks: list[Any] = [*(old.content_blocks if old else ()), {"type": "text", "text": text}]
        return request.override(system_message=SystemMessage(content=blocks))

    def _reminded(self, request: _Request, advice: Advice) -> _Request:
        if not advice.text:
            return request
        reminder = HumanMessage(advice.text, name=self._names.get(advice.kind))
        return request.override(messages=[*request.messages, reminder])


def _memory(state: Any, plan: Plan) -> Memory:
    memory = Memory.of(state.get(MEMORY))
    if not state.get(RUN):
        memory = memory.new_run(plan)
    changed = plan.revision != memory.revision
    return memory.saw(plan) if changed and is_models_own(state, plan) else memory


def _update(state: Any, plan: Plan, advice: Advice) -> dict[str, Any]:
    update = {MEMORY: advice.memory.to_data(), RUN: True}
    if not value_in(state):  # what plan there is was taken over from the list
        return {**update, **plan_update(plan)} if plan.revision else update
    same = (state.get(TODOS) or []) == todos_of(plan)
    return update if same else {**update, **publishing(plan)}


def _name(tool: Any) -> Any:
    if isinstance(tool, Mapping):
        return tool.get("name") or tool.get("function", {}).get("name")
    return tool.name


def _result(stop: StopIteration) -> ExtendedModelResponse[Any]:
    result: ExtendedModelResponse[Any] = stop.value
    return result

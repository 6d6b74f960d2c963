"""
`PlanMiddleware` for `create_agent`: LangChain's `TodoListMiddleware`, and more on request.

The plan is the state's (see `state`), or a store's (see `stored_plans`); written by the tools, and
read here before each request to the model. What guidance remembers is saved in the state; a run's
mark is not, so that caps begin anew with each run. Reminders and answers that are sent back are in
one request only: they are neither in the state nor in a checkpoint (what was streamed has been
seen, though).

LangChain marks no run's end, and its `after_agent` jumps fight other middleware, so a final answer
is judged where it arrives: in `wrap_model_call`, by asking the model again within the same step.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Any, cast

import attrs
from langchain.agents.middleware import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
)
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langgraph.types import Command

from todoplan.adapters.langgraph.agent_state import (
    MEMORY,
    RUN,
    PlanAgentState,
    say_what_is_ignored,
    update_after,
)
from todoplan.adapters.langgraph.conversation import neutral, protected
from todoplan.adapters.langgraph.stored_plans.look import Look, look_of_state
from todoplan.adapters.langgraph.stored_plans.plan_store import PlanStore
from todoplan.adapters.langgraph.tools import tools_of
from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.application import require, require_actor, require_clock
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.conversation import Conversation, is_final_answer
from todoplan.dialogue.guidance.guidance import Advice, Memory, Settings, unfinished_error
from todoplan.dialogue.observed import guidance_of
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools.todos import WRITE_TODOS
from todoplan.planner import AnyStore
from todoplan.planner.verifying.verifier import Verify

__all__ = ["PlanMiddleware"]

_Request = ModelRequest[Any]
_Response = ModelResponse[Any]
# `None` asks for the plan as it is now: it may be in a store, and change while the model answers.
_Steps = Generator[_Request | None, Any, ExtendedModelResponse[Any]]
_Guided = Generator[_Request | None, Any, tuple[_Response, Memory, bool]]


class PlanMiddleware(AgentMiddleware[PlanAgentState, Any, Any]):
    """
    Planning for an agent; holds no state of its own and may serve any number of agents and threads.

    `toolbox` is the tools and their policy, LangChain's `write_todos` under `DEFAULT` unless given;
    `settings` are those of guidance, `Settings(unfinished=0)` unless given: a final answer stands,
    as with LangChain's own; `clock` gives the aware time of every change; `verify` looks whether a
    task is done before a call completes it (see `Planner`).

    With a `store` the plan is kept there under `plan_id`, or else under the thread's id, and not in
    the state, and others may change it at any time. `actor` is this agent's name in the history:
    give each agent its own where several share a plan.

    As LangChain's own, it takes a `system_prompt`, which is appended to the agent's ("" for none),
    and a `tool_description` for the tool that writes. `emit_events` is that of `make_tools`;
    `reminder_names` names a kind's messages, so that interfaces can hide them.

    Raises:
        PlanError: what was given is no toolbox, no settings, no store, no clock, no verifier or no
            name.
    """

    state_schema = PlanAgentState

    def __init__(  # noqa: PLR0913 - two names of LangChain's, and ours
        self,
        toolbox: "Toolbox | None" = None,
        *,
        settings: "Settings | None" = None,
        store: "AnyStore | None" = None,
        clock: "Clock" = utc_now,
        verify: "Verify | None" = None,
        system_prompt: str | None = None,
        plan_id: str | None = None,
        actor: str | None = None,
        tool_description: str | None = None,
        emit_events: bool = False,
        reminder_names: "Mapping[str, str] | None" = None,
    ) -> None:
        super().__init__()
        chosen = Toolbox(WRITE_TODOS) if toolbox is None else require(toolbox, Toolbox)
        toolset, writer = chosen.toolset, chosen.toolset.shown(chosen.toolset.writer)
        # A drop-in: an answer that was let stand before must not be sent back for a new import.
        wanted = Settings(unfinished=0) if settings is None else require(settings, Settings)
        self.guidance = guidance_of(chosen, wanted)
        self.system_prompt = toolset.system_prompt() if system_prompt is None else system_prompt
        kept = store, plan_id, chosen, require_clock(clock), verify, require_actor(actor)
        self._plans = PlanStore.of(*kept, is_agents=True)
        told: dict[str, Any] = {"clock": clock, "verify": verify, "emit_events": emit_events}
        self.tools = tools_of(chosen, self._plans, actor=actor, **told)
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
        steps, plans, state = self._steps(request), self._plans, request.state
        asked: _Request | None = next(steps)
        while True:
            if asked is not None:
                got: Any = handler(asked)
            else:
                got = plans.look(state) if plans else look_of_state(state)
            try:
                asked = steps.send(got)
            except StopIteration as stop:
                return _result(stop)

    async def awrap_model_call(
        self, request: "_Request", handler: "Callable[[_Request], Awaitable[_Response]]"
    ) -> "ExtendedModelResponse[Any]":
        """
        As `wrap_model_call`.
        """
        steps, plans, state = self._steps(request), self._plans, request.state
        asked: _Request | None = next(steps)
        while True:
            if asked is not None:
                got: Any = await handler(asked)
            else:
                got = await plans.alook(state) if plans else look_of_state(state)
            try:
                asked = steps.send(got)
            except StopIteration as stop:
                return _result(stop)

    def _steps(self, request: _Request) -> _Steps:
        """
        Yield the requests that are to be sent, take the responses, and return what comes of them.
        """
        # LangChain wants this hook sync and async, each by itself: one generator decides for both.
        state: Any = request.state
        look: Look = yield None
        plan, base = look.plan, look.base
        memory = Memory.of(state.get(MEMORY))
        if look.plan_id is not None:
            memory = memory.at(plan, base, look.known)
        if not state.get(RUN):
            memory = memory.new_run(plan)
            if self._plans is None:
                say_what_is_ignored(state, plan)
        if base is None and memory.revision not in {-1, plan.revision}:
            memory = memory.saw(plan)  # what others did is kept until it has been seen
        names = self.guidance.toolset.tool_names
        if any(_name(tool) in names for tool in request.tools):
            response, memory, shown = yield from self._guided(request, plan, memory, base)
        else:  # a middleware has taken the planning tools out of this request
            response, shown = (yield request), False
        now = plan if look.plan_id is None else (yield None).plan
        update = update_after(state, look, now, memory, shown=shown)
        return ExtendedModelResponse(response, Command(update=update))

    def _guided(self, request: _Request, plan: Plan, memory: Memory, base: Base | None) -> _Guided:
        guidance, messages = self.guidance, Conversation(request.messages, neutral)
        if memory.revision < 0 and base is not None:
            # A list that another planner left it has seen; else what stands there is all new.
            if len(base.plan):
                memory = attrs.evolve(memory, revision=base.plan.revision)
            else:
                base = None
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
            if self._plans is not None:  # somebody may have finished what was open, or added to it
                plan = (yield None).plan
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


def _name(tool: Any) -> Any:
    # Providers' own tools are dicts, flat or as OpenAI's chat API nests them.
    if isinstance(tool, Mapping):
        return tool.get("name") or tool.get("function", {}).get("name")
    return tool.name


def _result(stop: StopIteration) -> ExtendedModelResponse[Any]:
    result: ExtendedModelResponse[Any] = stop.value
    return result

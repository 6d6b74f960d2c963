"""
Guidance as an AgentScope middleware, and `attach`, which puts tools and guidance together.

Reminders are put into one request (`on_model_call`), where AgentScope's own injection is kept with
the conversation. A reply's end is an event: it is swallowed if the model is to go on, and
AgentScope asks it again; the premature text has been streamed by then, and stays in the message.
What guidance remembers stands in the agent's state, and with it what it is about to say.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import attrs
from agentscope.agent import Agent, InjectionConfig
from agentscope.event import EventBase, ReplyEndEvent, ReplyFinishedReason
from agentscope.message import ContentBlock as Block
from agentscope.message import HintBlock, Msg, UserMsg
from agentscope.middleware import MiddlewareBase
from agentscope.state import AgentState
from agentscope.tool import Toolkit

from todoplan.adapters.agentscope.conversation import last_answer, neutral
from todoplan.adapters.agentscope.plan_store import PlanStore
from todoplan.adapters.agentscope.state import Held, load, seal
from todoplan.adapters.agentscope.tools import default_toolbox, make_tools
from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.application import require, require_actor, require_clock
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.conversation import Conversation
from todoplan.dialogue.guidance.guidance import Memory, Settings, unfinished_error
from todoplan.dialogue.observed import guidance_of
from todoplan.dialogue.toolbox import Toolbox
from todoplan.errors import CodecError, PlanError
from todoplan.planner import AnyStore
from todoplan.planner.verifying.verifier import Verify

__all__ = ["PlanMiddleware", "attach"]

_KEY = "todoplan_guidance"  # in the state, not the middleware: agents may share one
# AgentScope's own lines about tasks, within a hint that may also tell the time.
_TASKS = re.compile(r"<tasks>.*?</tasks>\n?", re.DOTALL)
_NATIVE = "TaskList"
# Changing an import must not change what the user sees: an answer that is sent back was streamed.
_DROP_IN = Settings(unfinished=0)
_Next = Callable[..., AsyncGenerator[Any, None]]


class PlanMiddleware(MiddlewareBase):
    """
    Reminds the model of its plan, at the tail of a request and unsaved; with
    `Settings(unfinished=2)` it also sends a final answer back while tasks are open.

    What it remembers stands in the agent's state. Where it says the plan is lost, AgentScope's own
    line about tasks, which names `TaskList`, is kept out of the request. `system_prompt` is put
    behind the agent's ("" for none); by default it is the tool set's. `store`, `plan_id`, `clock`
    and `actor` are those of the tools.
    """

    def __init__(  # noqa: PLR0913 - the settings of every adapter
        self,
        toolbox: Toolbox | None = None,
        *,
        settings: Settings | None = None,
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        system_prompt: str | None = None,
        plan_id: str | None = None,
        actor: str | None = None,
    ) -> None:
        box = default_toolbox() if toolbox is None else require(toolbox, Toolbox)
        toolset = box.toolset
        kept = store, plan_id, box, require_clock(clock)
        self._plans = PlanStore.of(*kept, actor=require_actor(actor))
        chosen = _DROP_IN if settings is None else require(settings, Settings)
        self._guidance = guidance_of(box, chosen)
        self.system_prompt = toolset.system_prompt() if system_prompt is None else system_prompt

    async def on_system_prompt(self, agent: Agent, current_prompt: str) -> str:  # noqa: ARG002 - AgentScope's signature
        """
        Say what the tools are for, in the same words in every request.
        """
        return "\n\n".join(filter(None, (current_prompt, self.system_prompt)))

    async def on_reply(
        self, agent: Agent, input_kwargs: dict[str, Any], next_handler: _Next
    ) -> AsyncGenerator[Any, None]:
        """
        Keep the end of a reply back if the model is to go on; caps are those of one reply.
        """
        look = await self._look(agent.state)
        # An event resumes a reply that waited for a person: its caps go on.
        if look is not None and not isinstance(input_kwargs["inputs"], EventBase):
            _remember(agent.state, Memory.of(_kept(agent.state)).new_run(look[0]))
        async for event in next_handler(**input_kwargs):
            if isinstance(event, ReplyEndEvent):
                # Without its end the reply goes on, and the model is asked again.
                if await self._goes_on(agent, event):
                    continue
                # A list that is no plan has no sum; the next planning call says why.
                with suppress(CodecError, PlanError):
                    seal(agent.state)
            yield event

    async def _goes_on(self, agent: Agent, event: ReplyEndEvent) -> bool:
        look, state = await self._look(agent.state), agent.state
        # The end that the reply's own limit sets must pass: swallowed twice, AgentScope raises.
        if look is None or event.finished_reason != ReplyFinishedReason.COMPLETED:
            return False
        plan = look[0]
        advice = self._guidance.after_model(
            plan,
            last_answer(state.context),
            Memory.of(_kept(state)),
            structured=state.reply_context.structured_schema is not None,
        )
        # The next request is another hook's, and the state is what both have.
        _remember(state, advice.memory, pending=advice.text)
        if advice.verdict == "raise":
            raise unfinished_error(plan)
        return advice.verdict == "again"

    async def on_model_call(
        self,
        agent: Agent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[Any]],
    ) -> Any:
        """
        Put what is due behind the messages of this one request.
        """
        state, look = agent.state, await self._look(agent.state)
        messages = self._without_native(agent, input_kwargs)
        if look is None:
            return await next_handler(**{**input_kwargs, "messages": messages})
        (plan, base), known = look, Memory.of(_kept(state))
        if self._plans:
            known = known.at(plan, base, self._plans.knows(state))
        conversation = Conversation(messages, neutral)
        advice = self._guidance.before_model(plan, conversation, known, base=base)
        pending = _kept(state).get("pending")
        if text := pending or advice.text:
            messages.append(UserMsg(name="user", content=text))
        answer = await next_handler(**{**input_kwargs, "messages": messages})
        memory = advice.memory
        if pending and advice.shows_plan:  # it had no place in this request, and is due in the next
            memory = attrs.evolve(memory, revision=known.revision, shown=known.shown)
        shown = plan if advice.shows_plan and not pending else None
        if self._plans:
            # The first request counts as a look: what comes while it is answered is unseen.
            if self._plans.knows(state) is None:
                self._plans.saw(state, plan)
            self._plans.asked(state, shown)
        elif now := _held(state):
            now.seen.asked(shown)
        _remember(state, memory)
        return answer

    async def _look(self, state: AgentState) -> tuple[Plan, Base | None] | None:
        """
        Return the plan, and what of it the model has not seen; `None` if the list is no plan.
        """
        if self._plans:
            return await self._plans.look(state)
        held = _held(state)
        return None if held is None else (held.plan, held.seen.base)

    def _without_native(self, agent: Agent, input_kwargs: dict[str, Any]) -> list[Msg]:
        names = {tool["function"]["name"] for tool in input_kwargs["tools"] or ()}
        # One of us speaks of a lost plan, never both, nor of a tool that the model lacks.
        if not self._guidance.settings.plan_lost and _NATIVE in names:
            return list(input_kwargs["messages"])
        config = agent.injection_config
        return [_without_tasks(message, config) for message in input_kwargs["messages"]]

    async def on_acting(
        self, agent: Agent, input_kwargs: dict[str, Any], next_handler: _Next
    ) -> AsyncGenerator[Any, None]:
        """
        Note what the model's own calls made of the plan; what others did stays to be told.
        """
        ours = self._guidance.toolset.find(input_kwargs["tool_call"].name) is not None
        held = _held(agent.state) if ours and not self._plans else None
        before = None if held is None else (held.plan.revision, held.seen.base)
        async for chunk in next_handler(**input_kwargs):
            yield chunk
        after = None if before is None else _held(agent.state)
        if before is not None and after is not None:
            (revision, base), memory = before, Memory.of(_kept(agent.state))
            told = base is not None and after.seen.base is None  # the answer said what others did
            plan, refused = after.plan, base is not None
            memory = memory.saw(plan) if told else memory.saw_own(revision, plan, refused=refused)
            _remember(agent.state, memory)


def _held(state: AgentState) -> Held | None:
    try:
        return load(state)
    except (CodecError, PlanError):
        return None  # the next planning call says what is wrong


def _kept(state: AgentState) -> dict[str, Any]:
    kept: dict[str, Any] = state.middle_context.get(_KEY, {})
    return kept


def _remember(state: AgentState, memory: Memory, pending: str = "") -> None:
    kept = {"pending": pending} if pending else {}
    state.middle_context[_KEY] = {**memory.to_data(), **kept}


def _without_tasks(message: Msg, config: InjectionConfig) -> Msg:
    content = [kept for block in message.content for kept in _cut(block, config)]
    return (
        message if content == message.content else message.model_copy(update={"content": content})
    )


def _cut(block: Block, config: InjectionConfig) -> tuple[Block, ...]:
    if not isinstance(block, HintBlock) or block.source != config.injection_source:
        return (block,)
    if not isinstance(block.hint, str) or not _TASKS.search(block.hint):
        return (block,)
    hint = _TASKS.sub("", block.hint)
    empty = config.template.replace("{runtime_state}", "")
    return () if hint.split() == empty.split() else (block.model_copy(update={"hint": hint}),)


def attach(  # noqa: PLR0913 - keywords, each passed on as it is
    toolbox: Toolbox | None = None,
    *,
    settings: Settings | None = None,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    system_prompt: str | None = None,
    plan_id: str | None = None,
    actor: str | None = None,
    toolkit: Toolkit | None = None,
    middlewares: Sequence[MiddlewareBase] = (),
    injection_config: InjectionConfig | None = None,
) -> dict[str, Any]:
    """
    Return what `Agent` takes, `Agent(name, prompt, model, **attach())`, for tools and guidance.

    The tools are added to `toolkit`; guidance comes behind your `middlewares`, nearest to the
    model, so that it sees the request as it is sent. `clock` gives the aware time of every change,
    `verify` looks whether a task is done (see `AsyncPlanner`), `actor` is this agent's name in the
    history: give each agent its own where several share a plan. With a `store` the plan is kept
    there under `plan_id`, or else under the session's id, and anyone may change it at any time;
    AgentScope's list is published.

    Raises:
        PlanError: the toolkit has tools of these names already; what was given is no toolbox, no
            settings, no store, no clock, no verifier or no name.
    """
    toolbox = default_toolbox() if toolbox is None else toolbox
    kept: dict[str, Any] = {"store": store, "clock": clock, "plan_id": plan_id, "actor": actor}
    planning = PlanMiddleware(toolbox, settings=settings, system_prompt=system_prompt, **kept)
    toolkit = toolkit or Toolkit()
    # Toolkit always makes the first group, "basic", itself.
    tools, basic = make_tools(toolbox, verify=verify, **kept), toolkit.tool_groups[0].tools
    names = list(toolbox.toolset.tool_names)
    doubled = sorted({tool.name for tool in basic} & set(names))
    if doubled:
        # Toolkit takes the second silently, and the model is offered both.
        msg = f"the toolkit has {', '.join(doubled)} already; leave out AgentScope's own task tools"
        raise PlanError(msg, names=doubled)
    basic.extend(tools)
    config = injection_config or InjectionConfig()
    return {
        "toolkit": toolkit,
        "middlewares": [*middlewares, planning],
        # Without our names it would tell the model to call `TaskList`, which it may not have.
        "injection_config": config.model_copy(update={"task_tool_names": names}),
    }

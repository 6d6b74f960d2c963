"""
Plans in LlamaIndex: `pip install 'todoplan[llama-index]'`.

`PlanningAgent` is a `FunctionAgent` with the tools, the prompt and the guidance (reminders to the
model) of a `Planning`. `make_tools` returns only the tools.

The plan is in the store of the workflow's `Context`, or in a store of todoplan. `plan_of_state` and
`history_of` read the context. `seed_plan`, `edit_plan` and `undo_plan` change it at any time.

The plan and the session's record (which tasks the session has listed, and what it has last seen of
the plan) are one JSON text in the store of the workflow's `Context`, under one key. It is a text
because LlamaIndex imports the class that a saved dictionary names, and a model could write such a
dictionary into a task's metadata.

`FunctionAgent` keeps the messages of a run in a scratchpad and appends them to its input. Here, the
messages of the scratchpad and the reminder are part of the input of each request, and the request
has an empty scratchpad that is not saved. So the reminder is not saved either. If the model answers
while tasks are open, it is asked again in the same way. `AgentOutput.retry_messages` is not used,
because these messages come before the scratchpad and repeat the user's message.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import attrs

from todoplan.errors import MissingExtraError

try:
    from llama_index.core.agent.workflow import AgentOutput, FunctionAgent
    from llama_index.core.agent.workflow.agent_context import AgentContext, SimpleAgentContext
    from llama_index.core.base.llms.types import ToolCallBlock
    from llama_index.core.bridge.pydantic import BaseModel
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import BaseMemory
    from llama_index.core.tools import AsyncBaseTool, FunctionTool, ToolMetadata, ToolOutput
    from llama_index.core.workflow import Context
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "llama-index") from error

from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call, Reply
from todoplan.dialogue.guidance import Message, ToolResult
from todoplan.dialogue.replies import is_error_text
from todoplan.dialogue.toolbox import require
from todoplan.dialogue.tools import Definition
from todoplan.lazy import listing
from todoplan.planner.editing import edit_plan, seed_plan, undo_plan
from todoplan.planner.loops import Limiter
from todoplan.planner.session import AsyncSession, BasePlanning, read_text
from todoplan.stores.slot import history_in_slot, plan_in_slot

__all__ = [
    "Planning",
    "PlanningAgent",
    "edit_plan",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)

KEY = "todoplan"
"""The key of the context's store."""

_ROLES: dict[str, Any] = {name: name for name in ("system", "user", "assistant", "tool")}


@attrs.define(eq=False)
class _Run:
    """
    The session in one context's store.

    `text` is the session's text that was last read or written. `turn` are the calls of the model's
    last message. `waiting` are the unanswered calls in `turn`, each with the arguments that
    LlamaIndex passes to the tool.
    """

    session: AsyncSession = attrs.field(init=False)
    text: str | None = None
    limiter: Limiter = attrs.Factory(lambda: Limiter(1))
    turn: list[Call] = attrs.Factory(list)
    waiting: list[tuple[dict[str, Any], Call]] = attrs.Factory(list)

    def note(self, output: AgentOutput) -> None:
        """Note the calls of the model's last message."""
        made, blocks = output.tool_calls, _blocks(output.response)
        ids = [call.tool_id for call in made]  # some providers give several calls the same id
        sent: list[Any] = [call.tool_kwargs for call in made]
        if len(blocks) == len(made):  # these are not yet repaired by LlamaIndex
            sent = [block.tool_kwargs for block in blocks]
        self.turn = [
            Call(call.tool_name, sent[n], call.tool_id if ids.count(call.tool_id) == 1 else f"{n}")
            for n, call in enumerate(made)
        ]
        self.waiting = [(call.tool_kwargs, self.turn[n]) for n, call in enumerate(made)]


class Planning(BasePlanning):
    """
    The plans of all contexts of an agent: `PlanningAgent(llm=llm, planning=Planning())`.

    `toolbox` has the tools and their policy, `settings` configure the reminders to the model,
    `clock` returns the current time with its time zone, and `verify` checks whether a task is done
    (see `AsyncPlanner`). `system_prompt` is appended to the agent's prompt; the default is the tool
    set's prompt, and "" adds none. `actor` is the agent's name in the journal. With a `store`, the
    plan is kept there under `plan_id`, and the context has only the record of what this session has
    listed and seen. Agents of one `AgentWorkflow` share the plan of the context.

    Raises:
        PlanError: an argument has the wrong type, or a store is given without a plan id.
    """

    def prepare(self) -> None:
        """Initialise the planning. No run is active yet."""
        self._runs: WeakKeyDictionary[Any, _Run] = WeakKeyDictionary()
        self.opened({})  # a store without a plan id is refused now, not at a call

    @asynccontextmanager
    async def run(self, store: Any, *, saves: bool = True) -> AsyncGenerator[_Run]:
        """
        Yield the session in a context's store, to one asyncio task at a time. Afterwards save the
        session, unless `saves` is false.
        """
        run = self._runs.setdefault(store, _Run())
        async with run.limiter.semaphore(asyncio.get_running_loop()):
            text = await store.get(KEY, default="{}")
            if text != run.text:  # in a new process, or if others have written the text
                run.session, run.text = self.opened(read_text(text)), text
            try:
                yield run
            finally:
                if saves:
                    run.text = run.session.to_text()
                    await store.set(KEY, run.text)

    @asynccontextmanager
    async def editing(self, ctx: Context) -> AsyncGenerator[AsyncSession]:
        """
        Yield the session in a context, between two runs or during one, and save it afterwards.

        The context of a run is `handler.ctx`.
        """
        async with self.run(_store(ctx)) as run:
            yield run.session

    async def answer(self, ctx: Context, name: str, arguments: dict[str, Any]) -> Reply:
        """Answer a call of the model."""
        async with self.run(ctx.store) as run:
            # LlamaIndex passes no call id to a tool, so the call is found by its name and
            # arguments. It does not matter which of several equal calls is found.
            asked = [pair for pair in run.waiting if pair[1].name == name]
            equal = [pair for pair in asked if pair[0] == arguments]
            if not asked:  # the agent has only the tools, without guidance
                return (await run.session.answer([Call(name, arguments)])).replies[0]
            pair = (equal or asked)[0]
            run.waiting.remove(pair)
            return await run.session.answer_one(pair[1], run.turn)


@dataclass(frozen=True)
class _Request(SimpleAgentContext):
    """The context of one request to the model, with an empty scratchpad that is not saved."""

    step: AgentContext = field(kw_only=True)

    def write_event_to_stream(self, event: Any) -> None:
        """Write an event to the stream of the step."""
        self.step.write_event_to_stream(event)


class PlanningAgent(FunctionAgent):
    """
    A `FunctionAgent` with the tools, the prompt and the reminders of a planning.

    Pass the arguments of `FunctionAgent` by name. Give the agents of one `AgentWorkflow` the same
    `planning`; the default is a new `Planning()`.

    Raises:
        PlanError: `planning` is not a `Planning`.
    """

    planning: Planning

    def __init__(
        self,
        *,
        planning: Planning | None = None,
        tools: Sequence[Any] | None = None,
        system_prompt: str | None = None,
        **more: Any,
    ) -> None:
        planning = Planning() if planning is None else require(planning, Planning)
        prompt = f"{system_prompt or ''}\n\n{planning.system_prompt}".strip()
        super().__init__(
            planning=planning,
            tools=[*(tools or ()), *make_tools(planning)],
            system_prompt=prompt,
            **more,
        )

    async def take_step(
        self,
        ctx: AgentContext,
        llm_input: list[ChatMessage],
        tools: Sequence[AsyncBaseTool],
        memory: BaseMemory,
    ) -> AgentOutput:
        """Send a request with its reminder, and ask the model again if it answers too early."""
        scratchpad = await ctx.store.get(self.scratchpad_key, default=[])
        messages = [*llm_input, *scratchpad]
        is_new = not await ctx.store.get("num_iterations", default=0)
        async with self.planning.run(ctx.store, saves=False) as run:
            request = await run.session.before_model(_conversation(messages), is_new=is_new)
        while True:
            # `initial_tool_choice` is meant for the user's message, not for a reminder.
            is_plain = is_new or self.initial_tool_choice is None
            agent = self if is_plain else self.model_copy(update={"initial_tool_choice": None})
            reminder = [ChatMessage(request.text)] if request.text else []
            output = await super(PlanningAgent, agent).take_step(
                _Request(step=ctx), [*messages, *reminder], tools, memory
            )
            async with self.planning.run(ctx.store) as run:
                advice = await run.session.after_model(_answer(output), request=request)
                run.note(output)
            if advice.verdict != "again":
                break
            messages, is_new = [*messages, output.response], False
            request = request.again(advice)
        await ctx.store.set(self.scratchpad_key, [*scratchpad, output.response])
        return output


def _answer(output: AgentOutput) -> Message:
    """Convert an answer of the model to the neutral form that guidance reads."""
    calls = tuple(call.tool_name for call in output.tool_calls)
    # The finish reason is beside the message for Anthropic, and in the raw response for OpenAI.
    raw = output.raw if isinstance(output.raw, Mapping) else {}
    details: dict[str, Any] = {**output.response.additional_kwargs}
    for part in (raw, *(raw.get("choices") or ())[:1]):
        details |= part if isinstance(part, Mapping) else {}
    finish = details.get("finish_reason") or details.get("stop_reason") or ""
    return Message("assistant", output.response.content or "", calls, finish=str(finish))


def _conversation(messages: Sequence[ChatMessage]) -> list[Message]:
    """Convert the messages of a request to the neutral form that guidance reads."""
    names: dict[Any, str] = {}
    read = []
    for message in messages:
        calls = _blocks(message)
        names |= {call.tool_call_id: call.tool_name for call in calls}
        role, text = _ROLES.get(message.role.value, "user"), message.content or ""
        call_id = message.additional_kwargs.get("tool_call_id", "")
        # The message does not mark a refusal, so it is recognised by its text.
        result = ToolResult(names.get(call_id, ""), not is_error_text(text), call_id)
        results = (result,) if role == "tool" else ()
        read.append(Message(role, text, tuple(call.tool_name for call in calls), results))
    return read


def _blocks(message: ChatMessage) -> list[ToolCallBlock]:
    return [block for block in message.blocks if isinstance(block, ToolCallBlock)]


class PlanTool(FunctionTool):
    """One planning tool; `make_tools` makes it."""

    def __init__(self, planning: Planning, definition: Definition) -> None:
        class Arguments(BaseModel):
            """The class from which LlamaIndex takes the tool's schema."""

            @classmethod
            def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
                return {**definition.schema}

        metadata = ToolMetadata(definition.description, definition.name, Arguments)
        super().__init__(async_fn=self.acall, metadata=metadata)
        self._planning = planning
        # LlamaIndex passes its context to the parameter of this name.
        self.requires_context, self.ctx_param_name = True, "ctx"

    async def acall(self, /, *_: Any, **arguments: Any) -> ToolOutput:
        """Answer a call; a refusal is marked as an error."""
        ctx, name = arguments.pop("ctx"), self.metadata.get_name()
        reply = await self._planning.answer(ctx, name, arguments)
        return ToolOutput(
            name, reply.text, raw_input=arguments, raw_output=reply.text, is_error=reply.is_error
        )


def make_tools(planning: Planning) -> list[FunctionTool]:
    """
    Return the tools for any agent of LlamaIndex, without the prompt and the reminders.

    Raises:
        PlanError: the argument is not a `Planning`.
    """
    definitions = require(planning, Planning).toolbox.toolset.definitions()
    return [PlanTool(planning, definition) for definition in definitions]


async def plan_of_state(ctx: Context) -> Plan:
    """
    Return the plan in a context, or an empty plan if there is none.

    Raises:
        CodecError: the saved plan is damaged.
        PlanError: a store keeps the plan, or the argument is not a context.
    """
    return plan_in_slot(await _kept(ctx), "context")


async def history_of(ctx: Context) -> tuple[Entry, ...]:
    """
    Return the journal in a context, oldest entry first.

    It has at most the latest 50 entries, fewer if they are long.

    Raises:
        CodecError: the saved journal is damaged.
        PlanError: see `plan_of_state`.
    """
    return history_in_slot(await _kept(ctx), "context")


async def _kept(ctx: Context) -> dict[str, Any]:
    return read_text(await _store(ctx).get(KEY, default="{}"))


def _store(ctx: Context) -> Any:
    return require(ctx, Context, "a Context of LlamaIndex, such as handler.ctx").store

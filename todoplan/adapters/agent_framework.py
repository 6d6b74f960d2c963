"""
Plans in Microsoft's Agent Framework: `pip install 'todoplan[agent-framework]'`.

`Planning` is a context provider that gives the agents of a session the tools, the prompt and the
guidance (reminders to the model). `make_tools` returns only the tools.

The plan is in the state of the `AgentSession`, or in a store. `plan_of_state` and `history_of` read
the state; `seed_plan`, `edit_plan` and `undo_plan` change it between runs.

The plan and the session's record (which tasks the session has listed, and what it has last seen of
the plan) are in the provider's part of `AgentSession.state`, which `AgentSession.to_dict` saves.
When a run begins, the adapter makes a session object from this state, and saves the object there
during the run.

The framework checks a call's arguments against the schema, and refuses arguments that the toolbox
would repair. So a middleware answers the calls of the planning tools before this check.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

import attrs

from todoplan.errors import MissingExtraError

try:
    from agent_framework import (
        AgentSession,
        ChatContext,
        ChatMiddleware,
        ChatResponse,
        ChatResponseUpdate,
        Content,
        ContextProvider,
        FunctionInvocationContext,
        FunctionMiddleware,
        FunctionTool,
        Message,
        ResponseStream,
        SessionContext,
    )
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "agent-framework") from error

from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.dialogue import guidance
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import ToolResult
from todoplan.dialogue.replies import is_error_text
from todoplan.dialogue.toolbox import Toolbox, require
from todoplan.dialogue.tools import Definition
from todoplan.lazy import listing
from todoplan.planner.editing import edit_plan, seed_plan, undo_plan
from todoplan.planner.session import AsyncSession, BasePlanning, Request
from todoplan.stores.slot import history_in_slot, plan_in_slot

__all__ = [
    "Planning",
    "edit_plan",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)

KEY = "todoplan"
"""The key of the session's state, and the source id of the provider."""

_ROLES = frozenset({"system", "user", "assistant", "tool"})


class Planning(BasePlanning, ContextProvider):
    """
    The plans of all sessions of an agent: `Agent(client, context_providers=[Planning()])`.

    `toolbox` has the tools and their policy, `settings` configure the reminders to the model,
    `clock` returns the current time with its time zone, and `verify` checks whether a task is done
    (see `AsyncPlanner`). `system_prompt` is the instruction about the tools; the default is the
    tool set's prompt, and "" adds none. `actor` is the agent's name in the journal. With a `store`,
    the plan is kept there under the id of the session, or under `plan_id` for a plan that several
    sessions share.

    Raises:
        PlanError: an argument has the wrong type, or a plan id is given without a store.
    """

    def prepare(self) -> None:
        """Initialise the planning. No run is active yet."""
        ContextProvider.__init__(self, KEY)
        # `after_run` is not called for a failed run, so the references to the runs are weak. They
        # refer to the context of a run and not to its middleware, because the framework keeps the
        # middleware of the last run.
        self._runs: WeakValueDictionary[str, SessionContext] = WeakValueDictionary()
        self._tools = make_tools(self)  # for all runs: making them takes longer than a call

    @asynccontextmanager
    async def editing(self, session: AgentSession) -> AsyncGenerator[AsyncSession]:
        """
        Yield todoplan's session in the state of an `AgentSession`, and save it afterwards.

        Raises:
            PlanError: a run of the session is active, and no store keeps the plan.
        """
        require(session, AgentSession, "a session of the framework")
        if self.store is None and session.session_id in self._runs:
            self.refuse_edit_beside("a run of this session", "edit it after the run")
        opened = self.opened(_state(session), session.session_id)
        yield opened
        _state(session).update(opened.to_data())

    async def before_run(
        self,
        *,
        agent: object,  # noqa: ARG002 - the framework's own
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add the tools, the prompt and the guidance. The framework calls this."""
        run = _Run(self.opened(state, session.session_id), state)
        self._runs[session.session_id] = context
        context.extend_tools(KEY, self._tools)
        if self.system_prompt:
            context.extend_instructions(KEY, self.system_prompt)
        context.extend_middleware(KEY, [_Guided(run), _Answering(run, self.toolbox)])

    async def after_run(
        self,
        *,
        agent: object,  # noqa: ARG002 - the framework's own
        session: AgentSession,
        context: SessionContext,  # noqa: ARG002 - same
        state: dict[str, Any],  # noqa: ARG002 - same
    ) -> None:
        """Note that the run is over. The framework calls this."""
        self._runs.pop(session.session_id, None)

    async def answer(self, call: Call, session: AgentSession | None) -> str:
        """Answer a single call outside a run of this planning."""
        if session is None:
            return "There is no session, and so no plan: run the agent with session=."
        opened = self.opened(_state(session), session.session_id)
        reply = (await opened.answer([call])).replies[0]
        _state(session).update(opened.to_data())
        return reply.text


@attrs.define(eq=False)
class _Run:
    """The session during one run, and the calls (`turn`) of the model's last message."""

    session: AsyncSession
    state: dict[str, Any]
    is_new: bool = True
    turn: list[Call] = attrs.Factory(list)

    def save(self) -> None:
        self.state.update(self.session.to_data())


class _Guided(ChatMiddleware):
    """
    Adds the reminder to the end of one request, and asks the model again if the model answers while
    tasks are open.
    """

    def __init__(self, run: _Run) -> None:
        self._run = run

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Send a request with its reminder, until the model's answer is accepted."""
        run, own = self._run, [*context.messages]
        contents = [content for message in own for content in message.contents]
        # A result does not have the tool's name.
        names = {
            content.call_id: content.name or ""
            for content in contents
            if content.type == "function_call"
        }
        read = [neutral(message.contents, str(message.role), names) for message in own]
        request = await run.session.before_model(read, is_new=run.is_new)
        run.is_new = False
        context.messages = _reminded(own, request.text)
        await call_next()
        updates = self._judged_until_accepted(context.result, context, call_next, request, own)
        if context.stream:
            context.result = ResponseStream(updates, finalizer=ChatResponse.from_updates)
        else:
            await anext(updates, None)  # without a stream, it yields nothing and runs to its end

    async def _judged_until_accepted(
        self,
        response: Any,
        context: ChatContext,
        call_next: Callable[[], Awaitable[None]],
        request: Request,
        own: list[Message],
    ) -> AsyncGenerator[ChatResponseUpdate]:
        """
        Ask the model again until its response is accepted.

        If the responses are streams, yield the updates of each response.
        """
        run = self._run
        while True:
            if context.stream:
                async for update in response:
                    yield update
                response = await response.get_final_response()
            contents = [content for message in response.messages for content in message.contents]
            run.turn = [
                Call(content.name or "", content.arguments or {}, content.call_id or "")
                for content in contents
                if content.type == "function_call"
            ]
            answer = neutral(contents, "assistant", {}, str(response.finish_reason or ""))
            try:
                advice = await run.session.after_model(answer, request=request)
            finally:
                run.save()
            if advice.verdict != "again":
                return
            own, request = [*own, *response.messages], request.again(advice)
            context.messages = _reminded(own, request.text)
            await call_next()
            response = context.result


class _Answering(FunctionMiddleware):
    """Answers the calls of the planning tools, before the framework checks their arguments."""

    def __init__(self, run: _Run, toolbox: Toolbox) -> None:
        self._run, self._names = run, toolbox.toolset.tool_names

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Answer one call."""
        if context.function.name not in self._names:
            await call_next()
            return
        run, call_id = self._run, context.metadata.get("call_id", "")
        sent: Any = context.arguments
        arguments = sent if isinstance(sent, Mapping) else sent.model_dump()
        made = Call(context.function.name, arguments, call_id)
        call = next((call for call in run.turn if call.call_id == call_id), made)
        reply = await run.session.answer_one(call, run.turn or [call])
        run.save()
        context.result = reply.text


def _reminded(messages: Sequence[Message], text: str) -> list[Message]:
    return [*messages, *([Message(role="user", contents=[text])] if text else [])]


def neutral(
    contents: Sequence[Content],
    role: str,
    names: Mapping[str | None, str],
    finish: str = "",
) -> guidance.Message:
    """
    Convert a message to the neutral form that guidance reads. `names` are the names of the called
    tools by call id, and `finish` is the finish reason.
    """
    text = "".join(content.text or "" for content in contents if content.type == "text")
    calls = tuple(content.name or "" for content in contents if content.type == "function_call")
    results = tuple(
        ToolResult(
            names.get(content.call_id, ""),
            # The framework does not mark refusals, so they are recognised by their text.
            not content.exception and not is_error_text(str(content.result)),
            content.call_id or "",
        )
        for content in contents
        if content.type == "function_result"
    )
    known: Any = role if role in _ROLES else "user"
    return guidance.Message(known, text, calls, results, finish=finish)


def make_tools(planning: Planning) -> list[FunctionTool]:
    """
    Return the tools for `Agent(tools=...)`, without the prompt and the reminders.

    Raises:
        PlanError: the argument is not a `Planning`.
    """

    def tool(definition: Definition) -> FunctionTool:
        async def call(ctx: FunctionInvocationContext, **arguments: Any) -> str:
            made = Call(definition.name, arguments, ctx.metadata.get("call_id", ""))
            return await planning.answer(made, ctx.session)

        return FunctionTool(
            name=definition.name,
            description=definition.description,
            func=call,
            input_model={**definition.schema},
            approval_mode="never_require",
        )

    return [
        tool(definition) for definition in require(planning, Planning).toolbox.toolset.definitions()
    ]


def _state(session: AgentSession) -> dict[str, Any]:
    state: dict[str, Any] = session.state.setdefault(KEY, {})
    return state


def plan_of_state(session: AgentSession) -> Plan:
    """
    Return the plan in a session's state, or an empty plan if there is none.

    Raises:
        CodecError: the saved plan is damaged.
        PlanError: a store keeps the plan, or the argument is not a session.
    """
    return plan_in_slot(require(session, AgentSession).state.get(KEY), "session")


def history_of(session: AgentSession) -> tuple[Entry, ...]:
    """
    Return the journal in a session's state, oldest entry first.

    It has at most the latest 50 entries, fewer if they are long.

    Raises:
        CodecError: the saved journal is damaged.
        PlanError: see `plan_of_state`.
    """
    return history_in_slot(require(session, AgentSession).state.get(KEY), "session")

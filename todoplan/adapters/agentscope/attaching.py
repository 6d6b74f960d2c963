"""
The planning tools for an agent's `Toolkit`, guidance as a middleware, and `attach` for both.

The tools that write are marked as not safe for concurrent calls. So AgentScope runs the calls of a
turn in order, and each call sees the changes of the previous one. The context contains the whole
turn, which is needed for law 13 and for the merge base of its calls.

Reminders are added to a single request (`on_model_call`), whereas AgentScope saves its own
injections with the conversation. The end of a reply is an event. If the model must go on, the event
is dropped, and AgentScope asks the model again; the premature text has been streamed by then and
stays in the message. The session's state and a pending reminder are kept in the agent's state.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from itertools import takewhile
from typing import Any

import attrs
from agentscope.agent import Agent, InjectionConfig
from agentscope.event import EventBase, ReplyEndEvent, ReplyFinishedReason
from agentscope.exception import DeveloperOrientedException
from agentscope.message import ContentBlock as Block
from agentscope.message import HintBlock, Msg, TextBlock, ToolCallBlock, ToolResultBlock, UserMsg
from agentscope.message import ToolResultState as State
from agentscope.middleware import MiddlewareBase
from agentscope.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope.state import AgentState
from agentscope.tool import ToolBase, ToolChunk, Toolkit, ToolMiddlewareBase

from todoplan.adapters.agentscope.state import KEY, PENDING, PLAIN, SEAL, Planning, kept_in, sum_of
from todoplan.codec import entry_to_data
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import in_utc
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import AGENTSCOPE, Policy
from todoplan.dialogue.calls import Call, Clock, utc_now
from todoplan.dialogue.guidance import Conversation, Message, Settings, ToolResult
from todoplan.dialogue.intake import Field, Kind, meant_by
from todoplan.dialogue.replies import error_text
from todoplan.dialogue.toolbox import Toolbox, require
from todoplan.dialogue.tools import Definition
from todoplan.errors import CodecError, PlanError
from todoplan.planner import AnyStore
from todoplan.planner.session import AsyncSession, Request
from todoplan.planner.verifying import Verify

_Wrappers = list[ToolMiddlewareBase] | None
_IDS = frozenset({Kind.ID, Kind.ID_HINT, Kind.IDS, Kind.REF, Kind.REFS})


class _Shown(dict[str, Any]):
    """
    A schema that accepts any arguments, but whose deep copy, shown to models, is the real schema.

    AgentScope silently changes arguments to fit the schema, but intake must read them unchanged. A
    reference to `true` makes its check short.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        super().__init__({"type": "object", "properties": {}, "$ref": "#/any", "any": True})
        self._schema = schema

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return deepcopy(self._schema, memo)


class PlanTool(ToolBase):
    """
    One planning tool. It is always allowed, like AgentScope's own; writes of a turn run in order.
    """

    is_state_injected = True  # AgentScope then passes its state as `_agent_state`

    def __init__(
        self, planning: Planning, definition: Definition, middlewares: _Wrappers = None
    ) -> None:
        super().__init__(middlewares)
        self.planning = planning
        self.name, self.description = definition.name, definition.description
        self.input_schema = _Shown(definition.schema)
        # AgentScope's own tools are marked the other way: reads as writes, and creates as
        # concurrent.
        self.is_read_only = self.is_concurrency_safe = definition.read_only
        tool = planning.toolbox.toolset.find(definition.name)
        self._fields = tool.fields if tool else ()

    async def check_permissions(
        self,
        tool_input: dict[str, Any],  # noqa: ARG002 - AgentScope gives it
        context: PermissionContext,  # noqa: ARG002 - same
    ) -> PermissionDecision:
        """Allow every call."""
        # Any other result suspends the reply until a person approves a mere planning call.
        message = f"{self.name} is always allowed to be called."
        return PermissionDecision(behavior=PermissionBehavior.ALLOW, message=message)

    async def call(self, _agent_state: Any, **arguments: Any) -> ToolChunk:
        """
        Answer one call.

        For a plan in the agent's state, nothing but a verifier is awaited, so no other call can
        interleave between reading and writing.

        Raises:
            DeveloperOrientedException: AgentScope passed no state.
        """
        # This is the application's mistake, not the model's. The toolkit passes on only this kind
        # of exception; others become results.
        if not isinstance(_agent_state, AgentState):
            msg = f"{self.name} needs the AgentState, and was given {_agent_state!r}"
            raise DeveloperOrientedException(msg)
        try:
            return await self._answer(_agent_state, arguments)
        except (CodecError, PlanError) as error:
            return _chunk(error_text((Problem("broken_list", seen=str(error)),)), is_error=True)

    async def _answer(self, state: AgentState, given: dict[str, Any]) -> ToolChunk:
        session = await self.planning.session(state)
        kept, message = kept_in(state), state.context[-1].id if state.context else None
        calls, waiting = calls_in_turn(state.context)
        # AgentScope passes no call id to a tool, but runs the calls of planning tools in order.
        made = next((call for call in waiting if call.name == self.name), None)
        sent: Any = given if made is None else as_sent(made.input, given)
        if kept.names:
            sent = _with_ids(sent, self._fields, kept.names)
        call = Call(self.name, sent, made.id if made else "")
        turn = [Call(each.name, None, each.id) for each in calls] if waiting else []
        # A session that is resumed from data saved before the answer repeats the call. Call ids
        # alone are not unique: some providers number the calls of each response from the start, and
        # one message contains all responses.
        scope = (state.session_id, message, session.state.answered) if call.call_id else None
        reply = await session.answer_one(call, turn, scope)
        kept.save(state, reply.plan)
        text, news = "\n".join((reply.text, *kept.repairs())), {}
        if reply.events and kept.slot is not None:
            news = {KEY: kept.latest}
        elif reply.events:
            at = in_utc(self.planning.clock())
            entry = Entry(reply.revision, reply.events, at, session.actor, reply.name)
            news = {KEY: entry_to_data(entry)}
        return _chunk(text, is_error=reply.is_error, metadata=news)


def calls_in_turn(context: Sequence[Msg]) -> tuple[list[ToolCallBlock], list[ToolCallBlock]]:
    """Return the calls of the model's last turn, and those of them that are unanswered."""
    # One message contains all turns of a reply: only its end, after earlier results, is this turn.
    calls: list[ToolCallBlock] = []
    answered: set[str] = set()
    for block in reversed(context[-1].content if context else ()):
        if isinstance(block, ToolCallBlock):
            calls.insert(0, block)
        elif isinstance(block, ToolResultBlock | HintBlock):
            if calls:
                break
            answered.add(block.id)
    return calls, [call for call in calls if call.id not in answered]


def as_sent(sent: str, given: dict[str, Any]) -> str | dict[str, Any]:
    """
    Return the arguments as the model sent them, or those passed in if a middleware changed them.

    AgentScope silently completes truncated arguments and keeps the last value of a repeated key.
    """
    try:
        return sent if sent and json.loads(sent) == given else given
    except ValueError:
        return sent


def _with_ids(value: Any, fields: tuple[Field, ...], names: Mapping[str, str]) -> Any:
    """Return a call's arguments with earlier names of tasks replaced by their ids."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return value  # intake reads text that is not JSON; names in it are not replaced
    found = dict(value)
    for key, part in value.items():
        field = meant_by(key, fields)[0]
        many = part if isinstance(part, list) else [part]
        if field is None:
            continue
        if field.kind is Kind.ITEMS:
            new = [_with_ids(one, field.items, names) for one in many if isinstance(one, dict)]
            found[key] = new if len(new) == len(many) else part
        elif field.kind in _IDS:
            new = [names.get(one, one) if isinstance(one, str) else one for one in many]
            found[key] = new if isinstance(part, list) else new[0]
    return found


def _chunk(text: str, *, is_error: bool, metadata: dict[str, Any] | None = None) -> ToolChunk:
    state = State.ERROR if is_error else State.SUCCESS
    block = TextBlock(text=text)
    return ToolChunk(content=[block], state=state, metadata=metadata or {}, id=block.id)


def tools_of(planning: Planning) -> list[ToolBase]:
    """Return the tools for a `Planning`."""
    return [PlanTool(planning, each) for each in planning.toolbox.toolset.definitions()]


def make_tools(  # noqa: PLR0913 - one keyword for each of its settings
    toolbox: Toolbox | None = None,
    *,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    plan_id: str | None = None,
    actor: str | None = None,
) -> list[ToolBase]:
    """
    Return the tools of a tool set for `Toolkit(tools=...)`; by default AgentScope's four.

    With a `store`, the plan is kept there under `plan_id`, by default the session's id. `clock`
    returns aware times, `verify` checks whether a task is done (see `AsyncPlanner`), and `actor` is
    this agent's name in the history.

    Raises:
        PlanError: an argument has the wrong type.
    """
    box = PLAIN.toolbox if toolbox is None else toolbox
    return tools_of(Planning(box, Settings(), store, plan_id, clock, verify, actor))


class _DropIn(PlanTool):
    def __init__(self, middlewares: _Wrappers = None, *, policy: Policy = AGENTSCOPE) -> None:
        toolset = PLAIN.toolbox.toolset
        planning = PLAIN
        if policy is not AGENTSCOPE:
            planning = Planning(Toolbox(toolset, require(policy, Policy)), Settings())
        found = {each.name: each for each in toolset.definitions()}
        super().__init__(planning, found[type(self).name], middlewares)


class TaskCreate(_DropIn):
    """Replacement for `agentscope.tool.TaskCreate`."""

    name = "TaskCreate"


class TaskGet(_DropIn):
    """Replacement for `agentscope.tool.TaskGet`."""

    name = "TaskGet"


class TaskList(_DropIn):
    """Replacement for `agentscope.tool.TaskList`."""

    name = "TaskList"


class TaskUpdate(_DropIn):
    """Replacement for `agentscope.tool.TaskUpdate`."""

    name = "TaskUpdate"


# AgentScope's own lines about tasks, in a hint that may also contain the time.
_TASKS = re.compile(r"<tasks>.*?</tasks>\n?", re.DOTALL)
_NATIVE = "TaskList"
# Changing an import must not change what the user sees, and a sent-back answer was streamed.
_DROP_IN = Settings(unfinished=0)
_Next = Callable[..., AsyncGenerator[Any, None]]


class PlanMiddleware(MiddlewareBase):
    """
    Guidance for an agent: reminders at the end of a request, which are not saved.

    With `Settings(unfinished=2)` it also sends a final answer back while tasks are open. Its state
    is kept in the agent's state. If it reminds of a lost plan, AgentScope's own lines about tasks,
    which name `TaskList`, are removed from the request. `system_prompt` is appended to the agent's
    prompt; the default is the tool set's prompt, and "" adds none. `store`, `plan_id`, `clock` and
    `actor` must be those of the tools.
    """

    def __init__(  # noqa: PLR0913 - a constructor of keyword arguments
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
        box = PLAIN.toolbox if toolbox is None else toolbox
        chosen = _DROP_IN if settings is None else settings
        self.planning = Planning(box, chosen, store, plan_id, clock, None, actor)
        prompt = self.planning.toolbox.toolset.system_prompt()
        self.system_prompt = prompt if system_prompt is None else system_prompt

    async def on_system_prompt(
        self,
        agent: Agent,  # noqa: ARG002 - AgentScope gives it
        current_prompt: str,
    ) -> str:
        """Append the planning prompt, which is the same in every request."""
        return "\n\n".join(filter(None, (current_prompt, self.system_prompt)))

    async def on_reply(
        self, agent: Agent, input_kwargs: dict[str, Any], next_handler: _Next
    ) -> AsyncGenerator[Any, None]:
        """Drop the end of a reply if the model must go on; caps apply to one reply."""
        # An event resumes a reply that waited for a person, so its caps are not reset.
        is_new = not isinstance(input_kwargs["inputs"], EventBase)
        if await self._sight(agent.state):
            kept_in(agent.state).is_new_run = is_new
        async for event in next_handler(**input_kwargs):
            if isinstance(event, ReplyEndEvent):
                # Without its end the reply goes on, and the model is asked again.
                if await self._goes_on(agent, event):
                    continue
                # So that an edit of the saved list is detected when it is loaded.
                kept_in(agent.state)[SEAL] = sum_of(agent.state.tasks_context.tasks)
            yield event

    async def _goes_on(self, agent: Agent, event: ReplyEndEvent) -> bool:
        state, sight = agent.state, await self._sight(agent.state)
        # An end by the reply's own limit must pass: AgentScope raises if it is dropped twice.
        if sight is None or event.finished_reason != ReplyFinishedReason.COMPLETED:
            return False
        session, plan = sight
        advice = await session.after_model(
            last_answer(state.context),
            structured=state.reply_context.structured_schema is not None,
            request=Request(session.state.memory, plan.revision),
        )
        # Another hook handles the next request; the two share only the state.
        kept = kept_in(state)
        kept.update({PENDING: advice.text} if advice.verdict == "again" else {})
        kept.save(state, plan)
        return advice.verdict == "again"

    async def on_model_call(
        self,
        agent: Agent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[Any]],
    ) -> Any:
        """Append the reminder that is due to the messages of this request."""
        messages, state, request = self._without_native(agent, input_kwargs), agent.state, None
        if sight := await self._sight(state):
            kept, (session, _) = kept_in(state), sight
            conversation, pending = Conversation(messages, neutral), kept.get(PENDING)
            # One reminder per request: any other that is due comes with the next request.
            request = await session.before_model(
                conversation, silent=bool(pending), is_new=kept.is_new_run
            )
            kept.is_new_run = False
            if text := pending or request.text:
                messages.append(UserMsg(name="user", content=text))
        answer = await next_handler(**{**input_kwargs, "messages": messages})
        if request and (now := await self._sight(state)):
            session, plan = now
            kept = kept_in(state)
            kept.pop(PENDING, None)
            # The answer may be a stream that has not started: it is judged at the reply's end.
            await session.after_model(Message("assistant"), silent=True, request=request)
            kept.save(state, plan)
        return answer

    async def _sight(self, state: AgentState) -> tuple[AsyncSession, Plan] | None:
        """
        Return the session and its plan, and publish the list; `None` if there is no valid plan.
        """
        try:
            session = await self.planning.session(state)
            plan = await session.plan()
        except (CodecError, PlanError):
            if self.planning.store is not None:
                raise
            return None  # the next planning call reports the error
        kept_in(state).save(state, plan)
        return session, plan

    def _without_native(self, agent: Agent, input_kwargs: dict[str, Any]) -> list[Msg]:
        names = {tool["function"]["name"] for tool in input_kwargs["tools"] or ()}
        # Only one of AgentScope and this middleware reminds of a lost plan, and never with the name
        # of a tool that the model lacks.
        if not self.planning.settings.plan_lost and _NATIVE in names:
            return list(input_kwargs["messages"])
        config = agent.injection_config
        return [_without_tasks(message, config) for message in input_kwargs["messages"]]


def neutral(message: Msg) -> Message:
    """Convert a message of AgentScope, which may contain a whole reply, for guidance."""
    return _message(message.role, message.content)


def _message(role: str, blocks: Sequence[object]) -> Message:
    return Message(
        role,  # type: ignore[arg-type]  # AgentScope's three roles are three of ours
        "".join(block.text for block in blocks if isinstance(block, TextBlock)),
        tuple(block.name for block in blocks if isinstance(block, ToolCallBlock)),
        tuple(
            ToolResult(block.name, block.state == State.SUCCESS, block.id)
            for block in blocks
            if isinstance(block, ToolResultBlock)
        ),
    )


def last_answer(context: Sequence[Msg]) -> Message:
    """Return the model's last answer: the blocks after the last tool result or hint."""
    blocks = context[-1].content if context else []
    tail = takewhile(lambda b: not isinstance(b, ToolResultBlock | HintBlock), reversed(blocks))
    return _message("assistant", tuple(tail)[::-1])


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


def attach(  # noqa: PLR0913 - one keyword for each of its settings
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
    Return arguments for tools and guidance: `Agent(name, prompt, model, **attach())`.

    The tools are added to `toolkit`. Guidance comes after your `middlewares`, nearest to the model,
    so it sees the request that is sent. `clock` returns the aware time of a change, `verify` checks
    whether a task is done (see `AsyncPlanner`), and `actor` is this agent's name in the history;
    agents that share a plan should have different names. With a `store`, the plan is kept there
    under `plan_id`, by default the session's id, and anyone may change it at any time; AgentScope's
    list is then a copy of it.

    Raises:
        PlanError: the toolkit already has tools of these names, or an argument has the wrong type.
    """
    given: dict[str, Any] = {"store": store, "clock": clock, "plan_id": plan_id, "actor": actor}
    guidance = PlanMiddleware(toolbox, settings=settings, system_prompt=system_prompt, **given)
    guidance.planning = planning = attrs.evolve(guidance.planning, verify=verify)
    toolkit = toolkit or Toolkit()
    # `Toolkit` always creates the first group, "basic".
    basic, names = toolkit.tool_groups[0].tools, list(planning.toolbox.toolset.tool_names)
    doubled = sorted({tool.name for tool in basic} & set(names))
    if doubled:
        # `Toolkit` silently accepts both, and offers both to the model.
        msg = f"the toolkit has {', '.join(doubled)} already; leave out AgentScope's own task tools"
        raise PlanError(msg, names=doubled)
    basic.extend(tools_of(planning))
    config = injection_config or InjectionConfig()
    return {
        "toolkit": toolkit,
        "middlewares": [*middlewares, guidance],
        # Without our names, it would tell the model to call `TaskList`, which may not exist.
        "injection_config": config.model_copy(update={"task_tool_names": names}),
    }

"""
Plans in the OpenAI Agents SDK: `pip install 'todoplan[openai-agents]'`.

`Planning` is the plan of one session. `attach(agent, planning)` returns a copy of an agent with the
tools, the prompt and the guidance (reminders to the model). `make_tools` returns only the tools,
and `guided_model` returns a model with guidance for `RunConfig(model=...)`. `seed_plan`,
`edit_plan` and `undo_plan` set and change a session's plan. `plan_of_state` and `history_of` read
the data of `Planning.to_data`.

The SDK stores messages in its sessions and a run in `RunState`, but has no place for a plan. So the
plan is kept in a `Planning`, or in a store, and `to_data` returns the data to save beside the SDK's
own. The tools, `edit_plan` and `seed_plan` may write the plan at any time, even during a run. All
writes go through one planner, so no accepted change is lost.

By law 13 of the guide `architecture`, the calls of one turn have the same effect as the same calls
made in order. But the SDK starts each call separately, and all at once. So the calls of a turn are
recorded when the model's response arrives, and the first call that starts carries out all calls
that are sure to run. A call that needs a person's approval is carried out on its own when it
starts.

Hooks and input filters belong to a run, but tools and model belong to an agent. To work however the
agent is run, guidance must be part of the agent. So the agent's model is wrapped: in every kind of
run, the wrapper can add a text to a single request and ask the model again, which no hook can do.
The wrapper runs after all input filters, so it sees the actual request. The events of a streamed
answer are yielded as they come, and only the completion event is held back, because the SDK takes
the last completion as the answer.

Some arguments that a model sends would abort the SDK's run (0.24): lone surrogates, and very deeply
nested lists. Intake reads the arguments as the model sent them; the SDK and the conversation get
them in the form that `portable` returns.
"""

from __future__ import annotations

import json
import re
from asyncio import Lock
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing, nullcontext, suppress
from copy import copy
from dataclasses import fields, replace
from functools import cache
from inspect import isawaitable, signature
from itertools import accumulate
from typing import Any, TypeVar, cast

import attrs

from todoplan.errors import CodecError, MissingExtraError, PlanError

try:
    from agents import Agent, FunctionTool, Model, ModelProvider, MultiProvider, Tool
    from agents.items import (
        ModelResponse,
        TResponseInputItem,
        TResponseOutputItem,
        TResponseStreamEvent,
    )
    from agents.run_context import RunContextWrapper
    from agents.tool_context import ToolContext
    from agents.usage import Usage
    from openai.types.responses import (
        ResponseCompletedEvent,
        ResponseFunctionToolCall,
        ResponseOutputItemDoneEvent,
        ResponseOutputMessage,
        ResponseOutputText,
        ResponseUsage,
    )
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "openai-agents") from error

from todoplan.codec import plan_from_data
from todoplan.core.commands import Command
from todoplan.core.decide import Decision
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import short_repr
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import Call, Clock, Reply, utc_now
from todoplan.dialogue.guidance import (
    Guidance,
    Message,
    Settings,
    ToolResult,
    is_final_answer,
    is_refusal,
)
from todoplan.dialogue.replies import is_error_text
from todoplan.dialogue.toolbox import Toolbox, guidance_of, require
from todoplan.dialogue.tools import Definition, ToolSet
from todoplan.lazy import listing
from todoplan.planner import AnyStore, AsyncPlanner, Subscriber
from todoplan.planner.session import BasePlanning, Request
from todoplan.planner.verifying import Verify
from todoplan.stores.slot import SLOT, history_in_slot

__all__ = [
    "Planning",
    "attach",
    "edit_plan",
    "guided_model",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)

T = TypeVar("T")
Input = str | list[TResponseInputItem]
_PARAMETERS = [*signature(Model.get_response).parameters][1:]
_CALLS = "calls"
_MOST = 256  # calls that are remembered
_TRIMMED = "[Trimmed"  # the beginning of an output that ToolOutputTrimmer has cut
_REFUSAL = "refusal"
# More than intake reads (32), and far less than the depth at which `json` fails: about 1,000 on
# Python 3.11 (openai-agents#4772).
_DEEPEST = 100
_BRACKET = re.compile(r"[\[\]{}]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _field(item: object, key: str) -> Any:
    return item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)


def conversation(given: Input) -> list[Message]:
    """
    Return the tool results in a request.

    The SDK has no error flag, so errors are recognised by their text. An output that
    `ToolOutputTrimmer` has cut no longer shows the plan, so it counts as failed.
    """
    items = as_list(given)
    names = {_field(i, "call_id"): _field(i, "name") for i in items if _is(i, "function_call")}
    messages = []
    for item in items:
        if _is(item, "function_call_output"):
            call_id, output = _field(item, "call_id"), _field(item, "output")
            text = output if isinstance(output, str) else ""
            failed = is_error_text(text) or text.startswith(_TRIMMED)
            result = ToolResult(names.get(call_id, ""), not failed, call_id)
            messages.append(Message("tool", results=(result,)))
    return messages


def _is(item: object, kind: str) -> bool:
    return bool(_field(item, "type") == kind)


def answers_in(given: Input) -> list[str]:
    """Return the ids of the calls whose results are in a request."""
    answers = (i for i in as_list(given) if str(_field(i, "type")).endswith("_output"))
    return [_field(item, "call_id") for item in answers]


def neutral(output: Iterable[object]) -> Message:
    """
    Return a model's response as one message.

    Items that the SDK must carry out count as calls. Calls that the provider has already carried
    out, such as a web search, do not count.
    """
    items = [*output]
    messages = (item for item in items if _is(item, "message"))
    parts = [part for message in messages for part in _field(message, "content") or ()]
    text = "".join(_field(part, "text") or "" for part in parts)
    calls = tuple(
        str(_field(item, "type"))
        for item in items
        if _field(item, "call_id") or _is(item, "mcp_approval_request")
    )
    # In this API, a refusal is a kind of content part, not a finish reason.
    finish = _REFUSAL if any(_is(part, _REFUSAL) for part in parts) else ""
    return Message("assistant", text, calls, finish=finish)


def calls_in(output: Iterable[object]) -> list[Call]:
    """Return the calls of a model's response that the SDK must answer, in order."""
    calls = []
    for item in output:
        if _field(item, "call_id"):
            arguments = _field(item, "arguments") if _is(item, "function_call") else ""
            calls.append(Call(_field(item, "name") or "", arguments, _field(item, "call_id")))
    return calls


def with_reminder(given: Input, text: str) -> Input:
    """Return the input of one request with a text appended; an empty text adds nothing."""
    reminder: list[TResponseInputItem] = [{"role": "user", "content": text}]
    return [*as_list(given), *reminder] if text else given


def as_list(given: Input) -> list[TResponseInputItem]:
    """Return the input of a request as a list of items."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def portable(arguments: str) -> str:
    """
    Return the arguments in a form that the SDK can process.

    Lone surrogates are replaced by question marks. Arguments that are nested too deeply are encoded
    as a JSON string. Other arguments are returned unchanged.
    """
    # A fast check, which is enough for most arguments.
    if arguments.count("[") + arguments.count("{") > _DEEPEST:
        # Brackets inside strings count too. At worst, valid arguments are encoded without need, but
        # only for the SDK: intake reads them as they were sent.
        steps = (1 if bracket in "[{" else -1 for bracket in _BRACKET.findall(arguments))
        if max(accumulate(steps)) > _DEEPEST:
            return json.dumps(arguments)
    if not _SURROGATE.search(arguments):
        return arguments
    try:
        text = json.dumps(json.loads(arguments), ensure_ascii=False)
    except ValueError:
        text = arguments
    sendable = text.encode("utf-8", "replace").decode()
    return arguments if sendable == text else sendable


def carried(item: TResponseOutputItem, toolset: ToolSet) -> TResponseOutputItem:
    """
    Return an item of a model's answer in the form for the SDK; only planning calls may change.
    """
    if not isinstance(item, ResponseFunctionToolCall) or toolset.find(item.name) is None:
        return item
    arguments = portable(item.arguments)
    # The SDK's own object is kept if nothing had to change.
    is_same = arguments is item.arguments
    return item if is_same else item.model_copy(update={"arguments": arguments})


# Compared by identity: several call ids refer to the same group, and `to_data` saves it once.
@attrs.define(eq=False)
class CallGroup:
    """Calls that are carried out together, in order, when the first of them starts."""

    calls: tuple[Call, ...]
    replies: Mapping[str, Reply] = attrs.field(factory=dict)
    lock: Lock = attrs.field(factory=Lock)


class PendingCalls:
    """
    The calls whose results the model has not seen yet, by call id.

    Raises:
        CodecError: the saved data is damaged.
    """

    def __init__(self, toolbox: Toolbox, saved: Iterable[Iterable[Mapping[str, Any]]] = ()) -> None:
        self._toolbox = toolbox
        self._groups: dict[str, CallGroup] = {}
        restored: list[list[Call]] | None = None
        with suppress(TypeError):
            restored = [[Call(**call) for call in calls] for calls in saved]
        parts = (part for calls in restored or () for call in calls for part in attrs.astuple(call))
        if restored is None or not all(isinstance(part, str) for part in parts):
            msg = "the saved `calls` are damaged; without them, calls are carried out one by one"
            raise CodecError(msg)
        for calls in restored:
            self._keep(calls)

    def made(self, calls: Sequence[Call], sure: Collection[str]) -> None:
        """
        Record the calls of a turn.

        Calls of the tools in `sure` will run in any case, so they form one group. Other calls may
        wait for approval, so each is a group of its own. Contradicting whole-list writes always
        form one group.
        """
        clashing = self._toolbox.clashing([call.name for call in calls])
        at_once = []
        for place, call in enumerate(calls):
            if place not in clashing and call.name in sure:
                at_once.append(call)
            elif place not in clashing:
                self._keep([call])
        # Law 13: several whole-list writes in one turn are refused, approved or not, so they are
        # carried out together.
        self._keep([calls[place] for place in sorted(clashing)])
        self._keep(at_once)

    def _keep(self, calls: Sequence[Call]) -> None:
        # The SDK carries out exact duplicates once, so they are removed here too.
        group = CallGroup(tuple(dict.fromkeys(calls)))
        for call in calls:
            self._groups[call.call_id] = group
        while len(self._groups) > _MOST:  # drop the oldest calls, which no run has answered
            del self._groups[next(iter(self._groups))]

    def group(self, call: Call) -> CallGroup:
        """Return the group of a call that the SDK makes; an unknown call is a group of its own."""
        group = self._groups.get(call.call_id) or CallGroup(())
        # The id alone does not identify a call: ids are unique only within a run, and a session may
        # have many runs.
        sent = (
            attrs.evolve(recorded, arguments=portable(recorded.arguments))
            for recorded in group.calls
        )
        return group if call in sent else CallGroup((call,))

    def awaits(self, call_ids: Iterable[str]) -> bool:
        """Return whether any of these calls was recorded and is still unanswered."""
        return any(call_id in self._groups for call_id in call_ids)

    def answered(self, call_ids: Iterable[str]) -> None:
        """Forget calls whose results the model has seen."""
        for call_id in call_ids:
            self._groups.pop(call_id, None)

    def to_data(self) -> list[list[dict[str, Any]]]:
        """
        Return the groups of calls as JSON values. If a group was carried out, each of its calls is
        saved as a group of its own.
        """
        data = []
        for group in dict.fromkeys(self._groups.values()):
            calls = [attrs.asdict(call) for call in group.calls]
            data += [[call] for call in calls] if group.replies else [calls]
        return data


class Planning(BasePlanning):
    """
    The plan of one session. Make one per session, and pass it to every agent that shares the plan.

    `toolbox` has the tools and their policy, `settings` configure the reminders to the model,
    `clock` returns the current time with its time zone, and `verify` checks whether a task is done
    (see `AsyncPlanner`). `actor` is the name of the agents in the journal.

    Without a `store`, save `to_data()` beside the SDK's session, and continue with
    `Planning(saved=...)`. With a store, the plan is kept there under `plan_id`, and `to_data()` has
    only the record of what this session has listed and seen, and its unanswered calls.

    Raises:
        CodecError: the saved data is damaged.
        PlanError: the plan would be both in the store and in the saved data, or in neither; or an
            argument has the wrong type.
    """

    def __init__(  # noqa: PLR0913 - four settings of every adapter, and what was saved
        self,
        toolbox: Toolbox | None = None,
        settings: Settings = Settings(),  # noqa: B008 - a frozen value
        *,
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
        plan_id: str | None = None,
        actor: str | None = None,
        saved: Mapping[str, Any] | None = None,
    ) -> None:
        given: Any = {"store": store, "clock": clock, "verify": verify, "plan_id": plan_id}
        super().__init__(toolbox, settings, **given, actor=actor)
        kept = dict(saved or {})
        self.pending = PendingCalls(self.toolbox, kept.pop(_CALLS, ()))
        self.session = self.opened(kept)

    @property
    def planner(self) -> AsyncPlanner:
        """The planner with which your own code changes and follows the plan (`apply`, `watch`)."""
        return self.session.planner

    async def plan(self) -> Plan:
        """Return the current plan."""
        return await self.planner.plan()

    async def history(self) -> tuple[Entry, ...]:
        """
        Return the journal of the plan, oldest entry first.

        An entry has its time, its `actor` (`None` for an agent without a name) and its `cause`, the
        name of the tool or command. A store has the whole journal. Saved data has at most the
        latest 50 entries, fewer if they are long.
        """
        return await self.session.history()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """
        Call a subscriber with the journal entry and the plan after every accepted change.

        The subscriber may be a plain or a coroutine function. Call the returned function to stop.
        """
        return self.planner.subscribe(subscriber)

    def to_data(self) -> dict[str, Any]:
        """Return the data to save, as plain JSON values, for `Planning(saved=...)`."""
        return {**self.session.to_data(), _CALLS: self.pending.to_data()}

    async def answer(self, call: Call) -> Reply:
        """Answer a call. The first call of a group (calls of one turn) carries out all of them."""
        group = self.pending.group(call)
        # If a run continues from a state that was saved before the results, it repeats the calls in
        # the same turn, and they must be recognised. Call ids alone do not identify them, since
        # some providers number the calls of each turn from the start. Without a guided model there
        # is no count of turns, so the session counts its answers.
        state, is_noted = self.session.state, self.pending.awaits([call.call_id])
        response = f"{state.id}:{state.memory.turn}" if is_noted else ""
        # The SDK starts a turn's calls concurrently: the first carries out all, the others wait.
        async with group.lock:
            group.replies = group.replies or {
                reply.call_id: reply
                for reply in (await self.session.answer(group.calls, response)).replies
            }
        return group.replies[call.call_id]


@attrs.define
class GuidedRequest:
    """
    A request with its reminder, and the further requests if the model is asked again after an early
    answer.

    `request` has the arguments of the request, without reminders. `asked` is the session's
    `Request` for this request. `stands` are the messages of an earlier answer that is part of the
    final output.
    """

    planning: Planning
    guidance: Guidance
    request: dict[str, Any]
    asked: Request
    stands: tuple[ResponseOutputMessage, ...] = ()

    @classmethod
    async def of(
        cls, planning: Planning, guidance: Guidance, request: dict[str, Any]
    ) -> GuidedRequest:
        """Return the guided request for a request of the SDK."""
        given = request["input"]
        asked = await planning.session.before_model(
            conversation(given),
            # If the provider stores the conversation, the input has only new messages. If it were
            # read as the whole conversation, the plan would look lost in every request.
            partial=bool(request["previous_response_id"] or request["conversation_id"]),
            # No hook reports the start of a run. A request without the result of a recorded call
            # comes from the user.
            is_new=not planning.pending.awaits(answers_in(given)),
            guidance=guidance,
        )
        return cls(planning, guidance, request, asked)

    def arguments(self) -> dict[str, Any]:
        """
        Return the keyword arguments for the request to the model, with the reminder at the end of
        `input`.
        """
        # At the end, so that the cached prefix stays valid, and in a copy, so that no later request
        # contains it.
        return {**self.request, "input": with_reminder(self.request["input"], self.asked.text)}

    async def goes_on(self, output: Sequence[TResponseOutputItem]) -> bool:
        """
        Process the model's output, and return whether to ask the model again.

        Raises:
            PlanError: the model gives final answers again and again while tasks are open, and the
                settings say to raise.
        """
        # A call of a tool without approval and guardrails will surely run.
        sure = {
            tool.name
            for tool in self.request["tools"]
            if isinstance(tool, FunctionTool)
            and self.guidance.toolset.find(tool.name)
            # It may also be a function, whose result is unknown until the call starts.
            and tool.needs_approval is False
            # A guardrail may refuse this call; then the other calls must not carry it out.
            and not tool.tool_input_guardrails
        }
        # A call that was answered before is a repetition, which the SDK skips.
        answered = answers_in(self.request["input"])
        self.planning.pending.answered(answered)
        new = [call for call in calls_in(output) if call.call_id not in answered]
        self.planning.pending.made(new, sure)
        answer, schema = neutral(output), self.request["output_schema"]
        advice = await self.planning.session.after_model(
            answer,
            structured=schema is not None and not schema.is_plain_text(),
            # Agents that share a plan may have several requests under way.
            request=self.asked,
            guidance=self.guidance,
        )
        if advice.verdict != "again":
            return False
        self.asked = self.asked.again(advice)
        self.stands = _messages(output) if advice.keeps(answer) else ()
        # With `previous_response_id`, the next request continues the same earlier response, which
        # contains neither this input nor this answer. A stored conversation contains both.
        sent_back = ModelResponse([*output], Usage(), None).to_input_items()
        items = [*as_list(self.request["input"]), *sent_back]
        self.request["input"] = [] if self.request["conversation_id"] else items
        return True

    def completed(self, output: list[TResponseOutputItem]) -> list[TResponseOutputItem]:
        """
        Return the output for the SDK.

        If the model was asked whether its answer is complete, both answers are merged into one. If
        the model refuses to reply to this question, the first answer is returned.
        """
        output, answer = [carried(item, self.guidance.toolset) for item in output], neutral(output)
        if not self.stands or not is_final_answer(answer):
            return output
        messages = _messages(output)
        if is_refusal(answer):
            output, messages = [item for item in output if item not in messages], ()
        if not messages:
            return [*output, *self.stands]
        # One message, since the SDK uses the last message as the final output.
        last = messages[-1]
        gap = ResponseOutputText(annotations=[], text="\n\n", type="output_text")
        content = [part for message in (*self.stands, last) for part in (gap, *message.content)]
        whole = last.model_copy(update={"content": content[1:]})
        return [whole if item is last else item for item in output]


def _messages(output: Sequence[TResponseOutputItem]) -> tuple[ResponseOutputMessage, ...]:
    return tuple(item for item in output if isinstance(item, ResponseOutputMessage))


def summed(spent: Any, more: Any) -> Any:
    """Return the sum of the tokens of two answers; an answer without usage counts as zero."""
    if spent is None or more is None:
        return more if spent is None else spent
    if isinstance(spent, ResponseUsage):
        return ResponseUsage.model_validate(summed(spent.model_dump(), more.model_dump()))
    if isinstance(spent, dict):
        return {key: summed(spent.get(key), more.get(key)) for key in {**spent, **more}}
    return spent + more


# Registered below instead of derived from `Model`: a subclass would inherit methods such as `close`
# and `get_retry_advice`, instead of using those of the inner model.
class GuidedModel:
    """
    A model that gets reminders of one session's plan, and is asked again if it answers too early.

    Requests without the planning tools get no guidance. All other attributes, such as
    `close`, are those of the inner model.
    """

    def __init__(
        self, planning: Planning, settings: Settings, resolve: Callable[[], Model]
    ) -> None:
        self._planning = planning
        self._guidance = guidance_of(planning.toolbox, settings)
        self._resolve = cache(resolve)

    def __getattr__(self, name: str) -> Any:
        # Copying and pickling read such attributes before the object is initialised.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._resolve(), name)

    def _request(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, bool]:
        """Return the arguments of a request by name, and whether it has the planning tools."""
        request = {**dict(zip(_PARAMETERS, args, strict=False)), **options}
        # `RunConfig(model=...)` is used for all agents of a run, even those without a plan.
        names = self._guidance.toolset.tool_names
        return request, any(tool.name in names for tool in request["tools"])

    async def get_response(self, *args: Any, **options: Any) -> ModelResponse:
        """
        Return the model's last answer. The usage in it includes the earlier answers, after which
        the model was asked again.

        Raises:
            PlanError: the model gives final answers again and again while tasks are open, and the
                settings say to raise.
        """
        model, (request, is_planning) = self._resolve(), self._request(args, options)
        if not is_planning:
            return await model.get_response(**request)
        guided, spent = await GuidedRequest.of(self._planning, self._guidance, request), Usage()
        while True:
            response = await model.get_response(**guided.arguments())
            # Each answer costs tokens, also if the model is asked again after it, and must count
            # towards the run's limits.
            spent.add(response.usage)
            if not await guided.goes_on(response.output):
                output = guided.completed(response.output)
                return replace(response, output=output, usage=spent)

    def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[TResponseStreamEvent]:
        """
        Yield the model's events.

        If the model is asked again after an answer, the events of this answer are yielded too,
        except its completion event. So the SDK keeps only the last answer.

        Raises:
            PlanError: see `get_response`.
        """
        model, (request, is_planning) = self._resolve(), self._request(args, options)
        return self._stream(model, request) if is_planning else model.stream_response(**request)

    async def _stream(
        self, model: Model, request: dict[str, Any]
    ) -> AsyncIterator[TResponseStreamEvent]:
        guided = await GuidedRequest.of(self._planning, self._guidance, request)
        spent: ResponseUsage | None = None
        while True:
            end: ResponseCompletedEvent | None = None
            items: list[TResponseOutputItem] = []
            events: Any = model.stream_response(**guided.arguments())
            # A generator that is not read to its end keeps its connection open until it is deleted.
            async with aclosing(events) if hasattr(events, "aclose") else nullcontext():
                async for event in events:
                    if isinstance(event, ResponseOutputItemDoneEvent):
                        items.append(event.item)
                    if isinstance(event, ResponseCompletedEvent):
                        end = event
                    else:
                        yield event
            # Without a completion event there is nothing to judge; the SDK reports the error.
            if end is None:
                return
            spent = summed(spent, end.response.usage)
            # Some providers send a completion event without output; then the items are the answer.
            output = end.response.output or items
            if not await guided.goes_on(output):
                change = {"output": guided.completed(output), "usage": spent}
                yield end.model_copy(update={"response": end.response.model_copy(update=change)})
                return


Model.register(GuidedModel)


def guided_model(
    planning: Planning,
    model: Model | str | None = None,
    *,
    settings: Settings | None = None,
    model_provider: ModelProvider | None = None,
) -> Model:
    """
    Return a model that gets reminders of the plan; `attach` does this for an agent's model.

    `RunConfig(model=...)` replaces an agent's own model, so pass `RunConfig` a guided model. A
    model's name, or `None` for the SDK's default, is resolved on first use with `model_provider`;
    the provider of a `RunConfig` is not used.

    `settings` configure the reminders to the model; the default are those of `planning`.

    Raises:
        PlanError: an argument has the wrong type.
    """
    chosen = require(planning, Planning).settings if settings is None else settings
    require(chosen, Settings)
    if isinstance(model, Model):
        return cast("Model", GuidedModel(planning, chosen, lambda: model))
    provider = model_provider or MultiProvider()
    return cast("Model", GuidedModel(planning, chosen, lambda: provider.get_model(model)))


def make_tools(planning: Planning) -> list[Tool]:
    """
    Return the tools of a session's plan for `Agent(tools=...)`, without prompt and reminders.

    Their schemas are strict. Only a model of `guided_model` records which calls belong to one turn;
    with another model, each call is carried out on its own.

    Raises:
        PlanError: the argument is not a `Planning`.
    """

    def tool(definition: Definition) -> FunctionTool:
        async def invoke(context: ToolContext[Any], arguments: str) -> str:
            # It always returns a text, even on errors: a tool that raises ends the whole run.
            call = Call(definition.name, arguments, context.tool_call_id)
            return (await planning.answer(call)).text

        return FunctionTool(definition.name, definition.description, definition.schema, invoke)

    # Made strict here: the SDK would make every property required, but none nullable.
    return [
        tool(definition)
        for definition in require(planning, Planning).toolbox.toolset.definitions(strict=True)
    ]


def attach(
    agent: Agent[T],
    planning: Planning,
    *,
    settings: Settings | None = None,
    system_prompt: str | None = None,
    model_provider: ModelProvider | None = None,
) -> Agent[T]:
    """
    Return a copy of the agent that works with the plan of a session.

    The copy works in `Runner.run`, `run_sync` and `run_streamed`. Attaching is cheap, so make a
    copy for each session. `settings` configure the reminders; the default are those of `planning`.

    The copy has its own lists, so what you add to them, such as handoffs, applies only to the copy.
    A clone of the copy with another model has no guidance: `clone` first, then attach.

    `system_prompt` is appended to the agent's instructions; the default is the tool set's prompt,
    and "" adds none. Guidance is part of the model and is not saved: no reminder is in a session,
    in `to_input_list()` or in a `RunState`. But a provider that stores the conversation
    (`conversation_id`, `previous_response_id`) stores the reminders sent to it. See `guided_model`
    about `model_provider` and `RunConfig(model=...)`.

    Other agents, such as targets of handoffs, share the plan if they are attached to the same
    `Planning`; an agent that is not attached has no plan. An agent that is used as a tool and
    shares the plan should have only `make_tools(planning)`, so that this agent is not asked to go
    on because of the tasks of other agents.

    Raises:
        PlanError: the agent already has tools of these names, or an argument has the wrong type.
    """
    require(agent, Agent, "an agent of the SDK, and then the planning")
    tools = make_tools(planning)
    # The SDK only logs a warning and uses the last tool.
    planning.refuse_taken(f"the agent {agent.name!r}", [tool.name for tool in agent.tools])
    prompt = planning.system_prompt if system_prompt is None else system_prompt
    guided = guided_model(planning, agent.model, settings=settings, model_provider=model_provider)
    # `clone` would share the lists and dicts, and so one session's tools with another session.
    values = {field.name: getattr(agent, field.name) for field in fields(agent) if field.init}
    own = {name: copy(value) for name, value in values.items() if isinstance(value, list | dict)}
    own |= {
        "tools": [*agent.tools, *tools],
        "instructions": _instructions(agent.instructions, prompt),
    }
    attached = agent.clone(**own, model=guided)
    attached.model_settings = agent.model_settings  # a default that came with the model's name
    return attached


def _instructions(given: Any, prompt: str) -> Any:
    async def instructions(context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        own = given(context, agent)
        return both(await own if isawaitable(own) else own)

    # After the agent's own instructions, and constant, so that a cached prefix stays valid.
    def both(own: str | None) -> str:
        return "\n\n".join(filter(None, (own, prompt)))

    return instructions if callable(given) else both(given) or None


def plan_of_state(saved: Mapping[str, Any]) -> Plan:
    """
    Return the plan in the data of `Planning.to_data`.

    For a `Planning`, use `await planning.plan()`.

    Raises:
        CodecError: the saved plan is damaged.
        PlanError: the data has no plan: a store keeps it, or the data is not from `to_data`.
    """
    return plan_from_data(_saved(saved)[SLOT])


def history_of(saved: Mapping[str, Any]) -> tuple[Entry, ...]:
    """
    Return the journal contained in data that `Planning.to_data` returned.

    It has at most the latest 50 entries, fewer if they are long. For a `Planning`, use
    `await planning.history()`.

    Raises:
        CodecError: see `plan_of_state`.
        PlanError: see `plan_of_state`.
    """
    return history_in_slot(_saved(saved), "session")


def _saved(given: object) -> Mapping[str, Any]:
    if isinstance(given, Mapping) and SLOT in given:
        return given
    msg = (
        f"{short_repr(given)} has no plan: give what planning.to_data() returned, or use"
        " `await planning.plan()`; if a store keeps the plan, read it there"
    )
    raise PlanError(msg, seen=given)


async def seed_plan(planning: Planning, plan: Plan, *, actor: str | None = None) -> None:
    """
    Replace the tasks of a session's plan by those of `plan`. Tasks created later get unused ids.

    `actor` is the author of the change, for the journal.

    Raises:
        PlanError: an argument has the wrong type.
    """
    await require(planning, Planning).session.seed(plan, actor=actor)


async def edit_plan(
    planning: Planning,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
) -> Decision:
    """
    Apply a command to the plan of a session, and return the decision; `ClearPlan()` clears it.

    The default policy is that of the session's toolbox. `actor` is the author of the change, for
    the journal.

    Raises:
        PlanError: an argument has the wrong type.
    """
    return await require(planning, Planning).session.edit(command, actor=actor, policy=policy)


async def undo_plan(planning: Planning, *, actor: str | None = None) -> Decision:
    """
    Undo the last change of a session's plan that is not undone yet, whoever made it.

    Repeated calls undo earlier changes. Without a store, a change can be undone only if the plan
    before it can be reconstructed from the latest 50 journal entries.

    Raises:
        PlanError: `planning` is not a `Planning`; or the plan before the change cannot be
            reconstructed from the journal.
    """
    return await require(planning, Planning).session.undo(actor=actor)

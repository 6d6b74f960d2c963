"""
Plans in Haystack: `pip install 'todoplan[haystack]'`.

`Planning` has the settings. `attach` gives an agent the tools, the prompt and the guidance
(reminders to the model). `make_tools` returns only the tools.

The plan is in the agent's state, or in a store. A run returns the state, and the next run receives
it. `plan_of_state` and `history_of` read the state; `seed_plan`, `edit_plan` and `undo_plan` change
it between runs.

The plan and the session's record (which tasks the session has listed, and what it has last seen of
the plan) are a JSON value in the agent's state, under the key "todoplan". When a run begins, the
adapter makes a session object from this value, and saves the object there during the run.

Messages that a hook adds stay in the conversation. So each reminder, and each answer after which
the model is asked again, gets a flag in its metadata. After the next answer, a hook removes the
messages with this flag.

The tools do not get the plan by `inputs_from_state`, because an argument of the model with the same
name would replace it. A tool's only parameter is the state, and the tool reads the calls from the
messages in the state.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import attrs

from todoplan.errors import MissingExtraError, PlanError

try:
    from haystack.components.agents import Agent
    from haystack.components.agents.state import State
    from haystack.dataclasses import ChatMessage, ToolCall
    from haystack.hooks import FunctionHook
    from haystack.tools.tool import Tool
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "haystack") from error

from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call, Reply
from todoplan.dialogue.closing import PlanClosed
from todoplan.dialogue.guidance import Conversation, Message, ToolResult
from todoplan.dialogue.toolbox import require
from todoplan.lazy import listing
from todoplan.planner.editing import edit_plan, seed_plan, undo_plan
from todoplan.planner.session import SESSION, AsyncSession, BasePlanning, opened, opened_async
from todoplan.planner.steps import done_at_once, done_awaited
from todoplan.stores.slot import history_in_slot, plan_in_slot

__all__ = [
    "Planning",
    "attach",
    "edit_plan",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)

KEY = "todoplan"
"""The key in the agent's state, and the key of the flag in a message's metadata."""

_Calls = Generator[Callable[[], Any], Any, Any]


@attrs.define(eq=False)
class _Run:
    """
    One run of an agent, with its `Session` or `AsyncSession`.

    `given` is the value in the state when the run began. `kept` is the value of the session that
    was last read or saved. `request` is the unanswered request to the model. `turn` is the message
    whose planning calls are being answered, `replies` are the replies to the remaining calls of
    this message, and `refused` are its refused calls.
    """

    given: Any
    session: Any = None
    kept: Any = None
    is_new: bool = True
    request: Any = None
    turn: ChatMessage | None = None
    replies: Iterator[Reply] = iter(())
    refused: list[ToolCall] = attrs.Factory(list)

    def save(self, state: State) -> None:
        self.kept = self.session.to_data()
        state.set(KEY, self.kept)


class Planning(BasePlanning):
    """
    The plans of an agent's conversations, for `attach`.

    `toolbox` has the tools and their policy, `settings` configure the reminders to the model,
    `clock` returns the current time with its time zone, and `verify` checks whether a task is done
    (see `AsyncPlanner`). `system_prompt` is appended to the agent's prompt as it is, not as a
    template; the default is the tool set's prompt, and "" adds none. `actor` is the agent's name in
    the journal. With a `store`, the plan is kept there under `plan_id`, and the agent's state has
    only the record of what this session has listed and seen. `Agent.run` needs a synchronous store
    and verifier.

    `state_schema` has the entries that the tools need in an agent's `state_schema`.

    Raises:
        PlanError: an argument has the wrong type, or a store is given without a plan id.
    """

    def prepare(self) -> None:
        """Initialise the planning. No run is active yet."""
        self.state_schema: dict[str, Any] = {KEY: {"type": dict}}
        self._runs: WeakKeyDictionary[State, _Run] = WeakKeyDictionary()
        self._busy: WeakValueDictionary[object, _Run] = WeakValueDictionary()
        self.opened({})  # a store without a plan id is refused now, not at a call

    @asynccontextmanager
    async def editing(self, state: dict[str, Any]) -> AsyncGenerator[AsyncSession]:
        """
        Yield the session that is saved in a state, and save it after the edit.

        `state` is the result of a run. Its value under "todoplan" is replaced; pass it to the next
        run.

        Raises:
            PlanError: a run with this state is active, and no store keeps the plan.
        """
        kept = _kept(state)
        names = id(state.get(KEY)), kept.get(SESSION, {}).get("id")
        if self.store is None and any(name in self._busy for name in names):
            self.refuse_edit_beside(
                "a run that was given this state", "edit what it returns", needs_id=True
            )
        opened = self.opened(kept)
        yield opened
        state[KEY] = opened.to_data()

    def _run(self, state: State, opening: Callable[..., Any]) -> _Run:
        """Return the run of a state. If others have changed the state, read the session again."""
        kept = state.data.get(KEY)
        run = self._runs.get(state)
        if run is None:
            given = {} if kept is None else kept
            run = self._runs[state] = self._busy[id(given)] = _Run(given)
        if run.session is None or run.kept is not kept:
            run.session, run.kept = opening({**(kept or {})}, **self.given()), kept
            self._busy[run.session.state.id] = run
        return run

    def _driven(self, steps: Callable[[_Run, State], _Calls]) -> tuple[Any, Any]:
        """
        Return a function and a coroutine function. Each takes Haystack's state, and carries out
        `steps` on it.
        """

        def function(state: State) -> Any:
            return done_at_once(steps(self._run(state, opened), state))

        async def async_function(state: State) -> Any:
            return await done_awaited(steps(self._run(state, opened_async), state))

        return function, async_function

    def tools(self) -> list[Tool]:
        """
        Return the tools. Their parameter is the state, so Haystack carries out their calls in
        order.
        """
        function, other = self._driven(self._answer)
        return [
            PlanTool(
                definition.name,
                definition.description,
                {**definition.schema},
                function,
                async_function=other,
            )
            for definition in self.toolbox.toolset.definitions()
        ]

    def hooks(self) -> dict[str, FunctionHook]:
        """Return the hooks of an agent, by the name of the hook point, such as "before_llm"."""
        judged = FunctionHook(*self._driven(self._after_model))
        return {
            "before_llm": FunctionHook(*self._driven(self._before_model)),
            "before_tool": judged,
            "after_tool": FunctionHook(self._after_tool),
            "on_exit": judged,
            "after_run": FunctionHook(self._after_run),
        }

    def _before_model(self, run: _Run, state: State) -> _Calls:
        """Add the reminder to the end of one request."""
        if run.request is not None:
            return  # the messages end with an early answer and the reminder about it
        if {*self.toolbox.toolset.tool_names}.isdisjoint(tool.name for tool in state.data["tools"]):
            return  # this run has other tools
        messages = Conversation(state.data["messages"], neutral)
        run.request = yield partial(run.session.before_model, messages, is_new=run.is_new)
        run.is_new = False
        if run.request.text:
            state.set("messages", [_reminder(run.request.text)])

    def _after_model(self, run: _Run, state: State) -> _Calls:
        """
        Remove reminders and rejected answers; ask again if the model answers while tasks are open.
        """
        request, run.request, run.turn = run.request, None, None
        if request is None:
            return  # the hook has already run for this answer, or the run has other tools
        messages = [message for message in state.data["messages"] if KEY not in message.meta]
        state.data["messages"] = messages
        answer = neutral(messages[-1])
        try:
            advice = yield partial(run.session.after_model, answer, request=request)
        finally:
            run.save(state)
        if advice.verdict != "again":
            return
        run.request = request.again(advice)
        if not advice.keeps(answer):
            messages[-1] = replace(messages[-1], _meta={**messages[-1].meta, KEY: "sent back"})
        PlanClosed(advice.text).on_exit(state, _reminder)

    def _answer(self, run: _Run, state: State) -> _Calls:
        """Return the reply to the next planning call; a message's first call carries out all."""
        turn = next(message for message in reversed(state.data["messages"]) if message.tool_calls)
        if run.turn is not turn:
            run.turn, run.replies = turn, iter(())  # if answering fails, all calls have failed
            names = self.toolbox.toolset.tool_names
            planning_calls = [
                tool_call for tool_call in turn.tool_calls if tool_call.tool_name in names
            ]
            calls = [
                Call(tool_call.tool_name, tool_call.arguments, tool_call.id or "")
                for tool_call in planning_calls
            ]
            replies = (yield partial(run.session.answer, calls)).replies
            run.replies = iter(replies)
            run.refused = [
                planning_calls[place] for place, reply in enumerate(replies) if reply.is_error
            ]
            run.save(state)
        if (reply := next(run.replies, None)) is None:
            msg = "the planning calls of this message have failed together"
            raise PlanError(msg)
        return reply.text

    def _after_tool(self, state: State) -> None:
        """Set the error flag of the results of refused calls."""
        refused = {id(tool_call) for tool_call in self._runs[state].refused}
        messages = state.data["messages"]
        for place, result in enumerate(message.tool_call_result for message in messages):
            if result and id(result.origin) in refused:
                messages[place] = ChatMessage.from_tool(result.result, result.origin, error=True)

    def _after_run(self, state: State) -> None:
        """
        Note that the run is over. If the run was stopped before a request, remove the reminder.
        """
        self._runs.pop(state, None)
        messages = [
            message for message in state.data["messages"] if message.meta.get(KEY) != "reminder"
        ]
        for message in messages:
            message.meta.pop(KEY, None)
        state.data["messages"] = messages


def _reminder(text: str) -> ChatMessage:
    return ChatMessage.from_user(text, meta={KEY: "reminder"})


def neutral(message: ChatMessage) -> Message:
    """Convert a message to the neutral form that guidance reads."""
    calls = tuple(call.tool_name for call in message.tool_calls)
    results = tuple(
        ToolResult(result.origin.tool_name, not result.error, result.origin.id or "")
        for result in message.tool_call_results
    )
    finish = str(message.meta.get("finish_reason") or "")
    return Message(message.role.value, "".join(message.texts), calls, results, finish=finish)


class PlanTool(Tool):
    """One planning tool; `make_tools` makes it."""

    # The model's arguments are read from the messages, since an argument named "self" would raise
    # an error here.
    def invoke(self, /, **given: Any) -> Any:
        """Answer a call."""
        return super().invoke(state=given.get("state"))

    async def invoke_async(self, /, **given: Any) -> Any:
        """Answer a call."""
        return await super().invoke_async(state=given.get("state"))


def make_tools(planning: Planning) -> list[Tool]:
    """
    Return the tools, without the prompt and the reminders.

    They are for `Agent(tools=..., state_schema=planning.state_schema)`.

    Raises:
        PlanError: the argument is not a `Planning`.
    """
    return require(planning, Planning).tools()


def attach(agent: Agent, planning: Planning) -> Agent:
    """
    Return a copy of an agent with the tools, the prompt and the reminders of a planning.

    The given agent is not changed.

    Raises:
        PlanError: an argument has the wrong type, or the agent has a plan already.
    """
    require(agent, Agent, "an agent of Haystack, and then the planning")
    tools: list[Any] = make_tools(planning)
    if KEY in agent.state_schema:
        msg = "this agent has a plan already; attach one plan, once"
        raise PlanError(msg)
    # Before the model, our hook comes last, to see the request that is really sent. After the
    # model, our hook comes first, to see the answer that was really received.
    hooks: dict[Any, list[Any]] = {**agent.hooks}
    for point, hook in planning.hooks().items():
        others = hooks.get(point, [])
        hooks[point] = [*others, hook] if point == "before_llm" else [hook, *others]
    # Haystack's prompts are templates. In some, the text is inside a message block.
    text, *end = re.split(r"(?=\{%[-+]?\s*endmessage)", agent.system_prompt or "", maxsplit=1)
    if planning.system_prompt:
        text = f"{text}\n\n{{% raw %}}{planning.system_prompt}{{% endraw %}}".lstrip()
    return agent.clone(
        tools=[*(agent.tools if isinstance(agent.tools, list) else [agent.tools]), *tools],
        system_prompt="".join([text, *end]) or None,
        state_schema={**agent.state_schema, **planning.state_schema},
        hooks=hooks,
    )


def plan_of_state(state: dict[str, Any]) -> Plan:
    """
    Return the plan in the result of a run, or an empty plan if there is none.

    Raises:
        CodecError: the saved plan is damaged.
        PlanError: a store keeps the plan, or the argument is not the result of a run.
    """
    return plan_in_slot(_kept(state), "state")


def history_of(state: dict[str, Any]) -> tuple[Entry, ...]:
    """
    Return the journal in the result of a run, oldest entry first.

    It has at most the latest 50 entries, fewer if they are long.

    Raises:
        CodecError: the saved journal is damaged.
        PlanError: see `plan_of_state`.
    """
    return history_in_slot(_kept(state), "state")


def _kept(state: dict[str, Any]) -> dict[str, Any]:
    wanted = "what a run of the agent returned, or the data of its State"
    return require(state, dict, wanted).get(KEY) or {}

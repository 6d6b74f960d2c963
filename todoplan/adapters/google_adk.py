"""
Plans in Google's Agent Development Kit: `pip install 'todoplan[google-adk]'`.

`attach(agent, planning)` returns a copy of an agent with the tools, the prompt and the guidance
(reminders to the model) of a `Planning`. `make_tools` returns only the tools. One `Planning` serves
all sessions of a runner.

The plan is in the state of the ADK session, or in a store. `plan_of_state` and `history_of` read
the state; `seed_plan`, `edit_plan` and `undo_plan` change it between runs.

The plan and the session's record (which tasks the session has listed, and what it has last seen of
the plan) are one JSON text in the state of the ADK session. It is a text because ADK merges the
state changes of parallel calls key by key: a key that one call has removed from a dict comes back
with another call's change.

ADK stops at the first answer without calls, and none of its callbacks can ask the model again. So
`attach` wraps the agent's model. The wrapper receives only the request, not the state. So the
callback before the model, which receives the state, reads the session and passes it to the wrapper.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import attrs

from todoplan.errors import MissingExtraError

try:
    from google.adk.agents import LlmAgent
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.events import Event, EventActions
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.adk.sessions import BaseSessionService, Session, State
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types
    from pydantic import PrivateAttr
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "google-adk") from error

from todoplan.codec import plan_from_data
from todoplan.core.commands import Command
from todoplan.core.decide import Decision
from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import (
    Conversation,
    Message,
    ToolResult,
    is_final_answer,
    is_refusal,
)
from todoplan.dialogue.toolbox import Start, guidance_of, require
from todoplan.dialogue.tools import Definition
from todoplan.lazy import listing
from todoplan.planner.session import AsyncSession, BasePlanning, Request, read_text
from todoplan.planner.steps import remember
from todoplan.stores.slot import SLOT, history_in_slot, plan_in_slot

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
"""The key of the session's state."""


@attrs.define
class _Run:
    """
    The session during one invocation; `text` is the session as it was last read or saved.

    `of` is a weak reference to ADK's session. The runner releases this session at the end of a run,
    even if the run failed.
    """

    session: AsyncSession
    text: str
    of: weakref.ref[Session]
    is_over: bool = False


class Planning(BasePlanning):
    """
    The plans of all sessions of an agent, for `attach`.

    `toolbox` has the tools and their policy, `settings` configure the reminders to the model,
    `clock` returns the current time with its time zone, and `verify` checks whether a task is done
    (see `AsyncPlanner`). `system_prompt` is the instruction about the tools; the default is the
    tool set's prompt, and "" adds none. `actor` is the agent's name in the journal. With a `store`,
    the plan is kept there under the id of the ADK session, or under `plan_id` for a plan that
    several sessions share.

    Raises:
        PlanError: an argument has the wrong type, or a plan id is given without a store.
    """

    def prepare(self) -> None:
        """Set up guidance (the reminders). No run is active yet."""
        self.guidance = guidance_of(self.toolbox, self.settings)
        self._runs: dict[str, _Run] = {}
        self._asked: dict[int, tuple[LlmRequest, AsyncSession, Request]] = {}

    def _run(self, context: CallbackContext | ToolContext) -> _Run:
        """
        Return the run of this invocation. If others have changed the state, the session is read
        anew.
        """
        text = context.state.get(KEY) or "{}"
        run = self._runs.pop(context.invocation_id, None)
        if run is None or run.text != text:
            session = self.opened(read_text(text), context.session.id)
            run = _Run(session, text, weakref.ref(context.session))
        run.is_over = False
        remember(self._runs, context.invocation_id, run)
        return run

    def works_on(self, session: Session) -> bool:
        """Return whether a run of this session is active in this process."""
        alive = (run.of() for run in self._runs.values() if not run.is_over)
        ids = (session.app_name, session.user_id, session.id)
        return any(other and (other.app_name, other.user_id, other.id) == ids for other in alive)

    def _save(self, context: CallbackContext | ToolContext, run: _Run) -> None:
        text = run.session.to_text()
        if text != run.text:
            run.text = context.state[KEY] = text

    async def after_agent(self, callback_context: CallbackContext) -> None:
        """
        ADK's callback: mark the run as over. If the parent agent continues, the next callback
        marks the run as active again.
        """
        if run := self._runs.get(callback_context.invocation_id):
            run.is_over = True

    async def before_model(
        self, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """
        ADK's callback: add the reminder that is due, and pass the session to the model's wrapper.
        """
        is_new = callback_context.invocation_id not in self._runs
        run = self._run(callback_context)
        messages = Conversation(llm_request.contents, neutral)
        request = await run.session.before_model(messages, is_new=is_new, guidance=self.guidance)
        if self.system_prompt:
            llm_request.append_instructions([self.system_prompt])
        if request.text:
            llm_request.contents = [*llm_request.contents, _user_content(request.text)]
        remember(self._asked, id(llm_request), (llm_request, run.session, request))
        self._save(callback_context, run)

    async def after_model(
        self, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> None:
        """ADK's callback: save the session, which `GuidedModel` has informed of the answer."""
        if not llm_response.partial:
            self._save(callback_context, self._run(callback_context))

    def asked(self, request: LlmRequest) -> tuple[AsyncSession, Request] | None:
        """Return and forget the session and `Request` that `before_model` noted for a request."""
        # The request is kept too, because the id of a deleted object may be used again.
        noted = self._asked.pop(id(request), None)
        return noted and noted[1:]

    async def answer(self, call: Call, context: ToolContext) -> dict[str, str]:
        """Answer a call of the model: `{"result": text}`, or `{"error": text}` if refused."""
        run = self._run(context)
        # The turn is the message of the model that has this call.
        response, turn = "", [call]
        for event in reversed(context.session.events):
            function_calls = event.get_function_calls()
            calls = [
                Call(function_call.name or "", function_call.args or {}, function_call.id or "")
                for function_call in function_calls
            ]
            if any(other.call_id == call.call_id for other in calls):
                response, turn = event.id, calls
                break
        reply = await run.session.answer_one(call, turn, response)
        self._save(context, run)
        return {"error" if reply.is_error else "result": reply.text}


def _user_content(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


def neutral(content: types.Content) -> Message:
    """Convert a content of a request to the neutral form that guidance reads."""
    parts = content.parts or []
    text = "".join(part.text or "" for part in parts if not part.thought)
    calls = tuple(part.function_call.name or "" for part in parts if part.function_call)
    answers = [part.function_response for part in parts if part.function_response]
    results = tuple(
        ToolResult(answer.name or "", "error" not in (answer.response or {}), answer.id or "")
        for answer in answers
    )
    if results:
        return Message("tool", text, results=results)
    return Message("assistant" if content.role == "model" else "user", text, calls)


def _answer(response: LlmResponse) -> Message:
    """Convert an answer of the model to the neutral form that guidance reads."""
    answer = neutral(response.content or types.Content(role="model"))
    finish = response.finish_reason.name if response.finish_reason else ""
    return Message("assistant", answer.text, answer.calls, finish=finish)


class GuidedModel(BaseLlm):
    """A model that is asked again if it answers while tasks are open; `attach` makes it."""

    _inner: BaseLlm = PrivateAttr()
    _planning: Planning = PrivateAttr()

    @classmethod
    def of(cls, inner: BaseLlm, planning: Planning) -> GuidedModel:
        """Return the wrapper of a model."""
        guided = cls(model=inner.model)
        guided._inner, guided._planning = inner, planning
        return guided

    @property
    def capabilities(self) -> Any:
        """The capabilities of the inner model."""
        return self._inner.capabilities

    def connect(self, llm_request: LlmRequest) -> Any:
        """
        Open a live connection to the inner model. It has no final answers, so it has no guidance.
        """
        return self._inner.connect(llm_request)

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - ADK's own
    ) -> AsyncGenerator[LlmResponse, None]:
        """
        Yield the model's answer.

        If the model is asked again after an answer, the chunks of this answer are yielded too,
        except the last. The usage in the last answer includes the usage of the earlier answers.

        Raises:
            PlanError: the model gives final answers again and again while tasks are open, and the
                settings say to raise.
        """
        asked = self._planning.asked(llm_request)
        if asked is None:  # an agent that was not attached
            async for response in self._inner.generate_content_async(llm_request, stream):
                yield response
            return
        session, request = asked
        spent: types.GenerateContentResponseUsageMetadata | None = None
        first: LlmResponse | None = None
        while True:
            last: LlmResponse | None = None
            async with aclosing(self._inner.generate_content_async(llm_request, stream)) as coming:
                async for response in coming:
                    if last is not None:
                        yield last
                    last = response
            if last is None or last.partial or last.error_code:
                if last is not None:
                    yield last
                return
            last.usage_metadata = spent = _sum(spent, last.usage_metadata)
            answer = _answer(last)
            advice = await session.after_model(
                answer, request=request, guidance=self._planning.guidance
            )
            if advice.verdict != "again":
                yield last if first is None else _whole(first, last)
                return
            if advice.keeps(answer):
                first = last
            request = request.again(advice)
            early = [last.content] if last.content else []
            contents = [*llm_request.contents, *early, _user_content(advice.text)]
            llm_request = llm_request.model_copy(update={"contents": contents})


def _whole(first: LlmResponse, last: LlmResponse) -> LlmResponse:
    """
    Merge two answers into one content; the model was asked whether the first answer was complete.
    """
    answer = _answer(last)
    if not is_final_answer(answer):
        return last
    parts = [*(first.content.parts or ())] if first.content else []
    if last.content and answer.text and not is_refusal(answer):
        parts += [types.Part(text="\n\n"), *(last.content.parts or ())]
    content = types.Content(role="model", parts=parts)
    return last.model_copy(update={"content": content, "finish_reason": first.finish_reason})


def _sum(
    one: types.GenerateContentResponseUsageMetadata | None,
    other: types.GenerateContentResponseUsageMetadata | None,
) -> types.GenerateContentResponseUsageMetadata | None:
    """Return the sum of the tokens of two answers. Fields without a number are those of `other`."""
    if one is None or other is None:
        return one or other
    counts = Counter[str]()
    for usage in (one, other):
        numbers = usage.model_dump(exclude_none=True).items()
        counts.update({name: value for name, value in numbers if isinstance(value, int)})
    return other.model_copy(update=counts)


class PlanTool(BaseTool):
    """One planning tool; `make_tools` makes it."""

    def __init__(self, planning: Planning, definition: Definition) -> None:
        super().__init__(name=definition.name, description=definition.description)
        self._planning, self._definition = planning, definition

    def _get_declaration(self) -> types.FunctionDeclaration:
        schema = {**self._definition.schema}
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Answer a call: `{"result": text}`, or `{"error": text}` if it is refused."""
        call = Call(self.name, args, tool_context.function_call_id or "")
        return await self._planning.answer(call, tool_context)


def make_tools(planning: Planning) -> list[BaseTool]:
    """
    Return the tools for `LlmAgent(tools=...)`, without the prompt and the reminders.

    Raises:
        PlanError: the argument is not a `Planning`.
    """
    definitions = require(planning, Planning).toolbox.toolset.definitions()
    return [PlanTool(planning, definition) for definition in definitions]


def attach(agent: LlmAgent, planning: Planning) -> LlmAgent:
    """
    Return a copy of an agent with the tools, the prompt and the reminders of a planning.

    The given agent is not changed. Sub-agents share the plan of the session if they are attached to
    the same planning. Attach them before you give them to their parent.

    Raises:
        PlanError: an argument has the wrong type, or the agent has tools of these names already.
    """
    require(agent, LlmAgent, "an agent of ADK, and then the planning")
    tools = make_tools(planning)
    taken = {getattr(tool, "name", getattr(tool, "__name__", "")) for tool in agent.tools}
    planning.refuse_taken(f"the agent {agent.name!r}", taken)
    # The added callbacks are the last before the model and the first after it, so that they see the
    # request that is really sent and the answer that was really received.
    before, after = agent.canonical_before_model_callbacks, agent.canonical_after_model_callbacks
    update = {
        "tools": [*agent.tools, *tools],
        "model": GuidedModel.of(agent.canonical_model, planning),
        "before_model_callback": [*before, planning.before_model],
        "after_model_callback": [planning.after_model, *after],
        "after_agent_callback": [*agent.canonical_after_agent_callbacks, planning.after_agent],
    }
    return agent.clone(update)


SessionOrState = Session | State | Mapping[str, Any]


def plan_of_state(state: SessionOrState) -> Plan:
    """
    Return the plan in an ADK session or in its state, or an empty plan if there is none.

    Raises:
        CodecError: the saved plan is damaged.
        PlanError: a store keeps the plan, or the argument is neither a session nor a state.
    """
    return plan_in_slot(_kept(state), "session")


def history_of(state: SessionOrState) -> tuple[Entry, ...]:
    """
    Return the journal in an ADK session or in its state, oldest entry first.

    It has at most the latest 50 entries, fewer if they are long.

    Raises:
        CodecError: the saved journal is damaged.
        PlanError: see `plan_of_state`.
    """
    return history_in_slot(_kept(state), "session")


def _kept(state: SessionOrState) -> dict[str, Any]:
    if not isinstance(state, (Mapping, State)):
        state = require(state, Session, "an ADK session or its state").state
    return read_text(state.get(KEY) or "{}")


async def seed_plan(
    planning: Planning,
    service: BaseSessionService,
    session: Session,
    plan: Plan,
    *,
    actor: str | None = None,
) -> None:
    """
    Replace the tasks of a session's plan by those of `plan`. Tasks created later get unused ids.

    `session` is what `service.get_session` has returned. `actor` is the author of the change, for
    the journal.

    Raises:
        PlanError: see `edit_plan`.
        Exception: see `edit_plan`.
    """
    async with _editing(planning, service, session) as opened:
        await opened.seed(plan, actor=actor)


async def edit_plan(  # noqa: PLR0913 - where the plan is, and what is done to it
    planning: Planning,
    service: BaseSessionService,
    session: Session,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
) -> Decision:
    """
    Apply a command to a session's plan between two runs, and return the decision. A plan in a store
    can be changed at any time.

    `session` is what `service.get_session` has returned. The default policy is that of the toolbox.
    `actor` is the author of the change, for the journal.

    Raises:
        PlanError: an argument has the wrong type; or a run of the session is active, and no store
            keeps the plan.
        Exception: the session service refuses a session that is out of date (ADK's database
            services do); then get the session again. If a store keeps the plan, nothing is written
            to the session, so this does not happen.
    """
    async with _editing(planning, service, session) as opened:
        return await opened.edit(command, actor=actor, policy=policy)


async def undo_plan(
    planning: Planning, service: BaseSessionService, session: Session, *, actor: str | None = None
) -> Decision:
    """
    Undo the last change of a session's plan that is not undone yet, whoever made it.

    Repeated calls undo earlier changes. The plan before a change is reconstructed from the journal
    and from the session's earlier events.

    Raises:
        PlanError: see `edit_plan`; or the plan before the change cannot be reconstructed.
        Exception: see `edit_plan`.
    """
    async with _editing(planning, service, session) as opened:
        earlier = []
        if opened.slot is not None:
            journal = history_of(session)
            texts = [event.actions.state_delta.get(KEY) for event in session.events]
            plans = [plan_from_data(read_text(text)[SLOT]) for text in texts if text]
            earlier = [
                Start(plan, sum(entry.revision <= plan.revision for entry in journal))
                for plan in plans
            ]
        return await opened.undo(actor=actor, earlier=earlier)


@asynccontextmanager
async def _editing(
    planning: Planning, service: BaseSessionService, session: Session
) -> AsyncGenerator[AsyncSession]:
    """
    Yield the saved session of a plan, and save it after the edit. Without a store, no run may be
    active.
    """
    require(planning, Planning)
    require(session, Session, "a session of ADK, as its service returns it")
    if planning.store is None and planning.works_on(session):
        planning.refuse_edit_beside("a run of this session", "edit it after the run")
    opened = planning.opened(_kept(session), session.id)
    yield opened
    text = opened.to_text()
    if text != session.state.get(KEY):
        actions = EventActions(state_delta={KEY: text})
        await service.append_event(session, Event(author="user", actions=actions))

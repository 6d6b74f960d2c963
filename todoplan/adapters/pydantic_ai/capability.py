"""
`Planning`, the capability: tools, prompt and guidance of an agent in one.

Guidance works within one request to the model (`prepare_model_request`), so that neither a reminder
nor an answer that is sent back is kept. What was streamed has been seen: there both stay. A run has
a copy of the capability, since an instance is shared by all runs of an agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

from pydantic_ai.capabilities import AbstractCapability, WrapRunHandler
from pydantic_ai.exceptions import RetryModelRequest, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
)
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import RunContext

from todoplan.adapters.pydantic_ai.conversation import conversation, neutral, with_reminder
from todoplan.adapters.pydantic_ai.history import (
    remembering,
)
from todoplan.adapters.pydantic_ai.tools import PlanToolset, RunPlan
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.application import require, require_clock
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.conversation import Message, is_final_answer
from todoplan.dialogue.guidance.guidance import Advice, Guidance, Memory, Settings, unfinished_error
from todoplan.dialogue.observed import guidance_of
from todoplan.dialogue.toolbox import Toolbox
from todoplan.planner import AnyStore
from todoplan.planner.verifying.verifier import Verify, verifier_of

__all__ = ["Planning"]

_Context = RunContext[Any]
_GAP = TextPart("\n\n")


@dataclass
class Planning(AbstractCapability[Any]):
    """
    Planning for an agent. It holds no plan and may serve any number of agents and conversations.

    The plan is kept in the message history, or with a `store` there, under `conversation_id`.
    `verify` looks whether a task is done (see `AsyncPlanner`).
    `system_prompt` is a static instruction ("" for none), by default the tool set's. List it behind
    capabilities that change requests: it looks at what it is handed.
    """

    toolbox: Toolbox = field(default_factory=Toolbox)
    settings: Settings = field(default_factory=Settings)
    store: AnyStore | None = None
    clock: Clock = utc_now
    verify: Verify | None = None
    system_prompt: str | None = None
    _run_plan: RunPlan | None = field(default=None, init=False, repr=False)
    _heard: Memory = field(default_factory=Memory, init=False, repr=False)
    _shown: Plan | None = field(default=None, init=False, repr=False)
    _sent_back: tuple[ModelMessage, ...] = field(default=(), init=False, repr=False)
    _stands: tuple[ModelResponsePart, ...] = field(default=(), init=False, repr=False)
    # The conversations that this agent is at work on: of each, so many runs.
    _runs: Counter[str] = field(default_factory=Counter, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(self.toolbox, Toolbox)
        require(self.settings, Settings)
        require_clock(self.clock)
        self.verify = verifier_of(self.verify)

    async def for_run(self, ctx: _Context) -> Planning:
        """
        Return the capability for one run, with the plan of its conversation.

        Raises:
            CodecError: what stands in the messages is no plan.
            PlanError: a store is given, and the conversation has no id; or none is, and a store
                keeps the plan.
        """
        own = replace(self)  # the agent's is shared by all runs, and so by all users
        plan = await RunPlan.of(ctx, self.toolbox, self.store, self.clock, self.verify)
        own._run_plan = plan  # noqa: SLF001 - its own kind
        own._runs = self._runs  # noqa: SLF001 - its own kind
        return own

    async def wrap_run(self, ctx: _Context, *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """
        Take note that a run goes on: its messages are its own, and an edit would not be in them.
        """
        conversation = ctx.conversation_id or ""
        self._runs[conversation] += 1
        try:
            return await handler()
        finally:
            self._runs[conversation] -= 1

    def works_on(self, messages: Sequence[ModelMessage]) -> bool:
        """
        Say whether a run of this conversation goes on, in this process.
        """
        return any(self._runs[message.conversation_id or ""] > 0 for message in messages)

    def get_instructions(self) -> str | None:
        """
        Say what the tools are for, in the same words in every request.
        """
        # Never the plan itself: a prompt that changes ends the cache of all behind it.
        given = self.system_prompt
        return (self.toolbox.toolset.system_prompt() if given is None else given) or None

    def get_toolset(self) -> PlanToolset:
        """
        Return the tools, with the plan of the run if this is a run's.
        """
        return PlanToolset(
            self.toolbox, store=self.store, clock=self.clock, run_plan=self._run_plan
        )

    # The last hook before the request, since 2.64, our floor: others compact the history in it, so
    # that only here is seen what is really sent.
    # Not `before_model_request`: what that adds was kept in the history up to Pydantic AI 2.50.
    async def prepare_model_request(
        self,
        ctx: _Context,  # noqa: ARG002 - Pydantic AI's signature
        request_context: ModelRequestContext,
    ) -> ModelRequestContext:
        """
        Put what is due at the tail of this one request; it is kept nowhere.
        """
        messages = [*request_context.messages, *self._sent_back]
        # Asked again, the request ends with the answer and its reminder: a second one has no place.
        if not self._sent_back:
            plan = await self._own.plan()
            advice = await self._due(plan, messages)
            messages = with_reminder(messages, advice.text)
            # Kept only once the model has answered: a request that is tried again counts once.
            self._heard = advice.memory
            self._shown = plan if advice.shows_plan else None
        return replace(request_context, messages=messages)

    async def _due(self, plan: Plan, messages: list[ModelMessage]) -> Advice:
        if isinstance(messages[-1], ModelResponse):  # the provider paused: it just goes on
            return Advice(self._own.memory)
        own, seen = self._own, conversation(messages)
        base = await own.unseen(plan)
        return self._guidance.before_model(plan, seen, own.memory, base=base)

    async def after_model_request(
        self, ctx: _Context, *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """
        Send a final answer back, if the model is to go on, and remember.

        Neither the answer nor the reminder is kept. What was streamed has been seen: there both
        stay in the history.

        Raises:
            PlanError: the model goes on answering over open tasks, and the settings say to raise.
        """
        own, said = self._own, neutral(response)
        plan = await own.plan()
        own.asked(self._shown)
        self._shown = None
        structured = _is_structured(request_context.model_request_parameters)
        advice = self._guidance.after_model(plan, said, self._heard, structured=structured)
        own.memory = self._heard = advice.memory
        if advice.verdict == "raise":
            raise unfinished_error(plan)
        if advice.verdict == "again":
            self._ask_again(ctx, request_context, response, advice)
        response = self._completed(response, said)
        kept = plan if own.in_history else None
        return remembering(response, advice.memory, kept, ctx.messages, own.seen.base)

    def _ask_again(
        self, ctx: _Context, request: ModelRequestContext, answer: ModelResponse, advice: Advice
    ) -> None:
        if request.streaming:
            with suppress(UserError):  # `run_stream` ends with the first answer: it stands
                ctx.enqueue(advice.text)
            return
        # Asked again within the same step: the history and the limit of requests do not know of it,
        # the limit of tokens does. `output_validator` has a budget of retries, one by default.
        reminder = ModelRequest.user_text_prompt(advice.text)
        self._sent_back = (*self._sent_back, answer, reminder)
        self._stands = (*answer.parts, _GAP) if advice.keeps(neutral(answer)) else ()
        raise RetryModelRequest

    def _completed(self, response: ModelResponse, said: Message) -> ModelResponse:
        """
        Return what is kept of a request: behind a question whether all was said, both answers.
        """
        stands = self._stands if is_final_answer(said) else ()
        self._sent_back = self._stands = ()
        return replace(response, parts=[*stands, *response.parts]) if stands else response

    @property
    def _guidance(self) -> Guidance:
        return guidance_of(self.toolbox, self.settings)

    @property
    def _own(self) -> RunPlan:
        return cast("RunPlan", self._run_plan)


def _is_structured(asked: ModelRequestParameters) -> bool:
    # By any of Pydantic AI's ways: a schema of the provider's, or a tool that takes the output.
    return asked.output_object is not None or not asked.allow_text_output

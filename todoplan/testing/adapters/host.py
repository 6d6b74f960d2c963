"""
What an adapter's author implements and receives: a `Host`, built from a `Setup`, run on a `Script`.

A host must return what an application would see and must not compute anything itself: the plan as
the framework stores it, the conversation as it is stored, requests as they are sent. A host that
helps, for example by keeping the plan itself or by adding a reminder, tests itself and not the
adapter.
"""

from __future__ import annotations

from asyncio import Barrier as TaskBarrier
from asyncio import BrokenBarrierError as TaskBarrierBroken
from asyncio import timeout
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from threading import Barrier, BrokenBarrierError
from typing import Literal, Protocol

import attrs

from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.toolbox import Call, Toolbox
from todoplan.dialogue.tools.toolset import Definition
from todoplan.planner.verifying.verifier import Verifier
from todoplan.testing.assertions import must

__all__ = ["QUIET", "Clock", "Host", "ModelTurn", "Ran", "Script", "Seen", "Setup"]

QUIET = Settings(plan_lost=False, unfinished=0, changed=False)
"""Settings without any guidance."""

# LangChain's own limit is 9,999. A run whose model is asked again and again must end here.
_EXTRA_REQUESTS = 30
# If a framework runs sessions one after the other, they never meet at the barrier. That is no
# failure.
_PARTNER_SECONDS = 1.0


@attrs.frozen
class Seen:
    """
    One message in a form common to all frameworks: its role and text.

    A tool's answer has the `call_id` of its call, and `is_error` if the framework marks errors.
    Calls are left out.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    call_id: str = ""
    is_error: bool = False


@attrs.frozen
class ModelTurn:
    """
    What the model sends in one turn: calls, a text, or both. A turn without calls is a final
    answer.

    The arguments of a call are a dict, or a text to be sent unchanged. `finish` is "refusal" if the
    provider or its filter refused to answer (`Capability.FINISH`). `thoughts` is the separate
    output of a reasoning model (`Capability.THOUGHTS`). The host converts both to its framework's
    form.
    """

    calls: tuple[Call, ...] = ()
    text: str = ""
    finish: Literal["", "refusal"] = ""
    thoughts: str = ""


class Script:
    """
    The turns of one run; also records the `requests` to the model and the tools `offered` to it.

    The framework's model class answers each request with `reply` or `areply`, and passes the tools
    of the request if they are known (`Capability.TOOLS`). After the last turn the answer is always
    "Done."; the run fails if it is asked too often.
    """

    def __init__(
        self,
        *turns: ModelTurn,
        meet: Barrier | None = None,
        ameet: TaskBarrier | None = None,
        meanwhile: Mapping[int, Callable[[], None]] | None = None,
    ) -> None:
        self.turns = turns
        # Actions of others while the model answers a request, by the number of the request, from 0.
        self._meanwhile = meanwhile or {}
        self.requests: list[tuple[Seen, ...]] = []
        self.offered: list[tuple[Definition, ...]] = []
        self._meet, self._ameet = meet, ameet

    def reply(
        self, request: Iterable[Seen], tools: Iterable[Definition] | None = None
    ) -> ModelTurn:
        """
        Record a request and the tools offered in it, and return the model's answer.

        Raises:
            AssertionError: the model is asked too often.
        """
        self.requests.append(tuple(request))
        if tools is not None:
            self.offer(tools)
        if do := self._meanwhile.get(len(self.requests) - 1):
            # In a thread, like an edit by another client: the framework's event loop must not be
            # blocked.
            with ThreadPoolExecutor(1) as pool:
                pool.submit(do).result()
        extra = len(self.requests) - len(self.turns)
        if self._meet is not None and extra <= 0:
            with suppress(BrokenBarrierError):
                self._meet.wait(_PARTNER_SECONDS)
        must(
            extra <= _EXTRA_REQUESTS,
            f"the model was asked {extra} times more than its script has turns",
        )
        return ModelTurn(text="Done.") if extra > 0 else self.turns[len(self.requests) - 1]

    async def areply(
        self, request: Iterable[Seen], tools: Iterable[Definition] | None = None
    ) -> ModelTurn:
        """Like `reply`; other tasks can run in between."""
        if self._ameet is None or len(self.requests) >= len(self.turns):
            return self.reply(request, tools)
        with suppress(TaskBarrierBroken, TimeoutError):
            async with timeout(_PARTNER_SECONDS):
                await self._ameet.wait()
        return self.reply(request, tools)

    def offer(self, tools: Iterable[Definition]) -> None:
        """Record the offered tools. A framework without a model calls this once in a run."""
        self.offered.append(tuple(tools))


class Clock:
    """A clock that advances only by `move_on`. `clock()` returns an aware time."""

    def __init__(self) -> None:
        self._now = datetime(2025, 1, 31, 12, tzinfo=UTC)  # not now: real time would show

    def __call__(self) -> datetime:
        """Return the clock's time."""
        return self._now

    def move_on(self) -> None:
        """Advance the clock by one minute."""
        self._now += timedelta(minutes=1)


@attrs.frozen
class Setup:
    """What a host is built from: tool set and policy, guidance settings, clock and verifier."""

    toolbox: Toolbox = Toolbox()
    settings: Settings = QUIET
    clock: Clock = attrs.field(factory=Clock)
    verify: Verifier | None = None


@attrs.frozen
class Ran:
    """
    The results of a run.

    `messages` is the conversation as the framework stores it after the run, including earlier runs
    and the tools' answers with the ids of their calls. `events` are those that the application
    received in this run, in the order of their revisions. `plan` is the plan read from the result
    of the framework's run (`Capability.RETURNS`).
    """

    messages: Sequence[Seen]
    events: Sequence[Event] = ()
    plan: Plan | None = None


class Host(Protocol):
    """
    One agent of the framework, with the adapter, for any number of named sessions.

    A session is whatever isolates a conversation and its plan from others: a thread, a state, a
    conversation id. A new session has an empty plan.
    """

    def seed(self, session: str, plan: Plan) -> None:
        """Set the plan of a session, as an application does from outside."""
        ...

    def edit(self, session: str, command: Command, actor: str) -> Decision:
        """
        Change the plan of a session as a person does, through the adapter's own function
        (`edit_plan` or similar).

        Called only if `Capability.EDITS` is declared: between two runs, and from another thread
        during a run.

        Raises:
            TodoplanError: the edit is not possible now.
        """
        ...

    def plan(self, session: str) -> Plan:
        """Return the plan of a session, as an application reads it."""
        ...

    async def run(self, session: str, script: Script) -> Ran:
        """
        Run the agent once on a user's message, with a model that answers from the script.

        A framework without a model executes the calls of `script.turns`, turn by turn.
        """
        ...

    def saved(self) -> str | bytes:
        """
        Return what the framework has saved so far: its text or bytes, or the path of its file.

        Called only if `Capability.RESUME` is declared, like `resume`. The plan must be in this text
        or file; what is only in this process does not count.
        """
        ...

    def resume(self, saved: str | bytes) -> None:
        """Restore, in a new host of the same setup, what an earlier host has saved."""
        ...

"""
What an adapter's author writes and is given: a `Host`, made of a `Setup`, run on a `Script`.

A host has to give what an application would see, and nothing that it has worked out by itself: the
plan as the framework keeps it, the conversation as it is stored, requests as they are sent. A host
that helps (keeps a plan aside, puts a reminder in) proves itself and not the adapter.
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
"""No guidance."""

# LangChain's own limit is 9,999: a model that is asked without end has to end here.
_EXTRA_REQUESTS = 30
# A framework that runs sessions one after the other never meets, and is not failed for it.
_PARTNER_SECONDS = 1.0


@attrs.frozen
class Seen:
    """
    One message, in a framework's own words no longer: who says it, and what.

    A tool's answer has the `call_id` of its call, and `is_error` where the framework marks errors.
    Calls themselves are left out.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    call_id: str = ""
    is_error: bool = False


@attrs.frozen
class ModelTurn:
    """
    What the model sends in one turn: calls, a text, or both. Without calls it is a final answer.

    The arguments of a call are a dict, or a text that is to be sent as it is. `finish` is "refusal"
    where the provider, or its filter, would not answer (`Capability.FINISH`); `thoughts` are what a
    reasoning model sends beside its text (`Capability.THOUGHTS`). A host says both in the words of
    its framework.
    """

    calls: tuple[Call, ...] = ()
    text: str = ""
    finish: Literal["", "refusal"] = ""
    thoughts: str = ""


class Script:
    """
    The turns of one run, the `requests` that the model was sent, and the tools it was `offered`.

    A model of the framework's own kind answers each request with `reply` or `areply`, and names the
    tools of the request where it can tell (`Capability.TOOLS`). Behind the last turn it says that
    it is done, again and again, and fails the run if it is asked too often.
    """

    def __init__(
        self,
        *turns: ModelTurn,
        meet: Barrier | None = None,
        ameet: TaskBarrier | None = None,
        meanwhile: Mapping[int, Callable[[], None]] | None = None,
    ) -> None:
        self.turns = turns
        # What others do while the model answers a request, by its number from 0 on.
        self._meanwhile = meanwhile or {}
        self.requests: list[tuple[Seen, ...]] = []
        self.offered: list[tuple[Definition, ...]] = []
        self._meet, self._ameet = meet, ameet

    def reply(
        self, request: Iterable[Seen], tools: Iterable[Definition] | None = None
    ) -> ModelTurn:
        """
        Return what the model says to a request, which is kept, with the tools offered in it.

        Raises:
            AssertionError: the model is asked without end.
        """
        self.requests.append(tuple(request))
        if tools is not None:
            self.offer(tools)
        if do := self._meanwhile.get(len(self.requests) - 1):
            # In a thread, as another hand would: the framework's own loop is no place to wait in.
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
        """
        As `reply`; other tasks run in between.
        """
        if self._ameet is None or len(self.requests) >= len(self.turns):
            return self.reply(request, tools)
        with suppress(TaskBarrierBroken, TimeoutError):
            async with timeout(_PARTNER_SECONDS):
                await self._ameet.wait()
        return self.reply(request, tools)

    def offer(self, tools: Iterable[Definition]) -> None:
        """
        Note which tools are offered: for a framework without a model, once in a run.
        """
        self.offered.append(tuple(tools))


class Clock:
    """
    A clock that stands still until it is moved on: `clock()` is an aware time.
    """

    def __init__(self) -> None:
        self._now = datetime(2025, 1, 31, 12, tzinfo=UTC)  # not now: the time of day would show

    def __call__(self) -> datetime:
        """
        Return the time.
        """
        return self._now

    def move_on(self) -> None:
        """
        Let a minute go by.
        """
        self._now += timedelta(minutes=1)


@attrs.frozen
class Setup:
    """
    What a host is to be made of: tool set and policy, guidance settings, a clock, a verifier.
    """

    toolbox: Toolbox = Toolbox()
    settings: Settings = QUIET
    clock: Clock = attrs.field(factory=Clock)
    verify: Verifier | None = None


@attrs.frozen
class Ran:
    """
    What a run left behind.

    `messages` is the conversation as the framework keeps it after the run, earlier runs included;
    the tools' answers stand in it with the ids of their calls. `events` are those that the
    application was told in this run, in the order of their revisions. `plan` is the one that the
    application reads from what the framework's run returned (`Capability.RETURNS`).
    """

    messages: Sequence[Seen]
    events: Sequence[Event] = ()
    plan: Plan | None = None


class Host(Protocol):
    """
    One agent of the framework, with the adapter, serving any number of sessions by name.

    A session is whatever keeps a conversation and its plan apart from others: a thread, a state, a
    conversation id. A new one has an empty plan.
    """

    def seed(self, session: str, plan: Plan) -> None:
        """
        Make this the plan of a session, as an application does from outside.
        """
        ...

    def edit(self, session: str, command: Command, actor: str) -> Decision:
        """
        Change the plan of a session as a person does, through the adapter's own door: `edit_plan`,
        or whatever it is called.

        Only asked for where `Capability.EDITS` is declared: between two runs, and from another
        thread while a run goes on. If it cannot be done then it raises a `TodoplanError`.
        """
        ...

    def plan(self, session: str) -> Plan:
        """
        Return the plan of a session, as an application reads it.
        """
        ...

    async def run(self, session: str, script: Script) -> Ran:
        """
        Run the agent once on a user's message, with a model that answers from the script.

        A framework without a model carries out the calls of `script.turns`, turn by turn.
        """
        ...

    def saved(self) -> str | bytes:
        """
        Return what the framework has saved so far: its text or bytes, or the path where they lie.

        Only asked for where `Capability.RESUME` is declared, and so is `resume`. What stays in this
        process does not count: the plan has to be in there, or behind that path.
        """
        ...

    def resume(self, saved: str | bytes) -> None:
        """
        Go on, as a new host of the same setup, with what an earlier one has saved.
        """
        ...

"""What an adapter's author writes: a framework with the adapter in it, as a `Host`."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

import attrs

from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.testing.adapters.script import Script, Seen

__all__ = ["QUIET", "Clock", "Host", "Ran", "Setup"]

QUIET = Settings(plan_lost=False, unfinished=0)
"""No guidance."""


class Clock:
    """
    A clock that stands still until it is moved on: `clock()` is an aware time.
    """

    def __init__(self) -> None:
        self._now = datetime(2025, 1, 31, 12, tzinfo=UTC)

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
    What a host is to be made of: tool set and policy, guidance settings, a clock.
    """

    toolbox: Toolbox = Toolbox()
    settings: Settings = QUIET
    clock: Clock = attrs.field(factory=Clock)


@attrs.frozen
class Ran:
    """
    What a run left behind.

    `messages` is the conversation as the framework keeps it after the run, earlier runs included;
    the tools' answers stand in it with the ids of their calls. `events` are those that the
    application was told in this run, in the order of their revisions.
    """

    messages: Sequence[Seen]
    events: Sequence[Event] = ()


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

    def restarted(self) -> "Host":
        """
        Return a new host as after a restart: everything new, but for what the framework has saved.

        Only asked for where `Capability.RESUME` is declared.
        """
        ...

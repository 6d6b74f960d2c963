"""
Runs a host and compares it with the function-calling adapter. `Checks` is the base of all checks.
"""

from __future__ import annotations  # help() shows short names, not the path before each

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from threading import Barrier
from traceback import format_exception

import attrs
from hypothesis import Phase, settings

from todoplan.core.commands import Command
from todoplan.core.decide.decide import Accepted, Rejected
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.errors import PlanError, TodoplanError
from todoplan.planner.verifying.verifier import Verifier
from todoplan.testing.adapters.capabilities import ALL, Capability
from todoplan.testing.adapters.conversations import TASKS, Run, numbered
from todoplan.testing.adapters.host import QUIET, Host, ModelTurn, Ran, Script, Setup
from todoplan.testing.adapters.outcome import Expected, Outcome, Transcript, expected
from todoplan.testing.assertions import must, same
from todoplan.testing.failures import TellsFailures

__all__ = ["Checks", "Harness", "SideBySide", "in_tasks", "in_threads"]

# Without "explain", which only reports that the failing line was run in every failure.
_PHASES = tuple(phase for phase in Phase if phase is not Phase.explain)

__tracebackhide__ = True

_Both = tuple[Ran, Script]
"""What a run returned, and the script with the requests."""

SideBySide = Callable[[Host, Mapping[str, Run]], dict[str, _Both]]
"""A way to run several sessions at the same time."""


def _run(host: Host, session: str, script: Script) -> Ran:
    """Run a session once, in an event loop of its own."""

    async def once() -> Ran:
        return await host.run(session, script)

    return asyncio.run(once())


def in_threads(host: Host, runs: Mapping[str, Run]) -> dict[str, _Both]:
    """Run each session in a thread; their models answer at the same time."""
    # Without the barrier one session would end before the other begins, and nothing could mix.
    meet = Barrier(len(runs))
    scripts = {name: Script(*turns, meet=meet) for name, turns in runs.items()}
    with ThreadPoolExecutor(len(runs)) as pool:
        started = {name: pool.submit(_run, host, name, scripts[name]) for name in runs}
        return {name: (future.result(), scripts[name]) for name, future in started.items()}


def in_tasks(host: Host, runs: Mapping[str, Run]) -> dict[str, _Both]:
    """Run sessions as tasks of one event loop; their models answer at the same time."""
    ameet = asyncio.Barrier(len(runs))
    scripts = {name: Script(*turns, ameet=ameet) for name, turns in runs.items()}

    async def together() -> list[Ran]:
        return await asyncio.gather(*(host.run(name, scripts[name]) for name in runs))

    ended = asyncio.run(together())
    return {name: (ran, scripts[name]) for name, ran in zip(runs, ended, strict=True)}


class Checks(TellsFailures):
    """
    Base class of all checks.

    `drawing` has Hypothesis' settings for drawn conversations.
    """

    capabilities: frozenset[Capability] = ALL
    # Few examples: each is a conversation through the framework and takes its time.
    drawing: settings = settings(max_examples=10, deadline=None, phases=_PHASES)
    latest: Harness | None = None

    def exchanges(self) -> list[str]:
        """Return the exchanges in all runs of the latest harness."""
        told = self.latest.transcripts if self.latest else ()
        return [f"run {n}, {each}" for n, one in enumerate(told, 1) for each in one.exchanges()]

    def host(self, setup: Setup) -> Host:  # noqa: ARG002 - for subclasses
        """
        Return a new host: the framework with the adapter in it. Override this method.

        Raises:
            PlanError: the suite does not override it.
        """
        name = type(self).__name__
        msg = (
            f"{name} has no host; write `def host(self, setup): return MyHost(setup)`: the"
            " framework with your adapter in it"
        )
        raise PlanError(msg, suite=name)

    def harness(
        self,
        toolset: ToolSet = TASKS,
        guidance: Settings = QUIET,
        *,
        policy: Policy = DEFAULT,
        verify: Verifier | None = None,
    ) -> Harness:
        """Return a harness with a new host."""
        setup = Setup(Toolbox(toolset, policy), guidance, verify=verify)
        self.latest = Harness(self.capabilities, setup, self.host)
        return self.latest


@attrs.define
class Harness:
    """Runs a host, and computes the expected result."""

    capabilities: frozenset[Capability]
    setup: Setup
    make: Callable[[Setup], Host]
    host: Host = attrs.field(init=False)
    transcripts: list[Transcript] = attrs.field(factory=list)
    _numbers: Iterator[int] = attrs.field(factory=partial(count, 1))

    def __attrs_post_init__(self) -> None:
        self.host = self.make(self.setup)

    def go(self, *turns: ModelTurn, session: str = "one") -> Outcome:
        """Run a session once, with turns whose calls already have ids."""
        wanted = self.wanted(self.host.plan(session), turns)
        script = Script(*turns)
        return self.done(self._ran(session, script), session, wanted, script)

    def _ran(self, session: str, script: Script) -> Ran:
        self.transcripts.append(transcript := Transcript(session, script))
        transcript.kept = (ran := _run(self.host, session, script)).messages
        return ran

    def wanted(self, plan: Plan, turns: Run) -> Expected:
        """Return the result of the function-calling adapter on a plan."""
        return expected(self.setup, plan, turns)

    def together(
        self, side_by_side: SideBySide, runs: Mapping[str, Sequence[ModelTurn]]
    ) -> dict[str, Outcome]:
        """Run each of the named sessions once, all at the same time."""
        made = dict(zip(runs, self.numbered(*runs.values()), strict=True))
        wanted = {name: self.wanted(self.host.plan(name), made[name]) for name in made}
        ended = side_by_side(self.host, made)
        self.transcripts += [Transcript(name, s, ran.messages) for name, (ran, s) in ended.items()]
        return {name: self.done(ran, name, wanted[name], s) for name, (ran, s) in ended.items()}

    def done(self, ran: Ran, session: str, wanted: Expected, script: Script) -> Outcome:
        """Return the outcome of a run that has ended."""
        return Outcome(ran, self.host.plan(session), wanted, script.requests, script.offered)

    def runs(self, *runs: Sequence[ModelTurn], session: str = "one") -> list[Outcome]:
        """
        Run a session several times, one minute apart.

        If the adapter lacks `Capability.TURNS`, each call gets a turn of its own.
        """
        done = []
        for turns in self.numbered(*runs):
            done.append(self.go(*turns, session=session))
            self.setup.clock.move_on()
        return done

    def numbered(self, *runs: Sequence[ModelTurn]) -> tuple[Run, ...]:
        """Return the runs with an id for each call, unique within this harness."""
        # Most frameworks run the calls of a turn in parallel; without knowledge of turns their
        # order is open.
        singly = Capability.TURNS not in self.capabilities
        return numbered(runs, self._numbers, singly=singly)

    def run(self, *turns: ModelTurn, session: str = "one") -> Outcome:
        """Run a session once."""
        return self.runs(turns, session=session)[0]

    def at_once(self, *turns: ModelTurn) -> Outcome:
        """Run a session once, with the calls of a turn kept together whatever the capabilities."""
        return self.go(*numbered([turns], self._numbers)[0])

    def error(self, *turns: ModelTurn) -> str:
        """
        Run a session once, and return the text of the error with its causes, or "" if there is
        none.
        """
        try:
            self.run(*turns)
        except Exception as error:  # noqa: BLE001 - frameworks raise errors of their own
            return "".join(format_exception(error)).strip()
        return ""

    def restart(self) -> None:
        """
        Continue with a new host that resumes from the saved data.

        The data must be text or bytes: objects would still be there even if nothing had been
        written.

        Raises:
            AssertionError: the host returns something else.
        """
        saved = self.host.saved()
        kind = type(saved).__name__
        must(
            isinstance(saved, str | bytes),
            f"host.saved() returned a {kind}, wanted a text or bytes: what the framework has"
            " saved, or the path where it lies",
        )
        self.host = self.make(self.setup)
        self.host.resume(saved)

    def edit(self, command: Command, actor: str, session: str = "one") -> Plan:
        """
        Change the plan of a session as a person does, and return the plan.

        Raises:
            AssertionError: the edit was refused, or it was accepted but is not in the host's plan
                (law 16).
        """
        decision = self.host.edit(session, command, actor)
        must(isinstance(decision, Accepted), f"the edit {command} was answered by {decision}")
        found = self.host.plan(session)
        what = f"the edit {command} was accepted, and host.plan returns"
        same([*found], [*decision.unwrap()], what)
        return found

    def edited_meanwhile(
        self, command: Command, actor: str, *turns: ModelTurn, request: int, session: str = "one"
    ) -> tuple[Outcome, str]:
        """
        Run a session once; a person changes the plan while the model answers request number
        `request`.

        Returns the outcome, and why the edit was refused, or "" if it was accepted.
        """
        refused: list[str] = []

        def edit() -> None:
            try:
                decision = self.host.edit(session, command, actor)
            except TodoplanError as error:
                refused.append(str(error))
            else:
                refused.append(decision.text if isinstance(decision, Rejected) else "")

        (run,) = self.numbered(turns)
        script = Script(*run, meanwhile={request: edit})
        wanted = self.wanted(self.host.plan(session), run)
        outcome = self.done(self._ran(session, script), session, wanted, script)
        must(refused, f"the model was not asked {request + 1} times")
        return outcome, refused[0]

    def seed(self, *subjects: str, session: str = "one") -> Plan:
        """
        Add tasks to the plan of a session as the application does, and return the plan.

        Raises:
            AssertionError: the host's plan does not have the tasks.
        """
        plan, box = self.host.plan(session), Toolbox(TASKS)
        for subject in subjects:
            plan = box.call(plan, "TaskCreate", {"subject": subject}, at=self.setup.clock()).plan
        self.host.seed(session, plan)
        found = self.host.plan(session)
        what = f"{len(plan)} tasks were seeded in {session!r}, and host.plan returns {len(found)}"
        must(len(found) == len(plan), what)
        return found

"""A host under examination, run beside the function-calling adapter; and what every check needs."""

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

# Without "explain", which says that the failing line of an assertion was run whenever it failed.
_PHASES = tuple(phase for phase in Phase if phase is not Phase.explain)

__tracebackhide__ = True

_Both = tuple[Ran, Script]
"""What a run left behind, and the script with the requests."""

SideBySide = Callable[[Host, Mapping[str, Run]], dict[str, _Both]]
"""A way to run sessions at once."""


def _run(host: Host, session: str, script: Script) -> Ran:
    """
    Run a session once, in a loop of its own.
    """

    async def once() -> Ran:
        return await host.run(session, script)

    return asyncio.run(once())


def in_threads(host: Host, runs: Mapping[str, Run]) -> dict[str, _Both]:
    """
    Run sessions side by side, a thread each; their models answer together.
    """
    # Without it one session is over before the other has begun, and nothing could be mixed up.
    meet = Barrier(len(runs))
    scripts = {name: Script(*turns, meet=meet) for name, turns in runs.items()}
    with ThreadPoolExecutor(len(runs)) as pool:
        started = {name: pool.submit(_run, host, name, scripts[name]) for name in runs}
        return {name: (future.result(), scripts[name]) for name, future in started.items()}


def in_tasks(host: Host, runs: Mapping[str, Run]) -> dict[str, _Both]:
    """
    Run sessions side by side, as tasks of one loop; their models answer together.
    """
    ameet = asyncio.Barrier(len(runs))
    scripts = {name: Script(*turns, ameet=ameet) for name, turns in runs.items()}

    async def together() -> list[Ran]:
        return await asyncio.gather(*(host.run(name, scripts[name]) for name in runs))

    ended = asyncio.run(together())
    return {name: (ran, scripts[name]) for name, ran in zip(runs, ended, strict=True)}


class Checks(TellsFailures):
    """
    What every check is made with.

    `drawing` are Hypothesis' settings for conversations that are drawn.
    """

    capabilities: frozenset[Capability] = ALL
    # Few, for each example is a conversation through the framework, at the framework's pace.
    drawing: settings = settings(max_examples=10, deadline=None, phases=_PHASES)
    latest: Harness | None = None

    def exchanges(self) -> list[str]:
        """
        Return what was said in the runs of the last harness.
        """
        told = self.latest.transcripts if self.latest else ()
        return [f"run {n}, {each}" for n, one in enumerate(told, 1) for each in one.exchanges()]

    def host(self, setup: Setup) -> Host:  # noqa: ARG002 - for those who write one
        """
        Return the framework with the adapter in it, new and empty: every suite has its own.

        Raises:
            PlanError: this one has none.
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
        """
        Return a new host under examination.
        """
        setup = Setup(Toolbox(toolset, policy), guidance, verify=verify)
        self.latest = Harness(self.capabilities, setup, self.host)
        return self.latest


@attrs.define
class Harness:
    """
    Runs a host, and works out what must come of it.
    """

    capabilities: frozenset[Capability]
    setup: Setup
    make: Callable[[Setup], Host]
    host: Host = attrs.field(init=False)
    transcripts: list[Transcript] = attrs.field(factory=list)
    _numbers: Iterator[int] = attrs.field(factory=partial(count, 1))

    def __attrs_post_init__(self) -> None:
        self.host = self.make(self.setup)

    def go(self, *turns: ModelTurn, session: str = "one") -> Outcome:
        """
        Run a session once; the calls have ids already.
        """
        wanted = self.wanted(self.host.plan(session), turns)
        script = Script(*turns)
        return self.done(self._ran(session, script), session, wanted, script)

    def _ran(self, session: str, script: Script) -> Ran:
        self.transcripts.append(transcript := Transcript(session, script))
        transcript.kept = (ran := _run(self.host, session, script)).messages
        return ran

    def wanted(self, plan: Plan, turns: Run) -> Expected:
        """
        Return what the function-calling adapter makes of a plan.
        """
        return expected(self.setup, plan, turns)

    def together(
        self, side_by_side: SideBySide, runs: Mapping[str, Sequence[ModelTurn]]
    ) -> dict[str, Outcome]:
        """
        Run sessions by name, each once and all at once.
        """
        made = dict(zip(runs, self.numbered(*runs.values()), strict=True))
        wanted = {name: self.wanted(self.host.plan(name), made[name]) for name in made}
        ended = side_by_side(self.host, made)
        self.transcripts += [Transcript(name, s, ran.messages) for name, (ran, s) in ended.items()]
        return {name: self.done(ran, name, wanted[name], s) for name, (ran, s) in ended.items()}

    def done(self, ran: Ran, session: str, wanted: Expected, script: Script) -> Outcome:
        """
        Return a run of a session that is over.
        """
        return Outcome(ran, self.host.plan(session), wanted, script.requests, script.offered)

    def runs(self, *runs: Sequence[ModelTurn], session: str = "one") -> list[Outcome]:
        """
        Run a session several times, a minute apart.

        Where the adapter cannot know a turn, its calls are made one by one.
        """
        done = []
        for turns in self.numbered(*runs):
            done.append(self.go(*turns, session=session))
            self.setup.clock.move_on()
        return done

    def numbered(self, *runs: Sequence[ModelTurn]) -> tuple[Run, ...]:
        """
        Return the runs with an id for each call, that no call of this harness had before.
        """
        # Nearly everywhere calls of a turn run side by side: who knows no turns cannot order them.
        singly = Capability.TURNS not in self.capabilities
        return numbered(runs, self._numbers, singly=singly)

    def run(self, *turns: ModelTurn, session: str = "one") -> Outcome:
        """
        Run a session once.
        """
        return self.runs(turns, session=session)[0]

    def at_once(self, *turns: ModelTurn) -> Outcome:
        """
        Run a session once; the calls of a turn stay together, whether or not the adapter knows.
        """
        return self.go(*numbered([turns], self._numbers)[0])

    def error(self, *turns: ModelTurn) -> str:
        """
        Run a session once, and return the error that it ends in, with its causes; "" if none.
        """
        try:
            self.run(*turns)
        except Exception as error:  # noqa: BLE001 - frameworks have errors of their own for it
            return "".join(format_exception(error)).strip()
        return ""

    def restart(self) -> None:
        """
        Go on with a new host, and with what the framework has saved.

        It comes as a text or bytes: objects that are handed over would be found again although
        nothing was ever written.

        Raises:
            AssertionError: the host gives objects instead.
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
        Have a person change the plan of a session, and return the plan.

        Raises:
            AssertionError: it was refused; or accepted, and the host does not have it (law 16).
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
        Run a session once; while the model answers a request, a person changes the plan. Return
        also why that was refused, "" if it was accepted.
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
        Have the application add tasks to the plan of a session, and return the plan.

        Raises:
            AssertionError: the host does not have it.
        """
        plan, box = self.host.plan(session), Toolbox(TASKS)
        for subject in subjects:
            plan = box.call(plan, "TaskCreate", {"subject": subject}, at=self.setup.clock()).plan
        self.host.seed(session, plan)
        found = self.host.plan(session)
        what = f"{len(plan)} tasks were seeded in {session!r}, and host.plan returns {len(found)}"
        must(len(found) == len(plan), what)
        return found

"""A host under examination, run beside the function-calling adapter; and what every check needs."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count

import attrs
from hypothesis import settings

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.errors import PlanError
from todoplan.testing.adapters.capabilities import ALL, Capability
from todoplan.testing.adapters.done import Done
from todoplan.testing.adapters.hosting import QUIET, Host, Ran, Setup
from todoplan.testing.adapters.reference import Expected, expected
from todoplan.testing.adapters.script import ModelTurn, Script
from todoplan.testing.adapters.side_by_side import SideBySide, run
from todoplan.testing.adapters.talks import TASKS, Run, numbered
from todoplan.testing.assertions import must

__all__ = ["Bench", "Checks"]


class Checks:
    """
    What every check is made with.

    `drawing` are Hypothesis' settings for talks that are drawn.
    """

    capabilities: frozenset[Capability] = ALL
    drawing: settings = settings(max_examples=10, deadline=None)

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

    def bench(self, toolset: ToolSet = TASKS, guidance: Settings = QUIET) -> "Bench":
        """
        Return a new host under examination.
        """
        setup = Setup(Toolbox(toolset), guidance)
        return Bench(self.capabilities, setup, self.host(setup))


@attrs.define
class Bench:
    """
    Runs a host, and works out what must come of it.
    """

    capabilities: frozenset[Capability]
    setup: Setup
    host: Host
    _numbers: Iterator[int] = attrs.field(factory=partial(count, 1))

    def go(self, *turns: ModelTurn, session: str = "one") -> Done:
        """
        Run a session once; the calls have ids already.
        """
        wanted = self.wanted(self.host.plan(session), turns)
        script = Script(*turns)
        return self.done(run(self.host, session, script), session, wanted, script)

    def wanted(self, plan: Plan, turns: Run) -> Expected:
        """
        Return what the function-calling adapter makes of a plan.
        """
        return expected(self.setup, plan, turns)

    def together(
        self, side_by_side: SideBySide, runs: Mapping[str, Sequence[ModelTurn]]
    ) -> dict[str, Done]:
        """
        Run sessions by name, each once and all at once.
        """
        made = dict(zip(runs, self.numbered(*runs.values()), strict=True))
        wanted = {name: self.wanted(self.host.plan(name), made[name]) for name in made}
        ended = side_by_side(self.host, made)
        return {name: self.done(ran, name, wanted[name], s) for name, (ran, s) in ended.items()}

    def done(self, ran: Ran, session: str, wanted: Expected, script: Script) -> Done:
        """
        Return a run of a session that is over.
        """
        return Done(ran, self.host.plan(session), wanted, script.requests, script.offered)

    def runs(self, *runs: Sequence[ModelTurn], session: str = "one") -> list[Done]:
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
        Return the runs with an id for each call, that no call of this bench had before.
        """
        singly = Capability.TURNS not in self.capabilities
        return numbered(runs, self._numbers, singly=singly)

    def run(self, *turns: ModelTurn, session: str = "one") -> Done:
        """
        Run a session once.
        """
        return self.runs(turns, session=session)[0]

    def at_once(self, *turns: ModelTurn, session: str = "one") -> Done:
        """
        Run a session once; the calls of a turn stay together, whether or not the adapter knows.
        """
        return self.go(*numbered([turns], self._numbers)[0], session=session)

    def restart(self) -> None:
        """
        Go on with what the framework has saved.
        """
        self.host = self.host.restarted()

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

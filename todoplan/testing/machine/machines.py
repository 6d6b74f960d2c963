"""The two machines, and what they share: the plan beside the model, each step compared."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import attrs
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from todoplan.core.commands import Command, RestorePlan
from todoplan.core.decide.decide import decide
from todoplan.core.events.apply import replay
from todoplan.core.events.types import Event
from todoplan.core.plan.model import Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy, inspect
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.toolbox import Call, Toolbox
from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.testing.machine.comparison import (
    call_text,
    command_text,
    differences,
    model_text,
    plan_text,
)
from todoplan.testing.machine.decision import NaiveDecision
from todoplan.testing.machine.model import Model
from todoplan.testing.machine.verdict import (
    Answer,
    Expected,
    expected_of_call,
    expected_of_command,
    outcome,
    verdict,
)
from todoplan.testing.strategies.breaks import BREAKS, broken_arguments
from todoplan.testing.strategies.calls import arguments
from todoplan.testing.strategies.command import commands
from todoplan.testing.strategies.script import sensible_commands
from todoplan.testing.strategies.values import times

__all__ = ["PlanMachine", "ToolMachine"]

# An invariant runs after every step: reading all versions each time would be quadratic.
_OLD_VERSIONS = 6
_RESTORED_EVERY = 6


class _Comparing(RuleBasedStateMachine):
    """
    A plan, the model of it, and the laws that hold after every step.

    `policy` is the one that steps run under; `times` says whether times are compared.
    """

    policy: Policy = DEFAULT
    # Most hosts set the time by themselves: only where `at` is passed on can times be compared.
    times: bool = False

    def __init__(self) -> None:
        super().__init__()
        self.plan, self.model = Plan(), Model()
        self.versions: list[tuple[Task, ...]] = [()]
        self.used: set[str] = set()
        self.events: list[Event] | None = []
        self._kept = [(self.plan, 0)]
        self._restored = False

    def compare(self, step: str, act: Callable[[], Answer], wanted: Expected) -> None:
        """
        Take a step, note the plan before and after it, and raise where it is not what it should be.

        Raises:
            AssertionError: it says, in sentences, what differs.
        """
        note(f"{step}\n{plan_text('before', self.plan)}")
        out = outcome(self.plan, act())
        codes = f" ({', '.join(sorted(out.codes or ()))})" if out.codes else ""
        note(plan_text(f"refused{codes}" if out.refused else "after", out.plan))
        faults = [*verdict(self.plan, out, wanted, times=self.times)]
        if not wanted.restores:  # an earlier plan brings its ids back; nothing else may (law 6)
            fresh = {task.id for task in out.plan} - {task.id for task in self.plan}
            again = sorted(fresh & self.used, key=int)
            faults += [f"the id #{task_id} was used before" for task_id in again]
        if faults:
            self._fail(f"after {step}", faults, wanted.model)
        self.plan, self.model = out.plan, wanted.model
        if self.model.approved is not None and self.plan.approved is not None:
            # The model does not count events: it learns which revision was meant.
            self.model.approved["revision"] = self.plan.approved.revision
        self.used |= {task.id for task in out.plan}
        self._restored |= wanted.restores and not wanted.refused
        self.versions.append(tuple(out.plan))
        self._kept.append((out.plan, out.plan.revision))
        if self.events is not None:
            # One step that does not tell its events, and there is no history to replay (law 2).
            self.events = None if out.events is None else [*self.events, *out.events]

    def _fail(self, when: str, faults: list[str], model: Model | None = None) -> None:
        should = f"\nThe plan should be:\n{model_text(model)}" if model else ""
        listed = "\n".join(f"- {fault}" for fault in faults)
        msg = f"{when}:\n{listed}{should}"
        raise AssertionError(msg)

    @invariant()
    def plan_is_model(self) -> None:
        """
        Compare tasks, order, edges, next id, counts, ready and waiting with what counting gives.
        """
        faults = [*differences(self.plan, self.model, times=self.times)]
        if faults:
            self._fail("between two steps", faults, self.model)

    @invariant()
    def accepted_satisfies_policy(self) -> None:
        """
        Ask the rules at `error` of the plan as it stands; no rule sees what was brought back.
        """
        problems = () if self._restored else inspect(self.plan, self.policy)
        if problems:
            self._fail("the plan breaks its policy", [problem.code for problem in problems])

    @invariant()
    def old_versions_stand(self) -> None:
        """
        Read earlier plans again.
        """
        # Versions share chunks: a change in place would show in the plans before it.
        pairs = zip(self._kept[-_OLD_VERSIONS:], self.versions[-_OLD_VERSIONS:], strict=True)
        for (plan, revision), tasks in pairs:
            if (plan.revision, tuple(plan)) != (revision, tasks):
                self._fail(f"revision {revision} has changed", ["a plan is a value"])

    def teardown(self) -> None:
        """
        Replay all events from nothing, if every step said which they are.
        """
        if self.events is not None and replay(Plan(), self.events) != self.plan:
            self._fail("at the end", ["replaying all events does not give the plan"], self.model)


class PlanMachine(_Comparing):
    """
    Commands, sensible and blind, taken through `carry_out` and through the model.

    `policy` is the one that they run under. `times = True` compares times as well: for what passes
    `self.at` on. `actors` are those whose commands they are: for what passes `self.actor` on.
    """

    at: datetime | None = None
    """When the command at hand is given."""
    actor: str | None = None
    """Whose it is."""
    actors: tuple[str | None, ...] = (None,)

    def carry_out(self, command: Command) -> Answer:
        """
        Carry a command out on `self.plan`, and return what came of it, or only the plan then.

        This one calls `decide`; yours calls what you want to test.
        """
        return decide(self.plan, command, self.policy, at=self.at, actor=self.actor)

    def do(self, command: Command, at: datetime | None = None, actor: str | None = None) -> None:
        """
        Take one command through both, and compare: for rules of your own.
        """
        self.at, self.actor = at if self.times else None, actor
        decision = NaiveDecision(self.model, command, self.at, actor)
        wanted = expected_of_command(self.plan, self.policy, decision)
        self.compare(command_text(command), lambda: self.carry_out(command), wanted)

    @rule(data=st.data(), at=times())
    def sensible(self, data: st.DataObject, at: datetime | None) -> None:
        """
        Give a command that makes sense for the plan.
        """
        self._give(data, data.draw(sensible_commands(self.plan)), at)

    @rule(data=st.data(), command=commands(), at=times())
    def blind(self, data: st.DataObject, command: Command, at: datetime | None) -> None:
        """
        Give any command, legal or not.
        """
        self._give(data, command, at)

    # Now and then: as one rule among three it kept most plans empty, for most early plans are.
    @precondition(lambda self: len(self.versions) % _RESTORED_EVERY == 0)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        """
        Bring back the tasks and the approval of an earlier plan.
        """
        earlier, _ = data.draw(st.sampled_from(self._kept[::-1]))
        self.do(RestorePlan(tuple(earlier), approved=earlier.approved))

    def _give(self, data: st.DataObject, command: Command, at: datetime | None) -> None:
        # A host with a clock of its own ends a wait that the model knows nothing of.
        given = command if self.times else _endless(command)
        self.do(given, at, data.draw(st.sampled_from(self.actors)))


def _endless(value: Any) -> Any:
    """
    Return a command, or what is in it, with no time at which a wait ends.
    """
    if isinstance(value, Waiting):
        return attrs.evolve(value, until=None)
    if isinstance(value, tuple):
        return tuple(map(_endless, value))
    if not attrs.has(type(value)):
        return value
    names = [field.name for field in attrs.fields(type(value))]
    return attrs.evolve(value, **{name: _endless(getattr(value, name)) for name in names})


class ToolMachine(_Comparing):
    """
    Tool calls, well-formed and broken, taken through `call` and through the model.

    `breaks` names the ways in which calls are broken; leave those out that your framework never
    hands on, such as those that are `raw`.
    """

    toolset: ToolSet = TODOS
    breaks: tuple[str, ...] = tuple(BREAKS)

    def call(self, call: Call) -> Answer:
        """
        Answer a call on `self.plan`, and return the reply, or only the plan as it stands then.

        This one asks a `Toolbox`; yours asks what you want to test.
        """
        return Toolbox(self.toolset, self.policy).call(self.plan, call.name, call.arguments)

    def send(self, call: Call, meant: dict[str, Any] | None) -> None:
        """
        Take one call through both, and compare. `meant` are its well-formed arguments; `None`: it
        is to be refused.
        """
        tool = next(tool for tool in self.toolset.tools if tool is self.toolset.find(call.name))
        wanted = expected_of_call(
            self.plan, self.model, self.policy, tool, meant, sent=call.arguments
        )
        self.compare(call_text(call), lambda: self.call(call), wanted)

    @rule(data=st.data())
    def well_formed(self, data: st.DataObject) -> None:
        """
        Call a tool as its schema says.
        """
        call = data.draw(arguments(self.toolset, self.plan))
        self.send(call, dict(call.arguments))

    # The strategy raises where nothing fits: a cycle needs an edge, and that is nobody's fault.
    @precondition(lambda self: self.fitting())
    @rule(data=st.data())
    def broken(self, data: st.DataObject) -> None:
        """
        Call a tool with arguments that are broken in one way.
        """
        drawn = data.draw(broken_arguments(self.toolset, *self.fitting(), plan=self.plan))
        note(f"broken: {drawn.broken.name} ({drawn.broken.about}), to be {drawn.broken.expected}")
        self.send(drawn.call, drawn.meant)

    def fitting(self) -> tuple[str, ...]:
        """
        Return the breaks that fit the plan as it stands.
        """
        tools = self.toolset.tools
        return tuple(n for n in self.breaks if any(BREAKS[n].fits(t, self.plan) for t in tools))

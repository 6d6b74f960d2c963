"""The two machines: one gives commands, the other calls tools."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from todoplan.core.commands import Command, RestorePlan
from todoplan.core.decide.decide import decide
from todoplan.dialogue.toolbox import Call, Toolbox
from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.testing.machine.comparing import Comparing
from todoplan.testing.machine.comparison import (
    call_text,
    command_text,
    endless,
)
from todoplan.testing.machine.decision import NaiveDecision
from todoplan.testing.machine.verdict import (
    Answer,
    expected_of_call,
    expected_of_command,
)
from todoplan.testing.strategies.breaks import BREAKS, broken_arguments
from todoplan.testing.strategies.calls import arguments
from todoplan.testing.strategies.command import commands
from todoplan.testing.strategies.hands import meddling
from todoplan.testing.strategies.sensible import growth, sensible_commands
from todoplan.testing.strategies.teamwork import claimings
from todoplan.testing.strategies.values import times

__all__ = ["PlanMachine", "ToolMachine"]

_RESTORED_EVERY = 6
_FEW = 3


class PlanMachine(Comparing):
    """
    Commands, sensible and blind, taken through `carry_out` and through the model.

    `policy` is the one that they run under. `times = True` compares times as well: for what passes
    `self.at` on. `actors` are those whose commands they are: for what passes `self.actor` on.
    `holders = True` gives commands with fences of claims, old ones too: for what passes
    `self.fences` on.
    """

    at: datetime | None = None
    """When the command at hand is given."""
    actor: str | None = None
    """Whose it is."""
    actors: tuple[str | None, ...] = (None,)
    fences: Mapping[str, int] = MappingProxyType({})
    """Those of the claims that it is given under, by task id."""
    holders: bool = False

    def carry_out(self, command: Command) -> Answer:
        """
        Carry a command out on `self.plan`, and return what came of it, or only the plan then.

        This one calls `decide`; yours calls what you want to test.
        """
        at, actor, fences = self.at, self.actor, self.fences
        return decide(self.plan, command, self.policy, at=at, actor=actor, fences=fences)

    def do(
        self,
        command: Command,
        at: datetime | None = None,
        actor: str | None = None,
        fences: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """
        Take one command through both, and compare: for rules of your own.
        """
        self.at, self.actor, self.fences = at if self.times else None, actor, fences
        decision = NaiveDecision(self.model, command, self.at, actor, fences)
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

    # Blind commands leave most plans empty, and few of those that are drawn claim a task.
    @precondition(lambda self: len(self.plan) < _FEW)
    @rule(data=st.data(), at=times())
    def grow(self, data: st.DataObject, at: datetime | None) -> None:
        """
        Add tasks.
        """
        self._give(data, data.draw(growth(self.plan)), at)

    @precondition(lambda self: any(True for _ in self.plan.ready()))
    @rule(data=st.data(), at=times())
    def claim(self, data: st.DataObject, at: datetime | None) -> None:
        """
        Claim a task.
        """
        ready = [task.id for task in self.plan.ready()]
        self._give(data, data.draw(claimings(st.sampled_from([None, *ready]))), at)

    @precondition(lambda self: any(task.claim for task in self.plan))
    @rule(data=st.data(), at=times())
    def meddle(self, data: st.DataObject, at: datetime | None) -> None:
        """
        Do something to what somebody has claimed.
        """
        self._give(data, data.draw(meddling(self.plan)), at)

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
        # A host with a clock of its own ends waits and claims that the model knows nothing of.
        given = command if self.times else endless(command)
        fences = self._fences(data) if self.holders else {}
        self.do(given, at, data.draw(st.sampled_from(self.actors)), fences)

    def _fences(self, data: st.DataObject) -> dict[str, int]:
        # Those of who holds every claim, of nobody, or of who held each one before.
        less = data.draw(st.sampled_from([None, 0, 0, 1]))
        held = {} if less is None else {task.id: task.claim for task in self.plan if task.claim}
        return {task_id: claim.fence - (less or 0) for task_id, claim in held.items()}


class ToolMachine(Comparing):
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

"""
Machines that drive your rules, your tool set or your agent loop beside a naive model of the plan.

Hypothesis draws steps, takes them through your code and through the model, and shrinks what differs
to the fewest steps; the failure prints the plan before and after each. Ten lines are enough:

    class LoopMachine(PlanMachine):
        def __init__(self):
            super().__init__()
            self.loop = Planner()

        def carry_out(self, command):
            self.loop.apply(command)
            return self.loop.plan

    TestLoop = LoopMachine.TestCase

`policy = DEFAULT.adding(my_rule)` in the class body drives rules of your own, `ToolMachine` with
`toolset = MY_TOOLS` a tool set, also with arguments that are broken; its `call` is where your
adapter comes in. Add `@rule` and `@invariant` methods as to any Hypothesis machine.
"""

from datetime import datetime
from typing import Any

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from todoplan.core.commands import Command, RestorePlan
from todoplan.core.decide.decide import decide
from todoplan.dialogue.toolbox import Call, Toolbox
from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.testing.machine_calls import call_expected
from todoplan.testing.machine_judge import Judge
from todoplan.testing.machine_judging import Answer, expected
from todoplan.testing.machine_step import Step
from todoplan.testing.machine_telling import shown, told
from todoplan.testing.strategies.breaks import BREAKS, broken_arguments
from todoplan.testing.strategies.calls import arguments
from todoplan.testing.strategies.command import commands
from todoplan.testing.strategies.script import sensible_commands
from todoplan.testing.strategies.values import times

__all__ = ["PlanMachine", "ToolMachine"]


class PlanMachine(Judge):
    """
    Commands, sensible and blind, taken through `carry_out` and through the model.

    `policy` is the one that they run under. `times = True` compares times as well: for what passes
    `self.at` on.
    """

    at: datetime | None = None
    """When the command at hand is given."""

    def carry_out(self, command: Command) -> Answer:
        """
        Carry a command out on `self.plan`, and return what came of it, or only the plan then.

        This one calls `decide`; yours calls what you want to test.
        """
        return decide(self.plan, command, self.policy, at=self.at)

    def do(self, command: Command, at: datetime | None = None) -> None:
        """
        Take one command through both, and compare: for rules of your own.
        """
        self.at = at if self.times else None
        wanted = expected(self.plan, self.policy, Step(self.model, command, self.at))
        self.judge(shown(command), lambda: self.carry_out(command), wanted)

    @rule(data=st.data(), at=times())
    def sensible(self, data: st.DataObject, at: datetime | None) -> None:
        """
        Give a command that makes sense for the plan.
        """
        self.do(data.draw(sensible_commands(self.plan)), at)

    @rule(command=commands(), at=times())
    def blind(self, command: Command, at: datetime | None) -> None:
        """
        Give any command, legal or not.
        """
        self.do(command, at)

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        """
        Bring back the tasks of an earlier plan.
        """
        earlier = data.draw(st.sampled_from(self.versions))
        self.do(RestorePlan(earlier))


class ToolMachine(Judge):
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
        wanted = call_expected(self.plan, self.model, self.policy, tool, meant, sent=call.arguments)
        self.judge(told(call), lambda: self.call(call), wanted)

    @rule(data=st.data())
    def well_formed(self, data: st.DataObject) -> None:
        """
        Call a tool as its schema says.
        """
        call = data.draw(arguments(self.toolset, self.plan))
        self.send(call, dict(call.arguments))

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

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

Inside, read `model` first (the naive plan, and why there is one), then `decision` (what a command
does to it, with `steps`, `claims` and `whole_list`) and `rules` (what a policy says of that);
`comparison` finds where plan and model differ, `verdict` says what should come of a step,
`comparing` asks both after each, `machines` are the two classes.
"""

from todoplan.testing.machine.machines import PlanMachine, ToolMachine

__all__ = ["PlanMachine", "ToolMachine"]

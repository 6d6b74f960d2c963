"""`plan_closed` as the goal of Strands' own goal loop: no judge model is asked."""

from strands import Agent
from strands.vended_plugins.goal import GoalLoop
from support.strands_host import Scripted

from todoplan import Plan, Policy, commands, decide
from todoplan.dialogue import plan_closed
from todoplan.testing.adapters import ModelTurn, Script


class Toolless(Scripted):
    """Strands gives an agent without tools no list of them."""

    async def stream(self, messages, tool_specs=None, system_prompt="", **given):
        async for event in super().stream(messages, tool_specs or (), system_prompt or "", **given):
            yield event


def test_the_loop_goes_on_until_the_plan_is_closed():
    """The reason is what the model reads; the attempt after the last task passes."""
    plans = [decide(Plan(), commands.CreateTask("Dig"), Policy()).unwrap()]
    plans.append(decide(plans[0], commands.UpdateTask("1", status="completed"), Policy()).unwrap())
    judged = iter(plans)
    goal = GoalLoop(goal=lambda *_, **__: plan_closed(next(judged)).validation(), max_attempts=4)
    script = Script(ModelTurn(text="Early."), ModelTurn(text="Dug."))
    agent = Agent(Toolless(script), plugins=[goal], callback_handler=None)
    agent("go")
    result = goal.last_result(agent)
    assert result is not None
    assert result.passed
    assert len(script.requests) == 2
    assert "Open: #1 Dig." in "".join(seen.text for seen in script.requests[1])

"""How an application seeds and changes the plan of a session, between runs or while one is on."""

from todoplan.adapters.openai_agents.planning import Planning
from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision
from todoplan.core.plan.plan import Plan

__all__ = ["edit_plan", "seed_plan"]


async def seed_plan(planning: Planning, plan: Plan) -> None:
    """
    Make the tasks of a session those of a plan, whatever was there. Ids in use go on.
    """
    await planning.planner.restore(plan)


async def edit_plan(planning: Planning, command: Command) -> Decision:
    """
    Carry out a command on the plan of a session, under the policy of its toolbox, or say why not;
    `ClearPlan()` clears it.
    """
    return await planning.planner.apply(command)

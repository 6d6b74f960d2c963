"""Sequences of commands for a plan that evolves, and the events of its life."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from todoplan.core.commands import Command
from todoplan.core.decide.decide import Accepted, decide
from todoplan.core.events.apply import replay
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.testing.strategies.command import commands
from todoplan.testing.strategies.sensible import sensible_commands
from todoplan.testing.strategies.values import times

__all__ = ["histories", "scripts"]

_NO_RULES = Policy()


@st.composite
def scripts(
    draw: DrawFn,
    *,
    start: Plan | None = None,
    policy: Policy = _NO_RULES,
    max_size: int = 8,
    blind: bool = False,
) -> tuple[Command, ...]:
    """
    Draw commands to be carried out in order, each sensible for the plan that it will meet.

    `policy` is the one that they will run under. `blind`: each knows nothing of the plan.
    """
    plan = start or Plan()
    script: list[Command] = []
    for _ in range(draw(st.integers(0, max_size))):
        command = draw(commands() if blind else sensible_commands(plan))
        answer = decide(plan, command, policy)
        plan = answer.plan if isinstance(answer, Accepted) else plan
        script.append(command)
    return tuple(script)


@st.composite
def histories(draw: DrawFn, max_size: int = 8) -> tuple[Event, ...]:
    """
    Draw the events of a plan's life: replaying them from an empty plan gives a plan.
    """
    plan = Plan()
    happened: list[Event] = []
    for command in draw(scripts(max_size=max_size)):
        answer = decide(plan, command, at=draw(times()))
        brought = answer.events if isinstance(answer, Accepted) else ()
        plan = replay(plan, brought)
        happened += brought
    return tuple(happened)

"""
The application's own hand on a plan that a framework keeps: what is the same in every adapter.

Law: what a developer gives wrongly is an error at once, before anything is read or changed; what is
done leaves an entry of the journal that says who did it, and when.
"""

from datetime import datetime
from typing import Any, TypeVar

from todoplan.core.commands import Command, RestorePlan
from todoplan.core.decide.decide import Accepted, Decision, decide
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import PlanRestored
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.held_claims import NO_FENCES, Fences
from todoplan.dialogue.toolbox import Toolbox
from todoplan.errors import PlanError

__all__ = [
    "edited",
    "require",
    "require_actor",
    "require_clock",
    "seeded",
    "unseen_by_model",
    "whole_entry",
]

T = TypeVar("T")

_REMEDIES: dict[type, str] = {
    Plan: "a plan, such as plan_of([...]) or plan_of_state(...)",
    Policy: "a policy, such as STRICT or DEFAULT.but(max_items='off')",
    Settings: "settings, such as Settings(unfinished=0)",
    Toolbox: "a toolbox, such as Toolbox(TASKS, STRICT)",
}


def require(value: object, kind: type[T], remedy: str = "") -> T:
    """
    Return the value if it is of the kind that is meant.

    Raises:
        PlanError: it is not; says what was seen and what to write.
    """
    if isinstance(value, kind):
        return value
    legal = remedy or _REMEDIES.get(kind, f"a {kind.__name__}")
    msg = f"{short_repr(value)} was given; give {legal}"
    raise PlanError(msg, seen=value)


def require_clock(value: Any) -> Any:
    """
    Return a clock, which is any function without arguments.

    Raises:
        PlanError: it cannot be called.
    """
    if callable(value):
        return value
    msg = f"{short_repr(value)} was given; give a clock: a function that returns an aware datetime"
    raise PlanError(msg, seen=value)


def require_actor(value: object) -> str | None:
    """
    Return the name of an agent, or `None` for none.

    Raises:
        PlanError: it is no name.
    """
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    msg = f'{short_repr(value)} was given; give a name, actor="writer"'
    raise PlanError(msg, seen=value)


def edited(  # noqa: PLR0913 - the rest are options, by name
    plan: Plan,
    command: Command,
    policy: Policy,
    *,
    at: datetime,
    actor: str | None,
    fences: Fences = NO_FENCES,
) -> tuple[Decision, Entry | None]:
    """
    Return what a command comes to, and its entry of the journal if it has changed something.

    Raises:
        PlanError: what was given is no policy, or no command.
    """
    decision = decide(plan, command, require(policy, Policy), at=at, actor=actor, fences=fences)
    if not isinstance(decision, Accepted) or not decision.events:
        return decision, None
    cause = type(command).__name__
    return decision, Entry(decision.plan.revision, decision.events, at, actor, cause)


def seeded(
    before: Plan, plan: Plan, *, at: datetime, actor: str | None
) -> tuple[Plan, Entry | None]:
    """
    Return the plan with the tasks of another, whatever was there, and its entry; ids in use go on.

    No rule is asked: an application may well resume what its policy would not let a model write.

    Raises:
        PlanError: somebody works on a task under a claim that would end by this.
    """
    # With its next id: one that was deleted there must not come back here (law 6).
    command = RestorePlan(tuple(require(plan, Plan)), plan.next_id, plan.approved)
    decision, entry = edited(before, command, Policy(), at=at, actor=actor)
    return decision.unwrap(), entry


def unseen_by_model(base: Base | None, before: Plan, entry: Entry) -> Base:
    """
    Return what the model last saw, once the application has done this as well (law 15).

    `base` is what was kept so far, `None` if the model had seen the plan `before` this entry. It is
    kept until a reply that is no error has reported the change.
    """
    seen = Base(before) if base is None else base
    return seen.after(entry.events, entry.actor)


def whole_entry(plan: Plan, cause: str, *, at: datetime, actor: str | None = None) -> Entry:
    """
    Return the entry for a plan that was put in place as it is, revision and all.
    """
    restored = PlanRestored(tuple(plan), plan.next_id, approved=plan.approved)
    return Entry(plan.revision, (restored,), at, actor, cause)

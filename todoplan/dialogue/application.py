"""
Changes made by the application to a plan that a framework stores, shared by all adapters.

Law: a wrong argument from a developer raises at once, before anything is read or changed. Every
change adds a journal entry with its actor and time.
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
    Return the value if it is an instance of `kind`.

    Raises:
        PlanError: the value is of another type. The message shows the value and what to pass.
    """
    if isinstance(value, kind):
        return value
    legal = remedy or _REMEDIES.get(kind, f"a {kind.__name__}")
    msg = f"{short_repr(value)} was given; give {legal}"
    raise PlanError(msg, seen=value)


def require_clock(value: Any) -> Any:
    """
    Return the value if it is a clock, that is any callable without arguments.

    Raises:
        PlanError: the value is not callable.
    """
    if callable(value):
        return value
    msg = f"{short_repr(value)} was given; give a clock: a function that returns an aware datetime"
    raise PlanError(msg, seen=value)


def require_actor(value: object) -> str | None:
    """
    Return the value if it is an actor's name or `None`.

    Raises:
        PlanError: the value is neither a non-blank string nor `None`.
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
    Return the decision on a command, and its journal entry if the command changed something.

    Raises:
        PlanError: `policy` is not a policy, or `command` is not a command.
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
    Replace the content of `before` by the tasks of `plan`, and return the result and its entry.

    Ids are never reused: numbering continues after the ids of both plans. No rule is checked,
    because an application may resume a plan that its policy would not let a model write.

    Raises:
        PlanError: the replacement would end a live claim on a task.
    """
    # The next id is copied too: an id that was deleted in `plan` must not be reused (law 6).
    command = RestorePlan(tuple(require(plan, Plan)), plan.next_id, plan.approved)
    decision, entry = edited(before, command, Policy(), at=at, actor=actor)
    return decision.unwrap(), entry


def unseen_by_model(base: Base | None, before: Plan, entry: Entry) -> Base:
    """
    Return the model's merge base after a change by the application (law 15).

    `base` is the merge base so far, or `None` if the model has seen the plan `before` this entry.
    The caller keeps the result until a successful tool reply has reported the change.
    """
    seen = Base(before) if base is None else base
    return seen.after(entry.events, entry.actor)


def whole_entry(plan: Plan, cause: str, *, at: datetime, actor: str | None = None) -> Entry:
    """Return a journal entry that restores the whole plan and has the plan's own revision."""
    restored = PlanRestored(tuple(plan), plan.next_id, approved=plan.approved)
    return Entry(plan.revision, (restored,), at, actor, cause)

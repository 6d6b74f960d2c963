"""
The application's own hand on the plan of a message history: a new history is what comes of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage

from todoplan.adapters.pydantic_ai.capability import Planning
from todoplan.adapters.pydantic_ai.history import (
    State,
    earlier_plans,
    history_of,
    memory_of,
    messages_of,
    plan_of_state,
    refuse_stored,
    with_plan,
)
from todoplan.adapters.pydantic_ai.tools import PlanToolset
from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision, Rejected
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import in_utc
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.application import edited, require, whole_entry
from todoplan.dialogue.undoing import last_change, plan_before, starts, undone
from todoplan.errors import PlanError

__all__ = ["edit_plan", "seed_plan", "undo_plan"]


def seed_plan(
    planning: Planning | PlanToolset, state: State, plan: Plan, *, actor: str | None = None
) -> list[ModelMessage]:
    """
    Return the message history with this plan in it, whatever was there: give it as
    `message_history=` to the next run of the agent that has this planning. `actor` is who does it,
    for the journal.

    A conversation that begins with one is no new one to Pydantic AI, which then leaves
    `Agent(system_prompt=...)` out: use `instructions=`, or the capability `ReinjectSystemPrompt`.

    Raises:
        PlanError: a store keeps the plan of this conversation; a run of it goes on, as far as this
            `Planning` knows; what was given is no `Planning`, no history or no plan.
    """
    own, messages = _settings_of(planning), messages_of(state)
    _check(own, messages)
    at = in_utc(own.clock())
    entry = whole_entry(require(plan, Plan), "seed_plan", at=at, actor=actor)
    # A plan that is taken along where messages are cut away is one that the model knows.
    is_known = memory_of(messages).revision == plan.revision
    return with_plan(messages, plan, entry, plan if is_known else plan_of_state(messages))


def edit_plan(
    planning: Planning | PlanToolset,
    state: State,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
) -> tuple[Decision, list[ModelMessage]]:
    """
    Carry out a command on the plan of a message history, or say why not; `ClearPlan()` clears it.

    It is judged by the policy of the planning unless another is given. `actor` is who does it, for
    the journal.

    Returns what was decided, and the history to go on with; the one that was given is as it was.

    Raises:
        CodecError: what stands there is no plan.
        PlanError: as of `seed_plan`; what was given is no policy.
    """
    own, messages = _settings_of(planning), messages_of(state)
    _check(own, messages)
    plan, at = plan_of_state(messages), in_utc(own.clock())
    chosen = own.toolbox.policy if policy is None else policy
    decision, entry = edited(plan, command, chosen, at=at, actor=actor)
    if entry is None or isinstance(decision, Rejected):
        return decision, [*messages]
    return decision, with_plan(messages, decision.plan, entry, plan)


def undo_plan(
    planning: Planning | PlanToolset, state: State, *, actor: str | None = None
) -> tuple[Decision, list[ModelMessage]]:
    """
    Take the last change of a message history's plan back that still stands, whoever made it; again,
    the one before it.

    Returns what was decided, and the history to go on with; the one that was given is as it was.

    Raises:
        CodecError: what stands there is no plan.
        PlanError: as of `seed_plan`; or the messages do not say what was before the change.
    """
    own, messages = _settings_of(planning), messages_of(state)
    _check(own, messages)
    plan, journal = plan_of_state(messages), history_of(messages)
    change, known = last_change(journal), (*starts(journal), *earlier_plans(messages))
    before = None if change is None else plan_before(change, plan, journal, known)
    at = in_utc(own.clock())
    decision, entry = undone(plan, change, before, at=at, actor=actor)
    if entry is None or isinstance(decision, Rejected):
        return decision, [*messages]
    return decision, with_plan(messages, decision.plan, entry, plan)


def _check(own: Planning | PlanToolset, messages: Sequence[ModelMessage]) -> None:
    refuse_stored(messages, stored=own.store is not None)
    if isinstance(own, Planning) and own.works_on(messages):
        # Law 16: whoever goes on with what the run returns would go on without the edit.
        msg = (
            "a run of this conversation goes on, which would not see the edit: edit what it"
            " returns, or keep the plan in a store, Planning(store=...), and edit it there"
        )
        raise PlanError(msg)


def _settings_of(given: object) -> Planning | PlanToolset:
    remedy = "the agent's Planning (or what make_tools returned), and then its messages"
    return given if isinstance(given, PlanToolset) else require(given, Planning, remedy)

"""
Edits of a plan by a person or a program, for the adapters whose `Planning` is awaited.

The adapters export these functions. What `state` is, and when it can be edited, differs between
frameworks: `Planning.editing` of each adapter says it.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from todoplan.core.commands import Command
from todoplan.core.decide import Decision
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.dialogue.toolbox import require
from todoplan.planner.session import AsyncSession, BasePlanning

S_contra = TypeVar("S_contra", contravariant=True)


class Editable(Protocol[S_contra]):
    """A `Planning` that opens the session in a framework's state for one edit."""

    def editing(self, state: S_contra, /) -> AbstractAsyncContextManager[AsyncSession]:
        """Return a context manager that yields the session, and saves it after the edit."""
        ...


def _editing(
    planning: Editable[S_contra], state: S_contra
) -> AbstractAsyncContextManager[AsyncSession]:
    require(planning, BasePlanning, "a Planning of this adapter")
    return planning.editing(state)


async def seed_plan(
    planning: Editable[S_contra], state: S_contra, plan: Plan, *, actor: str | None = None
) -> None:
    """
    Replace the tasks of a state's plan by those of `plan`. Tasks created later get unused ids.

    `actor` is the author of the change, for the journal.

    Raises:
        PlanError: see `edit_plan`.
    """
    async with _editing(planning, state) as session:
        await session.seed(plan, actor=actor)


async def edit_plan(
    planning: Editable[S_contra],
    state: S_contra,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
) -> Decision:
    """
    Apply a command to a state's plan, and return the decision.

    `state` is where the framework keeps a conversation (see `Planning.editing` of the adapter). The
    default policy is that of the toolbox. `actor` is the author of the change, for the journal.

    Raises:
        PlanError: an argument has the wrong type; or a run with this state is active that would
            overwrite the edit (see `Planning.editing`).
    """
    async with _editing(planning, state) as session:
        return await session.edit(command, actor=actor, policy=policy)


async def undo_plan(
    planning: Editable[S_contra], state: S_contra, *, actor: str | None = None
) -> Decision:
    """
    Undo the last change of a state's plan that is not undone yet, whoever made it.

    Repeated calls undo earlier changes. Without a store, the state has only the latest 50 journal
    entries: a change can be undone only if the plan before it can be computed from these. `actor`
    is the author of the undo, for the journal.

    Raises:
        PlanError: see `edit_plan`; or the plan before the change cannot be computed.
    """
    async with _editing(planning, state) as session:
        return await session.undo(actor=actor)

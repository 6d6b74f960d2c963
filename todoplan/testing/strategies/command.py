"""
Commands that know no plan: ids, edges and texts may be wrong, any of them may be refused.

`todoplan.testing.strategies.script` has those that make sense for a plan.
"""

from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from todoplan.core.commands import (
    UNSET,
    Batch,
    ClearPlan,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.model import Task
from todoplan.testing.strategies.text import any_ids, few, ids, texts
from todoplan.testing.strategies.values import (
    ACTIVE_FORMS,
    DESCRIPTIONS,
    ESTIMATES,
    OWNERS,
    PRIORITIES,
    STATUSES,
    metadata,
    todos,
)

__all__ = [
    "batches",
    "commands",
    "creations",
    "deletions",
    "lists",
    "restores",
    "unset_or",
    "updates",
    "writes",
]

T = TypeVar("T")
_Ends = SearchStrategy[tuple[str, ...]]


@cache
def unset_or(of: SearchStrategy[T]) -> SearchStrategy[Any]:
    """
    Draw UNSET, or a value.
    """
    return st.just(UNSET) | of


@cache
def creations(
    text: SearchStrategy[str] | None = None, ends: _Ends | None = None
) -> SearchStrategy[CreateTask]:
    """
    Draw single creations, with edges to ids that may not be there.
    """
    edges = few(any_ids()) if ends is None else ends
    return st.builds(
        CreateTask,
        texts() if text is None else text,
        DESCRIPTIONS,
        STATUSES,
        ACTIVE_FORMS,
        PRIORITIES,
        OWNERS,
        edges,
        edges,
        ESTIMATES,
        metadata(),
    )


@cache
def lists(
    text: SearchStrategy[str] | None = None, ends: _Ends | None = None
) -> SearchStrategy[CreateTasks]:
    """
    Draw several creations as one, with references among them that may be wrong.
    """
    local = st.integers(0, 3).map("#{}".format) | ids() | st.sampled_from(["#", "#01", "#-1"])
    edges = few(local) if ends is None else ends
    return st.builds(CreateTasks, few(creations(text, edges), 4))


@cache
def updates() -> SearchStrategy[UpdateTask]:
    """
    Draw changes of one task, of some fields or none.
    """
    ends = few(any_ids(), 2)
    return st.builds(
        UpdateTask,
        any_ids(),
        status=unset_or(STATUSES),
        subject=unset_or(texts()),
        description=unset_or(DESCRIPTIONS),
        active_form=unset_or(ACTIVE_FORMS),
        priority=unset_or(PRIORITIES),
        owner=unset_or(OWNERS),
        estimate=unset_or(ESTIMATES),
        metadata=st.just({}) | metadata(),
        add_blocks=ends,
        add_blocked_by=ends,
        remove_blocks=ends,
        remove_blocked_by=ends,
    )


@cache
def writes(
    text: SearchStrategy[str] | None = None, given_ids: SearchStrategy[str] | None = None
) -> SearchStrategy[WriteTodos]:
    """
    Draw whole-list writes.
    """
    lines = todos(texts() if text is None else text, given_ids)
    return st.builds(WriteTodos, few(lines, 6), st.booleans())


@cache
def deletions() -> SearchStrategy[DeleteTask]:
    """
    Draw deletions.
    """
    return st.builds(DeleteTask, any_ids())


@cache
def restores() -> SearchStrategy[RestorePlan]:
    """
    Draw restored plans, most of which are no plan.
    """
    ends = few(any_ids(), 2)
    made = st.builds(
        Task,
        any_ids(),
        texts(),
        status=STATUSES,
        blocks=ends,
        blocked_by=ends,
        metadata=metadata().map(FrozenDict),
    )
    return st.builds(RestorePlan, few(made), st.integers(0, 20))


@cache
def batches(of: SearchStrategy[Command] | None = None) -> SearchStrategy[Batch]:
    """
    Draw several commands as one, also batches in batches.
    """
    inner = _singles() if of is None else of
    return st.recursive(
        st.builds(Batch, few(inner, 4)),
        lambda batch: st.builds(Batch, few(inner | batch)),
        max_leaves=3,
    )


@cache
def _singles() -> SearchStrategy[Command]:
    return st.one_of(
        creations(),
        lists(),
        updates(),
        writes(),
        deletions(),
        st.just(StartNext()),
        st.just(ClearPlan()),
        restores(),
    )


@cache
def commands() -> SearchStrategy[Command]:
    """
    Draw any command, legal or not.
    """
    singles = _singles()
    return singles | batches(singles)

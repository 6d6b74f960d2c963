"""
Commands for actors who share a plan: claims, answers, evidence, approval.

`todoplan.core.commands` exports them with the other commands, and documents what all have in
common.
"""

from __future__ import annotations

import attrs

from todoplan.core.arguments import (
    as_answer,
    as_fence,
    as_name,
    as_seconds,
    fence_or_none,
    id_or_none,
)
from todoplan.core.plan.model import Priority, as_priority
from todoplan.core.plan.validation import as_id, as_text, as_text_or_none, as_truth

__all__ = [
    "AnswerTask",
    "ApprovePlan",
    "ClaimTask",
    "RecordEvidence",
    "ReleaseClaim",
    "RenewClaim",
]


@attrs.frozen(weakref_slot=False)
class ClaimTask:
    """
    Claim a task for `lease` seconds and start it.

    `task_id` names the task; without it, the next available task is claimed. If there is none,
    nothing happens.

    The next available task is the first whose claim has expired, else the first ready one. Tasks
    assigned to another actor are skipped. `priority` and `tag` (an item of "tags" in the metadata)
    narrow the choice. A task that was released or lost `attempts` times since it was last closed is
    not claimed again: it is set to failed or, with `give_to`, set to pending and assigned to that
    actor.
    """

    owner: str = attrs.field(converter=as_name)
    lease: float = attrs.field(default=300.0, converter=as_seconds)
    task_id: str | None = attrs.field(default=None, converter=id_or_none)
    priority: Priority | None = attrs.field(default=None, converter=as_priority)
    tag: str | None = attrs.field(default=None, converter=as_text_or_none)
    attempts: int | None = attrs.field(default=None, converter=fence_or_none)
    give_to: str | None = attrs.field(default=None, converter=as_text_or_none)


@attrs.frozen(weakref_slot=False)
class RenewClaim:
    """Extend a claim to `lease` seconds from now. The claim's owner has its fencing token."""

    task_id: str = attrs.field(converter=as_id)
    fence: int = attrs.field(converter=as_fence)
    lease: float = attrs.field(default=300.0, converter=as_seconds)


@attrs.frozen(weakref_slot=False)
class ReleaseClaim:
    """
    Release a claimed task, or take it from an owner that died. The task becomes pending again.

    Anyone who knows the fencing token may do this. Later reports by the former owner are refused.
    """

    task_id: str = attrs.field(converter=as_id)
    fence: int = attrs.field(converter=as_fence)


@attrs.frozen(weakref_slot=False)
class AnswerTask:
    """Answer the question of a waiting task. The wait ends, and the task keeps the answer."""

    task_id: str = attrs.field(converter=as_id)
    answer: str = attrs.field(converter=as_answer)


@attrs.frozen(weakref_slot=False)
class RecordEvidence:
    """
    Record the result when the program has checked whether a task is done.

    No tool offered to a model creates this command. `by` names the checker; by default it is the
    actor of the command.
    """

    task_id: str = attrs.field(converter=as_id)
    passed: bool = attrs.field(converter=as_truth)
    summary: str = attrs.field(default="", converter=as_text)
    by: str | None = attrs.field(default=None, converter=as_text_or_none)


@attrs.frozen(weakref_slot=False)
class ApprovePlan:
    """
    Approve the plan as it is: its present revision becomes the approved one.

    `by` names the person who approves; by default it is the actor of the command.
    """

    by: str | None = attrs.field(default=None, converter=as_text_or_none)

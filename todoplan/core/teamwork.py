"""
The commands of those who work on a plan together: claims, answers, evidence, approval.

They stand among the other commands in `todoplan.core.commands`, which says what is common to all.
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
    Get the right to work on a task for `lease` seconds, and start it: on one that is named, or on
    the next one that can be had. Where there is none, nothing happens.

    The next one is the first whose claim has run out, else the first ready one; not one that is
    assigned to somebody else. `priority` and `tag` (one of the "tags" in the metadata) narrow that.
    A task that was given back or lost `attempts` times since it was last closed is not claimed once
    more: it is failed, or goes back to pending and to `give_to`.
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
    """
    Put off the end of a claim to `lease` seconds from now. Its holder has its fence.
    """

    task_id: str = attrs.field(converter=as_id)
    fence: int = attrs.field(converter=as_fence)
    lease: float = attrs.field(default=300.0, converter=as_seconds)


@attrs.frozen(weakref_slot=False)
class ReleaseClaim:
    """
    Give a claimed task back, or take it from a holder that died: it is pending again.

    Whoever knows the fence may; what its holder reports afterwards is refused.
    """

    task_id: str = attrs.field(converter=as_id)
    fence: int = attrs.field(converter=as_fence)


@attrs.frozen(weakref_slot=False)
class AnswerTask:
    """
    Answer what a waiting task asks. The wait ends, and the task keeps the answer.
    """

    task_id: str = attrs.field(converter=as_id)
    answer: str = attrs.field(converter=as_answer)


@attrs.frozen(weakref_slot=False)
class RecordEvidence:
    """
    Record what the program found when it looked whether a task is done. No model's tool makes one.

    `by` is who looked; not given, it is who gives the command.
    """

    task_id: str = attrs.field(converter=as_id)
    passed: bool = attrs.field(converter=as_truth)
    summary: str = attrs.field(default="", converter=as_text)
    by: str | None = attrs.field(default=None, converter=as_text_or_none)


@attrs.frozen(weakref_slot=False)
class ApprovePlan:
    """
    Agree to the plan as it stands: its revision is the approved one from now on.

    `by` is who agrees; not given, it is who gives the command.
    """

    by: str | None = attrs.field(default=None, converter=as_text_or_none)

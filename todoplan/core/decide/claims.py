"""
Claims: who may work on a task at present (law 19).

Theory. A claim is a command that is decided like any other, and a store serializes the decisions
about a plan. So a task has at most one claim, and there is only one definition of a ready task. The
fencing token identifies an owner: it is a number that grows with every claim of the task. A worker
that was paused beyond the end of its lease and resumes has an old token, whatever its name. No
process watches leases: an expired claim is taken over by the next actor that claims the task, and
the event names the actor who lost it. The time is that of the command, which a store takes from its
clock.

Known failures elsewhere: pgmq, Oban, River and Procrastinate let a late worker complete a task that
another one is working on by then; Beads treated two processes of one name as one owner; in
hermes-agent more than 100 workers claimed one task, one after the other, because nothing counted
the attempts.
"""

from datetime import datetime, timedelta
from itertools import islice

from todoplan.core.decide.changes import edit, move
from todoplan.core.decide.transaction import Transaction
from todoplan.core.events.types import ClaimRenewed, StatusChanged, TaskClaimed
from todoplan.core.plan.draft import Draft
from todoplan.core.plan.graph import ancestors
from todoplan.core.plan.model import Claim, Status, Task
from todoplan.core.problems import MOST_NAMED
from todoplan.core.teamwork import ClaimTask, ReleaseClaim, RenewClaim

__all__ = ["claim", "release", "renew", "restore", "under"]


def claim(transaction: Transaction, command: ClaimTask) -> None:
    """
    Claim the named task, or the next available one, for the actor of the command, and start it.
    """
    if command.task_id is None:
        for task in _claimable(transaction, command):
            if _take(transaction, task, command):
                return
        return
    named = transaction.find(command.task_id, "task_id")
    if named is not None and _can_be_had(transaction, named):
        _take(transaction, named, command)


def _claimable(transaction: Transaction, command: ClaimTask) -> list[Task]:
    """Return the matching tasks with expired claims, followed by the first matching ready task."""
    draft, at = transaction.draft, transaction.at
    lost = [task for task in draft.active() if task.claim and not task.claim.is_live(at)]
    found = [task for task in lost if _fits(task, command) and _is_free(draft, task)]
    # The loop stops early: a list of all ready tasks would cost as much as the plan is large.
    for task in draft.ready():
        if _fits(task, command):
            found.append(task)
            if not _is_used_up(task, command):
                break
    return found


def _is_free(draft: Draft, task: Task) -> bool:
    """
    Return True if a task can be worked on.

    It must be open and have no subtasks (law 18), and neither the task nor an ancestor may be
    blocked or waiting. A claimed task may have got subtasks since it was claimed.
    """
    if task.status.closed or draft.children(task.id):
        return False
    above = filter(None, map(draft.get, (task.id, *ancestors(draft, task.id))))
    return not any(draft.waits_for(each.id) or each.waiting is not None for each in above)


def _fits(task: Task, command: ClaimTask) -> bool:
    if task.owner is not None and task.owner != command.owner:
        return False  # an assignment never expires: Beads reassigned people's work 36 times a day
    if command.priority is not None and task.priority is not command.priority:
        return False
    tags = task.metadata.get("tags")
    return command.tag is None or (isinstance(tags, tuple) and command.tag in tags)


def _can_be_had(transaction: Transaction, task: Task) -> bool:
    """Return True if a named task can be claimed; otherwise note the problem."""
    if task.claim is not None and not transaction.may_change(task, "task_id"):
        return False
    draft = transaction.draft
    if _is_free(draft, task):
        return True
    # The task is closed, waiting or blocked, or has subtasks: the problem lists the ready tasks.
    ready = ", ".join(each.id for each in islice(draft.ready(), MOST_NAMED))
    transaction.refuse("not_claimable", task.id, seen=task.id, legal=ready, path="task_id")
    return False


def _take(transaction: Transaction, task: Task, command: ClaimTask) -> bool:
    if _is_used_up(task, command):
        _give_up(transaction, task, command)
        return False
    if task.status is not Status.IN_PROGRESS:
        move(transaction, task, Status.IN_PROGRESS)
    lost_by = None if task.claim is None else task.claim.owner
    taken = Claim(command.owner, task.claims + 1, _end(transaction.at, command.lease))
    transaction.emit(TaskClaimed(task.id, taken, lost_by, transaction.at))
    return True


def _is_used_up(task: Task, command: ClaimTask) -> bool:
    # A claim that is taken over counts as a failed attempt too.
    failed = task.failed_attempts + (task.claim is not None)
    return command.attempts is not None and failed >= command.attempts


def _give_up(transaction: Transaction, task: Task, command: ClaimTask) -> None:
    """Set a task without attempts left to failed, or assign it to `give_to`."""
    if command.give_to is None:
        move(transaction, task, Status.FAILED)
    else:
        owner = {"owner": command.give_to}
        edit(transaction, task, owner if task.owner != command.give_to else {})
        if task.claim is not None:
            _release(transaction, task, task.claim)
        else:
            move(transaction, task, Status.PENDING)


def _end(at: datetime | None, lease: float) -> datetime | None:
    # Without a time the claim cannot expire: it ends when its owner releases it.
    if at is None:
        return None
    try:
        return at + timedelta(seconds=lease)
    except OverflowError:  # later than datetime.max: the claim does not expire
        return None


def renew(transaction: Transaction, command: RenewClaim) -> None:
    """Extend a claim. A renewal never shortens it: of two renewals the later end counts."""
    task = transaction.find(command.task_id, "task_id")
    if task is None or not under(transaction, task, command.fence) or task.claim is None:
        return
    until = _end(transaction.at, command.lease)
    if until is not None and (task.claim.until is None or task.claim.until < until):
        transaction.emit(ClaimRenewed(task.id, until, transaction.at))


def release(transaction: Transaction, command: ReleaseClaim) -> None:
    """
    Set a claimed task back to pending, which ends the claim.

    The event names the former owner, because the actor may be a person who takes the task from a
    worker that died.
    """
    task = transaction.find(command.task_id, "task_id")
    if task is None or not under(transaction, task, command.fence) or task.claim is None:
        return
    _release(transaction, task, task.claim)


def _release(transaction: Transaction, task: Task, claim: Claim) -> None:
    at = transaction.at
    transaction.emit(StatusChanged(task.id, task.status, Status.PENDING, at, claim.owner))


def under(transaction: Transaction, task: Task, fence: int) -> bool:
    """
    Return True if this is the fencing token of the task's claim; otherwise note a problem.

    If it is, the transaction may change the task.
    """
    if task.claim is None or task.claim.fence != fence:
        held = "nobody" if task.claim is None else task.claim.owner
        transaction.refuse("stale_fence", task.id, seen=str(fence), legal=held, path="fence")
        return False
    transaction.fences = {**transaction.fences, task.id: fence}
    return True


def restore(transaction: Transaction, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """
    Return earlier tasks with their claims adjusted.

    No fencing token is given out twice, and no claim that has ended comes back. A problem is noted
    for each live claim that would end: restoring a plan, or undoing a change, requires the fencing
    tokens of the tasks that it takes from their workers (law 19).
    """
    draft = transaction.draft
    if not any(task.claims for task in tasks) and not any(task.claims for task in draft):
        return tasks
    restored = tuple(_as_claimed(task, draft.get(task.id)) for task in tasks)
    claims = {task.id: task.claim for task in restored}
    for task in draft.active():
        if task.claim is not None and claims.get(task.id) != task.claim:
            transaction.may_change(task)
    return restored


def _as_claimed(task: Task, now: Task | None) -> Task:
    claims = max(task.claims, 0 if now is None else now.claims)
    if task.claim is None:
        return task.but(claims=claims)
    if now is not None and now.claim is not None and now.claims == task.claims:
        return task.but(claim=now.claim)
    return task.but(status=Status.PENDING, claim=None, claims=claims)

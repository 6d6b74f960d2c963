"""
Claims in the naive model: who may work on a task now, and until when.

Law 19: a task has at most one live claim, with a fencing token that only grows. The time of the
command decides whether a claim has expired.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from support.naive.model import CLOSED, Model
from support.naive.steps import Steps

from todoplan.core.commands import ClaimTask, ReleaseClaim, RenewClaim
from todoplan.core.plan.model import Claim, Evidence


def claim(steps: Steps, part: ClaimTask) -> None:
    """Claim the named task, or the first task that can be claimed."""
    if part.task_id is None:
        for task_id in _offered(steps, part):
            if _take(steps, task_id, part):
                return
    elif steps.demand(part.task_id):
        if not steps.may_change(part.task_id):
            steps.faults["claimed"] += 1
        elif not _is_free(steps.after, part.task_id):
            steps.faults["not_claimable"] += 1
        else:
            _take(steps, part.task_id, part)


def _offered(steps: Steps, part: ClaimTask) -> list[str]:
    """
    Return the tasks that fit the claim: first those with an expired claim, then the ready ones.
    """
    model = steps.after
    claimed = [i for i in model.active() if model[i]["claim"] is not None]
    lost = [i for i in claimed if not steps.is_live(i) and _is_free(model, i)]
    return [i for i in lost + model.ready() if _is_wanted(model[i], part)]


def _is_free(model: Model, task_id: str) -> bool:
    """Say whether a task could be worked on: open, a leaf, and nothing holds it up (law 18)."""
    over = model.status(task_id) in CLOSED or bool(model.children(task_id))
    return not over and not any(map(model.held, (task_id, *model.ancestors(task_id))))


def _is_wanted(task: dict[str, Any], part: ClaimTask) -> bool:
    tags = task["metadata"].get("tags")
    return (
        task["owner"] in {None, part.owner}
        and part.priority in {None, task["priority"]}
        and (part.tag is None or (isinstance(tags, list) and part.tag in tags))
    )


def _take(steps: Steps, task_id: str, part: ClaimTask) -> bool:
    """Claim a task, and return True; a task that was claimed too often is given up instead."""
    task = steps.after[task_id]
    is_lost = task["claim"] is not None
    if part.attempts is not None and task["failed_attempts"] + is_lost >= part.attempts:
        if part.give_to is not None:
            steps.edit(task_id, owner=part.give_to)
            task["failed_attempts"] += is_lost
        elif is_lost:
            tried = task["failed_attempts"] + 1
            why = f"gave up after {tried} attempts: {task['claim'].owner} was lost"
            steps.edit(
                task_id, evidence=Evidence(passed=False, summary=why, by=part.owner, at=steps.at)
            )
        steps.move(task_id, "failed" if part.give_to is None else "pending")
        return False
    steps.move(task_id, "in_progress")
    task["failed_attempts"] += is_lost
    task["claims"] += 1
    task["claim"] = Claim(part.owner, task["claims"], _end(steps.at, part.lease))
    steps.touch(task_id)
    return True


def _end(at: datetime | None, lease: float) -> datetime | None:
    last = datetime.max.replace(tzinfo=UTC)
    # A claim that would end after the last time that Python knows does not end.
    return None if at is None or timedelta(seconds=lease) > last - at else at + timedelta(0, lease)


def under(steps: Steps, task_id: str, fence: int) -> bool:
    """
    Return whether a fencing token is the one of the current claim. If it is, it also counts for
    later parts of the same command.
    """
    held = steps.after[task_id]["claim"]
    if held is None or held.fence != fence:
        steps.faults["stale_fence"] += 1
        return False
    steps.fences[task_id] = fence
    return True


def renew(steps: Steps, part: RenewClaim) -> None:
    """Extend a claim, if its end becomes later."""
    if not steps.demand(part.task_id) or not under(steps, part.task_id, part.fence):
        return
    # Code with a clock of its own extends a claim of which this model knows no end.
    steps.repeats |= steps.at is None
    held, end = steps.after[part.task_id]["claim"], _end(steps.at, part.lease)
    if end is not None and (held.until is None or end > held.until):
        steps.after[part.task_id]["claim"] = Claim(held.owner, held.fence, end)
        steps.touch(part.task_id)


def release(steps: Steps, part: ReleaseClaim) -> None:
    """Give a claimed task back."""
    if steps.demand(part.task_id) and under(steps, part.task_id, part.fence):
        steps.move(part.task_id, "pending")
        steps.after[part.task_id]["failed_attempts"] += 1


def keep_fences(now: Model, restored: Model) -> None:
    """
    Change restored tasks so that no fencing token is used twice and no ended claim comes back.
    """
    for task in restored.tasks:
        known = now.get(task["id"]) or {"claim": None, "claims": 0}
        same = known["claim"] is not None and known["claims"] == task["claims"]
        task["claims"] = max(task["claims"], known["claims"])
        if task["claim"] is not None:
            # The same claim goes on, to the end that it has by now.
            task["claim"] = known["claim"] if same else None
            task["status"] = "in_progress" if same else "pending"

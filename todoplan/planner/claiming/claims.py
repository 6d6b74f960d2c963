"""
A claimed task in the hands of who works on it: kept alive in the background, closed at the end.

A claim that is not renewed runs out, and somebody else gets the task. So a heartbeat renews it, a
third of the lease after the last time, for as long as the body of the `with` runs. Where that fails
because somebody else has the task by now, the claim is lost: the body is told (`lost`), and what it
wants to report then is refused. A store that is away for a while does not lose it, as long as the
lease has not run out by this process's own clock; after that nobody can say, and it counts as lost.

What taught this: LangGraph ran work of more than three minutes twice, for its lease was not renewed
during a long call; in hermes-agent a heartbeat without a fence kept a dead worker's claim alive.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from todoplan.core.commands import ClaimTask, ReleaseClaim, RenewClaim, UpdateTask
from todoplan.core.decide.decide import Accepted, Decision
from todoplan.core.events.types import TaskClaimed
from todoplan.core.plan.model import Status, Task
from todoplan.core.problems import explain_all
from todoplan.errors import PlanError, StoreError
from todoplan.planner.arguments import unfit

if TYPE_CHECKING:
    from todoplan.planner.planner import Planner

__all__ = ["BEATS", "Claimed", "HeldClaim", "claim_of", "claimed_by"]

BEATS = 3
"""Renewals in one lease: two may fail before it runs out."""

_LOST = {"stale_fence", "unknown_task"}


def claim_of(owner: str | ClaimTask) -> ClaimTask:
    """
    Return the command by which a worker claims a task.

    Raises:
        PlanError: this is neither a name nor a command.
    """
    if isinstance(owner, ClaimTask):
        return owner
    if isinstance(owner, str):
        return ClaimTask(owner)
    raise unfit(owner, 'give a name, or a command: claim("worker-1"), claim(ClaimTask("worker-1"))')


def claimed_by(decision: Decision) -> tuple[Task, int] | None:
    """
    Return the task that a `ClaimTask` got, with its fence; `None` if there was none to get.

    Raises:
        PlanError: the task that was named cannot be had; `data["problems"]` says why.
    """
    if not isinstance(decision, Accepted):
        decision.unwrap()
    for event in decision.events:
        if isinstance(event, TaskClaimed):
            return decision.plan[event.task_id], event.claim.fence
    return None


class HeldClaim:
    """
    What both kinds of claims know of theirs.
    """

    def __init__(self, command: ClaimTask, task: Task, fence: int) -> None:
        self.task = task
        self.fence = fence
        self.owner = command.owner
        self.lease = command.lease
        self._ends = time.monotonic() + command.lease
        self.settled = self._lost = False

    @property
    def lost(self) -> bool:
        """
        Whether somebody else may work on the task by now: then stop. So it is once the lease has
        run out by this process's clock, until a renewal is accepted. That somebody has given the
        task away is noticed by the next heartbeat, a third of the lease later at most; `renew` asks
        at once.
        """
        # Without a heartbeat nobody asks the store; and a process that was stopped asks late.
        return self._lost or (not self.settled and time.monotonic() >= self._ends)

    def closing(self, status: Status) -> UpdateTask:
        """
        Return the command that closes the task.
        """
        return UpdateTask(self.task.id, status=status, fence=self.fence)

    def renewal(self) -> RenewClaim:
        """
        Return the command that puts off the end.
        """
        return RenewClaim(self.task.id, self.fence, self.lease)

    def renewed(self, asked: float, decision: Decision | None) -> None:
        """
        Note what came of a renewal that was asked for at a time; `None`: the store was away.
        """
        if isinstance(decision, Accepted):
            self._ends = asked + self.lease
        elif decision is not None or time.monotonic() >= self._ends:
            self._lost = True

    def settle(self, decision: Decision) -> None:
        """
        Note what came of closing the task or giving it back.

        Raises:
            StoreError: the claim was lost ("claim_lost").
            PlanError: the policy refuses it.
        """
        if isinstance(decision, Accepted):
            self.settled = True
            return
        if not _LOST.isdisjoint(problem.code for problem in decision.problems):
            self._lost = self.settled = True
            said = " ".join(explain_all(decision.problems))
            msg = (
                f"the claim {self.fence} of {self.owner!r} on the task {self.task.id} was lost, and"
                f" what was to be reported is not in the plan: {said}"
            )
            raise StoreError(msg, problem="claim_lost", task_id=self.task.id, fence=self.fence)
        decision.unwrap()


class Claimed(HeldClaim):
    """
    A task that this process may work on, as `Planner.claim` gives it. Use it in a `with`.

    The heartbeat goes on within the `with`. At its end the task is completed, unless it was closed
    or given back before; where something was raised, or the policy refuses that, it is given back,
    so that it is tried again. No `verify=` of the planner is asked: the body is the program's own,
    and under `evidence_required` it records by `RecordEvidence` what it saw.
    """

    def __init__(self, planner: Planner, command: ClaimTask, task: Task, fence: int) -> None:
        super().__init__(command, task, fence)
        self._planner = planner
        self._stop = threading.Event()
        self._beating: threading.Thread | None = None

    def complete(self) -> None:
        """
        Complete the task.

        Raises:
            StoreError: the claim was lost ("claim_lost"), or the store fails.
            PlanError: the policy refuses it.
        """
        self._close(self.closing(Status.COMPLETED))

    def fail(self) -> None:
        """
        Close the task without its result: it is not tried again. Raises as `complete` does.
        """
        self._close(self.closing(Status.FAILED))

    def release(self) -> None:
        """
        Give the task back, for whoever claims it next. Raises as `complete` does.
        """
        self._close(ReleaseClaim(self.task.id, self.fence))

    def renew(self) -> bool:
        """
        Put off the end of the claim now, and say whether it is still held.
        """
        asked = time.monotonic()
        decision = None
        with suppress(StoreError):
            decision = self._planner.apply(self.renewal(), actor=self.owner)
        self.renewed(asked, decision)
        return not self.lost

    def _close(self, command: UpdateTask | ReleaseClaim) -> None:
        self.settle(self._planner.apply(command, actor=self.owner))
        self._stop.set()

    def __enter__(self) -> Self:
        # A daemon: a body that never ends must not keep the process, and then the lease ends.
        self._beating = threading.Thread(target=self._beat, name="todoplan-claim", daemon=True)
        self._beating.start()
        return self

    def _beat(self) -> None:
        while not self._stop.wait(self.lease / BEATS) and self.renew():
            pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        if self._beating is not None:
            self._beating.join()
        if self.settled:
            return
        try:
            if error is None:
                self.complete()
        finally:
            # What was raised, or the policy's refusal, says more than that the task could not be
            # given back. Kept, it could be had by nobody until the lease has run out.
            if not self.settled:
                with suppress(StoreError, PlanError):
                    self.release()

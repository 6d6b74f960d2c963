"""
A claimed task. Its lease is renewed in the background; at the end the task is closed or released.

A claim that is not renewed expires, and another worker gets the task. So while the body of the
`with` runs, a heartbeat renews the lease three times per lease. If a renewal is refused because
somebody else has the task by now, the claim is lost: `lost` is true, and the body can no longer
close the task. If the store is unavailable for a while, the claim is not lost until the lease has
expired by this process's own clock. After that it is unknown who has the task, so the claim counts
as lost. At the end of the body, the task is completed. If the store is unavailable then, the
completion is tried again for as long as a lease, because otherwise the work would be done again.

The store operations are written once, as steps. `Claimed` executes them in the calling thread, and
`AsyncClaimed` awaits them.

Reasons: LangGraph ran work of more than three minutes twice, because its lease was not renewed
during a long call. In hermes-agent, a heartbeat without a fencing token kept a dead worker's claim
alive.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from todoplan.core.commands import (
    Batch,
    ClaimTask,
    Command,
    RecordEvidence,
    ReleaseClaim,
    RenewClaim,
    UpdateTask,
)
from todoplan.core.decide import Accepted, Decision
from todoplan.core.events.types import TaskClaimed
from todoplan.core.plan.model import Evidence, Status, Task, Waiting, in_utc
from todoplan.core.problems import explain_all
from todoplan.core.rules import Policy
from todoplan.dialogue.intake import clean
from todoplan.errors import PlanError, StoreError
from todoplan.planner.steps import CallerGoneError, Steps, at_once, nothing_to_do, unfit
from todoplan.planner.watching import PASSING
from todoplan.texts import plural

if TYPE_CHECKING:
    from todoplan.planner.planner import Planner, Transactions

T = TypeVar("T")

BEATS = 3
"""The number of renewals per lease: two may fail before the lease expires."""

LONGEST_BACKOFF = 3_600.0
"""The longest delay between two attempts, in seconds."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds before an unavailable store is tried again
_PASSING = {*PASSING, "unknown"}  # also if a commit may have succeeded: a later attempt finds out
_LONGEST_REASON = 500
_LOST = {"stale_fence", "unknown_task"}
_NO_RULES = Policy()


class NotDoneError(Exception):
    """A verifier has found that a task is not done; `by` is the verifier's name."""

    def __init__(self, why: str, by: str) -> None:
        super().__init__(why)
        self.by = by


class Outage:
    """Decides when to try an unavailable store again: for up to `seconds`, but at least once."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began: float | None = None
        self._pause = _FIRST_PAUSE

    def pause(self, error: StoreError) -> float | None:
        """Return the seconds until the next attempt, or `None` if the error is to be raised."""
        now = time.monotonic()
        began = now if self._began is None else self._began
        is_over = self._began is not None and now - began >= self._seconds
        if is_over or error.data.get("problem") not in _PASSING:
            return None
        self._began = began
        pause, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE)
        return pause


def claim_of(owner: str | ClaimTask) -> ClaimTask:
    """
    Return the command with which a worker claims a task.

    Raises:
        PlanError: the argument is neither a name nor a command.
    """
    if isinstance(owner, ClaimTask):
        return owner
    if isinstance(owner, str):
        return ClaimTask(owner)
    raise unfit(owner, 'give a name, or a command: claim("worker-1"), claim(ClaimTask("worker-1"))')


def claimed_by(decision: Decision) -> tuple[Task, int] | None:
    """
    Return the task that a `ClaimTask` got, and the fencing token; `None` if no task was available.

    Raises:
        PlanError: the task that the command names cannot be claimed; `data["problems"]` says why.
    """
    if not isinstance(decision, Accepted):
        decision.unwrap()
    for event in decision.events:
        if isinstance(event, TaskClaimed):
            return decision.plan[event.task_id], event.claim.fence
    return None


def claiming(
    planner: Transactions[Any], command: ClaimTask
) -> Steps[tuple[Task, int, float] | None]:
    """
    Claim a task. Return the task, the fencing token and the time of the request, or `None` if no
    task was available.

    If the caller is cancelled meanwhile, the caller cannot work on the task, so the task is
    released.
    """
    asked = time.monotonic()
    claimed = claimed_by((yield from planner._apply(command, actor=command.owner)))
    if claimed is None:
        return None
    task, fence = claimed
    if planner._awaits:
        try:
            yield nothing_to_do
        except CallerGoneError:
            release = _without_attempt(task.id, fence)
            yield from planner._apply(release, actor=command.owner, policy=_NO_RULES)
            raise
    return task, fence, asked


def _without_attempt(task_id: str, fence: int) -> UpdateTask:
    """Return the command that releases a task on which nobody has worked."""
    # Not `ReleaseClaim`, which would count as a failed attempt.
    return UpdateTask(task_id, status=Status.PENDING, fence=fence)


class HeldClaim:
    """
    The state and the steps that `Claimed` and `AsyncClaimed` share.

    `task` is the task as it was claimed, `fence` the fencing token of the claim, and `owner` the
    name of the worker.
    """

    _sleep: Callable[[float], object]

    def __init__(
        self, planner: Transactions[Any], command: ClaimTask, task: Task, fence: int, asked: float
    ) -> None:
        self.task = task
        self.fence = fence
        self.owner = command.owner
        self.lease = command.lease
        self.planner = planner
        self._attempts = command.attempts
        # The lease began at some time between the request and its answer.
        self._ends = asked + command.lease
        self.settled = self._lost = False
        self._body_saw_lost = False  # what `lost` returned last
        self.backoff = 0.0
        """The delay in seconds before a failed task is tried again; doubled by each attempt."""
        self.found: Evidence | None = None
        """What a verifier has found at the end of the body: recorded with the completion."""
        self._stop = threading.Event()  # ends the heartbeat
        self._beating: Any = None  # the thread or the task of the heartbeat

    @property
    def lost(self) -> bool:
        """
        Whether somebody else may work on the task by now; if so, stop working.

        This is true after a refused renewal. It is also true if the lease has expired by this
        process's clock, until a renewal is accepted. If somebody has reassigned the task, the next
        heartbeat notices this, at most a third of the lease later; `renew` asks the store at once.

        If this was true when the body last read it, the body counts as unfinished when it ends: the
        task is released, not completed.
        """
        self._body_saw_lost = self._is_lost()
        return self._body_saw_lost

    def _is_lost(self) -> bool:
        # The clock is checked too, because the store may not be asked in time: there may be no
        # heartbeat, or the process may have been suspended.
        return self._lost or (not self.settled and time.monotonic() >= self._ends)

    def _complete(self) -> Steps[None]:
        """
        Complete the task.

        Raises:
            StoreError: the claim was lost ("claim_lost"), or the store fails.
            PlanError: the policy refuses the completion.
        """
        return self._closing(Status.COMPLETED, self.found)

    def _fail(self, why: str = "") -> Steps[None]:
        """
        Close the task as failed, so that it is not tried again. The reason `why` is recorded on the
        task as failed evidence. Raises the same errors as `complete`.
        """
        evidence = None
        if why:
            evidence = Evidence(passed=False, summary=self._summary(why), by=self.owner)
        return self._closing(Status.FAILED, evidence)

    def _release(self, waiting: Waiting | None = None) -> Steps[None]:
        """
        Release the task for the next worker that claims it. With `waiting`, the task first waits
        for something outside the plan, such as a person's answer. Raises the same errors as
        `complete`.
        """
        if waiting is None:
            return self._settling(ReleaseClaim(self.task.id, self.fence))
        parked = UpdateTask(self.task.id, status=Status.PENDING, waiting=waiting, fence=self.fence)
        return self._settling(parked)

    def _closing(self, status: Status, evidence: Evidence | None) -> Steps[None]:
        close = UpdateTask(self.task.id, status=status, fence=self.fence)
        if evidence is None:
            return self._settling(close)
        record = RecordEvidence(self.task.id, evidence.passed, evidence.summary, evidence.by)
        return self._settling(record, close)

    def _settling(self, *commands: Command, policy: Policy | None = None) -> Steps[None]:
        """
        Close or release the task, by commands that are carried out as one.

        Raises:
            StoreError: the claim was lost ("claim_lost"), or the store fails.
            PlanError: the policy refuses the command.
        """
        command = commands[0] if len(commands) == 1 else Batch(commands)
        decision = yield from self.planner._apply(command, actor=self.owner, policy=policy)
        if isinstance(decision, Accepted):
            self.settled = True
            return
        if not _LOST.isdisjoint(problem.code for problem in decision.problems):
            self._lost = self.settled = True
            reasons = " ".join(explain_all(decision.problems))
            what = f"its report was refused: {reasons}"
            raise self._lost_error(what)
        decision.unwrap()  # raises

    def _lost_error(self, what: str) -> StoreError:
        msg = f"{self.owner!r} lost its claim on the task {self.task.id}, and {what}"
        return StoreError(msg, problem="claim_lost", task_id=self.task.id, fence=self.fence)

    def _renew(self) -> Steps[bool]:
        """Renew the lease now; return whether the claim is still valid."""
        command = RenewClaim(self.task.id, self.fence, self.lease)
        asked = time.monotonic()
        try:
            decision = yield from self.planner._apply(command, actor=self.owner)
        except StoreError:
            pass  # the lease may still be running
        else:
            if isinstance(decision, Accepted):
                self._ends = asked + self.lease
            else:
                self._lost = True
        return not self._is_lost()

    def _starting(self) -> Steps[None]:
        """
        Renew the lease if the claim was answered so late that less than half of the lease is left.
        """
        if time.monotonic() > self._ends - self.lease / 2:
            yield from self._renew()

    def _ending(self, error: BaseException | None) -> Steps[None]:
        """
        Complete the task, or release it if its body raised. While the store is unavailable, try
        again.
        """
        if self.settled:
            return
        # To complete the task, the attempts continue after the lease, because otherwise the work is
        # done again. To release it, they do not, because the task is free after the lease in any
        # case.
        outage = Outage(self.lease if error is None else self._ends - time.monotonic())
        # After Ctrl-C or a cancellation, nobody waits for a store that is unavailable.
        is_interrupted = error is not None and not isinstance(error, Exception)
        is_repeated = False
        while True:
            try:
                if is_repeated:
                    # The previous attempt may have been committed, and only its answer was lost.
                    task = (yield from self.planner._plan()).get(self.task.id)
                    if task is not None and task.claim is None and task.claims == self.fence:
                        self.settled = True  # nobody has claimed it since
                        return
                return (yield from self._report(error))
            except StoreError as failure:
                pause = None if is_interrupted else outage.pause(failure)
                if pause is None:
                    if error is None:
                        raise
                    return  # the body's exception is more useful; the claim expires
            yield partial(self._sleep, pause)
            is_repeated = True

    def _report(self, error: BaseException | None) -> Steps[None]:
        """Complete the task, or release it if its body raised, with the reason as evidence."""
        if error is not None:
            yield from self._giving_up(self._reason(error) if isinstance(error, Exception) else ())
            return
        if self._body_saw_lost:
            yield from self._giving_up(())
            what = "its body ended early; the task was not completed"
            raise self._lost_error(what)
        try:
            yield from self._complete()
        except (PlanError, StoreError) as failure:
            if failure.data.get("problem") not in {*_PASSING, "claim_lost"}:
                yield from self._giving_up(())
            raise

    def _giving_up(self, reason: tuple[Command, ...]) -> Steps[None]:
        """
        Release the task: otherwise nobody could claim it until the lease has expired. The commands
        `reason`, which record why, are carried out with the release.

        A refusal is not raised: the body's exception, or the reason why the task was not completed,
        is more useful.

        Raises:
            StoreError: the store is unavailable.
        """
        try:
            yield from self._settling(ReleaseClaim(self.task.id, self.fence), *reason)
        except StoreError as failure:
            if failure.data.get("problem") in _PASSING:
                raise
        except PlanError:
            pass

    @staticmethod
    def _summary(reason: str) -> str:
        return clean(" ".join(reason[:_LONGEST_REASON].split()), "summary")[0]

    def _reason(self, error: Exception) -> tuple[Command, ...]:
        """Return the commands that record why the body raised, and delay the next attempt."""
        tried, cause = self.task.failed_attempts + 1, f"{type(error).__name__}: {error}"
        by = self.owner
        if isinstance(error, NotDoneError):
            cause, by = str(error), error.by
        cause = self._summary(cause)
        is_last = self._attempts is not None and tried >= self._attempts
        times = plural(tried, "attempt")
        ended = f"gave up after {times}" if is_last else f"attempt {tried} failed"
        summary = f"{ended}: {cause}".rstrip(": ")
        reason: list[Command] = [RecordEvidence(self.task.id, passed=False, summary=summary, by=by)]
        if self.backoff and not is_last:
            seconds = min(self.backoff * 2.0 ** min(tried - 1, 64), LONGEST_BACKOFF)
            until = in_utc(self.planner._clock()) + timedelta(seconds=seconds)
            waiting = Waiting(f"attempt {tried} failed; it is tried again", until)
            reason.append(UpdateTask(self.task.id, waiting=waiting))
        return tuple(reason)


class Claimed(HeldClaim):
    """
    A task that this process may work on, returned by `Planner.claim`. Use it in a `with`.

    The heartbeat runs within the `with`. At the end the task is completed, unless it was closed or
    released before. If the body raised, or the policy refuses the completion, the task is released,
    so that it is tried again. An exception of the body is recorded on the task as failed evidence.

    The planner's `verify=` is not used, because the body is the program's own code. Under the rule
    `evidence_required`, the body records its evidence with `RecordEvidence`.
    """

    planner: Planner
    _sleep = staticmethod(time.sleep)

    complete = at_once(HeldClaim._complete)
    fail = at_once(HeldClaim._fail)
    release = at_once(HeldClaim._release)
    renew = at_once(HeldClaim._renew)

    def _run(self, steps: Steps[T]) -> T:
        result = self.planner._run(steps)
        if self.settled:
            self._stop.set()
        return result

    def __enter__(self) -> Self:
        self._run(self._starting())
        # A daemon thread: a body that never ends must not keep the process alive, and then the
        # lease expires.
        beating = threading.Thread(target=self._beat, name="todoplan-claim", daemon=True)
        try:
            beating.start()
        except RuntimeError:  # no thread is free, and work must not begin without a heartbeat
            with suppress(StoreError, PlanError):  # then the claim expires
                release = _without_attempt(self.task.id, self.fence)
                self._run(self._settling(release, policy=_NO_RULES))
            raise
        self._beating = beating
        return self

    def _beat(self) -> None:
        # The store may become available again after the lease, while nobody else has the task.
        while not self._lost and not self._stop.wait(self.lease / BEATS):
            self.renew()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._stop.set()
        if self._beating is not None:
            self._beating.join()
        self._run(self._ending(error))

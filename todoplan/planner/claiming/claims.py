"""
A claimed task: its lease is renewed in the background, and the task is closed or released at the
end.

A claim that is not renewed expires, and another worker gets the task. So while the body of the
`with` runs, a heartbeat renews the lease three times per lease. If a renewal is refused because
somebody else has the task by now, the claim is lost: `lost` tells the body, and later reports of
the body are refused. If the store is unavailable for a while, the claim is not lost until the lease
has expired by this process's own clock. After that its state is unknown, and it counts as lost.

The store operations are written once, as steps. `Claimed` executes them in the calling thread, and
`AsyncClaimed` awaits them.

Reasons: LangGraph ran work of more than three minutes twice, because its lease was not renewed
during a long call. In hermes-agent, a heartbeat without a fencing token kept a dead worker's claim
alive.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from todoplan.core.commands import ClaimTask, ReleaseClaim, RenewClaim, UpdateTask
from todoplan.core.decide import Accepted, Decision
from todoplan.core.events.types import TaskClaimed
from todoplan.core.plan.model import Status, Task
from todoplan.core.problems import explain_all
from todoplan.core.rules import Policy
from todoplan.errors import PlanError, StoreError
from todoplan.planner.steps import CallerGoneError, Steps, nothing_to_do, unfit

Apply = Callable[..., Steps[Decision]]
"""The steps of `Planner.apply`."""

BEATS = 3
"""The number of renewals per lease: two may fail before the lease expires."""

_LOST = {"stale_fence", "unknown_task"}
_NO_RULES = Policy()


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
    Return the task that a `ClaimTask` got, with its fencing token; `None` if no task was available.

    Raises:
        PlanError: the task that the command names cannot be claimed; `data["problems"]` says why.
    """
    if not isinstance(decision, Accepted):
        decision.unwrap()
    for event in decision.events:
        if isinstance(event, TaskClaimed):
            return decision.plan[event.task_id], event.claim.fence
    return None


def claiming(apply: Apply, command: ClaimTask) -> Steps[tuple[Task, int, float] | None]:
    """
    Claim a task; return it, its fencing token, and the time of the request.

    If the caller is cancelled meanwhile, it cannot work on the task, so the task is released.
    """
    asked = time.monotonic()
    found = claimed_by((yield from apply(command, actor=command.owner)))
    if found is None:
        return None
    task, fence = found
    try:
        yield nothing_to_do
    except CallerGoneError:
        yield from apply(_untouched(task.id, fence), actor=command.owner, policy=_NO_RULES)
        raise
    return task, fence, asked


def _untouched(task_id: str, fence: int) -> UpdateTask:
    # Not `ReleaseClaim`, which counts as an attempt: nobody has worked on the task.
    return UpdateTask(task_id, status=Status.PENDING, fence=fence)


class HeldClaim:
    """The state and the steps that both kinds of claims share."""

    def __init__(
        self, apply: Apply, command: ClaimTask, task: Task, fence: int, asked: float
    ) -> None:
        self.task = task
        self.fence = fence
        self.owner = command.owner
        self.lease = command.lease
        self._apply = apply
        # The lease began at some time between the request and its answer.
        self._ends = asked + command.lease
        self.settled = self._lost = False

    @property
    def lost(self) -> bool:
        """
        Whether somebody else may work on the task by now; if so, stop working.

        True after a refused renewal, and also while the lease has expired by this process's clock,
        until a renewal is accepted. If somebody has reassigned the task, the next heartbeat
        notices, at most a third of the lease later; `renew` asks immediately.
        """
        # The clock is checked too: without a heartbeat nobody asks the store, and a process that
        # was stopped asks too late.
        return self._lost or (not self.settled and time.monotonic() >= self._ends)

    def _closing(self, status: Status) -> Steps[None]:
        return self._settling(UpdateTask(self.task.id, status=status, fence=self.fence))

    def _releasing(self) -> Steps[None]:
        return self._settling(ReleaseClaim(self.task.id, self.fence))

    def _returning(self) -> Steps[None]:
        """
        Release the task before any work was done, which does not count as an attempt.

        If the store is unavailable, the claim expires.
        """
        with suppress(StoreError, PlanError):
            yield from self._settling(_untouched(self.task.id, self.fence), _NO_RULES)

    def _settling(
        self, command: UpdateTask | ReleaseClaim, policy: Policy | None = None
    ) -> Steps[None]:
        """
        Close or release the task.

        Raises:
            StoreError: the claim was lost ("claim_lost"), or the store fails.
            PlanError: the policy refuses the command.
        """
        decision = yield from self._apply(command, actor=self.owner, policy=policy)
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

    def _renewing(self) -> Steps[bool]:
        command = RenewClaim(self.task.id, self.fence, self.lease)
        asked = time.monotonic()
        try:
            decision = yield from self._apply(command, actor=self.owner)
        except StoreError:
            self._lost = self._lost or time.monotonic() >= self._ends
        else:
            if isinstance(decision, Accepted):
                self._ends = asked + self.lease
            else:
                self._lost = True
        return not self.lost

    def _ending(self, error: BaseException | None) -> Steps[None]:
        """Complete the task, or release it if its body raised."""
        if self.settled:
            return
        if error is None:
            try:
                return (yield from self._closing(Status.COMPLETED))
            except Exception:
                if not self.settled:
                    yield from self._giving_up()
                raise
        yield from self._giving_up()

    def _giving_up(self) -> Steps[None]:
        # The body's exception or the policy's refusal is more useful than the failure to release
        # the task. The task is released because otherwise nobody could claim it until the lease has
        # expired.
        with suppress(StoreError, PlanError):
            yield from self._releasing()


class Claimed(HeldClaim):
    """
    A task that this process may work on, returned by `Planner.claim`. Use it in a `with`.

    The heartbeat runs within the `with`. At the end the task is completed, unless it was closed or
    released before. If the body raised, or the policy refuses the completion, the task is released,
    so that it is tried again. The planner's `verify=` is not used: the body is the program's own
    code. Under `evidence_required`, the body records what it saw with `RecordEvidence`.
    """

    def __init__(
        self,
        apply: Apply,
        run: Callable[[Steps[Any]], Any],
        command: ClaimTask,
        *got: *tuple[Task, int, float],
    ) -> None:
        super().__init__(apply, command, *got)
        self._run = run
        self._stop = threading.Event()
        self._beating: threading.Thread | None = None

    def complete(self) -> None:
        """
        Complete the task.

        Raises:
            StoreError: the claim was lost ("claim_lost"), or the store fails.
            PlanError: the policy refuses it.
        """
        self._close(self._closing(Status.COMPLETED))

    def fail(self) -> None:
        """Close the task as failed: it is not tried again. Raises the same errors as `complete`."""
        self._close(self._closing(Status.FAILED))

    def release(self) -> None:
        """
        Release the task for the next worker that claims it. Raises the same errors as `complete`.
        """
        self._close(self._releasing())

    def renew(self) -> bool:
        """Renew the lease now; return whether the claim is still valid."""
        holds: bool = self._run(self._renewing())
        return holds

    def _close(self, steps: Steps[None]) -> None:
        self._run(steps)
        self._stop.set()

    def __enter__(self) -> Self:
        # A daemon thread: a body that never ends must not keep the process alive, and then the
        # lease expires.
        beating = threading.Thread(target=self._beat, name="todoplan-claim", daemon=True)
        try:
            beating.start()
        except RuntimeError:  # no thread is free: work without a heartbeat does not begin
            self._close(self._returning())
            raise
        self._beating = beating
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
        self._run(self._ending(error))


class AsyncClaimed(HeldClaim):
    """
    A `Claimed` whose methods are awaited, as `AsyncPlanner.claim` returns it.

    Use it in an `async with`.
    """

    def __init__(
        self,
        apply: Apply,
        run: Callable[[Steps[Any]], Awaitable[Any]],
        to_its_end: Callable[[Coroutine[Any, Any, None]], Awaitable[None]],
        command: ClaimTask,
        *got: *tuple[Task, int, float],
    ) -> None:
        super().__init__(apply, command, *got)
        self._run, self._to_its_end = run, to_its_end
        self._beating: asyncio.Task[None] | None = None

    async def complete(self) -> None:
        """Complete the task. Raises the same errors as `Claimed.complete`."""
        await self._run(self._closing(Status.COMPLETED))

    async def fail(self) -> None:
        """Close the task as failed: it is not tried again. Raises the same errors as `complete`."""
        await self._run(self._closing(Status.FAILED))

    async def release(self) -> None:
        """
        Release the task for the next worker that claims it. Raises the same errors as `complete`.
        """
        await self._run(self._releasing())

    async def renew(self) -> bool:
        """Renew the lease now; return whether the claim is still valid."""
        holds: bool = await self._run(self._renewing())
        return holds

    async def __aenter__(self) -> Self:
        self._beating = asyncio.create_task(self._beat())
        return self

    async def _beat(self) -> None:
        holds = True
        while holds:
            await asyncio.sleep(self.lease / BEATS)
            holds = await self.renew()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # If this were cancelled halfway, the task would stay claimed without a heartbeat.
        await self._to_its_end(self._end(error))

    async def _end(self, error: BaseException | None) -> None:
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.wait([self._beating])
        await self._run(self._ending(error))

"""
A claimed task: kept alive in the background, and closed or given back at the end.

A claim that is not renewed runs out, and somebody else gets the task. So a heartbeat renews it, a
third of the lease after the last time, for as long as the body of the `with` runs. Where that fails
because somebody else has the task by now, the claim is lost: `lost` says so to the body, and what
the body reports then is refused. A store that is away for a while does not lose the claim, as long
as the lease has not run out by this process's own clock; after that nobody can say, and it counts
as lost.

What is done with the store is written once, as steps; `Claimed` carries them out in the thread that
asks, `AsyncClaimed` awaits them.

What taught this: LangGraph ran work of more than three minutes twice, for its lease was not renewed
during a long call; in hermes-agent a heartbeat without a fence kept a dead worker's claim alive.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from todoplan.core.commands import ClaimTask, Command, ReleaseClaim, RenewClaim, UpdateTask
from todoplan.core.decide.decide import Accepted, Decision
from todoplan.core.events.types import TaskClaimed
from todoplan.core.plan.model import Status, Task
from todoplan.core.problems import explain_all
from todoplan.core.rules.policy import Policy
from todoplan.errors import PlanError, StoreError
from todoplan.planner.arguments import unfit
from todoplan.planner.steps import CallerGoneError, Steps, nothing_to_do

Apply = Callable[[Command, str | None, Policy | None, str | None], Steps[Decision]]
"""A planner's steps by which it carries a command out: for an actor, under a policy, with a key."""

BEATS = 3
"""Renewals in one lease: two may fail before it runs out."""

_LOST = {"stale_fence", "unknown_task"}
_NO_RULES = Policy()


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


def claiming(apply: Apply, command: ClaimTask) -> Steps[tuple[Task, int, float] | None]:
    """
    Claim a task; return it, its fence, and when it was asked for. Whoever is cancelled meanwhile
    cannot work on it, so that it is given back.
    """
    asked = time.monotonic()
    found = claimed_by((yield from apply(command, command.owner, None, None)))
    if found is None:
        return None
    task, fence = found
    try:
        yield nothing_to_do
    except CallerGoneError:
        yield from apply(_untouched(task.id, fence), command.owner, _NO_RULES, None)
        raise
    return task, fence, asked


def _untouched(task_id: str, fence: int) -> UpdateTask:
    # No `ReleaseClaim`: that counts as an attempt, and nobody has worked on the task.
    return UpdateTask(task_id, status=Status.PENDING, fence=fence)


class HeldClaim:
    """
    What both kinds of claims know of theirs, and their steps.
    """

    def __init__(
        self, apply: Apply, command: ClaimTask, task: Task, fence: int, asked: float
    ) -> None:
        self.task = task
        self.fence = fence
        self.owner = command.owner
        self.lease = command.lease
        self._apply = apply
        # The lease began somewhere between the question and its answer.
        self._ends = asked + command.lease
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

    def _closing(self, status: Status) -> Steps[None]:
        return self._settling(UpdateTask(self.task.id, status=status, fence=self.fence))

    def _releasing(self) -> Steps[None]:
        return self._settling(ReleaseClaim(self.task.id, self.fence))

    def _returning(self) -> Steps[None]:
        """
        Give the task back before anything was done, which is no attempt; if the store is away, the
        claim runs out.
        """
        with suppress(StoreError, PlanError):
            yield from self._settling(_untouched(self.task.id, self.fence), _NO_RULES)

    def _settling(
        self, command: UpdateTask | ReleaseClaim, policy: Policy | None = None
    ) -> Steps[None]:
        """
        Close the task or give it back.

        Raises:
            StoreError: the claim was lost ("claim_lost"), or the store fails.
            PlanError: the policy refuses it.
        """
        decision = yield from self._apply(command, self.owner, policy, None)
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
            decision = yield from self._apply(command, self.owner, None, None)
        except StoreError:
            self._lost = self._lost or time.monotonic() >= self._ends
        else:
            if isinstance(decision, Accepted):
                self._ends = asked + self.lease
            else:
                self._lost = True
        return not self.lost

    def _ending(self, error: BaseException | None) -> Steps[None]:
        """
        Complete the task, or give it back where its body raised something.
        """
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
        # What was raised, or the policy's refusal, says more than that the task could not be given
        # back. Kept, it could be had by nobody until the lease has run out.
        with suppress(StoreError, PlanError):
            yield from self._releasing()


class Claimed(HeldClaim):
    """
    A task that this process may work on, as `Planner.claim` gives it. Use it in a `with`.

    The heartbeat goes on within the `with`. At its end the task is completed, unless it was closed
    or given back before; where something was raised, or the policy refuses that, it is given back,
    so that it is tried again. No `verify=` of the planner is asked: the body is the program's own,
    and under `evidence_required` it records by `RecordEvidence` what it saw.
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
        """
        Close the task without its result: it is not tried again. Raises as `complete` does.
        """
        self._close(self._closing(Status.FAILED))

    def release(self) -> None:
        """
        Give the task back, for whoever claims it next. Raises as `complete` does.
        """
        self._close(self._releasing())

    def renew(self) -> bool:
        """
        Put off the end of the claim now, and say whether it still holds.
        """
        holds: bool = self._run(self._renewing())
        return holds

    def _close(self, steps: Steps[None]) -> None:
        self._run(steps)
        self._stop.set()

    def __enter__(self) -> Self:
        # A daemon: a body that never ends must not keep the process, and then the lease ends.
        beating = threading.Thread(target=self._beat, name="todoplan-claim", daemon=True)
        try:
            beating.start()
        except RuntimeError:  # no thread is free: nobody begins what cannot be kept
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
    The same, as `AsyncPlanner.claim` gives it. Use it in an `async with`.
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
        """
        Complete the task. Raises as `Claimed.complete` does.
        """
        await self._run(self._closing(Status.COMPLETED))

    async def fail(self) -> None:
        """
        Close the task without its result.
        """
        await self._run(self._closing(Status.FAILED))

    async def release(self) -> None:
        """
        Give the task back.
        """
        await self._run(self._releasing())

    async def renew(self) -> bool:
        """
        Put off the end of the claim now, and say whether it still holds.
        """
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
        # Cancelled half-way, it would be claimed and have no heartbeat any more.
        await self._to_its_end(self._end(error))

    async def _end(self, error: BaseException | None) -> None:
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.wait([self._beating])
        await self._run(self._ending(error))

"""
Workers that share a plan. Each claims a task, passes it to a function, closes it, and repeats this.

Workers may run in any number of processes and on any number of machines; they share only the plan.
So a worker that finds nothing to claim does not stop while others are working: a task that they
complete may unblock another one, and a task whose claim they lose has to be done again. A worker
stops when no open task can become available: the remaining tasks wait, depend on a failed task, or
are assigned to somebody.

If the function raises, its task is released and tried again, up to `attempts` times in total. The
count starts again for a task that is reopened.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from math import inf
from typing import Any

import attrs

from todoplan.core.commands import ClaimTask
from todoplan.core.plan.model import Claim, Evidence, Task, in_utc
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import Found
from todoplan.errors import StoreError
from todoplan.planner.async_planner import AsyncClaimed, AsyncPlanner
from todoplan.planner.claiming.claims import (
    LONGEST_BACKOFF,
    Claimed,
    NotDoneError,
    Outage,
    claiming,
)
from todoplan.planner.loops import GRACE
from todoplan.planner.planner import Planner, Transactions
from todoplan.planner.steps import Steps, unfit
from todoplan.planner.verifying import Verifier, Verify, verifier_of

_PAUSE = 0.2  # seconds until a worker that found nothing tries again
_logger = logging.getLogger("todoplan")


@attrs.define
class WorkDone:
    """
    What the workers of one pool did. `completed` counts the tasks that ended without an error,
    `given_back` the tasks that were released because of an error, and `lost` the lost claims.

    `left` has the ids of the tasks that are still open. Such a task waits, depends on a failed
    task, contains other tasks, or is assigned to somebody.
    """

    completed: int = 0
    given_back: int = 0
    lost: int = 0
    left: tuple[str, ...] = ()


def _left(plan: Plan) -> tuple[str, ...]:
    if not len(plan):
        _logger.warning("the plan has no tasks: create them first, or check the plan's id")
    return tuple(task.id for task in plan if not task.status.closed)


def _commands(  # noqa: PLR0913, PLR0917 - the arguments of `work`
    kind: type,
    planner: object,
    handler: object,
    workers: object,
    backoff: float,
    command: ClaimTask,
) -> list[ClaimTask]:
    """Check the arguments of a pool. Return the command with which each worker claims a task."""
    if not isinstance(planner, kind):
        raise unfit(planner, f"give {kind.__name__}(store, plan_id) first")
    if not callable(handler):
        raise unfit(handler, "give a function of a claimed task")
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise unfit(workers, "give a number of workers from 1 on")
    if isinstance(backoff, bool) or not 0 <= backoff < inf:
        raise unfit(backoff, "give a number of seconds from 0 on: work(..., backoff=30)")
    owners = [f"{command.owner}-{number + 1}" for number in range(workers)]
    return [attrs.evolve(command, owner=owner) for owner in owners]


class _Idle:
    """
    Decides whether a worker that found nothing to claim should keep trying.

    The worker keeps trying while others have live claims, because their tasks may unblock other
    tasks, or may be released. The worker also keeps trying while the next attempt at a failed task
    is delayed, whichever pool has delayed the task, because that pool may be killed meanwhile.
    """

    def __init__(self, planner: Transactions[Any], lease: float) -> None:
        self._planner, self._lease = planner, lease
        self._seen: frozenset[tuple[str, Claim]] = frozenset()
        self._since = time.monotonic()

    def is_over(self, plan: Plan) -> bool:
        """Return whether to stop waiting."""
        # A person may have delayed a failed task until next week; then nobody waits for the task.
        # When a delay is over, the next claim removes the delay.
        latest = in_utc(self._planner._clock()) + timedelta(seconds=LONGEST_BACKOFF)
        for task in plan.waiting():
            until = None if task.waiting is None else task.waiting.until
            if task.failed_attempts and until is not None and until <= latest:
                return False
        held = frozenset((task.id, task.claim) for task in plan.active() if task.claim is not None)
        if held != self._seen:
            self._seen, self._since = held, time.monotonic()
        # This clock may be an hour wrong, and leases end by the store's clock. So the worker stops
        # only if the claims have also been unchanged for the length of a lease.
        clock = datetime.now(UTC)
        alive = any(claim.until is not None and claim.is_live(clock) for _, claim in held)
        return not held or (not alive and time.monotonic() - self._since > self._lease)


def _next_claim(
    planner: Transactions[Any],
    command: ClaimTask,
    idle: _Idle,
    is_stopped: Callable[[], bool],
    sleep: Callable[[float], object],
) -> Steps[tuple[Task, int, float] | None]:
    """Wait until a task is available, and claim it. Return `None` if the worker should stop."""
    outage = Outage(command.lease)
    pause: float | None
    while not is_stopped():
        try:
            claimed = yield from claiming(planner, command)
            if claimed is not None or idle.is_over((yield from planner._plan())):
                return claimed
            outage, pause = Outage(command.lease), _PAUSE
        except StoreError as failure:
            if (pause := outage.pause(failure)) is None:
                raise
        yield partial(sleep, pause)
    return None


def _note_finding(held: Claimed | AsyncClaimed, verifier: Verifier, finding: Found) -> None:
    """
    Keep a verifier's finding, which is recorded when the task is completed.

    Raises:
        NotDoneError: the task is not done; or the verifier failed, and `finding` is the reason.
    """
    if isinstance(finding, str):
        msg = f"the verifier failed: {finding}"
        raise NotDoneError(msg, verifier.by)
    if finding is not None and not finding.passed:
        raise NotDoneError(finding.summary, verifier.by)
    if finding is not None:
        held.found = Evidence(finding.passed, finding.summary, verifier.by)


def _note(done: WorkDone, task_id: str, error: BaseException | None) -> None:
    if isinstance(error, StoreError) and error.data.get("problem") == "claim_lost":
        done.lost += 1
        _logger.warning("the claim on the task %s was lost: %s", task_id, error)
    elif error is None:
        done.completed += 1
    else:
        done.given_back += 1
        _logger.warning("the task %s was released: %r", task_id, error, exc_info=error)


def work(  # noqa: PLR0913 - all are options, by name
    planner: Planner,
    handler: Callable[[Claimed], object],
    *,
    workers: int = 4,
    name: str = "worker",
    lease: float = 300.0,
    attempts: int | None = 3,
    give_to: str | None = None,
    tag: str | None = None,
    stop: threading.Event | None = None,
    backoff: float = 0,
    verify: Verify | None = None,
) -> WorkDone:
    """
    Work through a plan with a pool of threads, and return what was done.

    `handler` is called with each claimed task (`held.task`). When it returns, the task is
    completed; when it raises, the task is released. The handler may close the task itself
    (`held.fail(why)`), and should stop when `held.lost` is true. A task that was released or lost
    `attempts` times is failed, or is assigned to `give_to`. The type and the message of the last
    exception are recorded on the task as failed evidence.

    `backoff` is the delay in seconds until a task whose handler raised is tried again, by the
    planner's clock; it doubles with each attempt, up to an hour. Before a task that has a check is
    completed, `verify` (see `Planner`) is called. If it finds that the task is not done, this
    counts as an exception of the handler.

    If `held.lost` was true when the handler last read it, the handler counts as unfinished when it
    returns: the task is released. A handler that never returns keeps its task, so give it a time
    limit of its own.

    Once `stop` is set, no further task is claimed, and tasks in progress are finished. The same
    happens after Ctrl-C, and `KeyboardInterrupt` is raised when they are finished. A second Ctrl-C
    raises it at once.

    A worker that finds nothing to claim tries again five times a second, as long as anybody has a
    claim. So it waits for tasks that others unblock, and up to `lease` seconds (default: five
    minutes) for the task of a process that was killed. Workers renew their own claims, so a short
    lease costs little. If the store is unavailable, workers try again for up to `lease` seconds.

    Raises:
        TodoplanError: an argument is invalid, or the store fails. The other workers finish their
            tasks.
    """
    command = ClaimTask(name, lease=lease, attempts=attempts, give_to=give_to, tag=tag)
    commands = _commands(Planner, planner, handler, workers, backoff, command)
    verifier = verifier_of(verify)
    if verifier is not None:
        verifier.refuse_awaited("work_async")
    halt = threading.Event() if stop is None else stop
    failed = threading.Event()
    done, lock, errors = WorkDone(), threading.Lock(), list[BaseException]()

    def is_stopped() -> bool:
        return halt.is_set() or failed.is_set()

    def drain(command: ClaimTask, ended: threading.Event) -> None:
        idle = _Idle(planner, lease)
        try:
            while claim := planner._run(_next_claim(planner, command, idle, is_stopped, halt.wait)):
                held = Claimed(planner, command, *claim)
                error: BaseException | None = None
                begun, held.backoff = False, backoff
                try:
                    with held:
                        begun = True
                        handler(held)
                        if verifier is not None and held.task.check and not held.settled:
                            _note_finding(held, verifier, verifier.find(held.task, planner.plan))
                except Exception as raised:
                    if not begun:  # no thread is free for a heartbeat: the next task would fail too
                        raise
                    error = raised
                with lock:
                    _note(done, held.task.id, error)
        except BaseException as raised:  # noqa: BLE001 - raised where the pool was started
            errors.append(raised)
            failed.set()
        finally:
            ended.set()

    # Events, because an interrupted `Thread.join` of Python 3.11 marks a running thread as stopped.
    threads: dict[threading.Thread, threading.Event] = {}
    for command in commands:
        end = threading.Event()
        threads[threading.Thread(target=drain, args=(command, end), daemon=True)] = end
    try:
        for thread in threads:
            thread.start()
        for end in threads.values():
            _wait(end)
    except BaseException:  # Ctrl-C, or no thread is free
        failed.set()
        for thread, end in threads.items():
            if thread.ident is not None:  # it was started
                _wait(end)
        raise
    if errors:
        raise errors[0]
    done.left = _left(planner.plan)
    return done


def _wait(end: threading.Event) -> None:
    """Wait for an event; Ctrl-C ends the wait."""
    # With a timeout: a signal that arrives just before a wait without a timeout does not end it.
    # Python would raise `KeyboardInterrupt` only once the event is set, after the last task.
    while not end.wait(_PAUSE):
        pass


async def work_async(  # noqa: PLR0913 - all are options, by name
    planner: AsyncPlanner,
    handler: Callable[[AsyncClaimed], Awaitable[object]],
    *,
    workers: int = 4,
    name: str = "worker",
    lease: float = 300.0,
    attempts: int | None = 3,
    give_to: str | None = None,
    tag: str | None = None,
    stop: asyncio.Event | None = None,
    backoff: float = 0,
    verify: Verify | None = None,
) -> WorkDone:
    """Work through a plan with a pool of asyncio tasks; for arguments and results see `work`."""
    command = ClaimTask(name, lease=lease, attempts=attempts, give_to=give_to, tag=tag)
    commands = _commands(AsyncPlanner, planner, handler, workers, backoff, command)
    verifier = verifier_of(verify)
    done = WorkDone()

    def is_stopped() -> bool:
        return stop is not None and stop.is_set()

    async def drain(command: ClaimTask) -> None:
        idle = _Idle(planner, lease)
        while claim := await planner._await(
            _next_claim(planner, command, idle, is_stopped, asyncio.sleep), grace=GRACE
        ):
            held = AsyncClaimed(planner, command, *claim)
            error: BaseException | None = None
            held.backoff = backoff
            try:
                async with held:
                    await handler(held)
                    if verifier is not None and held.task.check and not held.settled:
                        plan = await planner.plan()
                        _note_finding(held, verifier, await verifier.afind(held.task, plan))
            except Exception as raised:  # noqa: BLE001 - the handler's, or a lost claim
                error = raised
            _note(done, held.task.id, error)

    try:
        async with asyncio.TaskGroup() as group:
            for command in commands:
                group.create_task(drain(command))
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    done.left = _left(await planner.plan())
    return done

"""
Verification by the program that a task is done, because the model's word may be wrong.

Read the section `verifier` first: what a verifier is, and how it is called with a time limit. The
section `looking` runs verifiers while the calls of a turn are answered. What the findings mean for
a call is decided in `todoplan.dialogue.toolbox`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator, Hashable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from inspect import isawaitable, iscoroutine, iscoroutinefunction
from math import inf
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from todoplan.core.plan.model import Task, short_repr
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake import clean
from todoplan.dialogue.toolbox import CheckedToolbox, Finding, Findings, Found, Toolbox
from todoplan.errors import PlanError
from todoplan.planner.steps import done_at_once, done_awaited, remember, unfit

if TYPE_CHECKING:
    import asyncio

# -------- verifier --------
# A verifier: a function of the program that checks whether a task is done, and its time limit.
#
# A verifier may run a project's tests, ask a service or read a file, so it may fail in any way. If
# it raises or takes too long, the plan stays as it was, and the model receives the reason. A
# verifier that hangs is left behind in a daemon thread, which does not keep the process from
# exiting. Python cannot stop a thread, so a verifier that starts a process should give the process
# a time limit.


Look = Callable[
    [Task, Plan],
    Finding | tuple[bool, str] | Awaitable[Finding | tuple[bool, str] | None] | None,
]
"""
Checks whether a task is done, as the task's `check` describes, and returns (passed, summary).

The summary says in a few words what was seen. The function returns `None` if it cannot verify this
check. It may be a plain function or a coroutine function.
"""

_LONGEST_SUMMARY = 2_000  # saved in the plan and shown in lists
_AWAITED = "this verifier has to be awaited, but is not: give a plain function, or use {}"
_logger = logging.getLogger("todoplan")


@attrs.frozen
class Verifier:
    """
    A function that checks whether a task is done. `seconds` is the time limit per task, and `by` is
    the name that the evidence states.

        Verifier(run_the_tests, seconds=600, by="pytest")

    Raises:
        PlanError: an argument is not a function, not a positive number of seconds, or not a name.
    """

    look: Look
    seconds: float = 60.0
    by: str = "verifier"

    def __attrs_post_init__(self) -> None:
        given: Any = self
        if not callable(given.look) or isinstance(given.look, type):
            remedy = "give a function of a task and its plan that returns (passed, summary)"
            raise unfit(given.look, remedy)
        is_number = isinstance(given.seconds, int | float) and not isinstance(given.seconds, bool)
        if not is_number or not 0 < given.seconds < inf:
            remedy = "give a number of seconds that is more than 0: Verifier(look, seconds=600)"
            raise unfit(given.seconds, remedy)
        if not isinstance(given.by, str) or not given.by.strip():
            raise unfit(given.by, 'give a name, for the evidence: Verifier(look, by="ci")')

    @property
    def is_awaited(self) -> bool:
        """Whether the function is a coroutine function."""
        return iscoroutinefunction(self.look) or iscoroutinefunction(
            getattr(self.look, "__call__", None)  # noqa: B004 - an object with `__call__` is a function too
        )

    def refuse_awaited(self, instead: str) -> None:
        """
        Refuse a coroutine function, for a caller that cannot await it.

        Raises:
            PlanError: it is a coroutine function; `instead` names what to use.
        """
        if self.is_awaited:
            raise PlanError(_AWAITED.format(instead), seen=self.look)

    def find(self, task: Task, plan: Plan) -> Found:
        """
        Return the finding for a task, or the reason why there is none, within the time limit.

        Raises:
            PlanError: the function returned an awaitable.
        """
        answer: Future[Any] = Future()

        def run() -> None:
            try:
                answer.set_result(self.look(task, plan))
            except BaseException as error:  # noqa: BLE001 - a verifier may call sys.exit()
                answer.set_exception(error)

        # A thread of its own: the caller may be one of the few threads of a pool, and must not be
        # blocked beyond the time limit.
        Thread(target=copy_context().run, args=(run,), name="todoplan", daemon=True).start()
        if not wait([answer], self.seconds).done:
            return self._late(task)
        if (error := answer.exception()) is not None:
            return self._raised(task, error)
        value = answer.result()
        if isawaitable(value):
            if iscoroutine(value):
                value.close()  # otherwise Python warns that it was never awaited
            raise PlanError(_AWAITED.format("AsyncPlanner"), seen=self.look)
        return self._found(task, value)

    async def afind(self, task: Task, plan: Plan) -> Found:
        """Return the finding as `find` does, awaited. A plain function runs in its own thread."""
        # Not imported at the top, because asyncio takes longer to import than all that `Planner`
        # needs.
        import asyncio  # noqa: PLC0415

        from todoplan.planner.loops import running_loop, threaded  # noqa: PLC0415

        loop = running_loop()

        async def asked() -> Found:
            look: Callable[[], Any] = partial(self.look, task, plan)
            try:
                value = look() if loop is None or self.is_awaited else await threaded(look, loop)
                return self._found(task, await value if isawaitable(value) else value)
            # A verifier may call sys.exit(), which would end the event loop.
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a program's own code
                return self._raised(task, error)

        async def finding_of(work: Awaitable[Found]) -> Found:
            try:
                return await work
            # Since the work has ended, the caller was not cancelled, but something that the work
            # awaited.
            except asyncio.CancelledError as error:
                return self._raised(task, error)

        if loop is None:  # Trio, whose own time limits apply
            return await finding_of(asked())
        work = asyncio.ensure_future(asked())
        try:
            done, _ = await asyncio.wait([work], timeout=self.seconds)
            return await finding_of(work) if done else self._late(task)
        finally:
            # Needed also if the caller was cancelled. The work is not awaited, because the verifier
            # may ignore its cancellation.
            work.cancel()

    def _found(self, task: Task, value: Any) -> Found:
        if value is None:
            return None
        if isinstance(value, tuple) and len(value) == 2:  # noqa: PLR2004 - a finding
            passed, summary = value
            if isinstance(passed, bool) and isinstance(summary, str):
                # The end is the most important part: a test run's last line has the counts.
                if len(summary) > _LONGEST_SUMMARY:
                    summary = f"... {summary[-_LONGEST_SUMMARY:].lstrip()}"
                return Finding(passed, clean(summary, "summary")[0])
        return self._said(
            task, f"it returned {short_repr(value)}, and has to return (passed, summary)"
        )

    def _raised(self, task: Task, error: BaseException) -> str:
        return self._said(task, f"{type(error).__name__}: {error}".rstrip(": "), error)

    def _late(self, task: Task) -> str:
        return self._said(task, f"no answer within {self.seconds:g} seconds")

    def _said(self, task: Task, why: str, error: BaseException | None = None) -> str:
        # The model gets one line; whoever repairs the verifier needs the traceback.
        _logger.warning("verifier %r failed at task #%s: %s", self.by, task.id, why, exc_info=error)
        return why


Verify = Verifier | Look
"""The type of `verify=`: a function, or a `Verifier` with a time limit and a name."""


def verifier_of(verify: Verify | None) -> Verifier | None:
    """
    Return the `Verifier` for a `verify=` argument, or `None` if the argument is `None`.

    Raises:
        PlanError: the argument is not a verifier.
    """
    return verify if verify is None or isinstance(verify, Verifier) else Verifier(verify)


# -------- looking --------
# Calls are answered again, with the findings of the verifier, until no finding is missing.
#
# An attempt is a function that receives a toolbox. It reads the plan and answers the calls, but
# changes nothing. So no lock is held while a verifier runs, which may take minutes, and the next
# attempt sees what others have changed in the plan meanwhile.
#
# Some frameworks start each call of a turn separately, and each call then answers the calls before
# it again. So the calls of one turn share their findings (`Verifying.of_turn`): each check is
# verified only once.


T = TypeVar("T")
_MOST_ROUNDS = 20  # for a plan that others change all the time
_RESTLESS = "the task was changed during each verification"


@attrs.define(eq=False)
class SharedLooks:
    """The findings for the calls of one turn, and the ids of the calls not yet answered."""

    findings: Findings
    open: set[str] = attrs.field(factory=set)
    # Only calls of the same turn wait here, for a verification that each of them needs.
    lock: Lock = attrs.field(factory=Lock)
    alock: asyncio.Lock | None = None


@attrs.define(eq=False)
class Looks:
    """The verifications that one answer needs. `toolbox` uses the findings so far."""

    verifier: Verifier
    shared: SharedLooks
    findings: Findings
    toolbox: CheckedToolbox
    rounds: int = 0

    @property
    def are_missing(self) -> bool:
        """Whether the last answer is invalid because a verification is missing."""
        return bool(self.findings.missing)

    def look(self) -> None:
        """Run the verifications that are missing."""
        with self.shared.lock:
            for task, plan in self._due():
                self.findings.put(task.id, self.verifier.find(task, plan))

    async def alook(self) -> None:
        """Run the missing verifications, awaited."""
        if self.shared.alock is None:
            import asyncio  # noqa: PLC0415 - as above

            self.shared.alock = asyncio.Lock()
        async with self.shared.alock:
            for task, plan in self._due():
                self.findings.put(task.id, await self.verifier.afind(task, plan))

    def _due(self) -> Iterator[tuple[Task, Plan]]:
        self.rounds += 1
        for task, plan in self.findings.missing:
            if self.rounds > _MOST_ROUNDS:
                self.findings.put(task.id, _RESTLESS)
            elif not self.findings.knows(task.id):  # another call of the turn may have verified it
                yield task, plan


class Verifying:
    """
    A toolbox with a verifier that checks completions, for callers that keep the plan themselves.

        verifying = Verifying.of(toolbox, verify)
        reply = verifying.answer(lambda box: box.call(plan, name, arguments))
    """

    def __init__(self, toolbox: Toolbox, verifier: Verifier) -> None:
        self.verifier = verifier
        self._toolbox = CheckedToolbox.of(toolbox, Findings(verifier.by))
        self._turns: dict[Hashable, SharedLooks] = {}
        self._lock = Lock()

    @classmethod
    def of(cls, toolbox: Toolbox, verify: Verify | None) -> Verifying | None:
        """
        Return the `Verifying` for a toolbox, or `None` if there is no verifier.

        Raises:
            PlanError: `verify` is not a verifier.
        """
        verifier = verifier_of(verify)
        return None if verifier is None else cls(toolbox, verifier)

    def looks(self, shared: SharedLooks | None = None) -> Looks:
        """Return the `Looks` for one answer. The calls of a turn share the findings in `shared`."""
        known = SharedLooks(Findings(self.verifier.by)) if shared is None else shared
        findings = known.findings.beside()
        return Looks(self.verifier, known, findings, self._toolbox.upon(findings))

    def answer(self, attempt: Callable[[Toolbox], T], shared: SharedLooks | None = None) -> T:
        """
        Return the result of an attempt once all tasks that the attempt completes have been
        verified.

        The attempt is repeated after each round of verification; the earlier results are discarded.

        Raises:
            PlanError: the verifier is a coroutine function.
        """
        return done_at_once(self._answering(attempt, shared), Looks.look)

    async def aanswer(
        self, attempt: Callable[[Toolbox], T], shared: SharedLooks | None = None
    ) -> T:
        """
        Return the result of an attempt, as `answer` does, and await only the verifications.

        Nothing is awaited after the last attempt, so no other task can interleave between what the
        attempt read and what the caller writes.
        """
        return await done_awaited(self._answering(attempt, shared), Looks.alook)

    def _answering(
        self, attempt: Callable[[Toolbox], T], shared: SharedLooks | None
    ) -> Generator[Looks, None, T]:
        """Yield the verifications that are missing, until an attempt needs no other."""
        looks = self.looks(shared)
        while True:
            result = attempt(looks.toolbox)
            if not looks.are_missing:
                return result
            yield looks

    @contextmanager
    def of_turn(self, key: Hashable, ids: Sequence[str], own: str) -> Iterator[SharedLooks | None]:
        """
        Yield the findings that the calls of a turn share, or `None` for a turn of one call.

        Each call uses this context manager separately. `ids` are the ids of the turn's calls, and
        `own` is the id of this call. The findings are dropped when all calls have been answered.
        """
        if len(ids) < 2:  # noqa: PLR2004 - a single call
            yield None
            return
        with self._lock:
            shared = self._turns.get(key) or SharedLooks(Findings(self.verifier.by), set(ids))
            # If something else refuses a call of a turn, that call never comes here, and the turn
            # would stay in memory forever. So the oldest turns are dropped.
            remember(self._turns, key, shared)
        try:
            yield shared
        finally:
            with self._lock:
                shared.open.discard(own)
                if not shared.open and self._turns.get(key) is shared:
                    del self._turns[key]

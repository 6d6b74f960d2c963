"""
A verifier: a function of the program's that looks whether a task is done, and how long it may take.

It runs a project's tests, asks a service, reads a file: anything may come of that. Whatever it
raises, and however long it takes, the plan is as it was, and the model is told why. A verifier that
stands still is left to itself, in a thread that does not keep the process from ending: Python can
stop no thread, so one that starts a process should give that a time limit of its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import partial
from inspect import isawaitable, iscoroutine, iscoroutinefunction
from threading import Thread
from typing import Any

import attrs

from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.dialogue.intake.cleaning import clean
from todoplan.dialogue.verifying import Finding, Found
from todoplan.errors import PlanError
from todoplan.planner.arguments import unfit
from todoplan.planner.threads import running_loop, threaded

__all__ = ["Verifier", "Verify", "verifier_of"]

Look = Callable[
    [Task, Plan],
    Finding | tuple[bool, str] | Awaitable[Finding | tuple[bool, str] | None] | None,
]
"""
Looks whether a task is done, as its `check` says, and returns whether it is and what was seen, in a
few words; `None` if this check is not one that it can look at. Plain, or a coroutine function.
"""

_LONGEST_SUMMARY = 2_000  # it is kept in the plan, and shown in lists
_AWAITED = "this verifier is awaited, and here nothing is: give a plain function, or use {}"
_logger = logging.getLogger("todoplan")


def _seconds(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf"):
        return float(value)
    raise unfit(value, "give a number of seconds that is more than 0: Verifier(look, seconds=600)")


def _name(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise unfit(value, 'give a name, for the evidence: Verifier(look, by="ci")')


def _look(value: Any) -> Look:
    if callable(value) and not isinstance(value, type):
        return value  # type: ignore[no-any-return]  # what it returns is judged when it does
    raise unfit(value, "give a function of a task and its plan that returns (passed, summary)")


@attrs.frozen
class Verifier:
    """
    A function that looks whether a task is done, how many `seconds` it has for each task, and the
    name that stands on its evidence (`by`).

        Verifier(run_the_tests, seconds=600, by="pytest")

    Raises:
        PlanError: this is no function, no time, or no name.
    """

    look: Look = attrs.field(converter=_look)
    seconds: float = attrs.field(default=60.0, converter=_seconds)
    by: str = attrs.field(default="verifier", converter=_name)

    @property
    def is_awaited(self) -> bool:
        """
        Say whether the function is a coroutine's.
        """
        return iscoroutinefunction(self.look) or iscoroutinefunction(
            getattr(self.look, "__call__", None)  # noqa: B004 - an object may be called as one
        )

    def refuse_awaited(self, instead: str) -> None:
        """
        Raise if the function is a coroutine's, where nothing is awaited; name what to use instead.

        Raises:
            PlanError: it is.
        """
        if self.is_awaited:
            raise PlanError(_AWAITED.format(instead), seen=self.look)

    def find(self, task: Task, plan: Plan) -> Found:
        """
        Return what was found, or why nothing was; wait for it no longer than there is time.

        Raises:
            PlanError: what the function returns has to be awaited.
        """
        answer: Future[Any] = Future()

        def run() -> None:
            try:
                answer.set_result(self.look(task, plan))
            except BaseException as error:  # noqa: BLE001 - a verifier may call sys.exit()
                answer.set_exception(error)

        # Its own thread: who calls may be one of few in a pool, and must get out again.
        Thread(target=copy_context().run, args=(run,), name="todoplan", daemon=True).start()
        if not wait([answer], self.seconds).done:
            return self._late(task)
        if (error := answer.exception()) is not None:
            return self._raised(task, error)
        value = answer.result()
        if isawaitable(value):
            if iscoroutine(value):
                value.close()  # or Python would warn that it was never awaited
            raise PlanError(_AWAITED.format("AsyncPlanner"), seen=self.look)
        return self._found(task, value)

    async def afind(self, task: Task, plan: Plan) -> Found:
        """
        As `find`, awaited. A plain function is called in a thread of its own.
        """
        loop = running_loop()
        if loop is None:  # Trio, whose own limits hold
            return await self._value(task, self._asked_here(task, plan))
        work = asyncio.ensure_future(self._asked(task, plan, loop))
        try:
            done, _ = await asyncio.wait([work], timeout=self.seconds)
            return await self._value(task, work) if done else self._late(task)
        finally:
            # Not waited for: it may take no notice. Nor is it left behind if we are cancelled.
            work.cancel()

    async def _asked(self, task: Task, plan: Plan, loop: asyncio.AbstractEventLoop) -> Any:
        look: Callable[[], Any] = partial(self.look, task, plan)
        value = look() if self.is_awaited else await threaded(look, loop, lambda: None)
        return await value if isawaitable(value) else value

    async def _asked_here(self, task: Task, plan: Plan) -> Any:
        value = self.look(task, plan)
        return await value if isawaitable(value) else value

    async def _value(self, task: Task, work: Awaitable[Any]) -> Found:
        try:
            return self._found(task, await work)
        # It has ended: who was cancelled is something that it waited for, and not we.
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - a program's own code
            return self._raised(task, error)

    def _found(self, task: Task, value: Any) -> Found:
        if value is None:
            return None
        if isinstance(value, tuple) and len(value) == 2:  # noqa: PLR2004 - a finding
            passed, summary = value
            if isinstance(passed, bool) and isinstance(summary, str):
                return Finding(passed, clean(_short(summary), "summary")[0])
        return self._said(
            task, f"it returned {short_repr(value)}, and has to return (passed, summary)"
        )

    def _raised(self, task: Task, error: BaseException) -> str:
        return self._said(task, f"{type(error).__name__}: {error}".rstrip(": "), error)

    def _late(self, task: Task) -> str:
        return self._said(task, f"no answer within {self.seconds:g} seconds")

    def _said(self, task: Task, why: str, error: BaseException | None = None) -> str:
        # The model reads one line of it; who has to mend the verifier needs the rest.
        _logger.warning("verifier %r failed at task #%s: %s", self.by, task.id, why, exc_info=error)
        return why


Verify = Verifier | Look
"""What `verify=` takes: a function, or one with its time limit and name."""


def verifier_of(verify: Verify | None) -> Verifier | None:
    """
    Return the verifier that was given, `None` for none.

    Raises:
        PlanError: this is none.
    """
    return verify if verify is None or isinstance(verify, Verifier) else Verifier(verify)


def _short(summary: str) -> str:
    # The end says most: a test run's counts stand in its last line.
    cut = len(summary) > _LONGEST_SUMMARY
    return f"... {summary[-_LONGEST_SUMMARY:].lstrip()}" if cut else summary

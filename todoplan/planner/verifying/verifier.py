"""
A verifier: a function of the program that checks whether a task is done, and its time limit.

A verifier may run a project's tests, ask a service or read a file, so it may fail in any way.
Whatever it raises and however long it takes, the plan stays as it was, and the model receives the
reason. A verifier that hangs is abandoned in a daemon thread, which does not keep the process from
exiting. Python cannot stop a thread, so a verifier that starts a process should give the process a
time limit.
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
Checks whether a task is done, as its `check` describes, and returns (passed, summary).

The summary says in a few words what was seen. `None` means that the function cannot verify this
check. A plain function or a coroutine function.
"""

_LONGEST_SUMMARY = 2_000  # saved in the plan and shown in lists
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
    A function that checks whether a task is done, with its time limit in `seconds` per task, and
    the name `by` that its evidence states.

        Verifier(run_the_tests, seconds=600, by="pytest")

    Raises:
        PlanError: an argument is not a function, not a positive number of seconds, or not a name.
    """

    look: Look = attrs.field(converter=_look)
    seconds: float = attrs.field(default=60.0, converter=_seconds)
    by: str = attrs.field(default="verifier", converter=_name)

    @property
    def is_awaited(self) -> bool:
        """Whether the function is a coroutine function."""
        return iscoroutinefunction(self.look) or iscoroutinefunction(
            getattr(self.look, "__call__", None)  # noqa: B004 - an object with `__call__` is a function too
        )

    def refuse_awaited(self, instead: str) -> None:
        """
        Raise if the function is a coroutine function, where nothing can be awaited.

        `instead` names what to use instead.

        Raises:
            PlanError: it is a coroutine function.
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

        # A thread of its own: the caller may be one of the few threads of a pool, and has to get
        # out in time.
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
        """
        Return the finding as `find` does, awaited. A plain function runs in a thread of its own.
        """
        loop = running_loop()
        if loop is None:  # Trio, whose own time limits apply
            return await self._value(task, self._asked_here(task, plan))
        work = asyncio.ensure_future(self._asked(task, plan, loop))
        try:
            done, _ = await asyncio.wait([work], timeout=self.seconds)
            return await self._value(task, work) if done else self._late(task)
        finally:
            # Not awaited, because the verifier may ignore the cancellation. And not left running if
            # the caller is cancelled.
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
        # The work has ended: what was cancelled is something that it awaited, not the caller.
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
        # The model gets one line; whoever repairs the verifier needs the traceback.
        _logger.warning("verifier %r failed at task #%s: %s", self.by, task.id, why, exc_info=error)
        return why


Verify = Verifier | Look
"""The type of `verify=`: a function, or a `Verifier` with a time limit and a name."""


def verifier_of(verify: Verify | None) -> Verifier | None:
    """
    Return the `Verifier` for a `verify=` argument; `None` for `None`.

    Raises:
        PlanError: the argument is not a verifier.
    """
    return verify if verify is None or isinstance(verify, Verifier) else Verifier(verify)


def _short(summary: str) -> str:
    # The end is the most important part: a test run's last line has the counts.
    cut = len(summary) > _LONGEST_SUMMARY
    return f"... {summary[-_LONGEST_SUMMARY:].lstrip()}" if cut else summary

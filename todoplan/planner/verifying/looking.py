"""
Answering calls with verification: the answer is computed again until no finding is missing.

An attempt is a function that receives a toolbox. It reads the plan and answers the calls, but
changes nothing. So no lock is held while a verifier runs, which may take minutes, and the next
attempt sees a plan that was changed in the meantime.

Some frameworks start each call of a turn separately, and each call then answers the calls before it
again. So that each check is verified only once and all calls use the same findings, the calls of
one turn share their findings (`Verifying.of_turn`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

import attrs

from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.verifying import CheckedToolbox, Findings
from todoplan.planner.verifying.verifier import Verifier, Verify, verifier_of

__all__ = ["Looks", "SharedLooks", "Verifying"]

T = TypeVar("T")
_MOST_ROUNDS = 20  # for a plan that others change all the time
_MOST_TURNS = 1_000
_RESTLESS = "the task was changed each time that it was looked at"


@attrs.define(eq=False)
class SharedLooks:
    """The findings for the calls of one turn, and the calls that may still ask for them."""

    findings: Findings
    open: set[str] = attrs.field(factory=set)
    # Only calls of the same turn wait here, for a verification that each of them needs.
    lock: Lock = attrs.field(factory=Lock)
    alock: asyncio.Lock = attrs.field(factory=asyncio.Lock)


@attrs.define(eq=False)
class Looks:
    """The verifications that one answer needs. `toolbox` answers with the findings so far."""

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
        async with self.shared.alock:
            for task, plan in self._due():
                self.findings.put(task.id, await self.verifier.afind(task, plan))

    def _due(self) -> Iterator[tuple[Task, Plan]]:
        self.rounds += 1
        for task, plan in self.findings.missing:
            if self.rounds > _MOST_ROUNDS:
                self.findings.put(task.id, _RESTLESS)
            elif not self.findings.knows(task.id):  # another call of the turn may have done it
                yield task, plan


class Verifying:
    """
    A toolbox whose completions are checked by a verifier, for callers that answer calls on a plan
    of their own.

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
        Return the `Verifying` for a toolbox; `None` without a verifier.

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
        Return the result of an attempt once everything that it completes has been verified.

        The attempt is repeated after each round of verification; its earlier results are discarded.

        Raises:
            PlanError: the verifier is a coroutine function.
        """
        looks = self.looks(shared)
        while True:
            result = attempt(looks.toolbox)
            if not looks.are_missing:
                return result
            looks.look()

    async def aanswer(
        self, attempt: Callable[[Toolbox], T], shared: SharedLooks | None = None
    ) -> T:
        """
        Return the result of an attempt, as `answer` does, and await only the verifications.

        Nothing is awaited after the last attempt, so no other task can interleave between what the
        attempt read and what the caller writes.
        """
        looks = self.looks(shared)
        while True:
            result = attempt(looks.toolbox)
            if not looks.are_missing:
                return result
            await looks.alook()

    @contextmanager
    def of_turn(self, key: Hashable, ids: Sequence[str], own: str) -> Iterator[SharedLooks | None]:
        """
        Yield the findings that one call of a turn shares with the others.

        `ids` are the calls of the turn, each of which enters here by itself; `own` is this call.
        The shared findings are dropped when all calls have been answered.
        """
        if len(ids) < 2:  # noqa: PLR2004 - a single call
            yield None
            return
        with self._lock:
            shared = self._turns.pop(key, None) or SharedLooks(Findings(self.verifier.by), set(ids))
            self._turns[key] = shared
            # A call that a guard has refused never arrives, so the oldest turn is dropped.
            if len(self._turns) > _MOST_TURNS:
                del self._turns[next(iter(self._turns))]
        try:
            yield shared
        finally:
            with self._lock:
                shared.open.discard(own)
                if not shared.open and self._turns.get(key) is shared:
                    del self._turns[key]

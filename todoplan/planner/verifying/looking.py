"""
Answering calls, and looking in between: the answer is asked for again until nothing is missing.

An attempt is a function of a toolbox: it reads the plan, answers the calls, and changes nothing. So
no lock is held while the program looks, which may take minutes, and a plan that was changed in the
meantime is seen as it is now. Where a framework starts each call of a turn by itself, each of them
answers those before it again; so that no check is looked at twice for that, and all go by the same
findings, calls of one turn share what was found (`Turns`).
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
_MOST_ROUNDS = 20  # upon a plan that others change all the time
_MOST_TURNS = 1_000
_RESTLESS = "the task was changed each time that it was looked at"


@attrs.define(eq=False)
class SharedLooks:
    """
    What was found for the calls of one turn, and the calls that may still ask for it.
    """

    findings: Findings
    open: set[str] = attrs.field(factory=set)
    # Only calls of the same turn wait here: for a look that each of them needs.
    lock: Lock = attrs.field(factory=Lock)
    alock: asyncio.Lock = attrs.field(factory=asyncio.Lock)


@attrs.define(eq=False)
class Looks:
    """
    The looks that one answer needs: `toolbox` answers as far as they go.
    """

    verifier: Verifier
    shared: SharedLooks
    findings: Findings
    toolbox: CheckedToolbox
    rounds: int = 0

    @property
    def are_missing(self) -> bool:
        """
        Say whether the last answer does not count, since something has to be looked at.
        """
        return bool(self.findings.missing)

    def look(self) -> None:
        """
        Look at what is missing.
        """
        with self.shared.lock:
            for task, plan in self._due():
                self.findings.put(task.id, self.verifier.find(task, plan))

    async def alook(self) -> None:
        """
        As `look`, awaited.
        """
        async with self.shared.alock:
            for task, plan in self._due():
                self.findings.put(task.id, await self.verifier.afind(task, plan))

    def _due(self) -> Iterator[tuple[Task, Plan]]:
        self.rounds += 1
        for task, plan in self.findings.missing:
            if self.rounds > _MOST_ROUNDS:
                self.findings.put(task.id, _RESTLESS)
            elif not self.findings.knows(task.id):  # another call of the turn may have looked
                yield task, plan


class Verifying:
    """
    A toolbox whose completions a verifier looks at: for whoever answers calls upon a plan of their
    own.

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
        Return what looks for a toolbox; `None` without a verifier.

        Raises:
            PlanError: `verify` is no verifier.
        """
        verifier = verifier_of(verify)
        return None if verifier is None else cls(toolbox, verifier)

    def looks(self, shared: SharedLooks | None = None) -> Looks:
        """
        Return the looks for one answer; those of a turn know what its other calls have found.
        """
        known = SharedLooks(Findings(self.verifier.by)) if shared is None else shared
        findings = known.findings.beside()
        return Looks(self.verifier, known, findings, self._toolbox.upon(findings))

    def answer(self, attempt: Callable[[Toolbox], T], shared: SharedLooks | None = None) -> T:
        """
        Return what an attempt comes to, once the program has looked at all that it completes. It is
        asked again after each look, and what it returned before does not count.

        Raises:
            PlanError: the verifier is one that is awaited.
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
        As `answer`: only looks are awaited. Behind the last attempt nothing is, so that nobody
        comes between what it read and what its caller writes.
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
        Give one call of a turn what the others share with it: the calls have these `ids`, and each
        comes here by itself. What is shared is forgotten when all of them have been answered.
        """
        if len(ids) < 2:  # noqa: PLR2004 - alone
            yield None
            return
        with self._lock:
            shared = self._turns.pop(key, None) or SharedLooks(Findings(self.verifier.by), set(ids))
            self._turns[key] = shared
            # A call that a guard has refused never comes: the turn of longest ago is given up.
            if len(self._turns) > _MOST_TURNS:
                del self._turns[next(iter(self._turns))]
        try:
            yield shared
        finally:
            with self._lock:
                shared.open.discard(own)
                if not shared.open and self._turns.get(key) is shared:
                    del self._turns[key]

"""
Taking turns within a process, before the server is asked: one plan at a time waits on a connection.

A plan may be held for long by somebody else, who was stopped or cut off. If all threads that want
it waited on connections of their own, they would soon have all of them, and the plans that nobody
holds would be out of reach as well.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from todoplan.errors import StoreError
from todoplan.stores.locks import Turn
from todoplan.stores.postgres.address import Address
from todoplan.stores.postgres.forks import begins_anew

__all__ = ["AsyncTurns", "Turns"]


class Turns:
    """
    A turn for each plan, as long as some thread wants it.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self.forked()
        begins_anew(self)

    def forked(self) -> None:
        """
        Begin anew in a child process: whoever had a turn there is not here.
        """
        self._lock = Lock()
        self._turns: WeakValueDictionary[str, Turn] = WeakValueDictionary()

    def of(self, plan_id: str) -> Turn:
        """
        Return the turn of a plan, among the threads of this process.
        """
        with self._lock:
            turn = self._turns.get(plan_id)
            if turn is None:
                turn = self._turns[plan_id] = Turn(f"{self._address}, the plan {plan_id!r}")
        return turn


class _TaskTurn:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.holder: asyncio.Task[Any] | None = None


class AsyncTurns:
    """
    A turn for each plan, as long as some task of an event loop wants it.
    """

    def __init__(self, address: Address, patience: float) -> None:
        self._address = address
        self._patience = patience
        # By loop too: a lock belongs to one.
        self._turns: WeakValueDictionary[tuple[int, str], _TaskTurn] = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self, plan_id: str) -> AsyncIterator[None]:
        """
        Have a plan to oneself, among the tasks of this loop.

        Raises:
            StoreError: another one has it for too long ("busy"), or this one ("nested").
        """
        name = id(asyncio.get_running_loop()), plan_id
        turn, me = self._turns.get(name), asyncio.current_task()
        if turn is None:
            turn = self._turns[name] = _TaskTurn()
        if turn.holder is not None and turn.holder is me:
            msg = (
                f"{self._address}: this task holds the plan {plan_id!r} already, and would wait "
                "for itself; let go of it first, or append by what `hold` gave"
            )
            raise StoreError(msg, plan_id=plan_id, problem="nested")
        try:
            async with asyncio.timeout(self._patience):
                await turn.lock.acquire()
        except TimeoutError:
            msg = (
                f"{self._address} is busy: another task has held the plan {plan_id!r} for "
                f"{self._patience:g} seconds, nothing was written; try again, or give the store "
                "more patience="
            )
            raise StoreError(msg, plan_id=plan_id, problem="busy") from None
        try:
            turn.holder = me
            yield
        finally:
            turn.holder = None
            turn.lock.release()

"""
Locks within a process, taken before the server is asked: per plan, one caller uses a connection.

Somebody else may lock a plan for long, for example a process that was stopped or disconnected. If
all threads that want this plan waited on connections of their own, they would soon use up the pool,
and plans that nobody has locked would be unreachable as well.
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
    """A lock for each plan, which exists as long as a thread uses it."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.forked()
        begins_anew(self)

    def forked(self) -> None:
        """Reset in a child process: the threads that held locks do not exist there."""
        self._lock = Lock()
        self._turns: WeakValueDictionary[str, Turn] = WeakValueDictionary()

    def of(self, plan_id: str) -> Turn:
        """Return the lock of a plan between the threads of this process."""
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
    """A lock for each plan, which exists as long as a task of an event loop uses it."""

    def __init__(self, address: Address, patience: float) -> None:
        self._address = address
        self._patience = patience
        # By event loop too, because an asyncio lock belongs to one loop.
        self._turns: WeakValueDictionary[tuple[int, str], _TaskTurn] = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self, plan_id: str) -> AsyncIterator[None]:
        """
        Lock a plan between the tasks of this event loop.

        Raises:
            StoreError: another task holds the lock for too long ("busy"), or this task already
                holds it ("nested").
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

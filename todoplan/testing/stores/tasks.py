"""The way of an `AsyncStore`: a loop for each check."""

import asyncio
from inspect import isawaitable
from typing import Any, TypeVar

from todoplan.stores.base import AsyncStore
from todoplan.testing.stores.ways import Work

__all__ = ["Tasks"]

T = TypeVar("T")


class Tasks:
    """
    A loop for each check, and a task for each of several.
    """

    def run(self, work: Work[T]) -> T:
        """
        Run one to its end, in a loop of its own.
        """
        return asyncio.run(work)

    async def together(self, *works: Work[T]) -> list[T]:
        """
        Run several, as tasks of one loop.
        """
        return list(await asyncio.gather(*works))

    async def pause(self) -> None:
        """
        Let other tasks have their turn.
        """
        await asyncio.sleep(0)

    async def given(self, made: Any) -> Any:
        """
        Return what a method of the suite has made, awaited if need be.
        """
        return await made if isawaitable(made) else made

    def awaited(self, store: Any) -> AsyncStore:
        """
        Return a store of the author's as it is.
        """
        return store  # type: ignore[no-any-return]  # a store of the author's own type

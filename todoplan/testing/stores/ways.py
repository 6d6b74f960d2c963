"""A way to run a check, so that it is written once: as a coroutine over an `AsyncStore`."""

from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

from todoplan.stores.base import AsyncStore

__all__ = ["Way", "Work"]

T = TypeVar("T")
Work = Coroutine[Any, Any, T]


class Way(Protocol):
    """
    How coroutines over a store are run: one, or several at once.
    """

    def run(self, work: Work[T]) -> T:
        """
        Run one to its end.
        """
        ...

    async def together(self, *works: Work[T]) -> list[T]:
        """
        Run several at once, to the end of all, and return what each returned.
        """
        ...

    async def pause(self) -> None:
        """
        Let others have their turn.
        """
        ...

    async def given(self, made: Any) -> Any:
        """
        Return what a method of the suite has made.
        """
        ...

    def awaited(self, store: Any) -> AsyncStore:
        """
        Return a store of the author's as one whose methods are awaited.
        """
        ...

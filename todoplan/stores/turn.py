"""Taking turns: threads of one process hold what they share one after the other."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident

from todoplan.errors import StoreError

__all__ = ["Turn"]


class Turn:
    """
    What one thread at a time has. `name` is that of the store, for errors.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._holder: int | None = None

    @contextmanager
    def taken(self, patience: float) -> Iterator[None]:
        """
        Have it for the length of a `with`, waiting no longer than `patience` seconds.

        Raises:
            StoreError: somebody else has it for longer ("busy"), or this thread itself ("nested").
        """
        if self._holder == get_ident():
            msg = (
                f"{self._name}: this thread holds a plan of it already, and would wait for itself; "
                "let go of that plan first, or append by what `hold` gave"
            )
            raise StoreError(msg, problem="nested")
        if not self._lock.acquire(timeout=patience):
            msg = (
                f"{self._name} is busy: another thread has held a plan of it for {patience:g} "
                "seconds, nothing was written; try again, or give the store more patience="
            )
            raise StoreError(msg, problem="busy")
        try:
            self._holder = get_ident()
            yield
        finally:
            self._holder = None
            self._lock.release()

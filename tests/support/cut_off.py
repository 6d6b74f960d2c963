"""Stores that simulate the end of the process after their commit, before the framework's own."""

from contextlib import contextmanager

from todoplan.stores import MemoryStore, SqliteStore


class Cut(BaseException):
    """The simulated end of the process; no code catches it."""


class _Cutting:
    """A store that raises `Cut` once, right after a commit."""

    is_cut = True

    @contextmanager
    def hold(self, plan_id):
        """Lock a plan."""
        with super().hold(plan_id) as held:
            before = held.revision
            yield held
            changed = held.revision != before
        if self.is_cut and changed:
            self.is_cut = False
            raise Cut


class CutMemory(_Cutting, MemoryStore):
    """In memory."""


class CutSqlite(_Cutting, SqliteStore):
    """In a file."""

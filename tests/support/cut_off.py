"""A process that ends between the store's commit and its framework's own: what both keep stays."""

from contextlib import contextmanager

from todoplan.stores import MemoryStore, SqliteStore


class Cut(BaseException):
    """The power is cut: nobody catches that."""


class _Cutting:
    """A store that ends its process right behind a commit, while `is_cut`."""

    is_cut = True

    @contextmanager
    def hold(self, plan_id):
        """Hold a plan."""
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

"""The SQLite store under the store suite."""

from tempfile import mkdtemp

from todoplan.stores.sqlite import SqliteStore
from todoplan.testing.stores import StoreSuite


class TestSqliteStore(StoreSuite):
    """Plans in a database, read and written by two handles."""

    def store(self):
        return SqliteStore(f"{mkdtemp(dir=self.folder)}/plans.db")

    def reopened(self, store):
        return SqliteStore(store.path)

    def in_another_process(self, store):
        opened = f"SqliteStore({str(store.path)!r}, patience=60)"
        return f"from todoplan.stores import SqliteStore; opened = lambda: {opened}"

    def close(self, store):
        store.close()

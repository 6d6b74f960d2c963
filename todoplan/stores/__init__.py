"""
Stores: where plans and their journals are kept.

Read `base` first: the `Store` protocol and its guarantees, the optional protocol for locking a
plan, and the journal functions that all stores share.

- `memory` is the shortest implementation, and `slot` makes a store of one plan of a framework's
  state.
- `file` keeps plans in one JSON file that several processes may write.
- `sqlite` is the store for data that must survive restarts.
- `postgres` is the store for several machines (an extra).
- `locks` has the locks of threads and processes, `copying` copies plans between stores, and `urls`
  opens a store by its URL.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.core.events.apply import Entry
    from todoplan.stores.base import AnyStore, AsyncStore, Store
    from todoplan.stores.file import FileStore
    from todoplan.stores.memory import MemoryStore
    from todoplan.stores.postgres import AsyncPostgresStore, PostgresStore
    from todoplan.stores.sqlite import SqliteStore
    from todoplan.stores.urls import open_store

__all__ = [
    "AnyStore",
    "AsyncPostgresStore",
    "AsyncStore",
    "Entry",
    "FileStore",
    "MemoryStore",
    "PostgresStore",
    "SqliteStore",
    "Store",
    "open_store",
]
__dir__ = listing(__all__)

if not TYPE_CHECKING:  # a type checker that saw it would accept every misspelled name
    __getattr__ = loader(
        __name__,
        {
            "base": ("AnyStore", "AsyncStore", "Entry", "Store"),
            "file": ("FileStore",),
            "memory": ("MemoryStore",),
            "postgres": ("AsyncPostgresStore", "PostgresStore"),
            "sqlite": ("SqliteStore",),
            "urls": ("open_store",),
        },
    )

"""
Stores: where plans and their journals are kept.

Read `base` first: the `Store` protocol and its guarantees. `hold` defines the optional protocol for
locking a plan.

- `memory` is the shortest implementation.
- `file` keeps plans in one JSON file; `locked_file` lets several processes write that file one
  after the other without losing anything.
- `sqlite` is the store for data that must survive restarts.
- `postgres` is the store for several machines (an extra).
- `journals` has the journal functions that all stores share, `rows` the row format of the
  databases, `copying` the copying of plans between stores, `locks` the locks of threads and
  processes, and `urls` opens a store by its URL.
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
            "base": (
                "AnyStore",
                "AsyncStore",
                "Store",
            ),
            "file": ("FileStore",),
            "memory": ("MemoryStore",),
            "postgres.store": (
                "AsyncPostgresStore",
                "PostgresStore",
            ),
            "sqlite": ("SqliteStore",),
            "todoplan.core.events.apply": ("Entry",),
            "urls": ("open_store",),
        },
    )

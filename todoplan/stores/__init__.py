"""
Where plans and their journals are kept.

Read `base` first: what a store is and owes; then `hold`, what it may offer beside that. `memory` is
the shortest one. `file` keeps plans in one JSON file, and `locked_file` is how processes write that
one after the other and lose nothing. `sqlite` is the one for whatever must last, `postgres` the one
for many machines (an extra).

`journals` is what all of them do with a journal, `rows` what a database keeps of one, `copying` how
plans move. `locks` is how threads and processes wait for each other; `urls` has
stores by their address.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.core.events.journal import Entry
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

if not TYPE_CHECKING:  # a type checker that saw it would let every misspelled name pass
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

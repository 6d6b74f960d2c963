"""
Where plans and their journals are kept.

Read `base` first: what a store is and owes. `memory` is the shortest one; `file` keeps plans in one
JSON file, and `locked_file` is how processes write that one after the other and lose nothing.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.core.events.journal import Entry
    from todoplan.stores.base import AnyStore, AsyncStore, Store
    from todoplan.stores.file import FileStore
    from todoplan.stores.memory import MemoryStore

__all__ = ["AnyStore", "AsyncStore", "Entry", "FileStore", "MemoryStore", "Store"]
__dir__ = listing(__all__)

if not TYPE_CHECKING:  # a type checker that saw it would let every misspelled name pass
    __getattr__ = loader(
        __name__,
        {
            "base": ("AnyStore", "AsyncStore", "Entry", "Store"),
            "file": ("FileStore",),
            "memory": ("MemoryStore",),
        },
    )

"""
Plans in a SQLite database: kept across restarts, shared by threads and processes of one machine.

Read `store` first, the methods of a `SqliteStore`. `held` is what a held plan can do, `connections`
how a database is shared and let go of, `opening` how it is opened and known again, `schema` its
tables, `weather` what is said when SQLite or the disk refuses.
"""

from todoplan.lazy import listing
from todoplan.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
__dir__ = listing(__all__)

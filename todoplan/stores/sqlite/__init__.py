"""
Plans in a SQLite database, which threads and processes of one machine share.

Read `store` first: the methods of `SqliteStore`. `held` has the operations on a locked plan,
`connections` the sharing and closing of connections, `opening` the creation and identification of
the database file, `schema` the tables, and `weather` the translation of errors of SQLite and the
disk.
"""

from todoplan.lazy import listing
from todoplan.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
__dir__ = listing(__all__)

"""
Plans in PostgreSQL, for several machines: `pip install 'todoplan[postgres]'`.

    store = PostgresStore("postgresql://planner@db.example/plans")
    planner = Planner(store, "thread-7")

`AsyncPostgresStore` has the same methods, awaited. Both create their tables if they are missing.

Read `connections` first: the tables, the addresses and errors, the connection pools and the
notifications. `store` has the SQL statements, the locked plan, and the two stores.

What both stores do is written once, as asynchronous functions. An `AsyncPostgresStore` awaits them.
A `PostgresStore` calls them with connections that never suspend, so that each is done at once.
"""

from todoplan.errors import MissingExtraError

try:
    import psycopg  # noqa: F401 - only checks that it is installed
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "postgres") from error

from todoplan.lazy import listing
from todoplan.stores.postgres.store import AsyncPostgresStore, PostgresStore

__all__ = ["AsyncPostgresStore", "PostgresStore"]
__dir__ = listing(__all__)

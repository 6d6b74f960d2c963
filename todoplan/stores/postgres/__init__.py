"""
Plans in PostgreSQL, for several machines: `pip install 'todoplan[postgres]'`.

    store = PostgresStore("postgresql://planner@db.example/plans")
    planner = Planner(store, "thread-7")

`AsyncPostgresStore` has the same methods, awaited. Both create their tables if they are missing.

Read `schema` first: the tables. `reading` and `writing` have the SQL statements as generators, once
for both stores; `store` executes them, and `async_store` awaits them. `holding` has the state of a
locked plan, and `held` the operations on it. `connections` has the connection pools, `turns` the
locks within a process, and `forks` the handling of connections in a child process. `listening`
receives notifications of commits. `address` and `failures` check the address and translate errors.
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

"""
Plans in PostgreSQL, for many machines: `pip install 'todoplan[postgres]'`.

    store = PostgresStore("postgresql://planner@db.example/plans")
    planner = Planner(store, "thread-7")

`AsyncPostgresStore` is the same, awaited. Both make their tables where there are none.

Read `schema` first, the tables; then `reading` and `writing`, what is asked of them and in which
order, once for both stores; then `store`, which carries it out, and `async_store`, which awaits it.
`holding` is what is known of a held plan, and `held` what is done with it; `connections` are what
all of it is done upon, `turns` who waits on one, `forks` what becomes of them in a child process.
`listening` is how stores hear of what others commit; `address` and `failures` say what can be wrong
with a database.
"""

from todoplan.errors import MissingExtraError

try:
    import psycopg  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "postgres") from error

from todoplan.lazy import listing
from todoplan.stores.postgres.async_store import AsyncPostgresStore
from todoplan.stores.postgres.store import PostgresStore

__all__ = ["AsyncPostgresStore", "PostgresStore"]
__dir__ = listing(__all__)

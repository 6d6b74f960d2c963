"""
The tables, and the types of statements.

Every key begins with the plan's id, and no statement spans plans, so that tables can be sharded and
a plan can be moved with all its rows. The columns are the same as in SQLite
(`todoplan.stores.sqlite`), and so are the texts in them, byte by byte (`todoplan.stores.rows`).

The row of a plan states the format of all the plan's rows. A todoplan that reads a newer format
refuses that plan. So two versions can run side by side while plans are migrated one by one.
"""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, LiteralString, TypeVar

from psycopg import ConnectionInfo

__all__ = [
    "CHANNEL",
    "FORMAT",
    "LONGEST",
    "TABLES",
    "Row",
    "Statement",
    "Steps",
    "prepared",
    "settled",
]

T = TypeVar("T")

Row = tuple[Any, ...]

Statement = tuple[LiteralString | bytes, Sequence[Any] | Mapping[str, Any] | None]
"""SQL and its parameters. With `None` as parameters, the SQL may contain several statements."""

Steps = Generator[Statement, Any, T]
"""
A generator of statements; the rows of each statement are sent back to it. The steps are written
once: `PostgresStore` executes them and `AsyncPostgresStore` awaits them.
"""

FORMAT = 1
"""The format that this version writes, and the highest one that it reads."""

CHANNEL = "todoplan"
"""
The channel on which commits are announced, as "<plan's id>:<revision>". All schemas of a database
share it.
"""

LONGEST = 1_000
"""
The maximum length of a plan's id or a key in bytes of UTF-8: an index entry has to hold two of
them.
"""

_PREFIX = "todoplan_"
TABLES: Mapping[str, LiteralString] = {
    f"{_PREFIX}plan": """
    create table if not exists todoplan_plan (
        id text primary key,
        revision bigint not null,
        format integer not null,
        since bigint not null default 0, -- bytes of entries since the last snapshot
        size bigint not null default 0   -- bytes of the last snapshot
    )
    """,
    f"{_PREFIX}entry": """
    create table if not exists todoplan_entry (
        plan_id text not null,
        revision bigint not null,
        version integer not null,
        line text not null,
        primary key (plan_id, revision)
    )
    """,
    f"{_PREFIX}snapshot": """
    create table if not exists todoplan_snapshot (
        plan_id text primary key,
        revision bigint not null,
        version integer not null,
        document text not null
    )
    """,
    f"{_PREFIX}receipt": """
    create table if not exists todoplan_receipt (
        plan_id text not null,
        key text not null,
        payload text not null,
        before bigint not null, -- the revision before its entries, and after them
        after bigint not null,
        answer text not null,
        primary key (plan_id, key)
    )
    """,
}

_LOCK = 7_030_226_001  # our number among the database's advisory locks
_MISSING: LiteralString = """
select name from unnest(%s::text[]) as needed (name) where to_regclass(name) is null
"""


def settled(info: ConnectionInfo) -> Steps[None]:
    """
    Set the session parameters that psycopg needs for reading times and writing texts.

    A server, a role, the address or the environment may have set them differently. Usually they are
    right already, and no statement is executed.
    """
    if not (info.parameter_status("DateStyle") or "").startswith("ISO"):
        yield "set datestyle to 'ISO'", None
    if info.parameter_status("client_encoding") != "UTF8":
        yield "set client_encoding to 'UTF8'", None


def prepared() -> Steps[None]:
    """
    Create the tables that are missing.

    If all tables exist, only one query is executed. So a user without the right to create tables,
    or a read-only server, is sufficient then.
    """
    missing = yield _MISSING, (list(TABLES),)
    if not missing:
        return
    yield "begin", None
    # `if not exists` is not race-free: of 80 concurrent set-ups 75 failed without this lock, and
    # none with it.
    yield "select pg_advisory_xact_lock(%s)", (_LOCK,)
    for table in TABLES.values():
        yield table, None
    yield "commit", None

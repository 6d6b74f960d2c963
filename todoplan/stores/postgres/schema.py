"""
The tables, and what statements are made of.

Every key begins with the plan's id, and no statement asks across plans: so tables may be sharded,
and a plan moved with all that belongs to it. Columns are SQLite's (`todoplan.stores.sqlite`), and
so are the texts in them, byte by byte (`todoplan.stores.rows`).

A plan's row says the format in which the rows of that plan are kept. A todoplan that finds a newer
one refuses that plan; so two versions may work side by side while plans are moved on one by one.
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
"""SQL, and its parameters: `None` where there are none, and several statements may stand."""

Steps = Generator[Statement, Any, T]
"""
Statements one after the other; each is answered by its rows. Written once, carried out at once by
`PostgresStore` and awaited by `AsyncPostgresStore`.
"""

FORMAT = 1
"""What this version writes, and the highest that it reads."""

CHANNEL = "todoplan"
"""Where commits are announced, as "<plan's id>:<revision>": to a database, whatever its schemas."""

LONGEST = 1_000
"""So many bytes of UTF-8 a plan's id or a key may have: an index has to hold two of them."""

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

_LOCK = 7_030_226_001  # ours among the advisory locks of a database, which are plain numbers
_MISSING: LiteralString = """
select name from unnest(%s::text[]) as needed (name) where to_regclass(name) is null
"""


def settled(info: ConnectionInfo) -> Steps[None]:
    """
    Set what a server, a role, the address or the environment may have set otherwise, and psycopg
    needs to read times and write texts. As a rule nothing is to be set, and nothing is asked.
    """
    if not (info.parameter_status("DateStyle") or "").startswith("ISO"):
        yield "set datestyle to 'ISO'", None
    if info.parameter_status("client_encoding") != "UTF8":
        yield "set client_encoding to 'UTF8'", None


def prepared() -> Steps[None]:
    """
    Make the tables that are missing. Where all are there, only look: a user who may not create
    tables, or a server that only reads, will do then.
    """
    missing = yield _MISSING, (list(TABLES),)
    if not missing:
        return
    yield "begin", None
    # `if not exists` is not race-free: of 80 set-ups at once 75 failed, and none with this lock.
    yield "select pg_advisory_xact_lock(%s)", (_LOCK,)
    for table in TABLES.values():
        yield table, None
    yield "commit", None

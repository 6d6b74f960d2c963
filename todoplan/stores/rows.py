"""
What the stores in databases (SQLite and PostgreSQL) have in common: rows, columns and queries.

A query is one statement, so that it reads a consistent state. A function makes the result from the
rows. Every key begins with the plan's id, and no statement reads several plans, so that a plan can
be moved to another database with all its rows, and tables can be sharded.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Self, TypeVar

from todoplan.codec import VERSION, load_plan
from todoplan.codec.documents import entry_from_line, entry_to_line
from todoplan.codec.engine import LIMIT, parse, to_text
from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, StoreError
from todoplan.stores.base import (
    ALL,
    Key,
    Receipt,
    check_payload,
    checked_id,
    follow,
    gone_back,
    without_gaps,
)

T = TypeVar("T")


# -------- texts --------
# The rows of plans as text. All databases store the same bytes.
#
# A row is JSON text and never a JSON type of the database: PostgreSQL's `jsonb` accepts neither
# NUL nor half a surrogate pair, and it normalizes numbers and keys. Each row states the version of
# its format. So if an older todoplan runs beside a newer one, the older one refuses only the rows
# that it cannot read.


_SNAPSHOT_FROM = 32 * 1024
# A cache of the entries that were read or written last. Each call of a planner reads an entry
# again, the last one that the planner has seen, to check that this entry is still there.
_MOST_READ, _LONGEST_READ = 256, 4096
_read: dict[tuple[int, str], Entry] = {}


_PLAIN = re.compile(r"[ !#-\[\]-~]*").fullmatch  # ASCII without controls, quotes and backslashes


def stored_name(name: object) -> str:
    """
    Return a plan id or key name as text that every database can store.

    Raises:
        PlanError: the name is not a string.
    """
    # Escaped as in a JSON string: plain characters stay as they are, so a person can search for
    # them. A usual name has no others.
    if isinstance(name, str) and _PLAIN(name):
        return name
    return to_text(checked_id(name))[1:-1]


def text_of_name(stored: str) -> str:
    """Return the original name of a `stored_name`."""
    return str(parse(f'"{stored}"'))


def line_of_entry(plan_id: str, entry: Entry) -> str:
    """
    Return the text of an entry's row, in the format of `VERSION`.

    Raises:
        CodecError: the entry contains a value that JSON cannot represent.
        StoreError: the text is too large to be read again ("too_large").
    """
    line = entry_to_line(entry)
    if len(line.encode()) > LIMIT:
        msg = (
            f"an entry of the plan {plan_id!r} would have more than {LIMIT} bytes: nothing was "
            "appended; make the change in several commands"
        )
        raise StoreError(msg, plan_id=plan_id, problem="too_large")
    _remember(VERSION, line, entry)
    return line


def _remember(version: int, line: str, entry: Entry) -> None:
    if len(line) <= _LONGEST_READ:
        if len(_read) >= _MOST_READ:
            _read.clear()
        _read[version, line] = entry


def entry_of_line(plan_id: str, revision: int, version: int, line: str) -> Entry:
    """
    Return the entry of a row.

    Raises:
        CodecError: the row is damaged or of a newer version, or its entry has another revision.
    """
    entry = _read.get((version, line))
    if entry is None:
        try:
            entry = entry_from_line(line, version=version)
        except CodecError as error:
            msg = f"the plan {plan_id!r}, entry of revision {revision}: {error}"
            path = f"{plan_id}[revision {revision}]"
            raise CodecError(msg, **{**error.data, "path": path}) from error
        _remember(version, line, entry)
    if entry.revision != revision:
        msg = f"the plan {plan_id!r}: the entry of revision {entry.revision} is under {revision}"
        raise CodecError(msg, problem="wrong_shape", path=f"{plan_id}[revision {revision}]")
    return entry


def plan_of_snapshot(plan_id: str, document: str) -> Plan:
    """
    Return the plan of a snapshot.

    Raises:
        CodecError: the snapshot is damaged, or of a newer version.
    """
    try:
        return load_plan(document)
    except CodecError as error:
        msg = f"the plan {plan_id!r}, its snapshot: {error}"
        raise CodecError(msg, **error.data) from error


def is_snapshot_due(since: int, size: int) -> bool:
    """
    Return whether a new snapshot of the plan should be written.

    `since` is the number of bytes of entries since the last snapshot, and `size` the size of that
    snapshot in bytes.
    """
    # The interval grows with the plan's size. So a load reads at most twice the size of the plan,
    # and writing snapshots costs no more than writing the entries did.
    return since > max(_SNAPSHOT_FROM, size)


# -------- queries --------


Row = tuple[Any, ...]

FORMAT = 1
"""The version of the tables: the one that is written, and the highest one that can be read."""

COLUMNS = {
    "entry": """
        plan_id text not null,
        revision bigint not null,
        version integer not null,
        line text not null,
        primary key (plan_id, revision)
    """,
    "snapshot": """
        plan_id text primary key,
        revision bigint not null,
        version integer not null,
        document text not null
    """,
    "receipt": """
        plan_id text not null,
        key text not null,
        payload text not null,
        before bigint not null, -- the revision before its entries, and after them
        after bigint not null,
        answer text not null,
        primary key (plan_id, key)
    """,
}
"""The tables whose columns are the same in all databases."""

# With PostgreSQL's names of tables and marks of parameters. `{format}` is the format of a plan's
# rows; `{clock}` is one more column, if the database has a clock.
LOADED = """
    select 0, revision, {format}, '' from todoplan_plan where id = %s
    union all
    select 1, revision, version, document from todoplan_snapshot where plan_id = %s
    union all
    select 2, revision, version, line from todoplan_entry where plan_id = %s and revision >
        coalesce((select revision from todoplan_snapshot where plan_id = %s), 0)
    order by 1, 2
"""
# The clock is read here, after a plan was locked: the locking statement would read it before it
# waits. PostgreSQL's `now()` would be the time at which the transaction began.
TAIL = """
    select e.revision, e.version, e.line, p.revision, {format}{clock}
    from todoplan_plan p left join todoplan_entry e on e.plan_id = p.id and e.revision > %s
    where p.id = %s order by e.revision
"""
RECEIPT = """
    select e.revision, e.version, e.line, r.payload, r.answer
    from todoplan_receipt r left join todoplan_entry e
    on e.plan_id = r.plan_id and e.revision > r.before and e.revision <= r.after
    where r.plan_id = %s and r.key = %s order by e.revision
"""
SNAPSHOT = """
    insert into todoplan_snapshot (plan_id, revision, version, document) values (%s, %s, %s, %s)
    on conflict (plan_id) do update set
    revision = excluded.revision, version = excluded.version, document = excluded.document
"""


def checked_format(plan_id: str, version: int) -> None:
    """
    Check that this todoplan can read the plan's rows. `version` is the version of their format.

    Raises:
        StoreError: the rows have a newer format ("newer_format").
    """
    if version > FORMAT:
        msg = (
            f"the plan {plan_id!r} has format {version}, of a newer todoplan; this one reads "
            f"formats up to {FORMAT}, and changed nothing: upgrade it"
        )
        raise StoreError(msg, plan_id=plan_id, problem="newer_format", format=version)


def plan_of_rows(plan_id: str, rows: list[Row]) -> Plan:
    """Return the plan from the result of the query `LOADED`: its snapshot and the later entries."""
    revision, plan, entries = 0, Plan(), list[Entry]()
    for kind, at, version, text in rows:
        if kind == 0:
            revision = at
            checked_format(plan_id, version)
        elif kind == 1:
            plan = plan_of_snapshot(plan_id, text)
        else:
            entries.append(entry_of_line(plan_id, at, version, text))
    plan = follow(plan, entries)
    if plan.revision != revision:
        msg = (
            f"the plan {plan_id!r} is at revision {revision}, and its journal leads to "
            f"{plan.revision}: rows are missing; restore a backup of the database"
        )
        raise StoreError(msg, plan_id=plan_id, problem="gap", revision=plan.revision)
    return plan


def tail_of_rows(plan_id: str, revision: int, rows: list[Row]) -> tuple[Entry, ...]:
    """
    Return the entries after a revision, from the result of the query `TAIL`.

    Raises:
        StoreError: the plan has not reached that revision.
        CodecError: `revision` is `ALL`, and an entry is missing or duplicated.
    """
    at, version = rows[0][3:5] if rows else (0, FORMAT)
    checked_format(plan_id, version)
    if at < revision:
        raise gone_back(plan_id, revision, at)
    entries = _entries(plan_id, rows)
    return tuple(without_gaps(entries)) if revision == ALL else entries


def receipt_of_rows(plan_id: str, key: Key, rows: list[Row]) -> Receipt | None:
    """
    Return the receipt from the result of the query `RECEIPT`, or `None` if there are no rows.

    Raises:
        StoreError: the key was used with another payload ("key_reused").
    """
    if not rows:
        return None
    payload, answer = rows[0][3:]
    check_payload(plan_id, key, payload)
    return Receipt(_entries(plan_id, rows), answer)


def _entries(plan_id: str, rows: list[Row]) -> tuple[Entry, ...]:
    # An outer join gives one row of nulls if there is no entry.
    if rows and rows[0][0] is None:
        return ()
    return tuple([entry_of_line(plan_id, row[0], row[1], row[2]) for row in rows])


def _ids_of_rows(rows: list[Row]) -> tuple[str, ...]:
    return tuple(text_of_name(row[0]) for row in rows)


class RowStore:
    """
    A `HoldingStore` whose plans are rows in a database. `_loaded`, `_tail` and `_plan_ids` are the
    queries in the SQL of that database, and `_name` turns an id into the text that is stored.
    """

    _loaded: Any
    _tail: Any
    _plan_ids: Any
    _name: Callable[[object], str] = staticmethod(stored_name)

    @abstractmethod
    def _ask(self, query: Any, values: Row, read: Callable[[list[Row]], T], doing: str, /) -> T:
        """
        Execute a query, pass its rows to `read`, and return the result of `read`.

        `doing` names the operation in error messages.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connections that are not in use. A later call opens new ones."""

    @abstractmethod
    def hold(self, plan_id: str) -> Any:
        """Lock a plan for the duration of a `with` block."""

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as its last entry left it.

        Raises:
            StoreError: the database cannot be read; `data["problem"]` says why.
            CodecError: a row of the plan is damaged, or of a newer version.
        """
        values, read = (self._name(plan_id),) * 4, partial(plan_of_rows, plan_id)
        return self._ask(self._loaded, values, read, f"load the plan {plan_id!r}")

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest entry first. A journal that was cut begins with a snapshot
        entry.

        Raises:
            TodoplanError: the same errors as `load`.
        """
        return self.entries_since(plan_id, ALL)

    def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision, oldest first.

        Raises:
            TodoplanError: the same errors as `load`; a StoreError ("rolled_back") if the plan has
                not reached that revision.
        """
        values, read = (revision, self._name(plan_id)), partial(tail_of_rows, plan_id, revision)
        return self._ask(self._tail, values, read, f"read the journal of the plan {plan_id!r}")

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of all written plans: in SQLite in the order in which they were added, in
        PostgreSQL in byte order.

        Raises:
            StoreError: the same errors as `load`.
        """
        return self._ask(self._plan_ids, (), _ids_of_rows, "list its plans")

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`; return whether they were added.

        Raises:
            TodoplanError: the same errors as `hold`; a CodecError if an entry contains a value that
                JSON cannot represent.
        """
        added: bool = self.hold(plan_id).append_if_at(expected, entries, plan)
        return added

    def compact(self, plan_id: str, *, keep: int | timedelta) -> int:
        """
        Cut a plan's journal and return the number of removed entries.

        `keep` is the number of newest entries to keep, or the maximum age of the entries to keep. A
        snapshot entry, which contains the plan, replaces the removed entries. Undo cannot go back
        further than this entry. Idempotency keys of removed entries are deleted.

        Raises:
            PlanError: `keep` is neither a number of entries nor an age.
            TodoplanError: the same errors as `hold`.
        """
        removed: int = self.hold(plan_id).done(lambda held: held.compact(keep))
        return removed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

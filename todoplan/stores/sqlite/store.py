"""`SqliteStore`: plans by id in one SQLite database."""

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.hold import ALL, gone_back
from todoplan.stores.journals import follow, without_gaps
from todoplan.stores.rows import plan_of_snapshot, stored_name, text_of_name
from todoplan.stores.sqlite.connections import Connection, Connections, Writing
from todoplan.stores.sqlite.held import SqliteHeld, entries_between, revision_of

__all__ = ["SqliteStore"]

_SNAPSHOT = "SELECT document FROM snapshot WHERE plan_id = ?"
_NAMES = "SELECT id FROM plan ORDER BY rowid"


class SqliteStore:
    """
    A `HoldingStore` in one SQLite database. Safe between threads and processes of one machine.

    A change is synced to disk before the call returns. A writer waits for others for at most
    `patience` seconds, then raises a StoreError whose `data["problem"]` is "busy". The first append
    creates the file, readable by its owner only. A store may be used after a fork.
    """

    def __init__(self, path: str | os.PathLike[str], *, patience: float = 10.0) -> None:
        given: object = path
        named = os.fspath(path) if isinstance(given, str | os.PathLike) else ""
        if not named or "\0" in named or "://" in named or named == ":memory:":
            msg = (
                f"{path!r} is no path; give the name of a file, such as SqliteStore('plans.db'); "
                "open_store takes a URL, and MemoryStore() keeps plans in memory"
            )
            raise StoreError(msg, seen=path)
        # Symbolic links are resolved, so that all names of a file have one lock. Made absolute now,
        # because the process may change its working directory.
        self.path = Path(named).resolve()
        self._connections = Connections(self.path, patience)

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as of its last entry.

        Raises:
            StoreError: the database cannot be read; `data["problem"]` says why.
            CodecError: a row of the plan is damaged, or of a newer version.
        """
        name = stored_name(plan_id)

        def load(connection: Connection) -> Plan:
            row = connection.execute(_SNAPSHOT, (name,)).fetchone()
            plan = plan_of_snapshot(plan_id, *row) if row else Plan()
            # Two queries without a transaction: rows committed between them are only newer entries.
            return follow(plan, entries_between(connection, plan_id, plan.revision))

        return self._connections.read(load, Plan())

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest entry first.

        Raises:
            TodoplanError: the same errors as `load`.
        """
        stored_name(plan_id)
        return self._connections.read(
            lambda connection: tuple(without_gaps(entries_between(connection, plan_id, ALL))), ()
        )

    def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision, oldest first.

        Raises:
            TodoplanError: the same errors as `load`; a StoreError ("rolled_back") if the plan has
                not reached that revision.
        """
        name = stored_name(plan_id)

        def tail(connection: Connection) -> tuple[Entry, ...]:
            found = revision_of(connection, name)
            if revision > found:
                raise gone_back(plan_id, revision, found)
            # Usually there is nothing new.
            return () if revision == found else entries_between(connection, plan_id, revision)

        return self._connections.read(tail, ())

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of the plans in the database, in the order in which they were added.

        Raises:
            StoreError: the same errors as `load`.
        """
        names: list[tuple[str]] = self._connections.read(
            lambda connection: connection.execute(_NAMES).fetchall(), []
        )
        return tuple(text_of_name(name) for (name,) in names)

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`; return whether they were added.

        Raises:
            TodoplanError: the same errors as `hold`; a CodecError if an entry contains a value that
                JSON cannot represent.
        """

        def append(held: SqliteHeld) -> bool:
            is_there = held.revision == expected
            if is_there:
                held.append(expected, entries, plan)
            return is_there

        return self.hold(plan_id).done(append)

    def hold(self, plan_id: str) -> "SqliteHold":
        """
        Lock a plan for the duration of a `with` block, whose end commits the appended entries.

        The whole file is locked, because SQLite allows one writer at a time.

        Raises:
            StoreError: somebody else held the lock for longer than `patience` ("busy"), this thread
                already holds it ("nested"), or the database cannot be written; `data["problem"]`
                says why.
        """
        return SqliteHold(self._connections, plan_id, stored_name(plan_id))

    def compact(self, plan_id: str, *, keep: int | timedelta) -> int:
        """
        Cut a plan's journal and return the number of removed entries.

        `keep` is the number of newest entries to keep, or the maximum age of the entries to keep.
        One entry replaces the removed ones. It has the plan as it was then, with that revision and
        time. Undo cannot go back further than this entry. Idempotency keys of removed entries are
        deleted.

        Raises:
            PlanError: `keep` is neither a number of entries nor an age.
            TodoplanError: the same errors as `hold`.
        """
        return self.hold(plan_id).done(lambda held: held.compact(keep))

    def close(self) -> None:
        """Close the idle connections. A store that is used again opens new ones."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class SqliteHold(Writing[SqliteHeld]):
    """A context manager that locks a plan, and with it the whole file."""

    def __init__(self, connections: Connections, plan_id: str, name: str) -> None:
        super().__init__(connections)
        self._path, self._plan_id, self._name = connections.path, plan_id, name

    def begin(self) -> SqliteHeld:
        """Lock the plan."""
        return SqliteHeld(self.begun(), self._path, self._plan_id, self._name)

    def keep(self, held: SqliteHeld) -> None:
        """Commit the appended entries."""
        held.over()
        self.commit()

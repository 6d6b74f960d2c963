"""The store: plans by id in one SQLite database."""

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

    What is acknowledged is on the disk. Whoever wants to write waits for others, no longer than
    `patience` seconds: then a StoreError whose `data["problem"]` is "busy" is raised. The file is
    made by the first append, and is its owner's alone. A handle may be used after a fork.
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
        # Through links, so that all names of a file have one lock; and now, as the process may
        # change its folder.
        self.path = Path(named).resolve()
        self._connections = Connections(self.path, patience)

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as of its last entry.

        Raises:
            StoreError: the database cannot be read, see its words.
            CodecError: a row of the plan is damaged, or of a newer version.
        """
        name = stored_name(plan_id)

        def load(connection: Connection) -> Plan:
            row = connection.execute(_SNAPSHOT, (name,)).fetchone()
            plan = plan_of_snapshot(plan_id, *row) if row else Plan()
            # Two looks, and no transaction: what came in between is only more of the same.
            return follow(plan, entries_between(connection, plan_id, plan.revision))

        return self._connections.read(load, Plan())

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest first.

        Raises:
            TodoplanError: as of `load`.
        """
        stored_name(plan_id)
        return self._connections.read(
            lambda connection: tuple(without_gaps(entries_between(connection, plan_id, ALL))), ()
        )

    def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries behind a revision, oldest first.

        Raises:
            TodoplanError: as of `load`; a StoreError ("rolled_back") if the plan is not that far.
        """
        name = stored_name(plan_id)

        def tail(connection: Connection) -> tuple[Entry, ...]:
            found = revision_of(connection, name)
            if revision > found:
                raise gone_back(plan_id, revision, found)
            # Most looks find nothing new.
            return () if revision == found else entries_between(connection, plan_id, revision)

        return self._connections.read(tail, ())

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of the plans that the database keeps, in the order in which they came.

        Raises:
            StoreError: as of `load`.
        """
        names: list[tuple[str]] = self._connections.read(
            lambda connection: connection.execute(_NAMES).fetchall(), []
        )
        return tuple(text_of_name(name) for (name,) in names)

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`, and say whether that was so.

        Raises:
            TodoplanError: as of `hold`; a CodecError if an entry holds what JSON cannot.
        """

        def append(held: SqliteHeld) -> bool:
            is_there = held.revision == expected
            if is_there:
                held.append(expected, entries, plan)
            return is_there

        return self.hold(plan_id).done(append)

    def hold(self, plan_id: str) -> "SqliteHold":
        """
        Hold a plan for the length of a `with`; what was appended is committed at its end.

        The whole file is held, which SQLite writes for one at a time.

        Raises:
            StoreError: somebody else has held it for longer than `patience` ("busy"), or this
                thread itself ("nested"); the database cannot be written, see its words.
        """
        return SqliteHold(self._connections, plan_id, stored_name(plan_id))

    def compact(self, plan_id: str, *, keep: int | timedelta) -> int:
        """
        Cut a plan's journal: keep so many entries, or those that are no older; return how many
        were cut.

        In their place one entry gives the plan as it was then, at revision and time: undo does not
        go behind it, and a key that came with a cut entry is forgotten with it.

        Raises:
            PlanError: `keep` is neither a number of entries nor an age.
            TodoplanError: as of `hold`.
        """
        return self.hold(plan_id).done(lambda held: held.compact(keep))

    def close(self) -> None:
        """
        Close the connections that are idle. A store that is used again opens new ones.
        """
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
    """
    A plan that is held, and the whole file with it, for the length of a `with`.
    """

    def __init__(self, connections: Connections, plan_id: str, name: str) -> None:
        super().__init__(connections)
        self._path, self._plan_id, self._name = connections.path, plan_id, name

    def begin(self) -> SqliteHeld:
        """
        Hold the plan.
        """
        return SqliteHeld(self.begun(), self._path, self._plan_id, self._name)

    def keep(self, held: SqliteHeld) -> None:
        """
        Commit what was appended.
        """
        held.over()
        self.commit()

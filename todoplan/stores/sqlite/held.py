"""The operations on a locked plan, all within one SQLite transaction."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.hold import ALL, Key, Receipt, checked_receipt, gone_back, not_held, overtaken
from todoplan.stores.journals import CUT, beginning, cut_at, follow, is_beginning
from todoplan.stores.rows import (
    VERSION,
    entry_of_line,
    is_snapshot_due,
    line_of_entry,
    snapshot_of_plan,
    stored_name,
)
from todoplan.stores.sqlite.connections import Connection
from todoplan.stores.sqlite.weather import in_words

__all__ = ["TO_THE_END", "SqliteHeld", "entries_between", "revision_of"]

TO_THE_END = 2**63 - 1
"""SQLite's largest integer: no revision is larger."""

_PLAN = "SELECT revision, since, size FROM plan WHERE id = ?"
_ENTRIES = """
    SELECT revision, version, line FROM entry
    WHERE plan_id = ? AND revision > ? AND revision <= ? ORDER BY revision
"""
_APPEND = "INSERT INTO entry (plan_id, revision, version, line) VALUES (?, ?, ?, ?)"
_MOVE = """
    INSERT INTO plan (id, revision, since, size) VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE
    SET revision = excluded.revision, since = excluded.since, size = excluded.size
"""
_SNAPSHOT = """
    INSERT INTO snapshot (plan_id, revision, version, document) VALUES (?, ?, ?, ?)
    ON CONFLICT (plan_id) DO UPDATE
    SET revision = excluded.revision, version = excluded.version, document = excluded.document
"""
_RECEIPT = "SELECT payload, before, after, answer FROM receipt WHERE plan_id = ? AND key = ?"
_CUT = "DELETE FROM entry WHERE plan_id = ? AND revision <= ?"
_FORGET = "DELETE FROM receipt WHERE plan_id = ? AND after <= ?"
_SIGN = """
    INSERT INTO receipt (plan_id, key, payload, before, after, answer) VALUES (?, ?, ?, ?, ?, ?)
"""


def revision_of(connection: Connection, name: str) -> int:
    """Return the revision of a plan by its stored name; 0 if the plan was never written."""
    row = connection.execute(_PLAN, (name,)).fetchone()
    return row[0] if row else 0


def entries_between(
    connection: Connection, plan_id: str, after: int, until: int = TO_THE_END
) -> tuple[Entry, ...]:
    """Return the entries after revision `after`, up to and including revision `until`."""
    rows = connection.execute(_ENTRIES, (stored_name(plan_id), after, until)).fetchall()
    return tuple(entry_of_line(plan_id, *row) for row in rows)


class SqliteHeld:
    """A locked plan: see `todoplan.stores.hold.Held`."""

    def __init__(self, connection: Connection, path: Path, plan_id: str, name: str) -> None:
        self._connection: Connection | None = connection
        self._path = path
        self._plan_id = plan_id
        self._name = name
        self._is_broken = False
        with in_words(path):
            row: tuple[int, int, int] | None = connection.execute(_PLAN, (self._name,)).fetchone()
        self.revision, self._since, self._size = row or (0, 0, 0)

    def now(self) -> datetime:
        """Return the time of this machine's clock. All users of the file share the machine."""
        return datetime.now(UTC)

    def entries_since(self, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision.

        Raises:
            StoreError: the plan has not reached that revision ("rolled_back").
        """
        if revision > self.revision:
            raise gone_back(self._plan_id, revision, self.revision)
        return self._between(revision)

    def receipt(self, key: Key) -> Receipt | None:
        """
        Return the result of the append that carried this key.

        Raises:
            StoreError: the key was used with another payload ("key_reused").
        """
        given = (self._name, stored_name(key.name))
        with in_words(self._path):
            row = self._open().execute(_RECEIPT, given).fetchone()
        if row is None:
            return None
        payload, before, after, answer = row
        # Check the key first: entries of a different request are not read.
        found = checked_receipt(self._plan_id, key, payload, Receipt((), answer))
        return Receipt(self._between(before, after), found.answer)

    def append(
        self,
        expected: int,
        entries: Sequence[Entry],
        plan: Plan,
        *,
        key: Key | None = None,
        answer: str = "",
    ) -> tuple[Entry, ...]:
        """
        Add entries, or return the entries of the earlier append with the same key.

        Raises:
            StoreError: the plan is at another revision ("overtaken"), the key was used with another
                payload ("key_reused"), or an entry is too large.
            CodecError: an entry contains a value that JSON cannot represent.
        """
        if key is not None and (found := self.receipt(key)):
            return found.entries
        if expected != self.revision:
            raise overtaken(self._plan_id, expected, self.revision)
        # Iterate and encode before the first statement: if either raises, nothing was written.
        added = tuple(entries)
        lines = [line_of_entry(self._plan_id, entry) for entry in added]
        with self._at_once() as connection:
            for entry, line in zip(added, lines, strict=True):
                connection.execute(_APPEND, (self._name, entry.revision, VERSION, line))
                self._since += len(line.encode())
            if is_snapshot_due(self._since, self._size):
                self._keep(connection, plan)
            connection.execute(_MOVE, (self._name, plan.revision, self._since, self._size))
            if key is not None:
                signed = (key.payload, expected, plan.revision, answer)
                connection.execute(_SIGN, (self._name, stored_name(key.name), *signed))
            self.revision = plan.revision
        return added

    def compact(self, keep: int | timedelta) -> int:
        """
        Cut the journal: see `SqliteStore.compact`.

        Raises:
            PlanError: `keep` is neither a number of entries nor an age.
        """
        journal = self._between(ALL)
        cut = journal[: cut_at(journal, keep, self.now())]
        # A snapshot entry is not a change, and cutting it alone would leave an equal one in its
        # place.
        lost = [entry for entry in cut if not is_beginning(entry)]
        if not lost:
            return 0
        then = follow(Plan(), cut)
        line = line_of_entry(self._plan_id, beginning(then, CUT, cut[-1].at))
        with self._at_once() as connection:
            connection.execute(_CUT, (self._name, then.revision))
            connection.execute(_FORGET, (self._name, then.revision))
            connection.execute(_APPEND, (self._name, then.revision, VERSION, line))
            self._keep(connection, follow(then, journal[len(cut) :]))
            connection.execute(_MOVE, (self._name, self.revision, self._since, self._size))
        return len(lost)

    def over(self) -> None:
        """
        Release the plan.

        Raises:
            StoreError: an append failed halfway, and its error was caught inside the `with`.
        """
        self._connection = None
        if self._is_broken:
            msg = (
                f"an append to the plan {self._plan_id!r} has failed, and what it raised was "
                "caught: nothing of what was appended is kept; let it through"
            )
            raise StoreError(msg, plan_id=self._plan_id, problem="broken")

    def _keep(self, connection: Connection, plan: Plan) -> None:
        """Save the plan's snapshot, from which it is loaded."""
        document = snapshot_of_plan(plan)
        self._since, self._size = 0, len(document.encode())
        connection.execute(_SNAPSHOT, (self._name, plan.revision, VERSION, document))

    def _between(self, after: int, until: int = TO_THE_END) -> tuple[Entry, ...]:
        with in_words(self._path):
            return entries_between(self._open(), self._plan_id, after, until)

    @contextmanager
    def _at_once(self) -> Iterator[Connection]:
        """Yield the connection for statements that are saved together or not at all."""
        with in_words(self._path):
            connection = self._open()
            self._is_broken = True
            yield connection
            self._is_broken = False

    def _open(self) -> Connection:
        if self._connection is None:
            raise not_held(self._plan_id)
        return self._connection

"""
The rows of plans in a database, as text. All databases store the same bytes.

A row is JSON text and never a JSON type of the database: PostgreSQL's `jsonb` accepts neither NUL
nor half a surrogate pair, and it normalizes numbers and keys. Each row states the version of its
format, so an older todoplan that runs beside a newer one refuses only the rows that it cannot read.
"""

from todoplan.codec import VERSION, dump_plan, load_plan
from todoplan.codec.journals import entry_from_line, entry_to_line
from todoplan.codec.text import LIMIT, parse, to_text
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, StoreError
from todoplan.stores.base import checked_id

__all__ = [
    "VERSION",
    "entry_of_line",
    "is_snapshot_due",
    "line_of_entry",
    "plan_of_snapshot",
    "snapshot_of_plan",
    "stored_name",
    "text_of_name",
]

_SNAPSHOT_FROM = 32 * 1024
# Each planner call reads the last entry it knows again, to check that the entry is still there.
_MOST_READ, _LONGEST_READ = 256, 4096
_read: dict[tuple[int, str], Entry] = {}


def stored_name(name: object) -> str:
    """
    Return a plan id or key name as text that every database can store.

    Raises:
        PlanError: the name is not a string.
    """
    # Escaped as in a JSON string: plain characters stay as they are, so a person can search for
    # them.
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
    if len(line) > LIMIT or len(line.encode()) > LIMIT:
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
        CodecError: the row is damaged, is stored under another revision than its own, or is of a
            newer version.
    """
    path = f"{plan_id}[revision {revision}]"
    try:
        entry = _read.get((version, line)) or entry_from_line(line, version=version)
    except CodecError as error:
        msg = f"the plan {plan_id!r}, entry of revision {revision}: {error}"
        raise CodecError(msg, **{**error.data, "path": path}) from error
    if entry.revision != revision:
        msg = (
            f"the plan {plan_id!r}: the entry of revision {entry.revision} stands under {revision}"
        )
        raise CodecError(msg, problem="wrong_shape", path=path)
    _remember(version, line, entry)
    return entry


def snapshot_of_plan(plan: Plan) -> str:
    """Return the text of a plan's snapshot."""
    return dump_plan(plan, check=True)


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
    # The interval grows with the plan's size: a load reads at most twice the plan, and writing
    # snapshots costs no more than writing the entries did, however large the plan is.
    return since > max(_SNAPSHOT_FROM, size)

"""
What a database keeps of plans, as text: the same in every engine, so that they hold equal bytes.

A row is JSON text, never a JSON type of the engine's: PostgreSQL's `jsonb` takes neither NUL nor
half a surrogate pair, and turns numbers and keys as it likes. Each row names the version of its
form, so an older todoplan beside a newer one refuses the rows that it cannot read, and no others.
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
# Planners read the entry that they know again with each call, to see whether it is still there.
_MOST_READ, _LONGEST_READ = 256, 4096
_read: dict[tuple[int, str], Entry] = {}


def stored_name(name: object) -> str:
    """
    Return the id of a plan, or the name of a key, as a text that every database can hold.

    Raises:
        PlanError: it is no text.
    """
    # As within a JSON text: what is plain stays as it is, so that a person finds it.
    return to_text(checked_id(name))[1:-1]


def text_of_name(stored: str) -> str:
    """
    Return what `stored_name` was given.
    """
    return str(parse(f'"{stored}"'))


def line_of_entry(plan_id: str, entry: Entry) -> str:
    """
    Return an entry as its row holds it, in the form of `VERSION`.

    Raises:
        CodecError: it holds what JSON cannot.
        StoreError: it is too large to be read again ("too_large").
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
        CodecError: it is damaged, stands under another revision than its own, or is of a newer
            version.
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
    """
    Return a plan as its snapshot holds it.
    """
    return dump_plan(plan, check=True)


def plan_of_snapshot(plan_id: str, document: str) -> Plan:
    """
    Return the plan of a snapshot.

    Raises:
        CodecError: it is damaged, or of a newer version.
    """
    try:
        return load_plan(document)
    except CodecError as error:
        msg = f"the plan {plan_id!r}, its snapshot: {error}"
        raise CodecError(msg, **error.data) from error


def is_snapshot_due(since: int, size: int) -> bool:
    """
    Say whether a plan is to be kept as a whole: so many bytes of entries came `since` it last was,
    and had a `size` then.
    """
    # In step with its size: a load reads twice the plan at most, and writing snapshots costs no
    # more than writing the entries did, however large the plan is.
    return since > max(_SNAPSHOT_FROM, size)

"""The queries, once for both stores. Each is one statement, so that it reads a consistent state."""

from datetime import UTC, datetime
from typing import LiteralString

import attrs

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.hold import Key, Receipt, checked_receipt, gone_back
from todoplan.stores.journals import follow
from todoplan.stores.postgres.schema import FORMAT, LONGEST, Row, Steps
from todoplan.stores.rows import (
    entry_of_line,
    plan_of_snapshot,
    stored_name,
    text_of_name,
)

__all__ = [
    "TAIL",
    "Tail",
    "checked_format",
    "clock",
    "loaded",
    "name_in_row",
    "plan_ids",
    "receipt",
    "revision_of",
    "tail",
]

# The clock is selected here, after the lock was taken; in the locking statement it would be read
# before the wait. Not `now()`, which is the time at which the transaction began.
TAIL: LiteralString = """
select p.revision, p.format, clock_timestamp(), e.revision, e.version, e.line
from todoplan_plan p left join todoplan_entry e on e.plan_id = p.id and e.revision > %s
where p.id = %s order by e.revision
"""
_LOADED: LiteralString = """
select 0, revision, format, '' from todoplan_plan where id = %s
union all
select 1, revision, version, document from todoplan_snapshot where plan_id = %s
union all
select 2, revision, version, line from todoplan_entry where plan_id = %s and revision > coalesce(
    (select revision from todoplan_snapshot where plan_id = %s), 0)
order by 1, 2
"""
_RECEIPT: LiteralString = """
select r.payload, r.answer, e.revision, e.version, e.line
from todoplan_receipt r left join todoplan_entry e
on e.plan_id = r.plan_id and e.revision > r.before and e.revision <= r.after
where r.plan_id = %s and r.key = %s order by e.revision
"""
_PLAN_IDS: LiteralString = """
select id from todoplan_plan where revision > 0 order by id collate "C"
"""


@attrs.frozen
class Tail:
    """The entries after a revision, with the plan's revision and the server's time of the query."""

    revision: int = 0
    clock: datetime | None = None
    entries: tuple[Entry, ...] = ()


def name_in_row(name: str) -> str:
    """
    Return a plan id or key name as it is stored in the tables.

    Raises:
        PlanError: the name is not a string.
        StoreError: the name is too long for an index.
    """
    stored = stored_name(name)
    if len(stored) * 4 > LONGEST and (size := len(stored.encode())) > LONGEST:
        msg = (
            f"the name {name[:50]!r}... has {size} bytes, and PostgreSQL's indexes take {LONGEST}; "
            "take a shorter one, such as a hash of it"
        )
        raise StoreError(msg, problem="too_large", seen=name)
    return stored


def checked_format(plan_id: str, found: int) -> None:
    """
    Return if this version can read the plan's rows.

    Raises:
        StoreError: the rows have a newer format ("newer_format").
    """
    if found > FORMAT:
        msg = (
            f"the plan {plan_id!r} is kept in format {found}, by a newer todoplan; this one knows "
            f"formats up to {FORMAT} and changed nothing: upgrade it"
        )
        raise StoreError(msg, plan_id=plan_id, problem="newer_format", format=found)


def loaded(plan_id: str) -> Steps[Plan]:
    """Return the plan: its snapshot with the later entries applied."""
    rows: list[Row] = yield _LOADED, (name_in_row(plan_id),) * 4
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
            f"{plan.revision}: rows are missing; bring back a copy of the database"
        )
        raise StoreError(msg, plan_id=plan_id, problem="gap", revision=plan.revision)
    return plan


def tail(plan_id: str, revision: int) -> Steps[Tail]:
    """
    Return the entries after a revision.

    Raises:
        StoreError: the plan has not reached that revision.
    """
    rows: list[Row] = yield TAIL, (revision, name_in_row(plan_id))
    found = Tail()
    if rows:
        at, version, time = rows[0][:3]
        checked_format(plan_id, version)
        lines = (row[3:] for row in rows if row[3] is not None)
        entries = tuple(entry_of_line(plan_id, *line) for line in lines)
        found = Tail(at, time.astimezone(UTC), entries)
    if found.revision < revision:
        raise gone_back(plan_id, revision, found.revision)
    return found


def revision_of(plan_id: str) -> Steps[int]:
    """Return a plan's revision; 0 if the plan was never written."""
    rows = yield "select revision from todoplan_plan where id = %s", (name_in_row(plan_id),)
    return rows[0][0] if rows else 0


def plan_ids() -> Steps[tuple[str, ...]]:
    """Return the ids of all written plans, in byte order."""
    rows = yield _PLAN_IDS, None
    return tuple(text_of_name(row[0]) for row in rows)


def clock() -> Steps[datetime]:
    """Return the server's time."""
    rows = yield "select clock_timestamp()", None
    time: datetime = rows[0][0]
    return time.astimezone(UTC)


def receipt(plan_id: str, key: Key) -> Steps[Receipt | None]:
    """
    Return the result of the append that carried a key.

    Raises:
        StoreError: the key was used with another payload.
    """
    rows: list[Row] = yield _RECEIPT, (name_in_row(plan_id), name_in_row(key.name))
    if not rows:
        return None
    payload, answer = rows[0][:2]
    lines = (row[2:] for row in rows if row[2] is not None)
    entries = tuple(entry_of_line(plan_id, *line) for line in lines)
    found = Receipt(entries, text_of_name(answer))
    return checked_receipt(plan_id, key, text_of_name(payload), found)

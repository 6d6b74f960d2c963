"""
The writing statements, once for both stores, on a locked plan. No statement decides anything.

A plan is locked by locking its row, in a statement of its own under READ COMMITTED: a statement
sees the data as of its start, which is before it waited for the lock. All reads come after this
statement.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import LiteralString

import attrs

from todoplan.codec.text import LIMIT
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.stores.hold import ALL, Key
from todoplan.stores.journals import CUT, beginning, cut_at, follow, is_beginning
from todoplan.stores.postgres.reading import checked_format, name_in_row, tail
from todoplan.stores.postgres.schema import CHANNEL, FORMAT, Steps
from todoplan.stores.rows import (
    VERSION,
    is_snapshot_due,
    line_of_entry,
    snapshot_of_plan,
    stored_name,
)

__all__ = ["ADD", "LOCK", "Locked", "added", "begin", "cut", "locked"]

_LONGEST_HOLD = "60s"
"""
The idle time after which the server rolls back a lock holder that was stopped or disconnected, so
that others can continue. Deciding takes milliseconds.
"""

LOCK: LiteralString = """
select revision, format, since, size from todoplan_plan where id = %s for update
"""
_NEW: LiteralString = """
insert into todoplan_plan (id, revision, format) values (%s, 0, %s) on conflict do nothing
"""
ADD: LiteralString = """
with entry as (
    insert into todoplan_entry (plan_id, revision, version, line)
    select %(plan)s, new.revision, %(version)s, new.line
    from unnest(%(revisions)s::bigint[], %(lines)s::text[]) as new (revision, line)
), receipt as (
    insert into todoplan_receipt (plan_id, key, payload, before, after, answer)
    select %(plan)s, new.key, %(payload)s, %(before)s, %(after)s, %(answer)s
    from unnest(%(keys)s::text[]) as new (key)
)
update todoplan_plan set revision = %(after)s, since = %(since)s where id = %(plan)s
returning case when %(announced)s then pg_notify(%(channel)s, %(news)s) end
"""
_SNAPSHOT: LiteralString = """
with snapshot as (
    insert into todoplan_snapshot (plan_id, revision, version, document)
    values (%(plan)s, %(revision)s, %(version)s, %(document)s)
    on conflict (plan_id) do update set
    revision = excluded.revision, version = excluded.version, document = excluded.document
)
update todoplan_plan set since = 0, size = %(size)s where id = %(plan)s
"""
_CUT: LiteralString = """
with entry as (
    delete from todoplan_entry where plan_id = %(plan)s and revision < %(revision)s
), receipt as (
    delete from todoplan_receipt where plan_id = %(plan)s and before < %(revision)s
)
update todoplan_entry set version = %(version)s, line = %(line)s
where plan_id = %(plan)s and revision = %(revision)s
"""


@attrs.frozen
class Locked:
    """The row of a locked plan."""

    plan_id: str
    revision: int
    since: int
    size: int


def begin(patience: float) -> bytes:
    """Return the statements that begin a transaction with a lock timeout of `patience` seconds."""
    # Sent together with `begin`, and for this transaction only: session settings would need a round
    # trip, and behind a connection pooler they would apply to another client.
    return (
        "begin isolation level read committed;"
        f"set local lock_timeout = '{max(1, round(patience * 1000))}ms';"
        f"set local idle_in_transaction_session_timeout = '{_LONGEST_HOLD}'"
    ).encode()


def locked(plan_id: str, begun: bytes) -> Steps[Locked]:
    """
    Begin a transaction and lock the plan's row.

    A plan that was never written gets a row, which is rolled back if nothing is appended.
    """
    stored = name_in_row(plan_id)
    yield begun, None
    rows = yield LOCK, (stored,)
    if not rows:
        yield _NEW, (stored, FORMAT)
        rows = yield LOCK, (stored,)
    revision, version, since, size = rows[0]
    checked_format(plan_id, version)
    return Locked(plan_id, revision, since, size)


def added(
    at: Locked,
    entries: Sequence[Entry],
    plan: Plan,
    *,
    key: tuple[Key, str] | None = None,
    announced: bool = True,
) -> Steps[Locked]:
    """
    Add entries to the locked plan, and return the plan's updated row.

    `key` is an idempotency key and the answer that is stored with it.

    Raises:
        StoreError: an entry is too large to be read again.
        CodecError: an entry contains a value that JSON cannot represent.
    """
    lines = [line_of_entry(at.plan_id, entry) for entry in entries]
    since = at.since + sum(len(line.encode()) for line in lines)
    named, answer = key or (Key(""), "")
    values = {
        "plan": name_in_row(at.plan_id),
        "version": VERSION,
        "revisions": [entry.revision for entry in entries],
        "lines": lines,
        "keys": [name_in_row(named.name)] if key else [],
        # A payload or an answer may contain any character, but PostgreSQL's texts cannot contain
        # NUL.
        "payload": stored_name(named.payload),
        "answer": stored_name(answer),
        "before": at.revision,
        "after": plan.revision,
        "since": since,
        "announced": announced,
        "channel": CHANNEL,
        "news": f"{name_in_row(at.plan_id)}:{plan.revision}",
    }
    yield ADD, values
    if not is_snapshot_due(since, at.size):
        return Locked(at.plan_id, plan.revision, since, at.size)
    return (yield from _snapshot(at.plan_id, plan))


def cut(plan_id: str, keep: int | timedelta) -> Steps[int]:
    """
    Replace the oldest entries of the locked plan by one snapshot entry; return the number removed.

    Raises:
        PlanError: `keep` is neither a number of entries nor an age.
    """
    found = yield from tail(plan_id, ALL)
    going = found.entries[: cut_at(found.entries, keep, found.clock or datetime.now(UTC))]
    # A snapshot entry is not a change, and cutting it alone would leave an equal one in its place.
    lost = [entry for entry in going if not is_beginning(entry)]
    if not lost:
        return 0
    then = follow(Plan(), going)
    values = {
        "plan": name_in_row(plan_id),
        "revision": then.revision,
        "version": VERSION,
        "line": line_of_entry(plan_id, beginning(then, CUT, going[-1].at)),
    }
    yield _CUT, values
    yield from _snapshot(plan_id, follow(then, found.entries[len(going) :]))
    return len(lost)


def _snapshot(plan_id: str, plan: Plan) -> Steps[Locked]:
    document = snapshot_of_plan(plan)
    size = len(document.encode())
    # A larger one could not be read again. Without a snapshot the journal gives the plan.
    if size <= LIMIT:
        values = {
            "plan": name_in_row(plan_id),
            "revision": plan.revision,
            "version": VERSION,
            "document": document,
            "size": size,
        }
        yield _SNAPSHOT, values
    return Locked(plan_id, plan.revision, 0, size)

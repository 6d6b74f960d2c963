"""
The messages for a page: first a snapshot of the plan, then its changes.

A change contains the tasks as they are now, not the events. So ten changes can be merged into
one message for a slow page, and receiving a message twice does no harm. Each message also has
the rows of the timeline, one for each journal entry.

    snapshot: {plan, revision, next_id, approved, tasks: [...], rows: [...], earlier: true}
    change:   {revision, next_id, approved, tasks: [...], gone: [ids], order: [ids], rows: [...]}

Tasks are encoded as by `todoplan.codec`. If a change has no `order`, the old tasks keep their
order, and the new tasks come after them. `earlier` is true if there are older rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from todoplan.codec import plan_to_data
from todoplan.codec.documents import written
from todoplan.codec.engine import write_fields
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import differences
from todoplan.core.events.drift import Drift, drift
from todoplan.core.events.types import PlanRestored
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import critical_path, stuck
from todoplan.errors import PlanError
from todoplan.render.outline import event_phrases, summary
from todoplan.stores.base import follow, is_beginning, plan_after

MOST_ROWS = 200
"""The number of timeline rows that are sent at once. The page requests older rows separately."""

_MOST_IDS = 50


def snapshot(plan_id: str, plan: Plan, journal: Sequence[Entry]) -> dict[str, Any]:
    """Return the current plan, with the last rows of its timeline."""
    document = plan_to_data(plan)
    return {
        "plan": plan_id,
        **{name: document[name] for name in ("revision", "next_id", "tasks")},
        "approved": document.get("approved"),
        "rows": last_rows(journal, plan),
        "earlier": len(journal) > MOST_ROWS,
    }


def change(was: Plan, now: Plan, entries: Iterable[Entry]) -> dict[str, Any]:
    """
    Return the changes from plan `was` to plan `now`, with the rows of `entries` between them.

    Raises:
        CodecError: a task has a value that JSON cannot represent.
    """
    changes = differences(was, now)
    gone = [difference.task.id for difference in changes if difference.now is None]
    missing = set(gone)
    order = [task.id for task in was if task.id not in missing]
    order += [difference.task.id for difference in changes if difference.was is None]
    ids = [task.id for task in now]
    return {
        "revision": now.revision,
        "next_id": now.next_id,
        "approved": now.approved and write_fields(now.approved),
        "tasks": written(difference.now for difference in changes if difference.now is not None),
        "gone": gone,
        **({"order": ids} if ids != order else {}),
        "rows": rows_of([*entries][-MOST_ROWS:], now, was),
    }


def last_rows(journal: Sequence[Entry], plan: Plan) -> list[dict[str, Any]]:
    """Return the last entries of a journal as rows of the timeline. `journal` must be complete."""
    entries = journal[-MOST_ROWS:]
    # The row of an undo is computed from the plan before the undo. To replay a long journal takes a
    # while, so this is done only if there is an undo among the last entries.
    puts_back = any(isinstance(event, PlanRestored) for entry in entries for event in entry.events)
    return rows_of(entries, plan, follow(Plan(), journal[:-MOST_ROWS]) if puts_back else None)


def rows_of(
    entries: Iterable[Entry], plan: Plan, before: Plan | None = None
) -> list[dict[str, Any]]:
    """
    Return entries as rows of the timeline, oldest first.

    The subjects of tasks come from `plan`. `before` is the plan before the first entry, or `None`
    if it is unknown.
    """
    rows = []
    for entry in entries:
        # A reader that missed many entries does not receive all of them. Then `before` is not the
        # plan before this entry.
        follows = before is not None and before.revision + len(entry.events) == entry.revision
        if not follows and not is_beginning(entry):
            before = None
        rows.append(
            {
                "revision": entry.revision,
                "at": entry.at and entry.at.isoformat(),
                "actor": entry.actor,
                "cause": entry.cause,
                "undoes": entry.undoes,
                "what": event_phrases(entry.events, plan, before),
                "tasks": [*dict.fromkeys(i for e in entry.events for i in e.task_ids)][:_MOST_IDS],
            }
        )
        before = None if before is None else plan_after(before, entry)
    return rows


def insight(plan: Plan, journal: Sequence[Entry]) -> dict[str, Any]:
    """Return the results that need a walk over the plan: critical path, stuck tasks and drift."""
    path, minutes = critical_path(plan)
    return {
        "revision": plan.revision,
        "path": path,
        "minutes": minutes,
        "stuck": stuck(plan),
        "drift": _drift(plan, journal),
    }


def _drift(plan: Plan, journal: Sequence[Entry]) -> dict[str, Any]:
    if plan.approved is None:
        return {"message": "Nobody has approved this plan yet."}
    try:
        found = drift(plan, journal)
    except PlanError as error:
        return {"message": str(error)}
    return {
        "message": "" if found else "Nothing has changed in what was approved.",
        "approved": write_fields(found.approval),
        **{
            kind: [
                {
                    "task": difference.task.id,
                    "subject": difference.task.subject,
                    "actor": difference.actor,
                    "fields": Drift.fields(difference),
                }
                for difference in getattr(found, kind)
            ]
            for kind in ("came", "went", "changed")
        },
    }


def summary_of(plan_id: str, plan: Plan) -> dict[str, Any]:
    """Return one plan as an entry of the list of all plans."""
    return {
        "plan": plan_id,
        "revision": plan.revision,
        "counts": plan.counts._asdict(),
        "waiting": sum(1 for _ in plan.waiting()),
        "message": summary(plan),
    }

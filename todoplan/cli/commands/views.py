"""
`todoplan list`, `log`, `diff` and `drift`: a plan as it stands, how it came to be, and what has
changed, between two revisions or since somebody approved it.

    {"format": "todoplan/list", "version": 1, "plan": "garden", "document": {...}, "ready": ["3"]}
    {"format": "todoplan/log", "version": 1, "plan": "garden", "entries": [...]}
    {"format": "todoplan/diff", "version": 1, "plan": "garden", "since": 4, "until": 9,
     "tasks": [{"was": {...} or null, "now": {...} or null}]}
    {"format": "todoplan/drift", "version": 1, "plan": "garden", "revision": 9,
     "approved": {"revision": 4, "by": "ann", "at": "..."},
     "tasks": [{"was", "now", "fields": ["subject"], "actor": "model" or null}]}

`document` is a plan document, `entries` are those of a journal, and tasks are as in a plan
document, all as `todoplan.codec` writes them.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from rich.text import Text

from todoplan.cli.exit_codes import UNREADABLE
from todoplan.cli.output.changes import difference_lines, log_lines
from todoplan.cli.output.json_document import line
from todoplan.cli.output.screen import Screen
from todoplan.cli.output.text import plan_lines
from todoplan.cli.plan_options import Place
from todoplan.codec import entry_to_data, plan_to_data
from todoplan.codec.objects import write_fields
from todoplan.codec.tasks import write_task
from todoplan.core.events.apply import replay
from todoplan.core.events.base import differences
from todoplan.core.events.drift import Drift, drift
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import ready
from todoplan.errors import ReadError, TodoplanError
from todoplan.render.drift import drift_to_text
from todoplan.stores.journals import follow

__all__ = ["VERSION", "show_differences", "show_drift", "show_log", "show_plan"]

VERSION = 1


def show_plan(place: Place, screen: Screen, *, only_ready: bool, as_json: bool) -> int:
    """
    Print the plan, or only the tasks that are ready; return the exit code.
    """

    def view() -> None:
        store, plan_id = place.opened()
        plan = store.load(plan_id)
        wanted = {task.id for task in ready(plan)}
        if as_json:
            ids = [task.id for task in ready(plan)]
            _write(screen, "list", plan_id, document=plan_to_data(plan), ready=ids)
            return
        head, *rows = plan_lines(plan, screen.out)
        shown = [
            row for row, task in zip(rows, plan, strict=True) if not only_ready or task.id in wanted
        ]
        screen.show((head, *shown))

    return _seen(view, screen)


def show_log(place: Place, screen: Screen, *, last: int, as_json: bool) -> int:
    """
    Print the last entries of the plan's journal (0 for all), oldest first; return the exit code.
    """

    def view() -> None:
        store, plan_id = place.opened()
        journal = store.entries(plan_id)
        shown = journal[-last:]
        if as_json:
            _write(screen, "log", plan_id, entries=[entry_to_data(entry) for entry in shown])
            return
        if more := len(journal) - len(shown):
            screen.show([Text(f"  {more} earlier; --last 0 shows all", "dim")])
        screen.show(log_lines(journal, len(shown), screen.out))

    return _seen(view, screen)


def show_differences(
    place: Place, screen: Screen, since: int | None, until: int | None, *, as_json: bool
) -> int:
    """
    Print in which tasks two revisions of the plan differ; return the exit code.

    Without `since` the last entry is shown, without `until` the plan as it is.
    """

    def view() -> None:
        store, plan_id = place.opened()
        journal = store.entries(plan_id)
        last = journal[-1].revision if journal else 0
        before = last - len(journal[-1].events) if journal else 0
        first, end = before if since is None else since, last if until is None else until
        if not first <= end <= last:
            msg = f"revisions {first} to {end} were asked for; the plan has those from 0 to {last}"
            raise ReadError(msg)
        was, now = _at(journal, first), _at(journal, end)
        found = differences(was, now)
        if as_json:
            tasks = [
                {"was": each.was and write_task(each.was), "now": each.now and write_task(each.now)}
                for each in found
            ]
            _write(screen, "diff", plan_id, since=first, until=end, tasks=tasks)
            return
        screen.show((Text(f"revision {first} to {end}", "bold"), *difference_lines(found)))

    return _seen(view, screen)


def show_drift(place: Place, screen: Screen, *, as_json: bool) -> int:
    """
    Print what came, went and changed since the plan was approved; return the exit code.
    """

    def view() -> None:
        store, plan_id = place.opened()
        journal = store.entries(plan_id)
        plan = follow(Plan(), journal)
        if plan.approved is None:
            msg = "nobody has approved this plan yet: `todoplan approve` agrees to it as it stands"
            raise ReadError(msg, plan=plan_id)
        found = drift(plan, journal)
        if as_json:
            tasks = [
                {
                    "was": each.was and write_task(each.was),
                    "now": each.now and write_task(each.now),
                    "fields": list(Drift.fields(each)),
                    "actor": each.actor,
                }
                for each in (*found.came, *found.went, *found.changed)
            ]
            approved = write_fields(found.approval)
            _write(screen, "drift", plan_id, revision=plan.revision, approved=approved, tasks=tasks)
            return
        screen.show(map(Text, drift_to_text(found).split("\n")))

    return _seen(view, screen)


def _at(journal: Iterable[Entry], revision: int) -> Plan:
    # Each event counts one revision, so a number within an entry means a plan as well.
    events = (event for entry in journal for event in entry.events)
    return replay(Plan(), islice(events, revision))


def _write(screen: Screen, form: str, plan_id: str, **data: Any) -> None:
    head = {"format": f"todoplan/{form}", "version": VERSION, "plan": plan_id}
    screen.write(f"{line({**head, **data})}\n")


def _seen(view: Callable[[], None], screen: Screen) -> int:
    try:
        view()
    except TodoplanError as error:
        screen.complain(str(error))
        return UNREADABLE
    return 0

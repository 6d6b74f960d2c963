"""
`todoplan watch`: a plan as it changes, by whomever and from wherever.

On a terminal the plan itself is drawn anew; in a pipe it is printed once, and then a line for each
change. With `--json` a document a line, the first of which tells how the plan stands:

    {"format": "todoplan/watch", "version": 1, "plan": "garden", "revision": 7,
     "entry": {...} or null, "counts": {...}, "ready": ["3"]}
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

from rich.live import Live

from todoplan.cli.exit_codes import UNREADABLE
from todoplan.cli.output.changes import entry_lines, entry_phrases
from todoplan.cli.output.json_document import line
from todoplan.cli.output.live_plan import Change, LivePlan
from todoplan.cli.output.screen import Screen
from todoplan.cli.output.text import plan_lines
from todoplan.cli.plan_options import Place
from todoplan.codec import entry_to_data
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import ready
from todoplan.errors import TodoplanError
from todoplan.planner.planner import Planner
from todoplan.render.cleaning import clip, one_line
from todoplan.stores.journals import follow

__all__ = ["FORMAT", "VERSION", "watch"]

FORMAT = "todoplan/watch"
VERSION = 1

_CHANGES = 5
_NAME = 16
_TIMES_A_SECOND = 2

_Moves = Iterator[tuple[Entry | None, Plan, Plan]]


def watch(place: Place, screen: Screen, *, timeout: float | None, as_json: bool) -> int:
    """
    Show the plan and what becomes of it until nothing has come for `timeout` seconds, without it
    until ctrl-c; return the exit code.
    """
    try:
        store, plan_id = place.opened()
        moves = _moves(Planner(store, plan_id), timeout)
        # A terminal that cannot move its cursor is a pipe to us.
        if as_json:
            _print_documents(plan_id, moves, screen)
        elif screen.out.is_terminal and not screen.out.is_dumb_terminal:
            _draw(plan_id, moves, screen)
        else:
            _print_lines(moves, screen)
    except TodoplanError as error:
        screen.complain(str(error))
        return UNREADABLE
    return 0


def _moves(planner: Planner, timeout: float | None) -> _Moves:
    """
    Yield the plan as it stands, then each entry with the plans after and before it.
    """
    plan = planner.plan
    yield None, plan, plan
    for entry in planner.watch(plan.revision, timeout=timeout):
        before, plan = plan, follow(plan, (entry,))
        yield entry, plan, before


def _print_documents(plan_id: str, moves: _Moves, screen: Screen) -> None:
    for entry, plan, _ in moves:
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "plan": plan_id,
            "revision": plan.revision,
            "entry": None if entry is None else entry_to_data(entry),
            "counts": plan.counts._asdict(),
            "ready": [task.id for task in ready(plan)],
        }
        screen.write(f"{line(data)}\n")


def _print_lines(moves: _Moves, screen: Screen) -> None:
    widths: list[int] = []
    for entry, plan, before in moves:
        if entry is None:
            screen.show(plan_lines(plan, screen.out))
        else:
            told = entry_phrases(entry, plan, before)
            screen.show(entry_lines(entry, told, widths, screen.out))


def _draw(plan_id: str, moves: _Moves, screen: Screen) -> None:
    title, changes = one_line(plan_id), deque[Change](maxlen=_CHANGES)
    with Live(console=screen.out, refresh_per_second=_TIMES_A_SECOND) as live:
        for entry, plan, before in moves:
            if entry is not None:
                at = f"{entry.at.astimezone():%H:%M:%S}" if entry.at else ""
                actor = clip(one_line(entry.actor or ""), _NAME)
                changes.append(Change(at, actor, entry_phrases(entry, plan, before)))
            live.update(LivePlan(title, plan, tuple(changes)), refresh=True)

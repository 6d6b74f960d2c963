"""
What is noted of a call that no rule is about: it is legal, and still says how the plan was kept.
"""

from collections.abc import Callable
from datetime import timedelta

from todoplan.core.commands import UpdateTask
from todoplan.core.events.types import StatusChanged, TaskCreated, TaskDeleted
from todoplan.core.plan.model import Status
from todoplan.core.rules.change import Change
from todoplan.dialogue.replies.views import ids_text
from todoplan.transcripts.calls import PlanningCall
from todoplan.transcripts.replay.translation import Lane

__all__ = ["SILENCE", "describe", "describe_silence"]

SILENCE = timedelta(minutes=30)
"""So long a task may be in progress without a planning call before it is noted."""

_SEVERAL = 2
Note = Callable[..., None]


def describe(lane: Lane, call: PlanningCall, change: Change, note: Note) -> None:
    """
    Note updates without effect, tasks born completed, and completions that were saved up.
    """
    command, events = change.command, change.events
    if isinstance(command, UpdateTask) and not events:
        note("no_effect", command.task_id, tasks=ids_text((command.task_id,)))
    made = [event.task for event in events if isinstance(event, TaskCreated)]
    born = [task.id for task in made if task.status is Status.COMPLETED]
    if born and len(born) == len(made) == len(change.after):
        note("written_after", *born, tasks=ids_text(born))
    # A completed item that is reworded beyond recognition leaves and comes back: it was planned.
    elif born and not any(isinstance(event, TaskDeleted) for event in events):
        note("born_completed", *born, tasks=ids_text(born))
    if isinstance(command, UpdateTask) and call.turn:
        _parallel_completion(lane, call.turn, change, note)


def _parallel_completion(lane: Lane, turn: str, change: Change, note: Note) -> None:
    # Claude Code writes each call of a message on a line of its own: the turn joins them.
    latest, ids = lane.completed_in
    done = tuple(
        event.task_id
        for event in change.events
        if isinstance(event, StatusChanged) and event.new is Status.COMPLETED
    )
    ids = (*ids, *done) if latest == turn else done
    lane.completed_in = (turn, ids)
    # Once for a turn: when its second completion comes.
    if done and len(ids) == _SEVERAL:
        note("parallel_completion", *ids, tasks=ids_text(ids))


def describe_silence(lane: Lane, call: PlanningCall, note: Note) -> None:
    """
    Note that a task was in progress for long without any planning call.

    A person who spoke in between resets `last_at`: then it was their silence, perhaps over night.
    """
    last, lane.last_at = lane.last_at, call.at
    if last is None or call.at is None or call.at - last < SILENCE:
        return
    if active := [task.id for task in lane.plan.active()]:
        minutes = int((call.at - last).total_seconds() // 60)
        note("long_silence", *active, tasks=ids_text(active), minutes=minutes)

"""
From a command to events, or to problems. Pure: no clock, no I/O; ids come from the plan's counter.

Law: an accepted command's events replay to its plan, and the plan satisfies the policy; a rejected
command changes nothing, and names every problem found, not the first.
"""

from datetime import UTC, datetime
from typing import Never, NoReturn

import attrs

from todoplan.core.assembly import faults
from todoplan.core.change import Change
from todoplan.core.commands import (
    Batch,
    ClearPlan,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide_tasks import create, delete, start_next, update
from todoplan.core.decide_write import clear, write
from todoplan.core.draft import Draft
from todoplan.core.events import Event, PlanRestored
from todoplan.core.given import told
from todoplan.core.plan import Plan
from todoplan.core.policy import Policy, judge
from todoplan.core.presets import DEFAULT
from todoplan.core.problems import Problem
from todoplan.core.scene import Scene
from todoplan.core.times import in_utc
from todoplan.core.twin import maker
from todoplan.errors import PlanError

__all__ = ["Accepted", "Decision", "Rejected", "decide", "weigh"]


@attrs.frozen(weakref_slot=False)
class Accepted:
    """
    The command holds. No events: there was nothing to change, and `plan` is the one given.
    """

    plan: Plan
    events: tuple[Event, ...]
    warnings: tuple[Problem, ...] = ()


@attrs.frozen
class Rejected:
    """
    The command is refused, for these problems; the plan stays as it was.
    """

    problems: tuple[Problem, ...]


Decision = Accepted | Rejected
_accepted = maker(Accepted)


def decide(
    plan: Plan, command: Command, policy: Policy = DEFAULT, *, at: datetime | None = None
) -> Decision:
    """
    Say what a command makes of a plan under a policy. `at` is an aware time, or `None`: not known.

    Times are kept in UTC, whatever the zone of `at`.

    Raises:
        PlanError: `at` has no time zone, or what is given is no command.
    """
    return weigh(plan, command, policy, at)[0]


def weigh(
    plan: Plan, command: Command, policy: Policy, at: datetime | None
) -> tuple[Decision, Change]:
    """
    Decide, and return the change that was weighed as well: for whoever tells of it.

    Raises:
        PlanError: as of `decide`.
    """
    if at is not None and at.tzinfo is not UTC:
        at = in_utc(at)
    scene = Scene(Draft(plan), at)
    _run(scene, command)
    if scene.problems:
        return Rejected(tuple(scene.problems)), Change(plan, plan, command, ())
    events = tuple(scene.events)
    change = Change(plan, scene.draft.freeze() if events else plan, command, events, policy.limits)
    refused, warnings = judge(policy, change)
    if refused:
        return Rejected(refused), change
    return _accepted(change.after, events, warnings), change


def _run(scene: Scene, command: Command) -> None:  # noqa: C901 - one branch a command
    match command:
        case UpdateTask():
            update(scene, command)
        case CreateTask():
            create(scene, (command,), single=True)
        case CreateTasks(items):
            create(scene, items)
        case DeleteTask(task_id):
            delete(scene, task_id)
        case WriteTodos():
            write(scene, command)
        case StartNext():
            start_next(scene)
        case ClearPlan():
            clear(scene)
        case RestorePlan():
            _restore(scene, command)
        case Batch(commands):
            for part in commands:
                _run(scene, part)
        case _ as unreachable:
            _refuse(unreachable)


def _refuse(command: Never) -> NoReturn:
    msg = f"{told(command)} is no command; give one, such as commands.CreateTask('a')"
    raise PlanError(msg, seen=command)


def _restore(scene: Scene, command: RestorePlan) -> None:
    scene.problems.extend(faults(command.tasks, command.next_id))
    if not scene.problems:
        scene.emit(PlanRestored(command.tasks, command.next_id, scene.at))

"""
The plan in an agent's state: AgentScope's own tasks, and beside them what those have no field for.

The list may be changed by anyone at any time. Whoever wants the plan gets it read anew whenever the
tasks are not as they were left; tasks are changed in place, and only where they differ.
"""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from agentscope.state import AgentState
from agentscope.state import Task as TheirTask

from todoplan.codec import read_agentscope, task_to_agentscope
from todoplan.codec.mirror import Mirror
from todoplan.core.decide.assembly import plan_of
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake.application_lists import repaired_list
from todoplan.dialogue.replies.error_texts import repairs_text

__all__ = ["KEY", "Held", "load", "plan_of_state", "save", "seal"]

KEY = "todoplan"
_SEAL = "seal"
_UNTOLD = "untold"
_HEAD = ("next_id", "revision")
_NAMES = tuple(TheirTask.model_fields)
_WRITTEN = tuple(name for name in _NAMES if name != "created_at")


class Held(dict[str, Any]):
    """
    What is saved beside the tasks: next id, revision, what was mended and not yet told. In memory
    it also holds the plan, and how the tasks looked when they were left.

    Copied, dumped or pickled it is the plain dict, so that every other state is read anew.
    """

    def __init__(self, plan: Plan, tasks: Sequence[TheirTask], untold: list[str]) -> None:
        super().__init__({_UNTOLD: untold} if untold else {})
        self.mirror = Mirror(tasks)
        self.at(plan)

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)

    def at(self, plan: Plan) -> None:
        """
        Take in that this is the plan.
        """
        self.plan = plan
        self.update(next_id=plan.next_id, revision=plan.revision)
        self.pop(_SEAL, None)

    def told(self) -> list[str]:
        """
        Return what was mended, a line each, and forget it.
        """
        lines: list[str] = self.pop(_UNTOLD, [])
        return lines


def plan_of_state(state: AgentState) -> Plan:
    """
    Return the plan that the state's tasks are, mended where they need it.

    Raises:
        PlanError: the tasks are no plan and can be mended in more than one way.
        CodecError: a task holds what no plan can.
    """
    return load(state).plan


def load(state: AgentState, *, whole: bool = True) -> Held:
    """
    Return the plan as it was left, or read anew; see `Mirror.is_current` for `whole`.

    Raises:
        PlanError, CodecError: as of `plan_of_state`.
    """
    held = state.middle_context.get(KEY)
    tasks = state.tasks_context.tasks
    if isinstance(held, Held) and held.mirror.is_current(tasks, whole=whole):
        return held
    return _read(state, held if isinstance(held, dict) else {})


def _read(state: AgentState, held: dict[str, Any]) -> Held:
    theirs = state.tasks_context.tasks
    head = {name: held[name] for name in _HEAD if name in held}
    read, next_id, revision = read_agentscope({"tasks": list(map(_plain, theirs)), KEY: head})
    tasks, repairs = repaired_list(read, next_id)
    before = held.plan if isinstance(held, Held) else read
    changed = tasks != tuple(before) or _was_edited(held, theirs)
    plan = plan_of(tasks, next_id=next_id, revision=revision + changed)
    for their, task in zip(theirs, tasks, strict=True):
        _write(their, task_to_agentscope(task))
    earlier = held.get(_UNTOLD)
    untold = [str(line) for line in earlier] if isinstance(earlier, list) else []
    untold += [repairs_text((repair,)) for repair in repairs]
    state.middle_context[KEY] = made = Held(plan, theirs, untold)
    return made


def seal(state: AgentState) -> None:
    """
    Note how the tasks look, so that an edit of the saved state is a new revision once it is loaded.

    Raises:
        PlanError, CodecError: as of `plan_of_state`.
    """
    load(state)[_SEAL] = _sum(state.tasks_context.tasks)


def _was_edited(held: dict[str, Any], theirs: Sequence[TheirTask]) -> bool:
    return _SEAL in held and held[_SEAL] != _sum(theirs)


def _sum(theirs: Sequence[TheirTask]) -> str:
    text = json.dumps(list(map(_plain, theirs)), sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:16]


def _plain(task: TheirTask) -> dict[str, Any]:
    return {name: value for name, value in task.__dict__.items() if name in _NAMES}


def save(state: AgentState, held: Held, plan: Plan, ids: Sequence[str] | None) -> None:
    """
    Make the state's tasks those of a plan that differs in the tasks `touched`; `None`: in any.

    Raises:
        CodecError: a task holds what JSON cannot.
    """
    theirs, mirror = state.tasks_context.tasks, held.mirror
    changed = _changed(held.plan, plan) if ids is None else map(plan.__getitem__, ids)
    for data in [task_to_agentscope(task) for task in changed]:
        created_at, place = data.pop("created_at"), mirror.places.get(data["id"])
        if place is None:
            theirs.append(TheirTask(**data, **({"created_at": created_at} if created_at else {})))
            mirror.add(theirs[-1])
        else:
            mirror.write(theirs[place], data)
    if ids is None:
        by_id = {task.id: task for task in theirs}
        theirs[:] = [by_id[task.id] for task in plan]
        held.mirror = Mirror(theirs)
    held.at(plan)


def _changed(before: Plan, after: Plan) -> Iterator[Task]:
    return (task for task in after if before.get(task.id) is not task)


def _write(their: TheirTask, data: dict[str, Any]) -> None:
    fields = their.__dict__
    for name in _WRITTEN:
        if fields[name] != data[name]:
            setattr(their, name, data[name])

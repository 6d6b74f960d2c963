"""
The plan in an agent's state: AgentScope's own tasks, and beside them what those have no field for.

The list may be changed by anyone at any time. Whoever wants the plan gets it read anew whenever the
tasks are not as they were left; tasks are changed in place, and only where they differ.
"""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from operator import attrgetter
from typing import Any

from agentscope.state import AgentState
from agentscope.state import Task as TheirTask

from todoplan.codec import read_agentscope, task_to_agentscope
from todoplan.core.assembly import plan_of
from todoplan.core.events import (
    EdgeAdded,
    EdgeRemoved,
    Event,
    StatusChanged,
    TaskCreated,
    TaskEdited,
)
from todoplan.core.plan import Plan
from todoplan.dialogue.complaints import mends_text
from todoplan.dialogue.mending import mended

__all__ = ["KEY", "Held", "load", "plan_of_state", "save", "seal", "touched"]

KEY = "todoplan"
_SEAL = "seal"
_UNTOLD = "untold"
_HEAD = ("next_id", "revision")
_NAMES = tuple(TheirTask.model_fields)
_WRITTEN = tuple(name for name in _NAMES if name != "created_at")
_WINDOW = 128
_look_of = attrgetter("__dict__")
_Look = dict[str, Any]


class Held(dict[str, Any]):
    """
    What is saved beside the tasks: next id, revision, what was mended and not yet told. In memory
    it also holds the plan, and how the tasks looked when they were left.

    Copied, dumped or pickled it is the plain dict, so that every other state is read anew.
    """

    def __init__(self, plan: Plan, tasks: Sequence[TheirTask], untold: list[str]) -> None:
        super().__init__({_UNTOLD: untold} if untold else {})
        self._window = 0
        self.left(plan, tasks)

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)

    def left(self, plan: Plan, tasks: Sequence[TheirTask]) -> None:
        """
        Take in the whole list as it is now.
        """
        self._at(plan)
        self._known = list(tasks)
        self._looks = list(map(_copied, tasks))
        self.places = {task.id: place for place, task in enumerate(tasks)}

    def told(self) -> list[str]:
        """
        Return what was mended, a line each, and forget it.
        """
        lines: list[str] = self.pop(_UNTOLD, [])
        return lines

    def _at(self, plan: Plan) -> None:
        self.plan = plan
        self.update(next_id=plan.next_id, revision=plan.revision)
        self.pop(_SEAL, None)

    def moved(self, plan: Plan, ids: Iterable[str], tasks: Sequence[TheirTask]) -> None:
        """
        Take in the named tasks, and those that were added at the end.
        """
        self._at(plan)
        for place in range(len(self._known), len(tasks)):
            self._known.append(tasks[place])
            self._looks.append({})
            self.places[tasks[place].id] = place
        for place in map(self.places.__getitem__, ids):
            self._looks[place] = _copied(tasks[place])

    def is_current(self, tasks: Sequence[TheirTask], *, whole: bool = True) -> bool:
        """
        Say whether the tasks are as they were left; of a long list, unless `whole`, only whether
        the same tasks are there, and a part of them, in turn, is.
        """
        if whole or len(tasks) <= _WINDOW:
            return list(map(_look_of, tasks)) == self._looks
        start, self._window = self._window, (self._window + _WINDOW) % len(self._looks)
        part = slice(start, start + _WINDOW)
        return tasks == self._known and list(map(_look_of, tasks[part])) == self._looks[part]

    def is_sure(self, tasks: Sequence[TheirTask], ids: Sequence[str] | None) -> bool:
        """
        Say whether what was decided may rest on the plan: the tasks with these ids, and those they
        have edges to, are as they were left; for `None` or no ids all are.
        """
        if len(tasks) <= _WINDOW:
            return True
        if not ids:
            return self.is_current(tasks)
        found = [task for task in map(self.plan.get, ids) if task is not None]
        near = {end for task in found for end in (task.id, *task.blocks, *task.blocked_by)}
        places = [self.places[task_id] for task_id in near]
        return all(tasks[place].__dict__ == self._looks[place] for place in places)


def _copied(task: TheirTask) -> _Look:
    look = task.__dict__.copy()
    for name in ("blocks", "blocked_by", "metadata"):
        look[name] = _twin(look[name])
    return look


def _twin(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _twin(item) for key, item in value.items()}
    return [_twin(item) for item in value] if isinstance(value, list) else value


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
    Return the plan as it was left, or read anew; see `Held.is_current` for `whole`.

    Raises:
        PlanError, CodecError: as of `plan_of_state`.
    """
    held = state.middle_context.get(KEY)
    tasks = state.tasks_context.tasks
    if isinstance(held, Held) and held.is_current(tasks, whole=whole):
        return held
    return _read(state, held if isinstance(held, dict) else {})


def _read(state: AgentState, held: dict[str, Any]) -> Held:
    theirs = state.tasks_context.tasks
    head = {name: held[name] for name in _HEAD if name in held}
    read, next_id, revision = read_agentscope({"tasks": list(map(_plain, theirs)), KEY: head})
    tasks, repairs = mended(read, next_id)
    before = held.plan if isinstance(held, Held) else read
    changed = tasks != tuple(before) or _was_edited(held, theirs)
    plan = plan_of(tasks, next_id=next_id, revision=revision + changed)
    for their, task in zip(theirs, tasks, strict=True):
        _write(their, task_to_agentscope(task))
    earlier = held.get(_UNTOLD)
    untold = [str(line) for line in earlier] if isinstance(earlier, list) else []
    untold += [mends_text((repair,)) for repair in repairs]
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


def save(state: AgentState, held: Held, plan: Plan, ids: Iterable[str] | None) -> None:
    """
    Make the state's tasks those of a plan that differs in the tasks `touched`; `None`: in any.

    Raises:
        CodecError: a task holds what JSON cannot.
    """
    theirs = state.tasks_context.tasks
    if ids is None:
        theirs[:] = _relisted(theirs, held.plan, plan)
        held.left(plan, theirs)
        return
    written = {task_id: task_to_agentscope(plan[task_id]) for task_id in ids}
    for task_id, data in written.items():
        place = held.places.get(task_id)
        if place is None:
            theirs.append(_made(data))
        else:
            _write(theirs[place], data)
    held.moved(plan, written, theirs)


def _relisted(theirs: Sequence[TheirTask], before: Plan, plan: Plan) -> list[TheirTask]:
    by_id = {task.id: task for task in theirs}
    changed = [task for task in plan if before.get(task.id) is not task]
    for data in [task_to_agentscope(task) for task in changed]:
        if data["id"] in by_id:
            _write(by_id[data["id"]], data)
        else:
            by_id[data["id"]] = _made(data)
    return [by_id[task.id] for task in plan]


def _made(data: dict[str, Any]) -> TheirTask:
    if not data["created_at"]:
        del data["created_at"]  # AgentScope fills in the present
    return TheirTask(**data)


def _write(their: TheirTask, data: dict[str, Any]) -> None:
    for name in _WRITTEN:
        if getattr(their, name) != data[name]:
            setattr(their, name, data[name])


def touched(events: Iterable[Event]) -> tuple[str, ...] | None:
    """
    Return the ids of the tasks that the events changed or added, in order; `None` for any.
    """
    ids: dict[str, None] = {}
    for event in events:
        match event:
            case TaskCreated(task):
                ids[task.id] = None
            case StatusChanged(task_id) | TaskEdited(task_id):
                ids[task_id] = None
            case EdgeAdded(blocker, blocked) | EdgeRemoved(blocker, blocked):
                ids |= {blocker: None, blocked: None}
            case _:
                return None
    return tuple(ids)

"""
The plan in an agent's state: AgentScope's own tasks, and beside them what those have no field for.
Where a store keeps the plan, only the list is here (see `plan_store`).

AgentScope's interfaces watch `state.tasks_context`, so that is where the plan lives; next id,
revision, approval, what was repaired and the latest entries of the journal stand in
`state.middle_context`. Both are saved with the state. The tools write the plan as they answer,
`edit_plan` and `seed_plan` at any time, also while a reply is under way: every call reads the state
anew.

The list may be changed by anyone else at any time, too. Whoever wants the plan gets it read anew
whenever the tasks are not as they were left; tasks are changed in place, and only where they
differ. A task whose id is no number gets one, and keeps the old id in its metadata
(`original_id`): a host goes on finding it, and the model may go on using it.

What another hand has done, by `edit_plan` or to the list itself, is unseen until an answer tells:
the plan as it saw it last stands beside the tasks (`base`, law 15). Of a list that was changed
while it was saved, only the sum is known, not what it was: there the plan as it is counts as seen.
"""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from agentscope.agent import Agent
from agentscope.state import AgentState
from agentscope.state import Task as TheirTask

from todoplan.codec.foreign.agentscope import read_agentscope, task_to_agentscope
from todoplan.codec.foreign.mirror import Mirror
from todoplan.codec.plans import head
from todoplan.codec.states import base_from_data, base_to_data, read_recent, with_entry
from todoplan.core.decide.assembly import plan_of
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.slots import number_of
from todoplan.dialogue.application import require
from todoplan.dialogue.intake.application_lists import repaired_list
from todoplan.dialogue.last_seen import LastSeen
from todoplan.dialogue.replies.error_texts import repairs_text
from todoplan.errors import PlanError

__all__ = [
    "KEY",
    "STORED",
    "WRITTEN",
    "Held",
    "journal_of",
    "load",
    "names_in",
    "refuse_stored",
    "save",
    "seal",
    "state_of",
    "stored_id",
    "sum_of",
]

KEY = "todoplan"
STORED = "stored"
_SEAL = "seal"
_UNTOLD = "untold"
_JOURNAL = "journal"
_BASE = "base"
_ORIGINAL = "original_id"
_HEAD = ("next_id", "revision", "approved")
_NAMES = tuple(TheirTask.model_fields)
# When a task was made is the host's to say: it is read, and never written over.
WRITTEN = tuple(name for name in _NAMES if name != "created_at")


class Held(dict[str, Any]):
    """
    What is saved beside the tasks: next id, revision, what was repaired and the model was not shown
    yet, the journal, and the plan as the model last saw it. In memory it also holds the plan, how
    the tasks looked when they were left, what the model has `seen`, and the `names` that tasks had
    before they got their ids.

    Copied, dumped or pickled it is the plain dict, so that every other state is read anew.
    """

    def __init__(
        self, plan: Plan, tasks: Sequence[TheirTask], saved: dict[str, Any], seen: LastSeen
    ) -> None:
        super().__init__(saved)
        self.seen = seen
        self.keep_base()
        self.mirror = Mirror(tasks)
        self.names = names_in(plan)
        self.at(plan)

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)

    def at(self, plan: Plan) -> None:
        """
        Take in that this is the plan.
        """
        self.plan = plan
        self.pop("approved", None)
        self.update({name: value for name, value in head(plan).items() if name in _HEAD})
        # The sum was of the tasks before: the end of the reply notes the next.
        self.pop(_SEAL, None)

    def record(self, entry: Entry) -> None:
        """
        Put an entry into the journal.
        """
        self[_JOURNAL] = with_entry(self.get(_JOURNAL), entry)

    def keep_base(self) -> None:
        """
        Save what the model saw last as it is now.
        """
        self.pop(_BASE, None)
        if self.seen.base is not None:
            self[_BASE] = base_to_data(self.seen.base)

    def repairs(self) -> list[str]:
        """
        Return what was repaired, a line each, and forget it.
        """
        lines: list[str] = self.pop(_UNTOLD, [])
        return lines


def state_of(given: object) -> AgentState:
    """
    Return a state, or that of an agent.

    Raises:
        PlanError: it is neither.
    """
    remedy = "an AgentState, or the agent that has it"
    return given.state if isinstance(given, Agent) else require(given, AgentState, remedy)


def names_in(tasks: Iterable[Task] | Iterable[TheirTask]) -> dict[str, str]:
    """
    Return the ids of tasks by the names that they had before.
    """
    originals = ((task.metadata.get(_ORIGINAL), task.id) for task in tasks)
    return {name: task_id for name, task_id in originals if isinstance(name, str)}


def stored_id(state: AgentState) -> str | None:
    """
    Return the id of the plan that a store keeps for a state, `None` if its list is the plan.
    """
    held = state.middle_context.get(KEY)
    return held.get(STORED) if isinstance(held, dict) else None


def refuse_stored(state: AgentState) -> None:
    """
    Raise if a store keeps the plan of a state.

    Raises:
        PlanError: it does; says where the plan is.
    """
    if (plan_id := stored_id(state)) is not None:
        msg = (
            "a store keeps the plan of this session: give the agent, or ask"
            f" Planner(store, {plan_id!r}); an agent or tools that go on with it need store="
        )
        raise PlanError(msg, plan_id=plan_id)


def journal_of(state: AgentState) -> tuple[Entry, ...]:
    """
    Return the latest entries of a state's journal, oldest first.

    Raises:
        PlanError: a store keeps the plan.
        CodecError: what stands there is no journal.
    """
    refuse_stored(state)
    held = state.middle_context.get(KEY)
    return read_recent(held.get(_JOURNAL)) if isinstance(held, dict) else ()


def load(state: AgentState, *, whole: bool = True) -> Held:
    """
    Return the plan as it was left, or read anew; see `Mirror.is_current` for `whole`.

    Raises:
        PlanError, CodecError: as of `plan_of_state`.
    """
    held = state.middle_context.get(KEY)
    refuse_stored(state)
    tasks = state.tasks_context.tasks
    # A plain dict was copied or loaded: nobody knows how its tasks looked when they were left.
    if isinstance(held, Held) and held.mirror.is_current(tasks, whole=whole):
        return held
    return _read(state, held if isinstance(held, dict) else {})


def _read(state: AgentState, held: dict[str, Any]) -> Held:
    theirs = state.tasks_context.tasks
    beside = {name: held[name] for name in _HEAD if name in held}
    read = read_agentscope({"tasks": list(map(_plain, theirs)), KEY: beside})
    tasks, repairs = repaired_list(read.tasks, read.next_id)
    tasks = tuple(_with_original(new, old.id) for old, new in zip(read.tasks, tasks, strict=True))
    before = held.plan if isinstance(held, Held) else read.tasks
    changed = tasks != tuple(before) or _was_edited(held, theirs)
    # Others' changes are a revision of their own, so that guidance sees them.
    plan = plan_of(
        tasks, next_id=read.next_id, revision=read.revision + changed, approved=read.approved
    )
    for their, task in zip(theirs, tasks, strict=True):
        data, fields = task_to_agentscope(task), their.__dict__
        for name in WRITTEN:
            # AgentScope's app tells a change by the dump: no write where nothing differs.
            if fields[name] != data[name]:
                setattr(their, name, data[name])
    earlier = held.get(_UNTOLD)
    untold = [str(line) for line in earlier] if isinstance(earlier, list) else []
    untold += [repairs_text((repair,)) for repair in repairs]
    saved = {_UNTOLD: untold} if untold else {}
    saved |= {_JOURNAL: held[_JOURNAL]} if _JOURNAL in held else {}
    seen = held.seen if isinstance(held, Held) else LastSeen(_base_in(held))
    if isinstance(held, Held) and tasks != tuple(held.plan) and seen.base is None:
        seen.base = Base(held.plan)
    state.middle_context[KEY] = made = Held(plan, theirs, saved, seen)
    return made


def _base_in(held: dict[str, Any]) -> Base | None:
    kept = held.get(_BASE)
    return None if kept is None else base_from_data(kept)


def _with_original(task: Task, old_id: str) -> Task:
    # An id that stood twice keeps its first task: only what is no number was a name of the host's.
    if task.id == old_id or number_of(old_id):
        return task
    return task.but(metadata={_ORIGINAL: old_id, **task.metadata})


def seal(state: AgentState) -> None:
    """
    Note how the tasks look, so that an edit of the saved state is a new revision once it is loaded.

    Raises:
        PlanError, CodecError: as of `plan_of_state`.
    """
    load(state)[_SEAL] = sum_of(state.tasks_context.tasks)


def _was_edited(held: dict[str, Any], theirs: Sequence[TheirTask]) -> bool:
    return _SEAL in held and held[_SEAL] != sum_of(theirs)


def sum_of(theirs: Sequence[TheirTask]) -> str:
    """
    Return a sum that another list has not.
    """
    text = json.dumps(list(map(_plain, theirs)), sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:16]


def _plain(task: TheirTask) -> dict[str, Any]:
    # An application's subclass of `Task` may have fields of its own: they are let be.
    return {name: value for name, value in task.__dict__.items() if name in _NAMES}


def save(state: AgentState, held: Held, plan: Plan, ids: Sequence[str] | None) -> None:
    """
    Make the state's tasks those of a plan that differs in the tasks of these `ids`; `None`: in any.

    Raises:
        CodecError: a task holds what JSON cannot.
    """
    theirs, mirror = state.tasks_context.tasks, held.mirror
    before = held.plan
    if ids is None:
        changed = [task for task in plan if before.get(task.id) is not task]
    else:
        changed = [plan[task_id] for task_id in ids]
    for data in [task_to_agentscope(task) for task in changed]:
        created_at, place = data.pop("created_at"), mirror.places.get(data["id"])
        if place is None:
            theirs.append(TheirTask(**data, **({"created_at": created_at} if created_at else {})))
            mirror.add(theirs[-1])
        else:
            mirror.write(theirs[place], data)
    if ids is None:
        by_id = {task.id: task for task in theirs}
        # In place, and with the same task objects: an application may hold on to either.
        theirs[:] = [by_id[task.id] for task in plan]
        held.mirror = Mirror(theirs)
    held.at(plan)

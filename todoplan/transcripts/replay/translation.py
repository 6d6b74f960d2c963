"""
A recorded command in the ids of our plan, with what it needs in place.

A recording may begin in the middle, may be one of a team's, and may give out an id twice: then our
ids differ from its own, and tasks are named that were never created in it.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

import attrs

from todoplan.core.commands import (
    Batch,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.events.apply import apply
from todoplan.core.events.types import Event, TaskCreated
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.slots import LARGEST_GIVEN
from todoplan.transcripts.calls import PlanningCall
from todoplan.transcripts.replay.findings import Finding, recording_finding
from todoplan.transcripts.replay.recorded_tools import created_id, created_ids

__all__ = ["Lane", "Translation"]


@attrs.define
class Lane:
    """
    A plan and what is counted of it. `shown` has our id for a recorded one where they differ.

    `sizes` has the largest length of each plan that was replaced, `largest` that of all of them.
    `written_in` is the latest turn that wrote the whole list, `completed_in` the latest one that
    updated single tasks, with those that it completed; `last_at` is when the plan was last touched.
    `shown_between` has what was shown to have happened since the latest call.
    """

    name: str
    plan: Plan = attrs.field(factory=Plan)
    calls: int = 0
    refused: int = 0
    unreadable: int = 0
    largest: int = 0
    sizes: list[int] = attrs.Factory(list)
    longest: int = 0
    last_line: int = 0
    last_at: datetime | None = None
    shown: dict[str, str] = attrs.Factory(dict)
    written_in: str = ""
    completed_in: tuple[str, tuple[str, ...]] = ("", ())
    shown_between: list[Event] = attrs.Factory(list)

    def measure(self) -> None:
        """
        Take note of how long the plan is now.
        """
        self.longest = max(self.longest, len(self.plan))
        self.largest = max(self.largest, self.longest)

    def end_plan(self) -> None:
        """
        Take note that another plan begins in this lane.
        """
        self.sizes.append(self.longest)
        self.longest = 0

    @property
    def plans(self) -> tuple[int, ...]:
        """
        The largest length of each plan of the lane, in order.
        """
        return (*self.sizes, self.longest)


_ELSEWHERE = "(made elsewhere)"


@attrs.define
class Translation:
    """
    The translation of one call: its lane gets the tasks it lacks, `events` and `findings` name
    them.
    """

    lane: Lane
    call: PlanningCall
    findings: list[Finding]
    events: list[Event] = attrs.Factory(list)
    _coming: frozenset[str] = frozenset()

    def of(self, command: Command) -> Command:
        """
        Say a command in the ids of our plan.
        """
        match command:
            case CreateTask():
                # First what it names: tasks made elsewhere get entries, and so numbers.
                item, recorded = self._new(command), created_id(self.call.result)
                self.claim_ids((recorded,) if recorded else ())
                return item
            case CreateTasks(items):
                new = CreateTasks(tuple(map(self._new, items)))
                if not self._coming:  # those of a batch are claimed for all of it
                    self.claim_ids(created_ids(self.call.result, len(items)))
                return new
            case UpdateTask():
                return self._update(command)
            case DeleteTask(task_id):
                return DeleteTask(self._id(task_id))
            case Batch(commands):
                return self._batch(commands)
            case _:
                return command

    def _new(self, item: CreateTask) -> CreateTask:
        return attrs.evolve(
            item,
            blocks=self._ids(item.blocks),
            blocked_by=self._ids(item.blocked_by),
            parent=None if item.parent is None else self._id(item.parent),
        )

    def _update(self, command: UpdateTask) -> UpdateTask:
        parent = command.parent
        return attrs.evolve(
            command,
            task_id=self._id(command.task_id),
            parent=self._id(parent) if isinstance(parent, str) else parent,
            add_blocks=self._ids(command.add_blocks),
            add_blocked_by=self._ids(command.add_blocked_by),
            remove_blocks=self._ids(command.remove_blocks),
            remove_blocked_by=self._ids(command.remove_blocked_by),
        )

    def _batch(self, commands: Sequence[Command]) -> Batch:
        """
        Say several commands as one; those that follow may name what the first ones create.
        """
        most, start = sum(map(_most_new, commands)), self.lane.plan.next_id
        guessed = tuple(map(str, range(start, start + most)))
        # A call without an answer most likely got the numbers that ours would give.
        created = created_ids(self.call.result, most) or guessed
        # Tasks made elsewhere get entries, and so numbers, before any are claimed for the new ones.
        self._ids([one for each in commands for one in _named(each) if one not in created])
        self.claim_ids(created)
        self._coming = frozenset(created)
        return Batch(tuple(map(self.of, commands)))

    def _ids(self, recorded: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self._id, recorded))

    def _id(self, recorded: str) -> str:
        """
        Return our id for a recorded one; a task made elsewhere gets an entry of its own.
        """
        if recorded.startswith("#"):  # an entry of the same call
            return recorded
        task_id = self.lane.shown.get(recorded, recorded)
        if task_id in self.lane.plan or recorded in self._coming:
            return task_id
        self._note("made_elsewhere", recorded, task=recorded)
        self.claim_ids((recorded,))
        task_id = self.lane.shown[recorded] = str(self.lane.plan.next_id)
        created = TaskCreated(Task(task_id, _ELSEWHERE, created_at=self.call.at))
        self.lane.plan = apply(self.lane.plan, created)
        self.events.append(created)
        return task_id

    def claim_ids(self, recorded: Sequence[str]) -> None:
        """
        Make the plan's next ids the recorded ones; an id that was given out before gets a new
        number.
        """
        plan = self.lane.plan
        if not recorded or int(recorded[0]) == plan.next_id:
            return
        # Beyond the largest number a given id is a name, not a count: it must not use up the
        # numbers.
        if plan.next_id < int(recorded[0]) <= LARGEST_GIVEN:
            self.lane.plan = attrs.evolve(plan, next_id=int(recorded[0]))
            return
        # AgentScope gives out the id of a deleted task again, as Claude Code did before 2.1.21:
        # here no id is used twice (law 6).
        for number, task_id in enumerate(recorded, plan.next_id):
            if task_id in plan or task_id in self.lane.shown:
                self._note("reused_id", task_id, task=task_id, shown=str(number))
            self.lane.shown[task_id] = str(number)

    def _note(self, code: str, *task_ids: str, **values: object) -> None:
        self.findings.append(
            recording_finding(code, self.call.line, self.lane.name, *task_ids, **values)
        )


def _most_new(command: Command) -> int:
    match command:
        case WriteTodos(todos):
            return len(todos)
        case CreateTasks(items):
            return len(items)
        case _:
            return 0


def _named(command: Command) -> Iterator[str]:
    # The only places where the commands of `lean`, which alone makes batches, name a task.
    if isinstance(command, UpdateTask):
        yield command.task_id
        yield from command.add_blocked_by
        if isinstance(command.parent, str):
            yield command.parent
    elif isinstance(command, CreateTasks):
        yield from (item.parent for item in command.items if item.parent and item.parent[0] != "#")

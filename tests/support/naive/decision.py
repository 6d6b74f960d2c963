"""
What a command does to the naive model, and all faults that are found.

Moves, edits and removals are recorded, because rules ask for them.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import assert_never

import attrs
from support.naive.claims import claim, keep_fences, release, renew, under
from support.naive.model import SETTABLE, Model, as_dict
from support.naive.steps import Steps
from support.naive.whole_list import write

from todoplan.core.commands import (
    UNSET,
    AnswerTask,
    ApprovePlan,
    Batch,
    ClaimTask,
    ClearPlan,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    MoveTask,
    RecordEvidence,
    ReleaseClaim,
    RenewClaim,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.plan.model import Evidence, Task, thaw

NO_FENCES: Mapping[str, int] = MappingProxyType({})
_LARGEST = 10**15  # the highest id or next id that may come from outside


class NaiveDecision(Steps):
    """
    One command, carried out on a copy: the model `before`, the model `after`, and what happened.

    `at` is the time of the command and `actor` its author, or `None` if unknown. `fences` are the
    fencing tokens of the author's claims, by task id.
    """

    def __init__(
        self,
        before: Model,
        command: Command,
        at: datetime | None = None,
        actor: str | None = None,
        fences: Mapping[str, int] = NO_FENCES,
    ) -> None:
        super().__init__(before, at, actor, fences)
        self.command = command
        self.held = dict(fences)  # `self.fences` grows with those that parts of a batch are given
        self.commands: list[Command] = []
        # Every command brings the time, at which waits end.
        for task_id in self.after.waiting():
            if self.to_come(self.after[task_id]["waiting"]) is None:
                self.edit(task_id, waiting=None)
        self._do(command)

    def writes(self) -> list[WriteTodos]:
        """Return the whole-list writes of the command."""
        return [part for part in self.commands if isinstance(part, WriteTodos)]

    def _do(self, command: Command) -> None:
        if isinstance(command, Batch):
            for part in command.commands:
                self._do(part)
            return
        self.commands.append(command)
        match command:
            case CreateTask():
                self._create((command,))
            case CreateTasks(items):
                self._create(items)
            case UpdateTask():
                self._update(command)
            case MoveTask():
                self._place(command)
            case DeleteTask():
                self._remove(command)
            case WriteTodos(todos):
                write(self, todos)
            case ClaimTask():
                claim(self, command)
            case RenewClaim():
                renew(self, command)
            case ReleaseClaim():
                release(self, command)
            case AnswerTask():
                self._answer(command)
            case RecordEvidence():
                self._record(command)
            case ApprovePlan(by):
                by = self.actor if by is None else by
                self.after.approved = {"revision": None, "by": by, "at": self.at}
                self.changed = True
            case StartNext():
                if self.after.ready() and not self.after.active():
                    self.move(self.after.ready()[0], "in_progress")
            case RestorePlan():
                self._restore(command)
            case ClearPlan():
                self.clear()
            case _:  # a command that this model does not know must not pass for one that it does
                assert_never(command)

    def _create(self, items: tuple[CreateTask, ...]) -> None:
        local: dict[str, str] = {}
        for place, item in enumerate(items):
            self.faults["empty_text"] += not item.subject.strip()
            fields = {name: getattr(item, name) for name in (*SETTABLE, "waiting")}
            parents = [] if item.parent is None else [*self._referred((item.parent,), local)]
            parent = next((each for each in parents if self.demand(each)), None)
            local[f"#{place}"] = self.new(
                item.status, metadata=thaw(item.metadata), parent=parent, **fields
            )
        # Edges after all items: the first may block one that comes behind it.
        for place, item in enumerate(items):
            mine = local[f"#{place}"]
            for end in self._referred(item.blocked_by, local):
                self.link(end, mine)
            for end in self._referred(item.blocks, local):
                self.link(mine, end)

    def _referred(self, ends: tuple[str, ...], local: Mapping[str, str]) -> Iterator[str]:
        for end in ends:
            if end in local or not end.startswith("#"):
                yield local.get(end, end)
            else:
                self.faults["unknown_reference"] += 1

    def _update(self, part: UpdateTask) -> None:
        if not self.demand(part.task_id):
            return
        if part.fence is not None and not under(self, part.task_id, part.fence):
            return
        # Law 7 and the order of effects: fields, then place and edges, then status, so that a task
        # can be unblocked and started in one call.
        self._fill(part)
        for end in part.remove_blocks:
            self.unlink(part.task_id, end)
        for end in part.remove_blocked_by:
            self.unlink(end, part.task_id)
        if part.parent is not UNSET:
            self.nest(part.task_id, part.parent)
        for end in part.add_blocks:
            self.link(part.task_id, end)
        for end in part.add_blocked_by:
            self.link(end, part.task_id)
        if part.status is not UNSET:
            self.move(part.task_id, part.status)
        if part.waiting is not UNSET:
            self.wait(part.task_id, part.waiting)

    def _fill(self, part: UpdateTask) -> None:
        given = {n: getattr(part, n) for n in SETTABLE if getattr(part, n) is not UNSET}
        self.faults["empty_text"] += not given.get("subject", "x").strip()
        metadata = dict(self.after[part.task_id]["metadata"])
        for key, value in thaw(part.metadata).items():
            metadata[key] = value
            if value is None:
                del metadata[key]
        self.edit(part.task_id, metadata=metadata, **given)

    def _place(self, part: MoveTask) -> None:
        beside = part.before or part.after or ""
        # Below `&`: both tasks are asked for.
        if not self.demand(part.task_id) & self.demand(beside) or part.task_id == beside:
            return
        self.nest(part.task_id, self.after[beside]["parent"])
        stood = self.after.ids()
        order = [each for each in stood if each != part.task_id]
        order.insert(order.index(beside) + (part.after is not None), part.task_id)
        self.after.arrange(order)
        self.changed |= stood != self.after.ids()

    def _remove(self, part: DeleteTask) -> None:
        if not self.demand(part.task_id):
            return
        inner = self.after.subtree(part.task_id)
        if part.children == "refuse" and len(inner) > 1:
            self.faults["has_children"] += 1
        else:
            for task_id in inner if part.children == "remove" else inner[:1]:
                self.delete(task_id)

    def _answer(self, part: AnswerTask) -> None:
        if self.demand(part.task_id):
            if part.task_id in self.after.waiting():
                self.edit(part.task_id, waiting=None, answer=part.answer)
            else:
                self.faults["not_waiting"] += 1

    def _record(self, part: RecordEvidence) -> None:
        if self.demand(part.task_id):
            by = self.actor if part.by is None else part.by
            found = Evidence(part.passed, part.summary, by, self.at)
            known = self.after[part.task_id]["evidence"]
            self.repeats |= known is not None and attrs.evolve(known, at=self.at) == found
            self.edit(part.task_id, evidence=found)

    def _restore(self, part: RestorePlan) -> None:
        restored = Model()
        restored.tasks = [as_dict(task) for task in part.tasks]
        restored.edges = [(end, task.id) for task in part.tasks for end in task.blocked_by]
        if part.next_id > _LARGEST or _no_plan(part.tasks, restored):
            self.faults["no_plan"] += 1
            return
        restored.arrange()
        keep_fences(self.after, restored)
        for task in self.after.tasks:
            known = restored.get(task["id"])
            ends = known is None or known["claim"] != task["claim"]
            if ends and not self.may_change(task["id"]):
                self.faults["claimed"] += 1
        # Ids that were given since then stay used (law 6).
        numbers = [int(task_id) + 1 for task_id in restored.ids()]
        restored.next_id = max([self.after.next_id, part.next_id, *numbers])
        if part.approved is not None:
            restored.approved = attrs.asdict(part.approved)
        self.after, self.changed = restored, True


def _no_plan(tasks: tuple[Task, ...], restored: Model) -> bool:
    """Say whether tasks can never form a plan, under any policy (laws 4 to 6 and 18)."""
    ids, edges = restored.ids(), restored.edges
    mirror = [(task.id, end) for task in tasks for end in task.blocks]
    parents = [(task.parent, task.id) for task in tasks if task.parent is not None]
    return (
        sorted(edges) != sorted(mirror)
        or len(set(edges)) < len(edges)
        or len(set(ids)) < len(ids)
        or any(a == b or a not in ids or b not in ids for a, b in [*edges, *parents])
        or not all(re.fullmatch("[1-9][0-9]{0,15}", i) and int(i) <= _LARGEST for i in ids)
        or not all(task.subject.strip() for task in tasks)
        or any(task.waiting and task.status != "pending" for task in tasks)
        or any(_is_no_claim(task) for task in tasks)
        or any(restored.reaches(b, a) for a, b in [*edges, *parents])
        or any(a in restored.ancestors(b) for a, b in edges)
    )


def _is_no_claim(task: Task) -> bool:
    held = task.claim
    return held is not None and (task.status != "in_progress" or held.fence > task.claims)

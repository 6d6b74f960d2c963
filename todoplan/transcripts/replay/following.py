"""
The plan is made what the recording shows it to be, and the difference is told.

This is a matter of its own since what is shown was done by others: it stands in the step's events,
before those of the call, and is judged by no rule.
"""

from collections.abc import Iterable

import attrs

from todoplan.core.commands import (
    UNSET,
    ClearPlan,
    Command,
    CreateTask,
    DeleteTask,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide.decide import Rejected, decide
from todoplan.core.events.types import (
    Event,
    PlanCleared,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.plan.model import Status, Todo
from todoplan.core.plan.questions import open_tasks
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.replies.views import ids_text, one_line
from todoplan.transcripts.calls import CallResult, PlanningCall
from todoplan.transcripts.replay.findings import Finding, recording_finding
from todoplan.transcripts.replay.rewording import meaning
from todoplan.transcripts.replay.shown_state import (
    ShownTask,
    replaced_list,
    shown_list,
    shown_tasks,
    shows_all,
    shows_none,
    status_before,
)
from todoplan.transcripts.replay.translation import Lane, Translation

__all__ = ["ANYTHING_GOES", "Follower"]

ANYTHING_GOES = Policy()
_CLIP = 120
_MOVES = {
    Status.PENDING: "put back",
    Status.IN_PROGRESS: "started",
    Status.COMPLETED: "completed",
    Status.CANCELLED: "cancelled",
    Status.FAILED: "failed",
}


@attrs.define
class Follower:
    """
    Brings a lane's plan to what is shown beside one call; `events` and `findings` name the change.
    """

    lane: Lane
    call: PlanningCall
    findings: list[Finding]
    events: list[Event]

    def read(self, result: CallResult) -> None:
        """
        Follow what a call showed that only reads: the whole list, or some of its tasks.
        """
        plan = self.lane.plan
        if shows_none(result):
            # A finished plan that is gone was cleared by its program, as Claude Code does.
            if left := open_tasks(plan):
                ids = (task.id for task in left)
                self.note("lost_plan", *ids, open=len(left), total=len(plan))
            return
        if shown := shown_list(result):
            self.whole(shown)
            return
        start, tasks = len(self.events), shown_tasks(result)
        for one in tasks:
            self._task(one)
        # An answer in words may be cut short: only a structured one tells that a task is gone.
        if tasks and shows_all(result):
            known = {self.lane.shown.get(one.id, one.id) for one in tasks}
            for task in plan:
                if task.id not in known:
                    self.carry_out(DeleteTask(task.id))
        self._tell(self.events[start:])

    def before_update(self) -> None:
        """
        Follow what Claude Code says of an updated task: the status that it had before.
        """
        start = len(self.events)
        if before := status_before(self.call):
            self._task(before)
        self._tell(self.events[start:])

    def before_write(self) -> None:
        """
        Follow the list that Claude Code says a write replaced.
        """
        if old := replaced_list(self.call.result):
            self.whole(old)

    def whole(self, shown: WriteTodos) -> None:
        """
        Make the plan this list.
        """
        start = len(self.events)
        # Texts and statuses alone: an active form that a program leaves out was not taken back.
        rows = tuple(Todo(todo.content, todo.status) for todo in shown.todos)
        self.carry_out(meaning(self.lane.plan, WriteTodos(rows)).command)
        self._tell(self.events[start:])

    def begin(self) -> None:
        """
        Empty the plan for a new one, and say what became of the old one.
        """
        plan = self.lane.plan
        if left := open_tasks(plan):
            first = one_line(left[0].subject, _CLIP)
            ids = (task.id for task in left)
            self.note("plan_replaced", *ids, open=len(left), total=len(plan), first=first)
        else:
            self.note("new_plan", total=len(plan))
        self.lane.end_plan()
        self.carry_out(ClearPlan())

    def carry_out(self, command: Command) -> None:
        """
        Do what the recording shows was done, under no policy; nothing, where no plan can hold it.
        """
        decision = decide(self.lane.plan, command, ANYTHING_GOES, at=self.call.at)
        if not isinstance(decision, Rejected):
            self.lane.plan = decision.plan
            self.events += decision.events

    def note(self, code: str, *task_ids: str, **values: object) -> None:
        """
        Add a finding about the recording.
        """
        line, lane = self.call.line, self.lane.name
        self.findings.append(recording_finding(code, line, lane, *task_ids, **values))

    def _task(self, shown: ShownTask) -> None:
        task = self.lane.plan.get(self.lane.shown.get(shown.id, shown.id))
        if task is None:
            # An update shows no subject: its translation makes an entry for the task.
            if shown.subject:
                Translation(self.lane, self.call, self.findings, self.events).claim_ids((shown.id,))
                self.carry_out(CreateTask(shown.subject, status=shown.status))
            return
        status = UNSET if task.status is shown.status else shown.status
        subject = shown.subject if shown.exact and task.subject != shown.subject else UNSET
        if status is not UNSET or subject is not UNSET:
            self.carry_out(UpdateTask(task.id, status=status, subject=subject))

    def _tell(self, events: Iterable[Event]) -> None:
        groups: dict[str, dict[str, None]] = {}
        for event in events:
            for verb, task_id in _change(event):
                groups.setdefault(verb, {})[task_id] = None
        if groups:
            ids = dict.fromkeys(task_id for group in groups.values() for task_id in group)
            changes = ", ".join(f"{verb} {ids_text(tuple(one))}" for verb, one in groups.items())
            self.note("changed_elsewhere", *ids, changes=changes)


def _change(event: Event) -> tuple[tuple[str, str], ...]:
    match event:
        case StatusChanged(task_id, _, new):
            return ((_MOVES.get(new, new), task_id),)
        case TaskCreated(task):
            return (("added", task.id),)
        case TaskDeleted(task_id):
            return (("removed", task_id),)
        case PlanCleared(task_ids):
            return tuple(("removed", task_id) for task_id in task_ids)
        case TaskEdited(task_id):
            return (("reworded", task_id),)
        case _:
            return ()

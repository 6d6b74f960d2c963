"""todoplan as an adapter calls it: `Toolbox.call` with JSON text, and the codec."""

import json
from collections.abc import Iterator
from typing import Any

import attrs

from benchmarks.floors import flipping
from benchmarks.measure import Call
from benchmarks.workload import active_id, edges, entries, listed, open_id, title
from todoplan import DEFAULT, Plan, Status, Task, plan_of
from todoplan.codec.documents import dump_plan, load_plan
from todoplan.core.plan.questions import ready
from todoplan.core.rules import Limits
from todoplan.dialogue.calls import Reply
from todoplan.dialogue.intake import InputLimits
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, ToolSet, tasks

__all__ = [
    "NOTHING",
    "Ours",
    "Sent",
    "box",
    "life_of",
    "nothing_sent",
    "plan_like",
    "plan_with_edges",
    "planned",
]

Sent = tuple[str, dict[str, Any]]
"""A call: the name of the tool, and the arguments."""
NOTHING = "a tool that does nothing"

_ROOMY = attrs.evolve(DEFAULT, limits=Limits(10**7, 10**7, edges=10**7, history=10**9))
_WIDE = InputLimits(chars=2**30, items=10**7)
_DOCUMENT = 2**30


def box(toolset: ToolSet) -> Toolbox:
    """Return a toolbox with the default policy and limits high enough for any number of tasks."""
    return Toolbox(toolset, policy=_ROOMY, limits=_WIDE)


def plan_like(size: int) -> Plan:
    """Return the plan that every contender gets, with no cached texts."""
    return plan_of(Task(i, text, status=Status(status)) for i, text, status in entries(size))


def plan_with_edges(size: int, shape: str, *, begin: int = 1) -> Plan:
    """Return a plan with the edges of a shape; tasks before `begin` are completed and have none."""
    after: dict[int, list[str]] = {}
    before: dict[int, list[str]] = {}
    for one, other in edges(size, shape):
        if one >= begin:
            after.setdefault(one, []).append(str(other))
            before.setdefault(other, []).append(str(one))
    return plan_of(
        Task(
            str(number),
            title(number),
            status=Status.COMPLETED if number < begin else Status.PENDING,
            blocks=tuple(after.get(number, ())),
            blocked_by=tuple(before.get(number, ())),
        )
        for number in range(1, size + 1)
    )


def planned(size: int) -> dict[str, tuple[ToolSet, Sent, Sent]]:
    """Return tool sets, each with a call that reads the plan, and one that completes a task."""
    number = int(active_id(size))
    moved = {"taskId": str(number), "status": "completed"}
    return {
        "todoplan TaskUpdate": (tasks(), ("TaskList", {}), ("TaskUpdate", moved)),
        "todoplan lean": (LEAN, ("plan", {}), ("plan", {"done": [number]})),
    }


def life_of(size: int, key: str = "taskId") -> Iterator[Sent]:
    """Yield the calls of a life: all tasks created by one call, each completed by its own."""
    subjects = [{"subject": title(number)} for number in range(1, size + 1)]
    yield "TaskCreate", {"tasks": subjects}
    for number in range(1, size + 1):
        yield "TaskUpdate", {key: str(number), "status": "completed"}


def nothing_sent(size: int) -> tuple[Sent, Sent]:
    """Return two calls of a tool that does nothing: one as long as a plan, and a short one."""
    listing = "\n".join(f"#{number} [{status}] {text}" for number, text, status in entries(size))
    return ("nothing", {"step": listing}), ("nothing", {"step": "1"})


class Ours:
    """todoplan. Plans are values, so the same plan can be used for every call."""

    name = "todoplan"

    def __init__(self, size: int) -> None:
        self.size = size
        self.plan = plan_like(size)
        self.granular, self.whole = box(tasks("snake")), box(TODOS)

    def _asked(self, tool: str, word: str, **arguments: Any) -> Call:
        plan, granular, text = self.plan, self.granular, json.dumps(arguments)
        return Call(lambda: granular.call(plan, tool, text), _replied(word))

    def status_change(self) -> Call:
        """
        Change the status of the middle task back and forth; each call gets the previous call's
        plan.
        """
        flip, granular, state = flipping(self.size), self.granular, [self.plan]

        def run() -> Reply:
            reply = granular.call(state[0], "TaskUpdate", flip())
            state[0] = reply.plan
            return reply

        return Call(run, lambda reply: not reply.is_error and len(reply.events) == 1)

    def create(self) -> Call:
        """Create a task."""
        word = f"#{self.size + 1} created"
        text = title(self.size + 1)
        return self._asked("TaskCreate", word, subject=text, description="As agreed")

    def get(self) -> Call:
        """Read one task in full."""
        return self._asked("TaskGet", "in_progress", task_id=active_id(self.size))

    def _on_fresh_plans(self, run: Any, holds: Any, *, warm: bool) -> Call:
        """
        Return calls that each get a new plan. If `warm`, it is a plan for which `run` was called
        once, after a change of one task.
        """
        granular, first = self.granular, self.plan
        change = json.dumps({"task_id": active_id(self.size), "status": "completed"})
        if warm:
            run(first)
        return Call(
            run,
            holds,
            fresh=lambda: (
                granular.call(first, "TaskUpdate", change).plan if warm else plan_like(self.size)
            ),
            most=max(1, 100_000 // self.size),
        )

    def _listed(self, *, warm: bool) -> Call:
        granular = self.granular
        return self._on_fresh_plans(
            lambda plan: granular.call(plan, "TaskList", "{}"),
            lambda reply: reply.text.count("\n") >= self.size - 1,
            warm=warm,
        )

    def list_cold(self) -> Call:
        """List the tasks of a plan that was not listed before."""
        return self._listed(warm=False)

    def list_warm(self) -> Call:
        """List the tasks again after a change of one task."""
        return self._listed(warm=True)

    def add_edge(self) -> Call:
        """Add an edge, with the check for cycles."""
        blockers = [str(self.size)]
        task_id = open_id(self.size)
        return self._asked(
            "TaskUpdate", f"#{task_id} updated", task_id=task_id, add_blocked_by=blockers
        )

    def delete(self) -> Call:
        """Delete a task."""
        task_id = open_id(self.size)
        return self._asked("TaskUpdate", f"#{task_id}", task_id=task_id, status="deleted")

    def _written(self, plan: Plan, text: str) -> Call:
        whole = self.whole
        return Call(lambda: whole.call(plan, "write_todos", text), _replied("completed"))

    def write_first(self) -> Call:
        """Write a whole list to an empty plan."""
        return self._written(Plan(), listed(self.size))

    def write_same(self) -> Call:
        """Write the current list again."""
        return self._written(self.plan, listed(self.size))

    def write_one(self) -> Call:
        """Write the list with one more task completed."""
        return self._written(self.plan, listed(self.size, moved=1))

    def write_other(self) -> Call:
        """Write a list without any of the current tasks."""
        return self._written(self.plan, listed(self.size, verb="Check"))

    def dump_cold(self) -> Call:
        """Dump a plan that was not dumped before to JSON."""
        return self._on_fresh_plans(dump_plan, self._whole_text, warm=False)

    def dump_warm(self) -> Call:
        """Dump the plan again after a change of one task."""
        return self._on_fresh_plans(dump_plan, self._whole_text, warm=True)

    def _whole_text(self, text: str) -> bool:
        return len(json.loads(text)["tasks"]) == self.size

    def load(self) -> Call:
        """Load the plan from JSON."""
        text = dump_plan(self.plan)
        return Call(lambda: load_plan(text, limit=_DOCUMENT), lambda plan: plan == self.plan)

    def ready(self) -> Call:
        """Find the ready tasks when the pending tasks form a chain."""
        half = self.size // 2 + 1
        plan = plan_with_edges(self.size, "chain", begin=half)
        return Call(lambda: ready(plan), lambda found: [task.id for task in found] == [str(half)])

    def _cycle(self, shape: str) -> Call:
        plan, granular = plan_with_edges(self.size, shape), self.granular
        text = json.dumps({"task_id": "1", "add_blocked_by": [str(self.size)]})
        return Call(
            lambda: granular.call(plan, "TaskUpdate", text),
            lambda reply: reply.problems[0].code == "cycle",
        )

    def cycle_chain(self) -> Call:
        """Refuse an edge from the end of a chain to its beginning."""
        return self._cycle("chain")

    def cycle_wide(self) -> Call:
        """Refuse an edge from one of many tasks to their common blocker."""
        return self._cycle("wide")

    def cycle_dense(self) -> Call:
        """Refuse an edge from the last task to the first, with ten blockers for each."""
        return self._cycle("dense")


def _replied(word: str) -> Any:
    return lambda reply: not reply.is_error and word in reply.text

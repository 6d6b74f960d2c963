"""The whole life of a plan: n tasks created one by one, and 2n changes of status."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.contenders import peers
from benchmarks.figures import growth, rows
from benchmarks.floors import Floor
from benchmarks.measure import Call, Effort, measure
from benchmarks.ours import box
from benchmarks.workload import listed, title
from todoplan import Plan
from todoplan.dialogue.tools import LEAN, tasks

__all__ = ["lives", "run"]

Row = dict[str, Any]
_SIZES = (5, 20, 100, 1_000, 10_000, 100_000)
_LARGEST = {"AgentScope call": 10_000, "pydantic-ai-todo": 10_000}
_LARGEST_OTHER, _LARGEST_OURS = 1_000, 100_000
_QUICK = 100


def run(*, quick: bool, say: Callable[[str], None], only: tuple[str, ...] = ()) -> list[Row]:
    """Measure whole lives."""
    effort = Effort(rounds=7, longest=500_000_000, budget=1_500_000_000)
    found: list[Row] = []
    for size in _SIZES:
        if quick and size > _QUICK:
            break
        going = {name: each for name, each in lives(size).items() if not only or name in only}
        new = rows("life", size, measure(going, effort))
        say(_told(size, new))
        found += new
    return [*found, *_growths(found)]


def lives(size: int) -> dict[str, Call]:
    """Return the contenders that handle this size, each with its function for a whole life."""
    found = {"floor": _floor(size), "todoplan": _ours(size), "todoplan lean": _lean(size)}
    for kind in peers():
        if size <= _LARGEST.get(kind.name, _LARGEST_OTHER):
            found[kind.name] = _LIVES[kind.name](kind, size)
    return found


def creations(size: int, **more: str) -> list[str]:
    """Return the arguments that create each task."""
    return [json.dumps({"subject": title(n), **more}) for n in range(1, size + 1)]


def moves(size: int) -> Iterator[str]:
    """Yield the arguments that start and complete each task."""
    for number in range(1, size + 1):
        for status in ("in_progress", "completed"):
            yield json.dumps({"task_id": str(number), "status": status})


def _floor(size: int) -> Call:
    made, moved = creations(size), list(moves(size))

    def run() -> Floor:
        floor = Floor(0)
        for text in made:
            floor.add(text)
        for text in moved:
            floor.update(text)
        return floor

    return Call(run, lambda floor: floor.counts["completed"] == size)


def _ours(size: int) -> Call:
    call = box(tasks("snake")).call
    made, moved = creations(size), list(moves(size))

    def run() -> Plan:
        plan = Plan()
        for text in made:
            plan = call(plan, "TaskCreate", text).plan
        for text in moved:
            plan = call(plan, "TaskUpdate", text).plan
        return plan

    return Call(run, lambda plan: plan.counts.completed == size)


def _lean(size: int) -> Call:
    """Write once; each further call completes a task and starts the next."""
    call = box(LEAN).call
    first = json.dumps({"write": [title(n) for n in range(1, size + 1)]})
    moved = [json.dumps({"done": [n]}) for n in range(1, size + 1)]

    def run() -> Plan:
        plan = call(Plan(), "plan", first).plan
        for text in moved:
            plan = call(plan, "plan", text).plan
        return plan

    return Call(run, lambda plan: plan.counts.completed == size)


def _agentscope(kind: Any, size: int) -> Call:
    made, moved = creations(size, description="As agreed"), list(moves(size))

    async def run() -> Any:
        peer = kind(0)
        for text in made:
            await peer.ask("TaskCreate", text)
        for text in moved:
            await peer.ask("TaskUpdate", text)
        return peer.tasks

    return Call(run, lambda found: {task.state for task in found} == {"completed"}, awaited=True)


def _pydantic(kind: Any, size: int) -> Call:
    made = [json.dumps({"content": title(n), "active_form": "Writing"}) for n in range(size)]
    peer = kind(0)

    async def run() -> Any:
        peer.storage.todos = []
        for text in made:
            await peer.ask("add_todo", text)
        for todo in peer.storage.todos:
            for status in ("in_progress", "completed"):
                text = f'{{"todo_id": "{todo.id}", "status": "{status}"}}'
                await peer.ask("update_todo_status", text)
        return peer.storage.todos

    return Call(run, lambda found: _nearly_all(found, size), awaited=True)


def _nearly_all(found: list[Any], size: int) -> bool:
    """Return whether all are completed, except those whose random id collides with another's."""
    ids = {todo.id for todo in found}
    return sum(todo.status == "completed" for todo in found) >= 2 * len(ids) - size


def _langchain(kind: Any, size: int) -> Call:
    """
    Write the whole list once, and again for each of the 2n changes, always with the same length.
    """
    step = kind(size).write_one().run
    turns = 2 * size + 1

    def run() -> Any:
        return [step() for _ in range(turns)][-1]

    return Call(
        run, lambda command: len(command.update["todos"]) == len(json.loads(listed(size))["todos"])
    )


_LIVES = {
    "AgentScope call": _agentscope,
    "AgentScope Toolkit": _agentscope,
    "pydantic-ai-todo": _pydantic,
    "LangChain invoke": _langchain,
}


def _growths(found: list[Row]) -> list[Row]:
    times: dict[str, dict[int, float]] = {}
    for row in found:
        if "us" in row:
            times.setdefault(row["contender"], {})[row["n"]] = row["us"]
    return [
        {"operation": "life", "contender": who, "growth": growth(each)}
        for who, each in times.items()
    ]


def _told(size: int, found: list[Row]) -> str:
    told = [f"life n={size:<8,}"]
    told += [f"{row['contender']} {row['us'] / 1e3:,.2f} ms" for row in found if "us" in row]
    return " | ".join(told)

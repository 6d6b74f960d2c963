"""
Every kind of hand on one plan at once: two MCP clients, a LangGraph agent, a loop of one's own with
two workers, and a person at the command line. `drain` has them all work until nothing is open, and
`faults_of` says what went wrong.

The MCP clients and the agent take the tasks that are theirs by owner; the loop claims what has
none. The person adds tasks for all of them, changes texts while they work, and does a share too.
`python -m support.many_hands HAND ADDRESS` is the agent, or the loop.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from todoplan import TASKS, Plan, Planner, Toolbox, commands
from todoplan.core.plan.model import Status
from todoplan.stores import open_store
from todoplan.stores.journals import follow, plan_after

__all__ = ["ACTORS", "drain", "faults_of", "seed"]

TESTS = Path(__file__).parents[1]
PATHS = os.pathsep.join([str(TESTS.parent), str(TESTS)])
END = "That is all"
ACTORS = {"mcp-1": "mcp", "mcp-2": "mcp", "graph": None, None: "loop", "ann": "ann"}
"""By the owner of a task: who does it, as the journal has it. Two clients may have one name."""


def seed(address, count):
    """Begin a plan of so many tasks, most of them of the hands that are programs."""
    owners = ["mcp-1", None, "graph", "mcp-2", None]
    made = [
        commands.CreateTask(f"task {place}", owner="ann" if not place else owners[place % 5])
        for place in range(count)
    ]
    Planner(open_store(address), "plan").apply(commands.CreateTasks(tuple(made)), actor="seed")


def open_lines(text, owner):
    """Return the ids of the open tasks of an owner, and whether the plan is at its end."""
    lines = [line for line in text.splitlines() if line.startswith("#")]
    mine = [line.split()[0][1:] for line in lines if line.endswith(f"({owner})")]
    is_closed = {line.split()[0][1:] for line in lines if "[completed]" in line}
    return [each for each in mine if each not in is_closed], any(
        "[completed]" in line and END in line for line in lines
    )


def next_call(told, owner):
    """Return what a model calls next that was told this by its last call; `None` at the end."""
    name, arguments, text = told
    if name == "TaskUpdate" and arguments["status"] == "in_progress":
        return "TaskUpdate", {**arguments, "status": "completed"}
    if name == "TaskList":
        mine, is_over = open_lines(text, owner)
        if mine:
            return "TaskUpdate", {"taskId": mine[0], "status": "in_progress"}
        if is_over:
            return None
    return "TaskList", {}


async def client(address, owner):
    """Work by the real client of MCP, on a server of its own that `todoplan mcp` started."""
    from mcp import ClientSession, StdioServerParameters  # noqa: PLC0415 - of this hand alone
    from mcp.client.stdio import stdio_client  # noqa: PLC0415

    line = ["-m", "todoplan", "mcp", "--store", address, "--toolset", "tasks"]
    server = StdioServerParameters(
        command=sys.executable, args=line, env={**os.environ, "PYTHONPATH": PATHS}
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        call = "TaskList", {}
        while call is not None:
            result = await session.call_tool(*call)
            assert not result.isError, result.content
            told = (*call, result.content[0].text)
            call = next_call(told, owner)
            if call == ("TaskList", {}) == told[:2]:
                await asyncio.sleep(0.5)


def graph(address):
    """Work by an agent of LangGraph, whose plan is the one in the store."""
    from langchain.agents import create_agent  # noqa: PLC0415 - of this hand alone
    from langchain_core.messages import ToolMessage  # noqa: PLC0415
    from langgraph.checkpoint.memory import InMemorySaver  # noqa: PLC0415
    from support.scripted import Scripted, calls, says  # noqa: PLC0415

    from todoplan.adapters.langgraph import PlanMiddleware  # noqa: PLC0415
    from todoplan.dialogue import Settings  # noqa: PLC0415

    def think(messages):
        asked = next((one for one in reversed(messages) if getattr(one, "tool_calls", None)), None)
        call = "TaskList", {}
        if asked is not None and isinstance(messages[-1], ToolMessage):
            made = asked.tool_calls[-1]
            told = made["name"], made["args"], messages[-1].text
            call = next_call(told, "graph")
            if call == ("TaskList", {}) == told[:2]:
                time.sleep(0.5)
        return says("done") if call is None else calls((*call, "call_1"))

    planning = PlanMiddleware(
        Toolbox(TASKS),
        store=open_store(address),
        plan_id="plan",
        settings=Settings(unfinished=0, plan_lost=False, changed=False),
    )
    model = Scripted(script=[think] * 100_000)
    agent = create_agent(model, middleware=[planning], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}, "recursion_limit": 1_000_000}
    agent.invoke({"messages": [("user", "go")]}, config)


def loop(address):
    """Work by a loop of one's own, in two threads that claim what nobody owns."""
    planner = Planner(open_store(address), "plan")

    def one():
        while True:
            held = planner.claim("loop")
            if held is not None:
                with held:
                    time.sleep(0.001)
            elif any(task.subject == END and task.status.closed for task in planner.plan):
                return
            else:
                time.sleep(0.02)

    with ThreadPoolExecutor(2) as workers:
        for each in [workers.submit(one), workers.submit(one)]:
            each.result()


def person(address, rounds):
    """
    Edit the plan at the command line, and return what must be in it: texts by the ids of tasks.

    In each round: a task for somebody else, another text for one, and a task of one's own.
    """
    wanted = {}

    def todoplan(*line):
        command = [sys.executable, "-m", "todoplan", *line, "--store", address, "--actor", "ann"]
        environment = {**os.environ, "PYTHONPATH": PATHS}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        first = done.stdout.split()
        return next((word[1:] for word in first if word.startswith("#")), "")

    todoplan("start", "1")
    todoplan("done", "1")
    owners = ["graph", None, "mcp-1", "mcp-2"]
    for place in range(rounds):
        owner = owners[place % 4]
        added = todoplan("add", f"added {place}", *(["--owner", owner] if owner else []))
        wanted[added] = f"added {place}"
        todoplan("edit", str(place + 2), "--subject", f"edited {place}")
        wanted[str(place + 2)] = f"edited {place}"
    last = todoplan("add", END, "--owner", "ann")
    todoplan("start", last)
    todoplan("done", last)
    return {**wanted, last: END}


def drain(address, rounds):
    """Have all hands work until nothing is open; return what the person wants to find."""
    environment = {**os.environ, "PYTHONPATH": PATHS}
    programs = [
        subprocess.Popen(
            [sys.executable, "-m", "support.many_hands", name, address], env=environment
        )
        for name in ("graph", "loop")
    ]

    async def all_at_once():
        clients = [client(address, name) for name in ("mcp-1", "mcp-2")]
        *_, wanted = await asyncio.gather(*clients, asyncio.to_thread(person, address, rounds))
        return wanted

    try:
        wanted = asyncio.run(asyncio.wait_for(all_at_once(), 600))
        ended = [each.wait(600) for each in programs]
    finally:
        for each in programs:
            each.kill()
            each.wait()
    assert ended == [0, 0], "the agent, or the loop, has failed"
    return wanted


def faults_of(address, wanted, count):
    """Yield what is wrong with the plan that was drained, and its journal."""
    store = open_store(address)
    plan, journal = store.load("plan"), store.entries("plan")
    if follow(Plan(), journal) != plan:
        yield "the journal does not give the plan"
    if len(plan) != count + sum(
        text.startswith("added") or text == END for text in wanted.values()
    ):
        yield f"there are {len(plan)} tasks"
    yield from (f"{task} is open" for task in plan if task.status is not Status.COMPLETED)
    yield from (
        f"task {task_id} is {plan[task_id].subject!r}, not {text!r}"
        for task_id, text in wanted.items()
        if plan[task_id].subject != text
    )
    made, before = Counter(), Plan()
    for entry in journal:
        after = plan_after(before, entry)
        for task in after:
            was = before.get(task.id)
            if was is not None and was.status is not task.status:
                made[task.id, task.status] += 1
                owner = None if plan[task.id].owner == "loop" else plan[task.id].owner
                if entry.actor != ACTORS[owner]:
                    yield f"task {task.id} of {owner} was {task.status.value} by {entry.actor}"
        before = after
    for task in plan:
        for status in (Status.IN_PROGRESS, Status.COMPLETED):
            if made[task.id, status] != 1:
                yield f"task {task.id} became {status.value} {made[task.id, status]} times"


if __name__ == "__main__":
    {"graph": graph, "loop": loop}[sys.argv[1]](sys.argv[2])

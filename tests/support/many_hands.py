"""
All kinds of workers on one plan at the same time: two MCP clients, a LangGraph agent, a plain loop
with two threads, and a person at the command line. `drain` lets them work until no task is open.
`faults_of` says what went wrong.

The programs claim tasks without an owner. These become ready for all of them at the same time.
Meanwhile the person adds tasks, changes texts while others work on them, and completes some tasks.
`python -m support.many_hands HAND ADDRESS` runs the agent ("graph") or the loop ("loop").
"""

import asyncio
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from threading import Semaphore

from support.processes import environment, program

from todoplan import Plan, Planner, Toolbox
from todoplan.core import commands
from todoplan.core.plan.model import Status
from todoplan.stores import open_store
from todoplan.stores.base import follow, plan_after

END = "That is all"
READY = "ready"
PATIENCE = 600


def seed(address, count):
    """Create a plan of `count` tasks. The first is the person's, and blocks all others."""
    first = commands.CreateTask("task 1", owner="ann")
    others = [commands.CreateTask(f"task {n}", blocked_by=("#0",)) for n in range(2, count + 1)]
    made = commands.CreateTasks((first, *others))
    Planner(open_store(address), "plan").apply(made, actor="seed").unwrap()


def next_call(name, text):
    """Return a model's next call after the answer `text` to a call; `None` at the end."""
    claimed = re.search(r"#(\d+) claimed \(fence", text)
    if name == "TaskClaim" and claimed:
        return "TaskUpdate", {"taskId": claimed[1], "status": "completed"}
    if name == "TaskClaim":
        return "TaskList", {}
    if name == "TaskList" and re.search(rf"\[completed\] {END}", text):
        return None
    return "TaskClaim", {}


async def client(address, is_ready):
    """Work as a real MCP client, with a `todoplan mcp` server of its own."""
    from mcp import ClientSession, StdioServerParameters  # noqa: PLC0415 - of this hand alone
    from mcp.client.stdio import stdio_client  # noqa: PLC0415

    line = ["-m", "todoplan", "mcp", "--store", address, "--toolset", "tasks-team"]
    server = StdioServerParameters(command=sys.executable, args=line, env=environment())
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        is_ready.release()
        call = "TaskList", {}
        while call is not None:
            result = await session.call_tool(*call)
            assert not result.isError, result.content
            if call[0] == "TaskList":
                await asyncio.sleep(0.3)
            call = next_call(call[0], result.content[0].text)


def say_ready():
    """Report on stdout that this program has begun."""
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()


def graph(address):
    """Work as a LangGraph agent whose plan is in the store."""
    from langchain.agents import create_agent  # noqa: PLC0415 - of this hand alone
    from langchain_core.messages import ToolMessage  # noqa: PLC0415
    from langgraph.checkpoint.memory import InMemorySaver  # noqa: PLC0415
    from support.scripted import Scripted, calls, says  # noqa: PLC0415

    from todoplan.adapters.langgraph import PlanMiddleware  # noqa: PLC0415
    from todoplan.dialogue import Settings, tasks  # noqa: PLC0415

    def think(messages):
        if not isinstance(messages[-1], ToolMessage):
            say_ready()
            return calls(("TaskList", {}, "call_1"))
        if messages[-1].name == "TaskList":
            time.sleep(0.3)
        call = next_call(messages[-1].name, messages[-1].text)
        return says("done") if call is None else calls((*call, "call_1"))

    planning = PlanMiddleware(
        Toolbox(tasks(team=True)),
        store=open_store(address),
        plan_id="plan",
        settings=Settings(unfinished=0, plan_lost=False, changed=False),
    )
    model = Scripted(script=[think] * 100_000)
    agent = create_agent(model, middleware=[planning], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}, "recursion_limit": 1_000_000}
    agent.invoke({"messages": [("user", "go")]}, config)


def loop(address):
    """Work as a plain loop, in two threads that claim tasks without an owner."""
    planner = Planner(open_store(address), "plan")

    def one():
        while True:
            held = planner.claim("loop")
            if held is not None:
                with held:
                    time.sleep(0.05)  # or the others, who think longer, would get nothing
            elif any(task.subject == END and task.status.closed for task in planner.plan):
                return
            else:
                time.sleep(0.1)

    say_ready()
    with ThreadPoolExecutor(2) as workers:
        for each in [workers.submit(one), workers.submit(one)]:
            each.result()


def person(address, rounds):
    """
    Edit the plan at the command line, and return the subjects that it must have, by task id.

    In each round: a task for somebody else, another text for one, and a task of one's own.
    """
    wanted = {}

    def todoplan(*line):
        command = [sys.executable, "-m", "todoplan", *line, "--store", address, "--actor", "ann"]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment(), check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout
        first = done.stdout.split()
        return next((word[1:] for word in first if word.startswith("#")), "")

    todoplan("start", "1")
    todoplan("done", "1")
    for place in range(rounds):
        added = todoplan("add", f"added {place}")
        wanted[added] = f"added {place}"
        todoplan("edit", str(place + 2), "--subject", f"edited {place}")
        wanted[str(place + 2)] = f"edited {place}"
    last = todoplan("add", END, "--owner", "ann")
    todoplan("start", last)
    todoplan("done", last)
    return {**wanted, last: END}


def drain(address, rounds):
    """Let all work until no task is open; return the subjects that the plan must have, by id."""
    programs = [program("many_hands", name, address) for name in ("graph", "loop")]
    is_ready = Semaphore(0)

    def ann():
        for _ in range(2):
            assert is_ready.acquire(timeout=PATIENCE), "an MCP client did not begin"
        assert [each.stdout.readline().strip() for each in programs] == [READY, READY]
        return person(address, rounds)

    async def all_at_once():
        clients = [client(address, is_ready) for _ in range(2)]
        *_, wanted = await asyncio.gather(*clients, asyncio.to_thread(ann))
        return wanted

    try:
        wanted = asyncio.run(asyncio.wait_for(all_at_once(), PATIENCE))
        ended = [each.wait(PATIENCE) for each in programs]
    finally:
        for each in programs:
            with each:
                each.kill()
    assert ended == [0, 0], "the agent, or the loop, has failed"
    return wanted


def done_by(address):
    """Return how many tasks each hand has completed, by the names in the journal."""
    return Counter(
        actor
        for (_, status), actors in _made(address).items()
        for actor in actors
        if status is Status.COMPLETED
    )


def _made(address):
    """Return who brought a task to a status, in order, by task id and status."""
    made, before = defaultdict(list), Plan()
    for entry in open_store(address).entries("plan"):
        after = plan_after(before, entry)
        for task in after:
            was = before.get(task.id)
            if was is not None and was.status is not task.status:
                made[task.id, task.status].append(entry.actor)
        before = after
    return made


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
    made = _made(address)
    for task in plan:
        started, closed = (made[task.id, each] for each in (Status.IN_PROGRESS, Status.COMPLETED))
        if len(started) != 1 or closed != started:
            yield f"task {task.id} was started by {started} and completed by {closed}"


if __name__ == "__main__":
    {"graph": graph, "loop": loop}[sys.argv[1]](sys.argv[2])

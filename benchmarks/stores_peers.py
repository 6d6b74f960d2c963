"""
Stores of peers compared with ours on one PostgreSQL server: `python -m benchmarks.stores_peers`.

- Procrastinate as a queue: a job is fetched and finished, like a task claimed and completed. A
  worker finishes a job late, after the job was given to another worker: is this refused?
- pydantic-ai-todo's `AsyncPostgresStorage`: one status is set, as in ours. Two writers read the
  list, add a line and write it: is a line lost?

Install the peers in a separate environment (`pip install procrastinate asyncpg pydantic-ai-todo`
beside this checkout). Missing ones are skipped. A run takes about a minute.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from support.postgres import running

from benchmarks.machine import described
from todoplan import AsyncPlanner
from todoplan.core import commands
from todoplan.core.decide import Accepted
from todoplan.core.plan.model import Status
from todoplan.core.rules import Policy
from todoplan.stores.postgres import AsyncPostgresStore

__all__ = ["main"]

_PAGE = Path(__file__).with_name("stores_peers.md")
_LATE = 10
Row = tuple[str, str, str, str]


def main() -> None:
    """Measure the installed peers, print a table as Markdown, and save it if requested."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stores_peers", description=__doc__)
    parser.add_argument("--times", type=int, default=300, help="how often each is measured")
    parser.add_argument("--save", action="store_true", help=f"write {_PAGE.name} beside the README")
    given = parser.parse_args()
    made = described(quick=False)
    with running(fsync=True) as server:
        lines = [
            "# Stores of peers, beside ours",
            "",
            "Written by `python -m benchmarks.stores_peers --save`, on one PostgreSQL server.",
            f"{made['date']}, {made['python']}, {server.version()}, {made['cores']} cores, load",
            f"{made['load']} at the start.",
            "",
            "| store | what | median, us | what happens to who is late |",
            "| --- | --- | ---: | --- |",
        ]
        lines += [f"| {' | '.join(row)} |" for row in _rows(server.fresh, given.times)]
    text = "\n".join([*lines, ""])
    print(text)
    if given.save:
        _PAGE.write_text(text, "utf-8")


def _rows(fresh: Callable[[], str], times: int) -> Iterator[Row]:
    yield from asyncio.run(_ours(fresh(), times))
    if find_spec("procrastinate"):
        yield asyncio.run(_procrastinate(fresh(), times))
    if find_spec("pydantic_ai_todo") and find_spec("asyncpg"):
        yield asyncio.run(_pydantic_todo(fresh(), times))


async def _timed(act: Callable[[], Awaitable[object]], times: int) -> str:
    took = []
    for _ in range(times):
        began = time.perf_counter()
        await act()
        took.append(time.perf_counter() - began)
    return f"{median(took) * 1e6:,.0f}"


async def _ours(address: str, times: int) -> list[Row]:
    store = AsyncPostgresStore(address)
    planner = AsyncPlanner(store, "a")
    made = tuple(commands.CreateTask(f"{n}") for n in range(times + _LATE + 1))
    (await planner.apply(commands.CreateTasks(made), policy=Policy())).unwrap()

    async def work() -> None:
        held = await planner.claim("worker")
        assert held is not None  # noqa: S101 - there are enough
        await held.complete()

    took, refused = await _timed(work, times), 0
    for _ in range(_LATE):
        late = await planner.claim(commands.ClaimTask("late", lease=0.01))
        assert late is not None  # noqa: S101 - as above
        await asyncio.sleep(0.02)
        other = await planner.claim("other")
        assert other is not None  # noqa: S101 - as above
        refused += not isinstance(await planner.apply(late.closing(Status.COMPLETED)), Accepted)
        await other.complete()

    number = iter(range(times))

    async def edit() -> None:
        change = commands.UpdateTask("1", subject=f"{next(number)}")
        await planner.apply(change, policy=Policy())

    edited = await _timed(edit, times)
    await store.close()
    return [
        ("todoplan", "claim and complete a task", took, f"refused {refused} of {_LATE}"),
        ("todoplan", "change a task", edited, "decides upon what the other did"),
    ]


async def _procrastinate(address: str, times: int) -> Row:
    peer: Any = import_module("procrastinate")
    status = import_module("procrastinate.jobs").Status
    app = peer.App(connector=peer.PsycopgConnector(conninfo=address))

    @app.task(name="dig")  # type: ignore[misc]  # of a library that is not there to be checked
    async def dig() -> None:
        """Do nothing."""

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await dig.batch_defer_async(*({} for _ in range(times + _LATE)))
        jobs = app.job_manager
        workers = [await jobs.register_worker() for _ in range(2)]

        async def work() -> None:
            job = await jobs.fetch_job(queues=None, worker_id=workers[0])
            await jobs.finish_job(job, status=status.SUCCEEDED, delete_job=False)

        took, refused = await _timed(work, times), 0
        for _ in range(_LATE):
            late = await jobs.fetch_job(queues=None, worker_id=workers[0])
            await jobs.retry_job(late)  # as a program that watches for stalled jobs does
            await jobs.fetch_job(queues=None, worker_id=workers[1])
            try:
                await jobs.finish_job(late, status=status.SUCCEEDED, delete_job=False)
            except peer.exceptions.ProcrastinateException:
                refused += 1
    return ("Procrastinate", "fetch and finish a job", took, f"refused {refused} of {_LATE}")


async def _pydantic_todo(address: str, times: int) -> Row:
    peer: Any = import_module("pydantic_ai_todo")
    pool = await import_module("asyncpg").create_pool(_for_asyncpg(address))
    one = peer.AsyncPostgresStorage(pool=pool, session_id="a")
    two = peer.AsyncPostgresStorage(pool=pool, session_id="a")
    for each in (one, two):
        await each.initialize()
    await one.add_todo(_todo(peer, "x"))
    took = await _timed(lambda: one.update_todo("x", content="y"), times)
    lost = 0
    for number in range(_LATE):
        mine, theirs = await one.get_todos(), await two.get_todos()
        await one.set_todos([*mine, _todo(peer, f"m{number}")])
        await two.set_todos([*theirs, _todo(peer, f"t{number}")])
        lost += f"m{number}" not in {each.id for each in await one.get_todos()}
    await pool.close()
    what = f"a line of the other was lost {lost} of {_LATE} times"
    return ("pydantic-ai-todo", "change a todo", took, what)


def _todo(peer: Any, name: str) -> Any:
    return peer.Todo(id=name, content=name, status="pending", active_form=name)


def _for_asyncpg(address: str) -> str:
    # asyncpg reads a directory of sockets from `host`, and does not accept `options`.
    return address.partition("&options=")[0]


if __name__ == "__main__":
    main()

"""Never run: what a user writes, for the type checkers to read."""

from collections.abc import Iterator
from datetime import UTC, datetime

from todoplan import (
    DEFAULT,
    Accepted,
    Plan,
    Planner,
    Policy,
    Problem,
    Rejected,
    Rule,
    Status,
    Task,
    Todo,
    TodoplanError,
    apply,
    decide,
    plan_of,
    replay,
)
from todoplan.codec import dump_plan, load_plan
from todoplan.core import commands
from todoplan.core.events import types as events
from todoplan.core.plan import questions
from todoplan.core.rules import Change
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import Guidance, Memory, Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN
from todoplan.planner import AsyncPlanner
from todoplan.stores import (
    AsyncPostgresStore,
    Entry,
    MemoryStore,
    PostgresStore,
    SqliteStore,
    open_store,
)
from todoplan.stores.base import AsyncHoldingStore, HoldingStore, Key


def short(change: Change) -> Iterator[Problem]:
    for task in change.written():
        if len(task.subject) < 5:
            yield Problem("too_short", (task.id,), note="Say more than that.")


def decided(plan: Plan) -> Plan:
    policy: Policy = DEFAULT.but(single_in_progress="error").adding(Rule("too_short", short))
    at = datetime.now(UTC)
    command = commands.WriteTodos((Todo("Write the parser", "in_progress"),))
    decision = decide(plan, command, policy, at=at)
    if isinstance(decision, Accepted):
        happened: tuple[events.Event, ...] = decision.events
        assert replay(plan, happened) == decision.plan
        return apply(plan, happened[0])
    refused: Rejected = decision
    return plan_of([Task("1", problem.code) for problem in refused.problems])


def asked(plan: Plan) -> str:
    task = questions.next_task(plan)
    path, minutes = questions.critical_path(plan)
    return f"{task.status is Status.PENDING if task else path} {minutes} {plan.counts.open}"


def embedded() -> Plan:
    planner = Planner(MemoryStore(), "thread-1", toolbox=Toolbox(LEAN))
    stop = planner.subscribe(lambda entry, plan: print(entry.cause, plan.revision))
    reply = planner.call("plan", {"write": ["a"]}, actor="model")
    turn = planner.turn([Call("plan", '{"done": [1]}', "call_1")])
    stop()
    try:
        return load_plan(dump_plan(turn.plan if reply.is_error else planner.plan))
    except TodoplanError as error:
        raise SystemExit(str(error.data)) from error


def stored(url: str) -> tuple[str, ...]:
    stores: list[HoldingStore] = [MemoryStore(), SqliteStore("plans.db", patience=1)]
    for store in stores:
        planner = Planner(store, "thread-1", toolbox=Toolbox(LEAN))
        first = planner.call("plan", {"write": ["a"]}, actor="model", key="call_1")
        with store.hold("thread-1") as held:
            tail: tuple[Entry, ...] = held.entries_since(first.plan.revision)
            receipt = held.receipt(Key("call_1"))
            print(held.now(), held.revision, tail, receipt.answer if receipt else "")
    SqliteStore("plans.db").compact("thread-1", keep=100)
    return AsyncPlanner(open_store(url), "thread-1").toolbox.toolset.tool_names


async def awaited() -> Plan:
    planner = AsyncPlanner()
    await planner.apply(commands.UpdateTask("1", status="completed", owner=None))
    return await planner.plan()


def held(dsn: str) -> tuple[HoldingStore, ...]:
    return PostgresStore(dsn, patience=1.0), SqliteStore("plans.db"), MemoryStore()


async def watched(dsn: str) -> int:
    store: AsyncHoldingStore = AsyncPostgresStore(dsn)
    async for entry in AsyncPlanner(store, "thread-1").watch(since=0, timeout=1.0):
        return entry.revision
    async with store.hold("thread-1") as plan:
        return plan.revision


def guided(plan: Plan) -> str:
    advice = Guidance(LEAN, Settings(stale=5)).before_model(plan, [], Memory())
    return advice.text

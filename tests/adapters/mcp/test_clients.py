"""Two clients on one plan do not undo each other (law 15)."""

import asyncio
from types import SimpleNamespace

import pytest
from support.mcp_client import ERAS, connected, over_http
from support.mcp_scripts import said
from support.mcp_server import http_process, server_of

from todoplan.adapters.mcp.clients import Clients
from todoplan.adapters.mcp.server import make_server
from todoplan.core.commands import CreateTask
from todoplan.dialogue import Toolbox, lean
from todoplan.planner import AsyncPlanner, Planner
from todoplan.stores.file import FileStore
from todoplan.stores.memory import MemoryStore


def lines(*texts):
    return {"todos": [{"content": text, "status": "pending"} for text in texts]}


async def by_turns(one, two):
    """
    Have two clients write by turns; return what the first is told last.
    """
    await one.call("write_todos", lines("Dig"))
    await two.call("read_todos")
    await two.call("write_todos", lines("Dig", "Lay"))
    return said(await one.call("write_todos", lines("Dig", "Mow")))


def subjects(store):
    return sorted(task.subject for task in store.load("plan"))


def test_two_sessions_of_one_server_keep_each_others_work():
    """Under the same name, for both are the same program; the first is told what the second did."""
    store = MemoryStore()

    async def play():
        server = server_of(store, "todos")
        async with connected(server) as one, connected(server) as two:
            return await by_turns(one, two)

    text, is_error = asyncio.run(play())
    assert not is_error
    assert "since you last looked: #2 Lay created by mcp" in text
    assert subjects(store) == ["Dig", "Lay", "Mow"]


def test_two_clients_over_http_keep_each_others_work(tmp_path):
    """Real connections to a server in another process."""
    file = tmp_path / "plans.json"

    async def play(url):
        async with over_http(url) as one, over_http(url) as two:
            return await by_turns(one, two)

    with http_process(file, toolset="todos") as url:
        text, _ = asyncio.run(play(url))
    assert "#2 Lay created" in text
    assert subjects(FileStore(file)) == ["Dig", "Lay", "Mow"]


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_comes_anew_goes_on(era):
    """It is found by its name: what a person did in between stays, and is told."""
    store = MemoryStore()

    async def play(*texts):
        async with connected(server_of(store, "todos"), era) as client:
            return said(await client.call("write_todos", lines(*texts)))

    asyncio.run(play("Dig"))
    Planner(store, "plan").apply(CreateTask("Tell Ann"), actor="ann")
    text, _ = asyncio.run(play("Dig"))
    assert "#2 Tell Ann created by ann" in text
    assert subjects(store) == ["Dig", "Tell Ann"]


def test_two_clients_drain_one_plan():
    """Law 19: each session holds the fences of its own claims, though both have one name."""
    store = MemoryStore()
    server = make_server(Toolbox(lean(team=True)), store=store)

    async def play():
        async with connected(server) as one, connected(server) as two:
            await one.call("plan", {"write": ["Dig", "Lay", "Sow"]})
            return [
                said(await client.call("plan", arguments))[0]
                for client, arguments in (
                    (one, {"next": True}),
                    (two, {"next": True}),
                    (two, {"done": [1]}),
                    (two, {"done": [2], "next": True}),
                    (one, {"done": [1], "next": True}),
                )
            ]

    first, second, refused, third, last = asyncio.run(play())
    assert first == "0/3: #1 claimed (fence 1): Dig"
    assert second == "0/3: #2 claimed (fence 1): Lay"
    assert "Task 1 is claimed by mcp" in refused
    assert third == "1/3: #2 completed; #3 claimed (fence 1): Sow"
    assert last.endswith("2/3: #1 completed; no task can be claimed now")
    assert {task.claims for task in store.load("plan")} == {1}


def _request(name, version="2025-11-25", **more):
    said = SimpleNamespace(clientInfo=SimpleNamespace(name=name), **more)
    session = SimpleNamespace(client_params=said)
    return SimpleNamespace(session=session, protocol_version=version)


def test_a_name_is_one_line_and_not_for_ever():
    """Whatever a client calls itself stands in the journal."""
    clients = Clients(AsyncPlanner())
    assert clients.hand(_request("a\nb\x1b" + "c" * 90))[1] == "ab" + "c" * 38
    assert clients.hand(_request("\n"))[1] is None


def test_without_sessions_a_name_is_the_hand():
    """Protocol 2026-07-28: every request comes alone; who says nothing of itself has no name."""
    planner = AsyncPlanner()
    clients, later = Clients(planner), "2026-07-28"
    for name in "ab":
        assert clients.hand(_request(name, later)) == (planner, name)
    nobody = SimpleNamespace(session=SimpleNamespace(client_params=None))
    assert clients.hand(nobody) == (planner, None)


def test_of_many_sessions_the_longest_away_is_forgotten():
    """A session is one hand for as long as it is known, and a server holds no more than 1,000."""
    clients, first = Clients(AsyncPlanner()), _request("a")
    known = clients.hand(first)[0]
    others = [_request("b") for _ in range(999)]
    hands = {id(clients.hand(each)[0]) for each in others}
    assert len(hands) == 999
    assert clients.hand(first)[0] is known
    more = [_request("c") for _ in range(1_000)]
    for each in more:
        clients.hand(each)
    assert clients.hand(first)[0] is not known

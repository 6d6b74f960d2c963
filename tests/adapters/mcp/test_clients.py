"""Two clients on one plan do not undo each other (law 15)."""

import asyncio
import signal
import subprocess
import sys

import pytest
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from support.law_15 import Situations
from support.mcp_client import ERAS, Connections, connected, over_http
from support.mcp_scripts import said
from support.mcp_server import environment, http_process, server_of

from todoplan.adapters.mcp.server import make_server
from todoplan.core.commands import CreateTask
from todoplan.dialogue import Toolbox, lean
from todoplan.planner import Planner
from todoplan.stores import SqliteStore
from todoplan.stores.file import FileStore
from todoplan.stores.memory import MemoryStore


class Talk:
    """A connection to a server of its own."""

    def __init__(self, connections, store, plan_id, toolbox):
        self.connections, self.store, self.plan_id = connections, store, plan_id
        server = make_server(toolbox, store=store, plan_id=plan_id)
        self.client = connections.submit(connections.open(server, ERAS[0])).result(60)

    def plan(self):
        return self.store.load(self.plan_id)

    def edit(self, command, actor):
        Planner(self.store, self.plan_id).apply(command, actor=actor).unwrap()

    def seed(self, plan):
        Planner(self.store, self.plan_id).restore(plan)

    def turn(self, *calls):
        async def talk(client):
            return [said(await client.call(*call))[0] for call in calls]

        return self.connections.asked(self.client, talk).result(60)

    def saved(self):
        return {"session": {}}  # nobody keeps it

    def again(self):
        return self


class TestConnections(Situations):
    """Law 15 for every connection; nobody keeps its record, so that none is resumed."""

    test_what_a_reminder_told_of_stays = None  # there are none
    test_a_journal_that_was_cut_drops_nothing = None
    test_calls_of_one_turn_share_what_the_session_knew = None  # a server sees no turns

    @pytest.fixture(autouse=True)
    def _connections(self):
        self.connections = Connections()
        yield
        self.connections.close()

    @pytest.fixture
    def talk(self, toolset):
        return self.begin(Toolbox(toolset), store=MemoryStore())

    def begin(self, toolbox, store, settings=None, plan_id="7"):
        return Talk(self.connections, store, plan_id, toolbox)


def lines(*texts):
    return {"todos": [{"content": text, "status": "pending"} for text in texts]}


def subjects(store):
    return sorted(task.subject for task in store.load("plan"))


@pytest.mark.slow
def test_two_clients_over_http_keep_each_others_work(tmp_path):
    """Real connections to a server in another process; each is told what the other one did."""
    file = tmp_path / "plans.json"

    async def play(url):
        async with over_http(url) as one, over_http(url) as two:
            await one.call("write_todos", lines("Dig"))
            await two.call("read_todos")
            await two.call("write_todos", lines("Dig", "Lay"))
            return said(await one.call("write_todos", lines("Dig", "Mow")))

    with http_process(file, toolset="todos") as url:
        text, _ = asyncio.run(play(url))
    assert "#2 Lay created" in text
    assert subjects(FileStore(file)) == ["Dig", "Lay", "Mow"]


def test_a_client_that_connects_anew_has_listed_nothing(era):
    """Nobody keeps the record of a connection: what its list leaves out stays, and it is told."""
    store = MemoryStore()

    async def play(*lists):
        async with connected(server_of(store, "todos"), era) as client:
            return [said(await client.call("write_todos", lines(*texts)))[0] for texts in lists]

    asyncio.run(play(["Dig", "Lay"]))
    Planner(store, "plan").apply(CreateTask("Tell Ann"), actor="ann")
    first, second = asyncio.run(play(["Dig"], ["Dig", "Mow"]))
    assert "#2 Lay" in first
    assert "#3 Tell Ann" in first
    assert "Lay" not in second
    assert subjects(store) == ["Dig", "Lay", "Mow", "Tell Ann"]


@pytest.mark.slow
@pytest.mark.parametrize(("connect", "toolset"), [("stdio", "lean"), ("http", "todos")])
def test_a_first_list_keeps_what_the_command_line_added(tmp_path, connect, toolset, era):
    """The real command, then a real client's first list: a newcomer drops nobody's task."""
    file = tmp_path / "plans.db"
    address, first = f"sqlite:///{file}", "Ann's task"
    environ = {**environment(), "TODOPLAN_STORE": address}
    todoplan = [sys.executable, "-m", "todoplan"]
    subprocess.run([*todoplan, "add", first], check=True, env=environ, capture_output=True)
    write = ("plan", {"write": ["Dig"]}) if toolset == "lean" else ("write_todos", lines("Dig"))
    again = ("plan", {"add": ["Sow"]}) if toolset == "lean" else ("write_todos", lines("Sow"))
    serve = ["mcp", "--store", address, "--plan", "plan", "--toolset", toolset]

    async def talk(client):
        async with client as peer:
            return [said(await peer.call(*call)) for call in (write, again)]

    if connect == "stdio":
        command = StdioServerParameters(
            command=sys.executable, args=[*todoplan[1:], *serve], env=environ
        )
        told = asyncio.run(talk(connected(stdio_client(command), era)))
    else:
        line = [*todoplan, *serve, "--http", "--port", "0"]
        with subprocess.Popen(line, env=environ, stderr=subprocess.PIPE, text=True) as server:
            try:
                url = server.stderr.readline().split()[-1]
                told = asyncio.run(talk(over_http(url, era)))
            finally:
                server.send_signal(signal.SIGTERM)
                server.communicate(timeout=60)
    assert [is_error for _, is_error in told] == [False, False]
    assert f"#1 {first}" in told[0][0]
    assert first not in told[1][0]
    with SqliteStore(file) as store:
        mine = ["Dig", "Sow"] if toolset == "lean" else ["Sow"]
        assert sorted(task.subject for task in store.load("plan")) == [first, *mine]


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

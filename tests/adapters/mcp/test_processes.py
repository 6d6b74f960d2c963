"""Servers in processes of their own, over stdio and HTTP, and the file that keeps their plans."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys

import anyio
import pytest
from support.mcp_client import over_http, over_stdio
from support.mcp_scripts import CREATE, SCRIPT, expected, notified, played, said
from support.mcp_server import command, environment, http_process

from todoplan.adapters.mcp import plan_uri
from todoplan.dialogue.tools import TASKS
from todoplan.stores.file import FileStore

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """A file that is served over HTTP, at a URL, for a whole module."""
    file = tmp_path_factory.mktemp("shelf") / "plans.json"
    with http_process(file) as url:
        yield file, url


def test_stdio_from_another_process(tmp_path, era):
    """The whole talk over pipes: tools, calls, news, and a plan that outlives its server."""
    file, script = tmp_path / "plans.json", SCRIPT

    async def first():
        async with over_stdio(file, era) as client:
            names = [tool["name"] for tool in await client.tools()]
            return names, await played(client, script), await notified(client, plan_uri("plan"))

    async def second():
        async with over_stdio(file, era) as client:
            return await client.call("TaskList")

    names, results, heard = asyncio.run(first())
    replies, plan = expected("tasks", script)
    assert tuple(names) == TASKS.tool_names
    assert [said(result) for result in results] == [(r.text, r.is_error) for r in replies]
    assert heard == ([plan_uri("plan")] * 2, 0, 2)
    (*_, after), grown = expected("tasks", [*script, CREATE, CREATE, ("TaskList", {})])
    assert said(asyncio.run(second())) == (after.text, False)
    assert FileStore(file).load("plan") == grown != plan


def test_http_from_another_process(shelf, era):
    """A path names a plan; each keeps to itself, and its client hears of its changes."""
    file, url = shelf
    name = f"garden-{era}"

    async def play():
        async with over_http(f"{url}/{name}", era) as one, over_http(url, era) as other:
            results = await played(one, SCRIPT)
            async with one.subscribed(plan_uri(name), times=2):
                await _until_told(one)
            return results, await other.call("TaskList"), await other.resources()

    results, other, (resource,) = asyncio.run(play())
    replies, _ = expected("tasks", SCRIPT)
    assert [said(result) for result in results] == [(r.text, r.is_error) for r in replies]
    (empty,), _ = expected("tasks", [("TaskList", {})])
    assert said(other) == (empty.text, False)
    assert resource["uri"] == plan_uri("plan")
    assert {"Dig"} <= {task.subject for task in FileStore(file).load(name)}


async def _until_told(client):
    """Change the plan until the news arrive: a client opens the way for them when it likes."""
    with anyio.fail_after(30):
        while True:
            await client.call(*CREATE)
            with anyio.move_on_after(0.2):
                await client.update()
                return


@pytest.mark.parametrize("store", ["--file={}/x.json", "--store=sqlite:///{}/x.db"])
def test_calls_that_are_sent_at_once_are_done_in_their_order(tmp_path, store):
    """Whole lists 1 to 6 and a read, as hosts send a turn: the last list wins, none is news."""
    line = [sys.executable, "-m", "todoplan", "mcp", store.format(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    more = [
        ("write_todos", {"todos": [{"content": f"version {n}", "status": "pending"}]})
        for n in range(1, 7)
    ]
    calls = [*more, ("read_todos", {})]
    with subprocess.Popen(line, env=environment(), **pipes) as server:

        def send(**message):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()

        def answer():
            message = json.loads(server.stdout.readline())
            return message["id"], message["result"]

        client = {"name": "gemini-cli", "version": "1"}
        opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        send(id=0, method="initialize", params=opening)
        _, greeting = answer()
        send(method="notifications/initialized")
        for number, (name, arguments) in enumerate(calls, 1):
            send(id=number, method="tools/call", params={"name": name, "arguments": arguments})
        answers = [answer() for _ in calls]
        server.stdin.close()
    texts = [result["content"][0]["text"] for _, result in answers]
    assert greeting["instructions"].startswith("Planning tools: `write_todos`")
    assert [number for number, _ in answers] == [1, 2, 3, 4, 5, 6, 7]
    assert texts[-1] == "#6 [pending] version 6"
    assert not any("since you last looked" in text for text in texts)


@pytest.mark.parametrize("how", ["TERM", "INT"])
def test_a_stuck_store_leaves_the_server_answering(tmp_path, how):
    """While one plan's store stands still: ping, its own tools, other plans, and the end."""
    file = tmp_path / "plans.json"

    async def play(url):
        async with (
            over_http(f"{url}/stuck") as stuck,
            over_http(f"{url}/free") as free,
            anyio.create_task_group() as group,
        ):
            for _ in range(8):
                group.start_soon(stuck.call, *CREATE)
            with anyio.fail_after(60):
                await stuck.session.send_ping()
                assert len(await stuck.tools()) == 4
                assert not (await free.call(*CREATE))["isError"]
            os.kill(server.pid, getattr(signal, f"SIG{how}"))
            await asyncio.to_thread(server.wait, 60)
            group.cancel_scope.cancel()

    line = command(file, http=True)
    with subprocess.Popen(
        line, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            with contextlib.suppress(Exception):
                asyncio.run(play(server.stdout.readline().strip()))
            assert server.poll() is not None
        finally:
            server.kill()
    assert len(FileStore(file).load("free")) == 1

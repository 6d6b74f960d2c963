"""Running a server in this process: over pipes in the place of stdin and stdout, and over HTTP."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys

import pytest
from support.mcp_client import over_http
from support.mcp_scripts import INITIALIZE
from support.mcp_server import server_of

from todoplan.adapters.mcp import Access, http_server, listen_at, serve_stdio
from todoplan.adapters.mcp.server import APP_TYPE, EXTENSION, app_uri
from todoplan.errors import MissingExtraError
from todoplan.stores.memory import MemoryStore

SHOWS = {EXTENSION: {"mimeTypes": [APP_TYPE]}}
REQUESTS = (
    INITIALIZE,
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "TaskCreate", "arguments": {"subject": "Dig"}},
    },
)


@contextlib.contextmanager
def pipes(monkeypatch):
    """What the client writes to and reads from, while stdin and stdout are the other ends."""
    (stdin, to_server), (from_server, stdout) = os.pipe(), os.pipe()
    with (
        os.fdopen(stdin) as read_here,
        os.fdopen(stdout, "w") as written_here,
        os.fdopen(to_server, "w") as writing,
        os.fdopen(from_server) as reading,
        monkeypatch.context() as patch,
    ):
        patch.setattr(sys, "stdin", read_here)
        patch.setattr(sys, "stdout", written_here)
        yield writing, reading


async def _talk(writing, reading):
    """Send the requests one after the other, and hang up."""
    answers = []
    with writing:
        for request in REQUESTS:
            writing.write(json.dumps(request) + "\n")
            writing.flush()
            if "id" in request:
                answers.append(json.loads(await asyncio.to_thread(reading.readline)))
    return answers


def test_stdio_ends_when_the_client_hangs_up(monkeypatch):
    """Requests are answered line by line; stdout is left open for who comes after."""
    store = MemoryStore()

    async def run(ends):
        server = server_of(store)
        _, answers = await asyncio.gather(serve_stdio(server), _talk(*ends))
        return answers

    with pipes(monkeypatch) as ends:
        first, second = asyncio.run(run(ends))
        sys.stdout.write("still open")
        sys.stdout.flush()
    assert first["result"]["serverInfo"]["name"] == "todoplan"
    assert second["result"]["isError"] is False
    assert len(store.load("plan")) == 1


def test_http_in_this_process(era):
    """A server runs at a socket until it is asked to end; each path has a plan and its page."""
    store = MemoryStore()

    async def run():
        listener, url = listen_at("127.0.0.1", 0)
        with listener:
            server = http_server(server_of(store), Access())
            running = asyncio.create_task(server.serve(sockets=[listener]))
            async with over_http(f"{url}/garden", era, SHOWS) as client:
                page = (await client.tools())[0]["_meta"]["ui"]["resourceUri"]
                assert page == app_uri("garden")
                result = await client.call("TaskCreate", {"subject": "Dig"})
            server.should_exit = True
            await running
        return url, result

    url, result = asyncio.run(run())
    assert url.startswith("http://127.0.0.1:")
    assert result["content"][0]["text"]
    assert (len(store.load("garden")), len(store.load("plan"))) == (1, 0)


def test_an_address_is_bound_or_it_is_an_error():
    """IPv6 stands in brackets in a URL; a port that is taken is the system's error."""
    listener, url = listen_at("127.0.0.1", 0)
    with listener, pytest.raises(OSError, match="in use"):
        listen_at("127.0.0.1", listener.getsockname()[1])
    assert url == f"http://127.0.0.1:{url.removesuffix('/mcp').rpartition(':')[2]}/mcp"
    if socket.has_dualstack_ipv6():
        listener, url = listen_at("::1", 0)
        listener.close()
        assert url.startswith("http://[::1]:")


def test_without_mcp_the_error_names_the_extra(monkeypatch):
    """A missing library is told with the pip command that brings it."""
    for name in [name for name in sys.modules if name.startswith("todoplan.adapters.mcp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'todoplan\[mcp\]'"):
        __import__("todoplan.adapters.mcp")


@pytest.mark.slow
def test_the_script_of_the_tests_leaves_no_noise(tmp_path):
    """A server that is hung up on at once ends with 0, and says nothing on stderr."""
    from support.mcp_server import command, environment  # noqa: PLC0415 - used here alone

    line, env = command(tmp_path / "plans.json"), environment()
    done = subprocess.run(line, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")

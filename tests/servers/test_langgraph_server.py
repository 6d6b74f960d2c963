"""The plan of an agent that LangGraph's own development server runs, through its SDK."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from langgraph_sdk import get_sync_client

TESTS = Path(__file__).parents[1]
PATIENCE = 120


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of the scripted agent, by its address."""
    folder = tmp_path_factory.mktemp("server")
    graph = f"{TESTS / 'support' / 'scripted_server.py'}:agent"
    config = {"dependencies": ["."], "graphs": {"agent": graph}}
    (folder / "langgraph.json").write_text(json.dumps(config))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    path = os.pathsep.join((str(TESTS.parent), os.environ.get("PYTHONPATH", "")))
    serve = "from langgraph_cli.cli import cli; cli()"
    command = [sys.executable, "-c", serve, "dev", "--no-browser", "--no-reload"]
    with subprocess.Popen(
        [*command, "--port", str(port)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield wait_for(f"http://127.0.0.1:{port}", process)
        finally:
            process.terminate()


def wait_for(url, process):
    """Return the address when somebody answers there."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            httpx.get(f"{url}/ok").raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.2)
        else:
            return url
    pytest.fail("the server did not come up")


def test_the_list_is_streamed_and_kept(server):
    """As `useStream` reads it: values of the state, whole after each step."""
    said = {"messages": [{"role": "user", "content": "Plan the garden"}]}
    with get_sync_client(url=server) as client:
        thread = client.threads.create()["thread_id"]
        chunks = client.runs.stream(thread, "agent", input=said, stream_mode="values")
        values = [chunk.data for chunk in chunks if chunk.event == "values"]
        kept = client.threads.get_state(thread)["values"]["todos"]
    shown = [each["todos"] for each in values if each.get("todos")]
    first = [
        {"content": "Sow", "status": "pending", "owner": "ann"},
        {"content": "Reap", "status": "pending"},
    ]
    last = [
        {"content": "Sow", "status": "in_progress", "owner": "ann", "id": "1"},
        {"content": "Reap", "status": "pending", "id": "2", "blockedBy": ["1"]},
    ]
    assert (shown[0], shown[-1]) == (first, last)
    assert kept == last

"""An MCP server in a process of its own, whose clock stands still. This module is its script."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

from todoplan.adapters.mcp import (
    Access,
    Limits,
    http_server,
    listen_at,
    make_server,
    serve_stdio,
)
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TOOLSETS
from todoplan.stores.file import FileStore

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
LIMIT = 4096


def server_of(store, toolset="tasks", policy=None, **options):
    """Return a server of the plans in a store, whose clock stands still."""
    toolbox = Toolbox(TOOLSETS[toolset], **({"policy": policy} if policy else {}))
    return make_server(toolbox, store=store, clock=lambda: NOW, **options)


class Stuck(FileStore):
    """A store that never ends loading the plan "stuck"."""

    def load(self, plan_id):
        if plan_id == "stuck":
            threading.Event().wait()
        return super().load(plan_id)


def command(file, *, toolset="tasks", http=False, token=None, **limits):
    """Return the command line that serves a file."""
    options = {"file": str(file), "toolset": toolset, "http": http, "token": token}
    options["limits"] = {"body_bytes": LIMIT, **limits}
    return [sys.executable, __file__, json.dumps(options)]


def environment():
    """Return the environment in which the script finds this todoplan."""
    root = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": str(root), "PYTHONWARNINGS": "error::ResourceWarning"}


@contextlib.contextmanager
def http_process(file, **options):
    """Serve a file over HTTP in another process, and give the URL."""
    process = subprocess.Popen(
        command(file, http=True, **options), env=environment(), stdout=subprocess.PIPE, text=True
    )
    try:
        yield process.stdout.readline().strip()
    except BaseException:
        process.kill()
        raise
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _main(options):
    server = server_of(Stuck(options["file"]), options["toolset"])
    if not options["http"]:
        asyncio.run(serve_stdio(server))
        return
    listener, url = listen_at("127.0.0.1", 0)
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    access, limits = Access(token=options["token"]), Limits(**options["limits"])
    asyncio.run(http_server(server, access, limits).serve(sockets=[listener]))


if __name__ == "__main__":
    _main(json.loads(sys.argv[1]))

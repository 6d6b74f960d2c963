"""`todoplan mcp`: an MCP server of plans. The adapter is imported when it is asked for."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, cast

import attrs

from todoplan.cli.commands.schema import TOOLSETS
from todoplan.cli.output.screen import Screen
from todoplan.core.rules.policy import RuleSettings
from todoplan.core.rules.presets import PRESETS
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools.toolset import unmet_rules
from todoplan.errors import TodoplanError
from todoplan.stores.file import FileStore
from todoplan.stores.urls import open_store

__all__ = ["TOKEN", "Address", "Served", "serve"]

TOKEN = "TODOPLAN_MCP_TOKEN"  # noqa: S105 - the variable's name
"""The environment variable that holds the bearer token: an argument would show in process lists."""

_UNREADABLE = 2

# Whoever types the command sees nothing happen, and does not know that nobody is to type here.
_WAITING = (
    'the plan "{}" is served on standard input and output: an MCP client starts this command and '
    "talks to it there. Name it in the client's settings; --http serves at an address instead. "
    "Ctrl-C ends it"
)


@attrs.frozen
class Served:
    """
    What is served: a plan of a file, or of a store by its address (or of memory, if both are
    `None`), with which tools, under which rules.
    """

    file: Path | None = None
    store: str | None = None
    plan_id: str = "plan"
    toolset: str = "todos"
    policy: str = "default"
    structured: bool | None = None
    board: bool = True


@attrs.frozen
class Address:
    """
    Where HTTP is served, and the names beside loopback's under which the host is known.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    names: tuple[str, ...] = ()


def serve(served: Served, address: Address | None, screen: Screen) -> int:
    """
    Serve over stdio, or HTTP at an address, until the end; return the exit code.
    """
    try:
        asyncio.run(_serving(served, address, screen))
    except (TodoplanError, OSError) as error:
        screen.complain(str(error))
        return _UNREADABLE
    return 0


def _serving(served: Served, address: Address | None, screen: Screen) -> Coroutine[Any, Any, None]:
    """
    Return the server, ready to run: whatever is wrong with its options has been raised.
    """
    from todoplan.adapters import mcp  # noqa: PLC0415 - an extra

    # The command line opens no store that is awaited.
    store: Any = FileStore(served.file) if served.file else open_store(served.store or "memory:")
    # A damaged file or a bad id fails here, not in the client's first call.
    store.load(served.plan_id)
    server = mcp.make_server(
        _toolbox(served, screen),
        store=store,
        plan_id=served.plan_id,
        structured=served.structured,
        board=served.board,
    )
    if address is None:
        # A thread reads stdin and waits for the next line: at Ctrl-C asyncio would wait for it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if sys.stdin.isatty():
            screen.complain(_WAITING.format(served.plan_id))
        return mcp.serve_stdio(server)
    access = mcp.Access.at(address.host, os.environ.get(TOKEN), address.names)
    listener, url = mcp.listen_at(address.host, address.port)
    screen.complain(f'the plan "{served.plan_id}" is served at {url}')
    return mcp.http_server(server, access).serve(sockets=[listener])


def _toolbox(served: Served, screen: Screen) -> Toolbox:
    """
    Return the tool set under the policy, as far as it can keep its rules; what it cannot is said.
    """
    toolset, policy = TOOLSETS[served.toolset], PRESETS[served.policy]
    vain = dict.fromkeys(unmet_rules(toolset, policy), "off")
    if vain:
        screen.complain(f"{served.toolset} cannot keep {', '.join(vain)}: off here")
    return Toolbox(toolset, policy.but(**cast("RuleSettings", vain)))

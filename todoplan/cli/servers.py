"""
The commands that serve plans to agents and in a browser, and the command for an agent's hooks.

The packages that a server needs belong to an extra. They are imported only when the server runs.
"""

import asyncio
import gc
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import attrs

from todoplan.cli.hook import run, socket_of, tidy
from todoplan.cli.plans import BOARD_TOKEN, DEFAULT_PLAN, Judge, Place, Writer
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import RuleSettings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TOOLSETS, unmet_rules
from todoplan.errors import PlanError
from todoplan.planner.verifying import Verifier
from todoplan.render.terminal import Screen
from todoplan.stores.file import FileStore

# -------- mcp --------
# `todoplan mcp`: an MCP server for plans.


TOKEN = "TODOPLAN_MCP_TOKEN"  # noqa: S105 - the variable's name
"""The environment variable with the bearer token. An argument would show in process lists."""

_SESSION_IDS = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")
_CHECK_SECONDS = 600.0

# Printed on a terminal, where the command would otherwise seem to hang, because it waits for an MCP
# client on its standard input.
_WAITING = (
    'the plan "{}" is served on standard input and output: an MCP client starts this command and '
    "talks to it there. Name it in the client's settings; --http serves at an address instead. "
    "Ctrl-C ends it"
)


@attrs.frozen
class Served:
    """
    The options that say what `todoplan mcp` serves.

    The plan is kept in the JSON file `file`, or else in the store at `place`. `run` is the command
    that verifies a task with a check.
    """

    file: Path | None = None
    place: Place = Place()
    toolset: str = "todos"
    actor: str | None = None
    run: str | None = None
    structured: bool | None = None
    board: bool = True
    lenient: bool = False
    hooks: bool = False
    judge: Judge = Judge()

    @property
    def plan_id(self) -> str:
        """
        The id of the plan. With `hooks`, each session of a coding agent has its own plan instead.
        """
        return self.place.wanted_plan or DEFAULT_PLAN

    @property
    def verify(self) -> Verifier | None:
        """The verifier that runs the command `run`, or `None` if there is no command."""
        return Verifier(self._ran, seconds=_CHECK_SECONDS, by=self.run) if self.run else None

    def _ran(self, task: Task, _: Plan) -> tuple[bool, str] | None:
        if not task.check:
            return None
        environment = {**os.environ, "TODOPLAN_TASK": task.id, "TODOPLAN_CHECK": task.check}
        # The server uses its own stdin and stdout for the protocol.
        ran = subprocess.run(  # noqa: S603 - the person's own command
            shlex.split(self.run or ""),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        rows = ran.stdout.decode(errors="replace").strip().splitlines()
        return ran.returncode == 0, rows[-1] if rows else f"exit code {ran.returncode}"


@attrs.frozen
class Address:
    """The address of a server, and the host names it accepts in addition to loopback's."""

    host: str = "127.0.0.1"
    allow_host: list[str] | None = None

    def access(self, token: str | None, variable: str) -> Any:
        """Return who may use the server. If there is a token, only clients that send it may."""
        from todoplan.web import Access  # noqa: PLC0415 - an extra

        return Access.at(self.host, token, tuple(self.allow_host or ()), variable=variable)


def serve(
    screen: Screen, *, served: Served, http: bool = False, port: int = 8765, address: Address
) -> None:
    """
    Serve a plan to any MCP client, over stdio or HTTP.

    The plan is "plan" unless --plan names another one. With --hooks, each session has its own plan.
    """
    if served.file and served.place.store:
        msg = f"give a file or --store {served.place.store}, not both"
        raise PlanError(msg)
    if served.hooks:
        # Copilot CLI starts the servers of a plugin in the plugin's folder. Other hosts start them
        # in the project's folder, in which the host itself runs.
        with suppress(OSError):
            os.chdir(f"/proc/{os.getppid()}/cwd")
    # Garbage collection would take a tenth of the time to start, and could free nothing: the
    # modules that are loaded here stay loaded.
    gc.disable()
    try:
        running = _serving(served, address, port if http else None, screen)
        gc.freeze()
    finally:
        gc.enable()
    asyncio.run(running)


def _serving(
    served: Served, address: Address, port: int | None, screen: Screen
) -> Coroutine[Any, Any, None]:
    """
    Return the coroutine that runs the server. Errors in the options are raised before it starts.
    """
    from todoplan.adapters import mcp  # noqa: PLC0415 - an extra

    # The command line opens synchronous stores only.
    store: Any = (
        FileStore(served.file) if served.file else served.place.store_itself(screen.complain)
    )
    if served.hooks:
        # The store is not checked here: an agent might not start if its server failed. Errors are
        # reported by the first call.
        return _with_hooks(served, store, screen)
    # If the file is damaged or the id is invalid, fail here and not in the client's first call.
    store.load(served.plan_id)
    server = mcp.make_server(
        _toolbox(served, screen),
        store=store,
        plan_id=served.plan_id,
        structured=served.structured,
        board=served.board,
        lenient=served.lenient,
        actor=served.actor,
        verify=served.verify,
    )
    if port is None:
        # A thread is blocked reading stdin. With Python's own handler, asyncio would wait for that
        # thread after Ctrl-C.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if sys.stdin.isatty():
            screen.complain(_WAITING.format(served.plan_id))
        return mcp.serve_stdio(server)
    access = address.access(os.environ.get(TOKEN), TOKEN)
    listener, url = mcp.listen_at(address.host, port)
    screen.complain(f'the plan "{served.plan_id}" is served at {url}')
    return mcp.http_server(server, access).serve(sockets=[listener])


def _with_hooks(served: Served, store: Any, screen: Screen) -> Coroutine[Any, Any, None]:
    """Return the coroutine that serves a coding agent over stdio, and answers its hooks."""
    from todoplan.adapters import mcp  # noqa: PLC0415 - an extra
    from todoplan.adapters.mcp.hooks import HostSessions, answering  # noqa: PLC0415 - same
    from todoplan.adapters.mcp.server import tool_server  # noqa: PLC0415 - same

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # as in `_serving`
    sessions = HostSessions(
        _toolbox(served, screen),
        store=store,
        plan_id=served.place.plan_id,
        verify=served.verify,
        actor=served.actor,
    )
    if session_id := next(filter(None, map(os.environ.get, _SESSION_IDS)), None):
        sessions.begin(session_id)
    server = tool_server(
        sessions.toolbox.toolset, sessions.call, sessions.system_prompt, lenient=served.lenient
    )
    tidy()

    async def running() -> None:
        async with answering(sessions, socket_of(os.getppid())):
            await mcp.serve_stdio(server)

    return running()


def _toolbox(served: Served, screen: Screen) -> Toolbox:
    """
    Return the toolbox of the tool set and the policy.

    Rules that the tool set cannot keep are turned off, and a message on stderr names them.
    """
    toolset, policy = TOOLSETS[served.toolset], served.judge.chosen_policy()
    unmet = dict.fromkeys(unmet_rules(toolset, policy), "off")
    if unmet:
        screen.complain(f"{served.toolset} cannot keep {', '.join(unmet)}: off here")
    return Toolbox(toolset, policy.but(**cast("RuleSettings", unmet)))


# -------- board --------
# `todoplan board`: the plans of a store as a page in a browser.


def board(  # noqa: PLR0913 - an argument for each option
    screen: Screen,
    *,
    port: int = 8766,
    address: Address,
    token: str | None = None,
    write: bool | None = None,
    place: Place,
    writer: Writer,
    judge: Judge,
) -> None:
    """
    Serve the plans of a store as a live web page.

    Readers may change the plans with --write, or if only this machine can reach the board.
    """
    from todoplan.board import make_board  # noqa: PLC0415 - an extra
    from todoplan.web import listen_at, server_of  # noqa: PLC0415 - same

    access = address.access(token, BOARD_TOKEN)
    app = make_board(
        place.store_itself(screen.complain),
        plan_id=place.plan_id,
        policy=judge.chosen_policy(),
        person=writer.name or "person",
        access=access,
        write=write,
    )
    listener, url = listen_at(address.host, port, "/")
    screen.complain(f"the board is served at {url}")
    asyncio.run(server_of(app).serve(sockets=[listener]))


# -------- coding agents --------


def hook(screen: Screen, word: str | None = None) -> None:  # noqa: ARG001 - `run` prints
    """Answer an event of a coding agent; a plugin calls this. It never fails."""
    run([word] if word else [])

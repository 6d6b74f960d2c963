"""
`todoplan demo`: a scripted agent works on a plan, and the board shows it.

The plan is in a temporary folder, which is removed at the end. On a terminal, the plan is drawn
live and the demo runs until Ctrl-C, so that a person can edit the plan. Without a terminal, the
agent's calls are printed with their replies, the person is scripted too, and the demo ends when the
agent has nothing left to do.
"""

import asyncio
import json
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import attrs

from todoplan.cli.plans import entry_phrases
from todoplan.cli.views import draw, moves
from todoplan.core.commands import AnswerTask, Command, CreateTask
from todoplan.core.plan.model import Status
from todoplan.core.plan.questions import next_task
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN
from todoplan.errors import MissingExtraError, StoreError
from todoplan.planner.planner import Planner
from todoplan.render.terminal import Screen, plan_lines
from todoplan.stores.sqlite import SqliteStore

PLAN_ID = "release"

_TASKS = (
    "Collect the changes since the last release",
    "Fix the broken link in the guide",
    "Run the tests",
    "Choose the version number",
    "Write the release notes",
    "Publish the release",
)
_ASKED, _QUESTION = "4", "1.5 or 2.0?"
_ORDER = {"edit": [{"id": 5, "after": [4]}, {"id": 6, "after": [3, 5]}]}

# The scripted person's commands by task id. Each command is carried out after the call that
# completes or pauses the task.
_PERSON: dict[str, Command] = {
    "2": CreateTask("Thank the contributors", blocked_by=("6",)),
    _ASKED: AnswerTask(_ASKED, "2.0: the old names are gone."),
}

_TITLE = "edit the plan on the board, the agent is told; Ctrl-C ends the demo"
_PAUSE = 2.0  # seconds of work between two calls


@attrs.frozen
class Call:
    """A call of the planning tool and its reply."""

    arguments: dict[str, Any]
    reply: str


class Agent:
    """
    A scripted agent with the tool set `lean`.

    It works on every task of the plan, also on those that a person adds, and asks one question.
    """

    def __init__(self, planner: Planner) -> None:
        self._planner, self._beginning = planner, iter(({"write": [*_TASKS]}, _ORDER))

    def step(self) -> Call | None:
        """Make the next call. Return `None` if there is nothing to do at the moment."""
        arguments: dict[str, Any] | None = next(self._beginning, None)
        if arguments is None:
            task = next_task(self._planner.plan)
            if task is None:
                return None
            is_started = task.status is Status.IN_PROGRESS
            arguments = {"done" if is_started else "start": [int(task.id)]}
            if task.id == _ASKED and task.answer is None:
                arguments = {"wait": {task.id: _QUESTION}}
        return Call(arguments, self._planner.call("plan", arguments, actor="agent").text)


def demo(screen: Screen, *, browser: bool = True, port: int = 0) -> None:
    """Show what todoplan is: an agent works on a plan, live on the board."""
    is_live = screen.out.is_terminal and not screen.out.is_dumb_terminal
    with TemporaryDirectory(prefix="todoplan-demo-") as folder:
        path = Path(folder) / "plans.db"
        planner = Planner(SqliteStore(path), PLAN_ID, toolbox=Toolbox(LEAN))
        with _board(path, port, screen) as url:
            if is_live:
                if url and browser:
                    webbrowser.open(url)
                screen.write(f"from another terminal: todoplan list --store {path}\n")
                _live(planner, Agent(planner), screen)
            else:
                _print_run(planner, Agent(planner), screen)


@contextmanager
def _board(path: Path, port: int, screen: Screen) -> Iterator[str | None]:
    """Serve the board in a thread during the block. Yield its URL, or `None` without the extra."""
    try:
        from todoplan.board import make_board  # noqa: PLC0415 - an extra
        from todoplan.web import Access, listen_at, server_of  # noqa: PLC0415 - same
    except MissingExtraError as error:
        screen.complain(f"the demo has no board: {error}")
        yield None
        return
    app = make_board(SqliteStore(path), plan_id=PLAN_ID, person="you", access=Access())
    listener, url = listen_at("127.0.0.1", port, "/")
    server = server_of(app)
    thread = Thread(
        target=lambda: asyncio.run(server.serve(sockets=[listener])), name="todoplan-demo-board"
    )
    thread.start()
    screen.write(f"the board: {url}\n")
    try:
        yield url
    finally:
        server.should_exit = True
        thread.join()


def _live(planner: Planner, agent: Agent, screen: Screen) -> None:
    """Draw the plan while the agent works in a thread, until Ctrl-C."""
    is_over = Event()

    def work() -> None:
        while not is_over.wait(_PAUSE):
            # A step fails if the store is locked for long, or removed at the end of the demo.
            with suppress(StoreError):
                agent.step()

    thread = Thread(target=work, name="todoplan-demo-agent")
    thread.start()
    try:
        draw(_TITLE, moves(planner, None), screen)
    except KeyboardInterrupt:
        screen.write("the demo is over; its plan is removed\n")
    finally:
        is_over.set()
        thread.join()


def _print_run(planner: Planner, agent: Agent, screen: Screen) -> None:
    """Print each call with its reply, and the plan at the end. The person is scripted."""
    script = dict(_PERSON)
    while (call := agent.step()) is not None:
        screen.write(f"agent: plan {json.dumps(call.arguments)}\n")
        screen.write("".join(f"  {line}\n" for line in call.reply.splitlines()))
        for task_id in (*call.arguments.get("done", ()), *call.arguments.get("wait", ())):
            if str(task_id) in script:
                plan = planner.apply(script.pop(str(task_id)), actor="ann").unwrap()
                phrases = entry_phrases(planner.history()[-1], plan)
                screen.write(f"ann: {'; '.join(phrases)}\n")
    screen.show(plan_lines(planner.plan, screen.width))

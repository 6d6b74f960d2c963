"""
The typer application: all commands, and what the commands other than those on a plan do.

The commands on a plan are in `commands`, those on recordings in `recordings`.
"""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import attrs
import typer

from todoplan.cli import UNREADABLE
from todoplan.cli.commands import PLAN_COMMANDS, make_app, one_of, with_groups
from todoplan.cli.hook import ours, run, socket_of
from todoplan.cli.markdown import MARKDOWN_COMMANDS
from todoplan.cli.plans import DEFAULT_PLAN, STORE, Judge, Place, Writer
from todoplan.cli.plugin import HOSTS, Plugin, write_plugin
from todoplan.cli.screen import Screen, exit_with
from todoplan.cli.views import PRINTERS, copy, show
from todoplan.codec import dump_journal
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import PRESETS, RuleSettings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, ToolSet, lean, tasks, unmet_rules
from todoplan.errors import TodoplanError
from todoplan.planner.verifying import Verifier
from todoplan.stores.file import FileStore
from todoplan.transcripts import DIALECT_NAMES

if TYPE_CHECKING:
    from todoplan.cli.output import Run
    from todoplan.cli.recordings import Form

# -------- guide --------
# `todoplan guide`: pages for people and coding agents, shipped with the package.


_PAGES = files("todoplan") / "guides"
_END = ".md"

READING_ORDER = (
    ("Begin", ("ten-minutes", "own-loop", "moving")),
    (
        "Frameworks",
        (
            "langchain",
            "deepagents",
            "agentscope",
            "openai-agents",
            "pydantic-ai",
            "claude-agent-sdk",
            "google-adk",
            "strands",
            "agent-framework",
            "haystack",
            "llama-index",
            "mcp",
            "coding-agents",
            "acp",
            "other-frameworks",
        ),
    ),
    ("Shape it", ("rules", "limits", "human-edits", "evidence", "board")),
    ("Keep and share it", ("stores", "several-agents", "command-line", "write-a-store")),
    ("Check it", ("recordings", "telemetry", "testing")),
    ("Look inside", ("reference", "architecture", "threat-model", "write-an-adapter")),
)
"""The pages, grouped by purpose, in reading order."""


def page_names() -> tuple[str, ...]:
    """Return the names of the pages in reading order."""
    return tuple(name for _, names in READING_ORDER for name in names)


def guide(name: str | None, screen: Screen) -> int:
    """Print a page, or the list of pages if `name` is `None`, and return the exit code."""
    if name is None:
        screen.write(_overview())
        return 0
    wanted = name.lower().removesuffix(_END)
    if wanted not in page_names():
        screen.complain(_unknown(name, wanted))
        return UNREADABLE
    text = _text(wanted)
    if screen.out.is_terminal:
        from rich.markdown import Markdown  # noqa: PLC0415 - slow to import

        # Links between pages are file names, which a terminal could not open.
        screen.out.print(Markdown(text, hyperlinks=False))
    else:
        screen.write(text)
    return 0


def _overview() -> str:
    width = max(map(len, page_names()))
    lines = []
    for group, names in READING_ORDER:
        lines += [group, *(f"  {name:{width}}  {_title(name)}" for name in names), ""]
    return "\n".join([*lines, "Show one: todoplan guide NAME", ""])


def _title(name: str) -> str:
    return _text(name).partition("\n")[0].removeprefix("# ")


def _text(name: str) -> str:
    return (_PAGES / f"{name}{_END}").read_text("utf-8")


def _unknown(name: str, wanted: str) -> str:
    near = get_close_matches(wanted, page_names(), 1)
    meant = f"did you mean {near[0]}? " if near else ""
    return f"no guide is called {name!r}; {meant}the guides are {', '.join(page_names())}"


# -------- schema --------
# `todoplan schema`: the tool definitions of a tool set, in a provider's format.


TOOLSETS: dict[str, ToolSet] = {
    "todos": TODOS,
    "tasks": tasks(),
    "tasks-snake": tasks("snake"),
    "lean": LEAN,
    "tasks-team": tasks(team=True),
    "lean-team": lean(team=True),
}
"""The tool sets by their names on the command line."""


def _plain(tools: ToolSet) -> dict[str, Any]:
    return {tool.name: tool.schema for tool in tools.definitions()}


def _of_provider(module: str, **how: Any) -> Callable[[ToolSet], Any]:
    def make(tools: ToolSet) -> Any:
        return import_module(f"todoplan.adapters.functions.{module}").make_tools(tools, **how)

    return make


FORMS: dict[str, Callable[[ToolSet], Any]] = {
    "plain": _plain,
    "openai": _of_provider("openai_chat"),
    "anthropic": _of_provider("anthropic_messages"),
    "gemini": _of_provider("gemini"),
    "strict": _of_provider("openai_chat", strict=True),
}
"""The functions that make tool definitions, by format name; `strict` is OpenAI's strict mode."""


def schema(toolset: str, form: str, screen: Screen) -> int:
    """Print the tool definitions as JSON, and return the exit code."""
    screen.write(json.dumps(FORMS[form](TOOLSETS[toolset]), indent=2) + "\n")
    return 0


# -------- mcp --------
# `todoplan mcp`: an MCP server for plans. The adapter is imported when the command runs, because
# it needs an extra.


TOKEN = "TODOPLAN_MCP_TOKEN"  # noqa: S105 - the variable's name
"""The environment variable with the bearer token. An argument would show in process lists."""

_SESSION_IDS = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")
_CHECK_SECONDS = 600.0
_UNREADABLE = 2

# Printed on a terminal, where the command would otherwise seem to hang: only an MCP client is
# meant to write to its standard input.
_WAITING = (
    'the plan "{}" is served on standard input and output: an MCP client starts this command and '
    "talks to it there. Name it in the client's settings; --http serves at an address instead. "
    "Ctrl-C ends it"
)


@attrs.frozen
class Served:
    """
    What the server serves: the plan, the tool set and the policy.

    The plan is kept in the JSON file `file`, or else in the store at `place`.
    """

    file: Path | None = None
    place: Place = Place("memory:")
    plan_id: str | None = None
    toolset: str = "todos"
    judge: Judge = Judge()
    structured: bool | None = None
    board: bool = True
    lenient: bool = False
    hooks: bool = False
    actor: str | None = None
    check: str | None = None

    @property
    def verify(self) -> Verifier | None:
        """The verifier that runs the command `check`."""
        return Verifier(self._ran, seconds=_CHECK_SECONDS, by=self.check) if self.check else None

    def _ran(self, task: Task, _: Plan) -> tuple[bool, str] | None:
        if not task.check:
            return None
        environment = {**os.environ, "TODOPLAN_TASK": task.id, "TODOPLAN_CHECK": task.check}
        # stdin and stdout are those of the protocol.
        ran = subprocess.run(  # noqa: S603 - the person's own command
            shlex.split(self.check or ""),
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
    """The address of the HTTP server, and the host names it accepts in addition to loopback's."""

    host: str = "127.0.0.1"
    port: int = 8765
    names: tuple[str, ...] = ()


def serve(served: Served, address: Address | None, screen: Screen) -> int:
    """
    Run the MCP server until it ends, and return the exit code.

    It serves streamable HTTP at `address`, or stdio if `address` is `None`.
    """
    try:
        asyncio.run(_serving(served, address, screen))
    except (TodoplanError, OSError) as error:
        screen.complain(str(error))
        return _UNREADABLE
    return 0


def _serving(served: Served, address: Address | None, screen: Screen) -> Coroutine[Any, Any, None]:
    """
    Return the coroutine that runs the server. Errors in the options are raised before it starts.
    """
    from todoplan.adapters import mcp  # noqa: PLC0415 - an extra

    # The command line opens synchronous stores only.
    store: Any = (
        FileStore(served.file) if served.file else served.place.store_itself(screen.complain)
    )
    # A damaged file or a bad id must fail here and not in the client's first call.
    store.load(served.plan_id or DEFAULT_PLAN)
    if served.hooks:
        return _with_hooks(served, store, screen)
    server = mcp.make_server(
        _toolbox(served, screen),
        store=store,
        plan_id=served.plan_id or DEFAULT_PLAN,
        structured=served.structured,
        board=served.board,
        lenient=served.lenient,
        actor=served.actor,
        verify=served.verify,
    )
    if address is None:
        # A thread is blocked reading stdin. With Python's own handler, asyncio would wait for that
        # thread after Ctrl-C.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if sys.stdin.isatty():
            screen.complain(_WAITING.format(served.plan_id or DEFAULT_PLAN))
        return mcp.serve_stdio(server)
    access = mcp.Access.at(address.host, os.environ.get(TOKEN), address.names)
    listener, url = mcp.listen_at(address.host, address.port)
    screen.complain(f'the plan "{served.plan_id or DEFAULT_PLAN}" is served at {url}')
    return mcp.http_server(server, access).serve(sockets=[listener])


async def _with_hooks(served: Served, store: Any, screen: Screen) -> None:
    """Serve a coding agent over stdio, and answer its hooks (`todoplan hook`)."""
    from todoplan.adapters import mcp  # noqa: PLC0415 - an extra
    from todoplan.adapters.mcp.hooks import HostSessions, answering  # noqa: PLC0415 - same
    from todoplan.adapters.mcp.server import tool_server  # noqa: PLC0415 - same

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # as in `_serving`
    sessions = HostSessions(
        _toolbox(served, screen), store=store, plan_id=served.plan_id, verify=served.verify
    )
    if session_id := next(filter(None, map(os.environ.get, _SESSION_IDS)), None):
        sessions.begin(session_id)
    server = tool_server(sessions.toolbox.toolset, sessions.call, sessions.system_prompt)
    ours()
    async with answering(sessions, socket_of(os.getppid())):
        await mcp.serve_stdio(server)


def _toolbox(served: Served, screen: Screen) -> Toolbox:
    """
    Return the toolbox of the tool set and the policy.

    Rules that the tool set cannot keep are turned off, and a message on stderr names them.
    """
    toolset, policy = TOOLSETS[served.toolset], served.judge.rules_that_hold()
    vain = dict.fromkeys(unmet_rules(toolset, policy), "off")
    if vain:
        screen.complain(f"{served.toolset} cannot keep {', '.join(vain)}: off here")
    return Toolbox(toolset, policy.but(**cast("RuleSettings", vain)))


# -------- options --------
# The options of the commands as annotated types, from which typer reads them.
#
# The commands on recordings are imported when one of them runs: `list`, `next` and the other
# commands on a plan start without them. So the names that their options allow stand here.


AUDITS = ("audit", *PRESETS)
"""The names of `todoplan.transcripts.replay.POLICIES`."""

SORT_KEYS = ("name", "calls", "findings", "open", "chars", "date")
"""The names of `todoplan.cli.recordings.SORTS`."""

Recordings = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILE|DIR",
        help="Recordings. A directory stands for the *.jsonl, *.ndjson, *.json, *.md and "
        "*.log files below it, also packed as .gz or .zip; "
        "files in it that hold no recording are skipped and listed.",
        show_default=False,
    ),
]
Folders = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR|FILE",
        help="Directories of recordings; files too. The same files count as in replay.",
    ),
]
Judging = Annotated[
    str,
    typer.Option(
        metavar="PRESET",
        help=f"The rules to judge by: {', '.join(AUDITS)}.",
        **one_of(AUDITS),
    ),
]
Dialect = Annotated[
    str | None,
    typer.Option(
        metavar="DIALECT",
        help=f"Read as this dialect instead of finding out: {', '.join(DIALECT_NAMES)}.",
        **one_of(DIALECT_NAMES),
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]
AsMarkdown = Annotated[
    bool, typer.Option("--markdown", help="Print Markdown, to be pasted into an issue.")
]
Page = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="OUT",
        help="Write a page of HTML to this file, - for stdout; it needs nothing but itself.",
        show_default=False,
    ),
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        "--otlp",
        metavar="URL",
        help="Send the recordings as spans to this collector, over HTTP: http://localhost:4318.",
        show_default=False,
    ),
]
Sort = Annotated[
    str,
    typer.Option(
        metavar="KEY",
        help=f"Sort the recordings by {', '.join(SORT_KEYS)}; else they stand as they are found.",
        **one_of(("", *SORT_KEYS)),
        show_default=False,
    ),
]
Together = Annotated[
    bool,
    typer.Option(
        "--together", help="Replay all as one plan: a leader's recording and its teammates'."
    ),
]
Sample = Annotated[
    bool, typer.Option("--sample", help="Replay the small recording that comes along.")
]
Document = Annotated[
    Path | None,
    typer.Argument(
        metavar="PLAN.json",
        help="A plan document, or a file of plans, JSON or SQLite.",
        show_default=False,
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="The store that keeps the plans: sqlite:///plans.db, postgresql://host/database or "
        f"file:///plans.json. Where no file is given either, {STORE} names it, else it is the "
        "project's .todoplan/plans.db.",
        show_default=False,
    ),
]
StoreFrom = Annotated[
    str, typer.Argument(metavar="FROM", help="The store to copy from, by its address.")
]
StoreTo = Annotated[str, typer.Argument(metavar="TO", help="The store to copy to.")]
PlanNames = Annotated[
    list[str] | None,
    typer.Option("--plan", metavar="NAME", help="A plan to copy, of several; repeatable."),
]
PlanForm = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"The form: text, {', '.join(PRINTERS)}.",
        **one_of(("text", *PRINTERS)),
    ),
]
PlanName = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="NAME",
        help="Which plan, of a store or a file that keeps several.",
        show_default=False,
    ),
]
ToolSetArgument = Annotated[
    str,
    typer.Argument(
        metavar="TOOLSET",
        help=f"The tool set: {', '.join(TOOLSETS)}.",
        **one_of(TOOLSETS),
    ),
]
SchemaForm = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"The shape: {', '.join(FORMS)}. plain is a JSON Schema by tool name, "
        "strict is OpenAI's strict mode.",
        **one_of(FORMS),
    ),
]
GuideName = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="The guide to show; raw Markdown if it is piped. Without a name they are listed.",
        show_default=False,
        autocompletion=one_of(page_names())["autocompletion"],
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The JSON file that keeps the plan, instead of a store.",
        show_default=False,
    ),
]
PlanId = Annotated[
    str | None,
    typer.Option(
        metavar="ID",
        help=f'The plan in that file or store; "{DEFAULT_PLAN}" unless given, with --hooks one for '
        "each session.",
        show_default=False,
    ),
]
Hooks = Annotated[
    bool,
    typer.Option(
        "--hooks",
        help="Serve a coding agent, and answer its hooks (`todoplan hook`), as in the folder that "
        "`todoplan plugin` writes.",
    ),
]
ToolSetOption = Annotated[
    str,
    typer.Option(
        metavar="TOOLSET",
        help=f"What the model gets: {', '.join(TOOLSETS)}.",
        **one_of(TOOLSETS),
    ),
]
ServedActor = Annotated[
    str | None,
    typer.Option(
        "--actor",
        metavar="NAME",
        help="The actor in the plan's history; else the name that the client gives itself.",
        show_default=False,
    ),
]
CheckCommand = Annotated[
    str | None,
    typer.Option(
        "--verify",
        metavar="COMMAND",
        help="Run this command before a task that has a check is completed, and record what it "
        "found as evidence. The rule evidence_required=error refuses what it did not pass.",
        show_default=False,
    ),
]
Structured = Annotated[
    bool | None,
    typer.Option(
        "--structured/--text-only",
        help="Answer with data beside the text, or never; without either, only to clients that "
        "show the board.",
    ),
]
Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient",
        help="Publish schemas without required fields and legal words, for hosts that check "
        "arguments by them (Gemini CLI, Qwen Code): then synonyms are repaired instead of refused.",
    ),
]
NoBoard = Annotated[
    bool, typer.Option("--no-board", help="Offer no board to clients that show pages (MCP Apps).")
]
OverHttp = Annotated[bool, typer.Option("--http", help="Serve streamable HTTP at /mcp, not stdio.")]
Host = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help=f"The address to bind. One that is not loopback needs a token in {TOKEN}.",
    ),
]
Port = Annotated[
    int,
    typer.Option(metavar="PORT", min=0, max=65535, help="The port; 0 is any that is free."),
]
Hosts = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A name under which clients reach the server; repeatable."),
]


# -------- board --------
# `todoplan board`: the plans of a store as a page in a browser. The board is imported when the
# command runs, because it needs an extra.


BOARD_TOKEN = "TODOPLAN_BOARD_TOKEN"  # noqa: S105 - the variable's name
"""The environment variable with the bearer token. An argument would show in process lists."""


@attrs.frozen
class Doors:
    """
    The address of the board and who may use it.

    `token` is the bearer token, `names` are further accepted host names. `write` says whether
    readers may change plans; `None` allows it only if the board is reachable from this machine
    alone.
    """

    host: str
    port: int
    token: str | None = None
    names: tuple[str, ...] = ()
    write: bool | None = None


def serve_board(place: Place, writer: Writer, judge: Judge, doors: Doors, screen: Screen) -> int:
    """Run the board's HTTP server until it ends, and return the exit code."""
    try:
        from todoplan.board import make_board  # noqa: PLC0415 - an extra
        from todoplan.web import (  # noqa: PLC0415 - same
            Access,
            listen_at,
            server_of,
        )

        access = Access.at(doors.host, doors.token, doors.names, variable=BOARD_TOKEN)
        app = make_board(
            place.store_itself(screen.complain),
            plan_id=place.plan_id,
            policy=judge.rules_that_hold(),
            person=writer.name or "person",
            access=access,
            write=doors.write,
        )
        listener, url = listen_at(doors.host, doors.port, "/")
        screen.complain(f"the board is served at {url}")
        server = server_of(app)
        asyncio.run(server.serve(sockets=[listener]))
    except (TodoplanError, OSError) as error:
        screen.complain(str(error))
        return UNREADABLE
    return 0


# -------- report --------
# `todoplan report`: one plan of a store as a single file, either an HTML page or an SVG picture.
#
# The page is the one of `todoplan replay --html`, made from the plan's own journal: the last
# state, a slider through the revisions, and the findings next to the entries they are about.


def report(
    place: Place, html: Path | None, picture: Path | None, policy: str, screen: Screen
) -> int:
    """Write the page, the picture, or both (`-` is stdout), and return the exit code."""
    from todoplan.cli.output import Run, plan_svg, save_page  # noqa: PLC0415 - slow to import
    from todoplan.transcripts.replay import POLICIES  # noqa: PLC0415 - same

    # Findings do not change the exit code here; only a failure to read or write does.
    run = Run(screen, POLICIES[policy], None)
    try:
        store, plan_id = place.opened()
        journal = store.entries(plan_id)
        if picture is not None:
            save_page(plan_svg(store.load(plan_id), plan_id), _file(picture), run, "picture")
        if html is not None:
            save_page(_page(plan_id, journal, run), _file(html), run)
    except TodoplanError as error:
        screen.complain(str(error))
        return UNREADABLE
    return UNREADABLE if run.exit_code == UNREADABLE else 0


def _file(out: Path) -> Path | None:
    return None if str(out) == "-" else out


def _page(plan_id: str, journal: Sequence[Entry], run: "Run") -> str:
    from todoplan.cli.output import HtmlPrinter, Input  # noqa: PLC0415 - slow to import

    printer = HtmlPrinter([entry.revision for entry in journal])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "journal.jsonl"
        file.write_text(dump_journal(_from_the_start(journal)), encoding="utf-8")
        run.replay_all((Input(file, plan_id or "plan"),), printer.recording)
    printer.close(run)
    return printer.written


def _from_the_start(journal: Sequence[Entry]) -> Sequence[Entry]:
    """Return the journal with its revisions shifted to begin at 0, for a journal that was cut."""
    before = journal[0].revision - len(journal[0].events) if journal else 0
    if not before:
        return journal
    return [attrs.evolve(each, revision=each.revision - before) for each in journal]


# -------- page_commands --------
# The commands `board` and `report`, and the options that only they have.


BoardHost = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="The address to bind. One that is not loopback needs a token.",
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        metavar="BOARD_TOKEN",
        help="What a reader has to know. An argument shows in process lists: better the variable.",
        envvar=BOARD_TOKEN,
        show_default=False,
    ),
]
MayWrite = Annotated[
    bool | None,
    typer.Option(
        "--write/--read-only",
        help="Whether readers may change plans; unless said, only where this machine alone "
        "can reach the board.",
        show_default=False,
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option(
        "--svg",
        metavar="OUT",
        help="Write a picture of the plan to this file, - for stdout: for a README.",
        show_default=False,
    ),
]


def _board(  # noqa: PLR0913 - an argument for each option
    *,
    host: BoardHost = "127.0.0.1",
    port: Port = 8766,
    token: Token = None,
    allow_host: Hosts = None,
    write: MayWrite = None,
    place: Place,
    writer: Writer,
    judge: Judge,
) -> None:
    """Serve a web page that shows the plans of a store live and can change them."""
    doors = Doors(host, port, token, tuple(allow_host or ()), write)
    exit_with(lambda screen: serve_board(place, writer, judge, doors, screen))


def _report(
    *, html: Page = None, svg: Picture = None, policy: Judging = "audit", place: Place
) -> None:
    """Write a plan as one file: an HTML page with its history and findings, or an SVG picture."""
    if html is None and svg is None:
        msg = "say what to write: --html OUT, --svg OUT, or both"
        raise typer.BadParameter(msg)
    exit_with(lambda screen: report(place, html, svg, policy, screen))


PAGE_COMMANDS = {"board": with_groups(_board), "report": with_groups(_report)}
"""The commands by name."""


app = make_app()


@app.command("demo")
def _demo(
    *,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the board.")] = True,
    port: Port = 0,
) -> None:
    """Show what todoplan is: a scripted agent works on a plan, live on the board."""
    from todoplan.cli.demo import demo  # noqa: PLC0415 - only for this command

    exit_with(lambda screen: demo(screen, port=port, browser=browser))


@app.command("replay")
def _replay(  # noqa: PLR0913 - an argument for each option
    paths: Recordings = None,
    *,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    html: Page = None,
    otlp: Endpoint = None,
    policy: Judging = "audit",
    dialect: Dialect = None,
    sample: Sample = False,
    together: Together = False,
) -> None:
    """Replay recordings of agents and show the timeline, the last plan and the findings."""
    from todoplan.cli.recordings import (  # noqa: PLC0415 - slow to import
        ReplayOptions,
        replay,
        replay_sample,
    )

    form, out = _form(html, as_json=as_json, as_markdown=as_markdown)
    if sample is bool(paths):  # both, or neither
        _refuse("give recordings or directories of them, or else --sample")
    if otlp is not None:
        if form != "text":
            _refuse("give one of --json, --markdown, --html and --otlp")
        if not otlp.startswith(("http://", "https://")):
            _refuse(f"{otlp!r} is no address of a collector, such as http://localhost:4318")
        form = "otlp"
    options = ReplayOptions(form, policy, dialect, together, out, otlp or "")
    exit_with(
        lambda screen: replay(paths, options, screen) if paths else replay_sample(options, screen)
    )


def _form(html: Path | None, *, as_json: bool, as_markdown: bool) -> "tuple[Form, Path | None]":
    """Return the output form, and the file for an HTML page (`None` for stdout)."""
    if as_json + as_markdown + (html is not None) > 1:
        _refuse("give one of --json, --markdown and --html")
    if html is not None:
        # "-" means stdout, as in many commands that write a file.
        return "html", None if str(html) == "-" else html
    return "json" if as_json else "markdown" if as_markdown else "text", None


def _refuse(reason: str) -> NoReturn:
    # typer exits with 2 for this error, which is also `UNREADABLE`.
    raise typer.BadParameter(reason)


@app.command("stats")
def _stats(  # noqa: PLR0913 - an argument for each option
    paths: Folders,
    *,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    html: Page = None,
    policy: Judging = "audit",
    sort: Sort = "",
) -> None:
    """Count plans, sizes, updates, findings and planning characters over many recordings."""
    from todoplan.cli.recordings import StatsOptions, stats  # noqa: PLC0415 - slow to import

    form, out = _form(html, as_json=as_json, as_markdown=as_markdown)
    options = StatsOptions(form, policy, sort, out)
    exit_with(lambda screen: stats(paths, options, screen))


@app.command("show")
def _show(
    plan: Document = None,
    *,
    store: StoreUrl = None,
    form: PlanForm = "text",
    plan_id: PlanName = None,
) -> None:
    """Show a plan from a JSON document or a store."""
    chosen = _store(store, plan)  # refuses both
    where = plan or Place(chosen, plan_id)
    exit_with(lambda screen: show(where, form, screen, plan_id))


@app.command("schema")
def _schema(toolset: ToolSetArgument, *, form: SchemaForm = "plain") -> None:
    """Print the tool definitions of a tool set as JSON, ready for a request."""
    exit_with(lambda screen: schema(toolset, form, screen))


@app.command("guide")
def _guide(name: GuideName = None) -> None:
    """Show a guide, or list all guides."""
    exit_with(lambda screen: guide(name, screen))


@app.command("mcp")
@with_groups
def _mcp(  # noqa: PLR0913 - an argument for each option
    *,
    file: PlanFile = None,
    store: StoreUrl = None,
    plan: PlanId = None,
    toolset: ToolSetOption = "todos",
    actor: ServedActor = None,
    verify: CheckCommand = None,
    structured: Structured = None,
    no_board: NoBoard = False,
    lenient: Lenient = False,
    hooks: Hooks = False,
    http: OverHttp = False,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    allow_host: Hosts = None,
    judge: Judge,
) -> None:
    """Serve a plan to any MCP client, over stdio or HTTP."""
    if hooks:
        # Copilot CLI starts the servers of a plugin in the plugin's folder, and other hosts in that
        # of the project, which is their own.
        with suppress(OSError):
            os.chdir(f"/proc/{os.getppid()}/cwd")
    kept = (file, Place(_store(store, file)), plan)
    served = Served(*kept, toolset, judge, structured, not no_board, lenient, hooks, actor, verify)
    address = Address(host, port, tuple(allow_host or ())) if http else None
    exit_with(lambda screen: serve(served, address, screen))


@app.command("plugin")
def _plugin(  # noqa: PLR0913 - an argument for each option
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write.")],
    *,
    host: Annotated[
        str,
        typer.Option(
            metavar="HOST",
            help=f"Whose form: {', '.join(HOSTS)}. claude serves Codex and Copilot CLI too.",
            **one_of(HOSTS),
        ),
    ] = "claude",
    tools: Annotated[
        str,
        typer.Option(
            metavar="TOOLSET",
            help=f"What the model gets: {', '.join(TOOLSETS)}.",
            **one_of(TOOLSETS),
        ),
    ] = "lean",
    store: Annotated[
        str | None,
        typer.Option(
            metavar="STORE",
            help="Where the plans are kept; else the project's .todoplan/plans.db.",
            show_default=False,
        ),
    ] = None,
    plan: Annotated[
        str,
        typer.Option(
            metavar="session|project",
            help="A plan for each session, or one for the project, which all sessions share.",
            **one_of(("session", "project")),
        ),
    ] = "session",
    reminders: Annotated[
        bool, typer.Option("--reminders/--no-reminders", help="Whether the model is reminded.")
    ] = True,
    stop: Annotated[
        bool,
        typer.Option("--stop/--no-stop", help="Whether an unfinished plan sends the model back."),
    ] = True,
) -> None:
    """Write a plugin for a coding agent: Claude Code, Codex, Copilot CLI, Gemini CLI, Qwen Code."""
    made = Plugin(tools, store, plan, reminders, stop)
    exit_with(lambda screen: write_plugin(folder, host, made, screen))


@app.command("new-adapter")
def _new_adapter(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The framework, as in the name of a Python module."),
    ],
    *,
    folder: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="The folder to write into.")
    ] = Path(),
) -> None:
    """Write what an adapter for another framework begins with: module, host, test and page."""
    from todoplan.cli.new_adapter import write_adapter  # noqa: PLC0415 - few need it

    exit_with(lambda screen: write_adapter(name, folder, screen))


@app.command("hook")
def _hook(
    word: Annotated[
        str | None,
        typer.Argument(
            metavar="show|on|off",
            help="Show the plan of the session, or switch its reminders; without a word, an event "
            "is read from stdin.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Answer an event of a coding agent; a plugin calls this. It never fails."""
    run([word] if word else [])


stores = typer.Typer(
    name="store", help="Move plans between stores.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(stores)


@stores.callback()
def _stores() -> None:
    """Move plans between stores."""


@stores.command("copy")
def _copy(source: StoreFrom, target: StoreTo, *, plans: PlanNames = None) -> None:
    """Copy plans with their journals; plans that the target store already has are skipped."""
    exit_with(lambda screen: copy(source, target, plans or (), screen))


def _store(url: str | None, file: Path | None) -> str | None:
    """Return the address of the store, or `None` for the project's own or if a file was given."""
    if url is not None and file is not None:
        _refuse(f"give a file or --store {url}, not both")
    # The command line takes precedence over the environment.
    return url if url is not None or file is not None else os.environ.get(STORE)


for _name, _command in (PLAN_COMMANDS | MARKDOWN_COMMANDS | PAGE_COMMANDS).items():
    app.command(_name)(_command)

"""Common commands in their common form run without typer, and as typer would run them."""

import asyncio
import io
import re
import subprocess
import sys

import pytest

from todoplan import Planner
from todoplan import __main__ as entry
from todoplan.cli.plans import run_short
from todoplan.core.commands import CreateTask
from todoplan.stores.file import FileStore

TIME = re.compile(r"20\d\d-[\dT:.+-]+")


@pytest.fixture
def line(tmp_path, monkeypatch):
    """Make a fresh store of two tasks, named by the environment."""
    monkeypatch.setenv("TODOPLAN_ACTOR", "ann")

    def make(name):
        path = tmp_path / f"{name}.json"
        planner = Planner(FileStore(path), "garden")
        planner.apply(CreateTask("Sow"))
        planner.apply(CreateTask("Reap", blocked_by=("1",)))
        monkeypatch.setenv("TODOPLAN_STORE", str(path))

    return make


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["list", "--json", "--plan", "garden"],
        ["list", "--ready", "--plan=garden"],
        ["next"],
        ["next", "--plan", "house"],
        ["ready"],
        ["ready", "--explain"],
        ["add", "Rest", "--json"],
        ["add", "Rest", "--actor", "bob"],
        ["start"],
        ["start", "1", "--json"],
        ["done", "1,2"],
        ["done", "#1"],
        ["done", "7"],
        ["done", "3-1"],
    ],
)
def test_the_short_road_gives_what_the_long_one_gives(line, invoke, capsys, arguments):
    """Exit code, stdout and stderr are the same."""
    line("long")
    long = invoke(*arguments)
    line("short")
    code = run_short(arguments)
    short = capsys.readouterr()
    said = (TIME.sub("", long.stdout), long.stderr.replace("long.json", "short.json"))
    assert (code, TIME.sub("", short.out), short.err) == (long.exit_code, *said)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ('{"session_id": "garden", "cwd": "/"}', "#1 Dig, 0/1 completed\n"),
        ('{"session_id": "new"}', ""),
        ("no JSON", ""),
        ("[]", ""),
    ],
)
def test_a_status_line_shows_the_plan_of_its_session(tmp_path, monkeypatch, capsys, given, shown):
    """What Claude Code writes to it names the session; where there is no plan, nothing is shown."""
    monkeypatch.setenv("TODOPLAN_STORE", str(tmp_path / "plans.json"))
    for plan, task in {"garden": "Dig", "house": "Sweep"}.items():
        assert run_short(["add", task, "--plan", plan]) == 0
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", io.StringIO(given))
    assert run_short(["next", "--line"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == (shown, "")
    monkeypatch.setattr(sys, "stdin", io.StringIO(given))
    assert run_short(["next", "--line", "--plan", "house"]) == 0
    assert capsys.readouterr().out == "#1 Sweep, 0/1 completed\n"


def test_where_names_the_store(line, capsys):
    """Also without typer."""
    line("short")
    assert run_short(["where"]) == 0
    assert capsys.readouterr().out.endswith("named by TODOPLAN_STORE; plans: garden\n")


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--hooks", "--toolset", "lean", "--store", "memory:"],
        ["--hooks", "--toolset", "tasks", "--plan", "plan", "--lenient"],
    ],
)
def test_both_roads_serve_the_same(invoke, monkeypatch, tmp_path, options):
    """What a plugin's settings start needs no typer."""
    served = []

    def serving(*given):
        served.append(given[:-1])
        return asyncio.sleep(0)

    monkeypatch.setattr("todoplan.cli.servers._serving", serving)
    for road in (lambda line: invoke(*line).exit_code, run_short):
        monkeypatch.chdir(tmp_path)  # with hooks it goes to the agent's
        assert road(["mcp", *options]) == 0
    assert served[0] == served[1]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["list", "--help"],
        ["list", "--actor", "ann"],
        ["list", "1"],
        ["list", "--store"],
        ["next", "--json"],
        ["ready", "--json"],
        ["where", "--json"],
        ["add"],
        ["add", "a", "b"],
        ["add", "a", "--after", "1"],
        ["start", "--ready"],
        ["done"],
        ["done", "1", "--policy", "strict"],
        ["log"],
        ["mcp", "--http"],
        ["mcp", "--toolset", "none"],
        ["paint"],
    ],
)
def test_any_other_line_is_left_to_typer(arguments):
    """Help, rare options and mistakes."""
    assert run_short(arguments) is None


@pytest.mark.parametrize(("arguments", "code"), [(["next"], 0), (["done"], 2), (["log"], 0)])
def test_main_takes_either_road(line, monkeypatch, arguments, code):
    """The exit code arrives."""
    line("short")
    monkeypatch.setattr(sys, "argv", ["todoplan", *arguments])
    with pytest.raises(SystemExit) as left:
        entry.main()
    assert left.value.code == code


LIBRARIES = ("typer", "rich", "pydantic")
# All but the names of the dialects, which `--help` shows.
OF_RECORDINGS = ("calls", "commands", "files", "output", "read", "replay", "spans")
RECORDINGS = (*(f"todoplan.transcripts.{name}" for name in OF_RECORDINGS), "todoplan.adapters")
HELP = {"__main__", "cli", "cli.app", "errors", "lazy", "transcripts", "transcripts.dialects"}


@pytest.mark.parametrize(
    ("arguments", "barred"),
    [
        (["--version"], (*LIBRARIES, *RECORDINGS)),
        (["list"], (*LIBRARIES, *RECORDINGS)),
        *((line, LIBRARIES) for line in (["next"], ["ready"], ["add", "Sow"])),
        (["--help"], RECORDINGS),
    ],
)
def test_a_frequent_command_imports_no_more_than_it_needs(tmp_path, arguments, barred):
    """Status lines and hooks call these often; `--help` imports no module of a command."""
    code = (
        "import sys; sys.argv = ['todoplan', *sys.argv[1:]]\n"
        "from todoplan.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sys.modules)"
    )
    ran = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(ran, capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = done.stdout.splitlines()[-1].split()
    assert not [name for name in loaded if name.startswith(barred)]
    if arguments == ["--help"]:
        own = {name.removeprefix("todoplan.") for name in loaded if name.startswith("todoplan.")}
        assert own <= HELP


def test_a_server_over_stdio_starts_without_those_of_http(tmp_path):
    """Agents wait for it, or give up; while it serves, garbage is collected."""
    code = (
        "import gc, sys\n"
        "from todoplan.adapters import mcp\n"
        "from todoplan.__main__ import main\n"
        "async def told(server):\n"
        "    print({'typer', 'todoplan.web', 'todoplan.board.bundle'} & {*sys.modules})\n"
        "    print(gc.isenabled(), gc.get_freeze_count() > 10_000)\n"
        "mcp.serve_stdio = told\n"
        f"sys.argv = ['todoplan', 'mcp', '--store', {str(tmp_path / 'plans.db')!r}]\n"
        "main()\n"
    )
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\nTrue True\n"


def test_completion_is_left_to_typer(line, monkeypatch, capsys):
    """A shell asks by variables, without arguments."""
    line("short")
    monkeypatch.setattr(sys, "argv", ["todoplan"])
    monkeypatch.setenv("_TODOPLAN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "todoplan done ")
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit) as left:
        entry.main()
    assert (left.value.code, capsys.readouterr().out.split()) == (0, ["1", "2"])

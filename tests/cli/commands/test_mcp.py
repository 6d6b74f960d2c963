"""`todoplan mcp`: its options, its refusals, and servers that the real client talks to."""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from support.command_line import serving
from support.mcp_client import asked, over_http
from support.mcp_server import environment
from support.policies import strict_for

from todoplan import LEAN, STRICT, Plan, Planner, Task
from todoplan.adapters.mcp.server import APP_TYPE, EXTENSION
from todoplan.cli import servers as mcp_command
from todoplan.cli.plans import Judge
from todoplan.cli.servers import TOKEN, Address, Served, serve
from todoplan.core.commands import CreateTask
from todoplan.dialogue.tools import unmet_rules
from todoplan.stores.file import FileStore
from todoplan.stores.sqlite import SqliteStore

SECRET = "open-sesame-1234"  # noqa: S105 - of a server that lives for a test


def test_lenient_schemas_are_an_option():
    """For hosts that check arguments by the schema before they send them."""
    for options, has_required in ((), True), (("--lenient",), False):
        first, *_ = asked(lambda client: client.tools(), *options)
        assert ("required" in first["inputSchema"]) is has_required


def test_stdio_keeps_the_plan_in_the_file(tmp_path):
    """Tool set, rules, plan and form of the answers are as the options say."""
    file = tmp_path / "plans.json"
    options = ("--file", file, "--plan", "garden", "--toolset", "tasks", "--policy", "claude")

    async def talk(client):
        refused = await client.call("TaskCreate", {"subject": "Dig"})
        made = await client.call("TaskCreate", {"subject": "Dig", "activeForm": "Digging"})
        return refused, made, await client.resources()

    for more, is_data in (("--structured",), True), (("--text-only",), False):
        _, made, _ = asked(talk, *options, *more, "--plan", "other")
        assert ("structuredContent" in made) is is_data
    refused, made, (resource,) = asked(talk, *options)
    assert (refused["isError"], made["isError"]) == (True, False)
    assert "structuredContent" not in made
    assert resource["uri"] == "todoplan://plan/garden"
    assert [task.subject for task in FileStore(file).load("garden")] == ["Dig"]


def test_the_board_is_offered_unless_told_otherwise():
    """A client that shows pages finds the board's among the resources, but for `--no-board`."""
    shows = {EXTENSION: {"mimeTypes": [APP_TYPE]}}
    plan, board = "todoplan://plan/plan", "ui://todoplan/board/plan"
    for options, uris in ((), [plan, board]), (("--no-board",), [plan]):
        found = asked(lambda client: client.resources(), *options, extensions=shows)
        assert [each["uri"] for each in found] == uris


def test_http_says_where_it_serves(tmp_path):
    """The URL stands on stderr, and the token comes from the environment."""
    file, bearer = tmp_path / "plans.json", {"Authorization": f"Bearer {SECRET}"}

    async def talk(url):
        async with over_http(url, **bearer) as client:
            return await client.call(
                "write_todos", {"todos": [{"content": "a", "status": "pending"}]}
            )

    with serving("mcp", "--http", "--file", file, **{TOKEN: SECRET}) as url:
        with pytest.raises(HTTPError, match="401"):
            urlopen(url, timeout=30)  # noqa: S310 - of a server that this test started
        assert asyncio.run(talk(url))["isError"] is False
    assert len(FileStore(file).load("plan")) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_on_a_terminal_it_says_what_it_waits_for():
    """A person who starts it by hand is told that a client has to; stdout stays the client's."""
    ours, its = os.openpty()
    line = [sys.executable, "-m", "todoplan", "mcp"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        line, env=environment(), stdin=its, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert "an MCP client starts this command" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[0] == ""
    os.close(ours)
    os.close(its)


def test_ctrl_c_ends_a_server_on_stdio(tmp_path):
    """An idle server waits for a line that never comes; an interrupt ends it all the same."""
    line = [sys.executable, "-m", "todoplan", "mcp"]
    with subprocess.Popen(
        line, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        process.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        assert '"id":1' in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) != 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--plan", "../x"), "'../x' is no plan id"),
        (("--toolset", "jira"), "'jira' is none of todos"),
        (("--policy", "lax"), "'lax' is none of default"),
        (("--http", "--host", "0.0.0.0"), f"set {TOKEN} to"),  # noqa: S104 - refused
        (("--http", "--host", "192.0.2.1", "--port", "1"), "set TODOPLAN_MCP_TOKEN"),
        (("--http", "--port", "99999"), "65535"),
        (("--file", "missing/plans.json"), "missing/plans.json cannot be read: No such file"),
        (("--file", "corrupt.json"), "corrupt.json holds no plans that can be trusted"),
    ],
)
def test_what_cannot_be_served_is_exit_2_with_a_reason(
    invoke, tmp_path, monkeypatch, options, reason
):
    """A mistake is told in a line before anything is served."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(TOKEN, raising=False)
    (tmp_path / "corrupt.json").write_text("{")
    result = invoke("mcp", *options)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_a_port_that_is_taken_is_exit_2(invoke):
    """The system's reason is passed on."""
    with serving("mcp", "--http") as url:
        port = url.removesuffix("/mcp").rpartition(":")[2]
        result = invoke("mcp", "--http", "--port", port)
    assert result.exit_code == 2
    assert "in use" in result.stderr


def test_a_missing_extra_is_exit_2(invoke, monkeypatch):
    """Without mcp the command says what to install."""
    for name in [name for name in sys.modules if name.startswith("todoplan.adapters.mcp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("todoplan.adapters.mcp", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = invoke("mcp")
    assert (result.exit_code, "pip install 'todoplan[mcp]'" in result.stderr) == (2, True)


def test_rules_that_a_tool_set_cannot_keep_are_off_and_told(screen, complaints):
    """Any tool set goes with any policy: a server's user cannot change the rules one by one."""
    box = mcp_command._toolbox(Served(toolset="lean", judge=Judge("strict")), screen)
    assert box.policy == strict_for(LEAN)
    off = ", ".join(unmet_rules(LEAN, STRICT))
    assert complaints(screen) == f"todoplan: lean cannot keep {off}: off here\n"
    assert (
        mcp_command._toolbox(Served(toolset="tasks", judge=Judge("strict")), screen).policy
        == STRICT
    )
    assert complaints(screen).count("\n") == 1


def test_both_ways_run_to_their_end(screen, complaints, monkeypatch, tmp_path):
    """A server that ends by itself is exit 0; the adapter is asked for what the options say."""
    from todoplan.adapters import mcp  # noqa: PLC0415 - as the command does

    ran, before = [], signal.getsignal(signal.SIGINT)

    async def ended(*given, **named):
        ran.append(sorted(named))

    class Ended:
        serve = staticmethod(ended)

    monkeypatch.setattr(mcp, "serve_stdio", ended)
    monkeypatch.setattr(mcp, "http_server", lambda server, access: Ended)
    monkeypatch.setattr(mcp, "listen_at", lambda host, port: (None, f"http://{host}:{port}/mcp"))
    served = Served(tmp_path / "plans.json", toolset="lean")
    for terminal in (False, True):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda shown=terminal: shown))
        serve(screen, served=served, address=Address())
        told = 'the plan "plan" is served on standard input and output' in complaints(screen)
        assert told is terminal
    serve(screen, served=served, http=True, address=Address())
    signal.signal(signal.SIGINT, before)
    assert ran == [[], [], ["sockets"]]
    assert mcp_command._toolbox(served, screen).toolset.name == "lean"
    assert [*tmp_path.iterdir()] == []


def test_rules_an_actor_and_a_verifier_are_options(tmp_path):
    """A task with a check is completed if the command says so, which is told the task."""
    rules, script = tmp_path / "rules.toml", tmp_path / "check.py"
    rules.write_text('preset = "default"\n[rules]\nevidence_required = "error"\n')
    script.write_text(
        "import os, sys\nprint(os.environ['TODOPLAN_TASK'], 'of', os.environ['TODOPLAN_CHECK'])\n"
        "sys.exit(os.environ['TODOPLAN_TASK'] == '1')\n"
    )
    store = SqliteStore(tmp_path / "plans.db")
    for check in ("broken", "sound", None):
        Planner(store, "plan").apply(CreateTask("Dig", check=check)).unwrap()
    line = ["--store", f"sqlite:///{tmp_path}/plans.db", "--toolset", "lean"]
    line += ["--policy", rules, "--rule", "max_depth=2", "--actor", "bot"]
    line += ["--verify", shlex.join([sys.executable, str(script)])]

    async def talk(client):
        return [(await client.call("plan", {"done": [task]})) for task in (1, 2, 3)]

    texts = [result["content"][0]["text"] for result in asked(talk, *line)]
    assert "1 of broken" in texts[0]
    assert "verified: #2" in texts[1]
    plan = store.load("plan")
    assert [task.status.closed for task in plan] == [False, True, True]
    assert {entry.actor for entry in store.entries("plan")} == {None, "bot"}


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (f"{sys.executable} -c pass", (True, "exit code 0")),
        (f"{sys.executable} -c 'print(1); raise SystemExit(3)'", (False, "1")),
    ],
)
def test_what_a_command_prints_last_is_the_evidence(command, found):
    """Else its exit code; a task without a check is none of its business."""
    verify = Served(run=command).verify
    assert verify.look(Task("1", "Dig", check="sound"), Plan()) == found
    assert verify.look(Task("1", "Dig"), Plan()) is None
    assert Served().verify is None


def test_a_coding_agent_s_server_works_in_the_folder_of_the_agent(invoke, monkeypatch, tmp_path):
    """Copilot CLI starts it in another; and only the owner may reach the folder of the sockets."""
    served = []

    def seen(server):
        sockets = [path.name for path in (tmp_path / "sockets").iterdir()]
        served.append((server.name, Path.cwd(), sockets))

    async def serve_stdio(server):
        seen(server)

    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    monkeypatch.chdir(tmp_path)  # and back at the end
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr("todoplan.adapters.mcp.serve_stdio", serve_stdio)
    monkeypatch.setattr("todoplan.cli.hook.FOLDER", str(tmp_path / "sockets"))
    agent = Path(f"/proc/{os.getppid()}/cwd").readlink()
    assert invoke("mcp", "--hooks", "--store", "memory:").exit_code == 0
    assert served == [("todoplan", agent, [f"{os.getppid()}.sock"])]
    assert (tmp_path / "sockets").stat().st_mode & 0o777 == 0o700
    # An agent may refuse to start without its server: the first call tells that the plan is broken.
    (tmp_path / "plan.json").write_text("no plan")
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")  # not every agent says which session it is
    assert invoke("mcp", "--hooks", "--file", tmp_path / "plan.json").exit_code == 0


def test_hooks_and_tools_are_of_one_session(tmp_path):
    """A coding agent starts the server and its hooks: both find each other by its process."""
    line = ["--hooks", "--toolset", "lean", "--lenient", "--actor", "bot"]
    line += ["--store", f"sqlite:///{tmp_path}/plans.db"]

    def hook(*words, **told):
        line = [sys.executable, "-m", "todoplan", "hook", *words]
        return subprocess.run(
            line, input=json.dumps(told).encode(), env=environment(), stdout=subprocess.PIPE,
            check=True,
        ).stdout.decode()  # fmt: skip

    async def talk(client):
        (tool,) = await client.tools()
        assert "additionalProperties" not in tool["inputSchema"]
        await client.call("plan", {"write": ["Dig"]})
        told = {"session_id": "s1", "turn_id": "t1"}
        prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "go", **told}
        await asyncio.to_thread(hook, **prompt)
        await client.call("plan", {"write": ["Sow"]})
        shown = await asyncio.to_thread(hook, "show")
        stop = {"hook_event_name": "Stop", "last_assistant_message": "Done.", **told}
        return shown, json.loads(await asyncio.to_thread(hook, **stop))

    shown, stopped = asked(talk, *line, cwd=tmp_path, CLAUDE_CODE_SESSION_ID="s0")
    assert shown.endswith("[~] 1 Sow\n")
    assert stopped["decision"] == "block"
    assert "#1 [in_progress] Sow" in stopped["reason"]
    with SqliteStore(tmp_path / "plans.db") as kept:
        assert {*kept.plan_ids()} == {"s0", "s1"}
        assert {entry.actor for entry in kept.entries("s1")} == {"bot"}

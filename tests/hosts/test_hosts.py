"""
The plugin in the real Claude Code and Codex, against a scripted model: each script ends in the
right plan. `python -m tests.hosts --all` plays the scripts in the other coding agents too.
"""

import json
import os
import re
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest
from hosts.agents import HOSTS, Place
from hosts.installing import MissingHostError, installed
from hosts.model import answering
from hosts.playing import Player, begin, play
from hosts.scripts import SCRIPTS, Script, Step, Turn
from support.tokens import tokens

from todoplan.stores.sqlite import SqliteStore

pytestmark = pytest.mark.slow


@pytest.fixture(params=["claude", "codex"])
def host(request):
    """A host and its command line."""
    return program_of(request.param)


def program_of(name):
    """Return a host and its command line, or skip where it is not installed."""
    try:
        return HOSTS[name], installed(HOSTS[name])
    except MissingHostError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_ends_in_the_right_plan(host, name, tmp_path):
    """And the model is shown what the script says."""
    agent, program = host
    if name in agent.cannot:
        pytest.skip(agent.cannot[name])
    played = play(agent, program, SCRIPTS[name], tmp_path)
    assert not played.faults(SCRIPTS[name])


def test_planning_costs_less_than_with_the_host_s_own_tool(host, tmp_path):
    """In what the model reads at the end of the conversation; the reminders are counted."""
    (agent, program), work = host, SCRIPTS["work"]
    ours, own = (
        play(agent, program, work, tmp_path / planning, planning).requests[-1]
        for planning in ("ours", "own")
    )
    assert tokens(ours.shown()) < tokens(own.shown())


def test_claude_code_takes_the_folder_for_a_plugin(tmp_path):
    """By its own check."""
    host, program = program_of("claude")
    run = begin(host, program, Place(tmp_path, "http://127.0.0.1:9"))
    done = run("plugin", "validate", tmp_path / "plugin")
    assert done.returncode == 0, done.stdout


def test_a_person_sees_the_plan_in_claude_code(tmp_path):
    """By a command of the plugin, which shows the plan of the session."""
    host, program = program_of("claude")
    plan = SCRIPTS["plan"].conversations[0]
    shown = Turn("/todoplan:plan", (Step("Here is the garden."),))
    script = Script(((*plan, shown),), SCRIPTS["plan"].ends, reads=("[~] 1 Dig the beds",))
    assert not play(host, program, script, tmp_path).faults(script)


def test_a_person_works_beside_a_session_of_claude_code(tmp_path):
    """
    The plan is watched, on a board and in a status line; edits from the command line come during a
    turn and between two.
    """
    host, program = program_of("claude")
    running, shown = [], []

    def todoplan(work, *words, **more):
        line = [sys.executable, "-m", "todoplan", *words]
        env = {name: value for name, value in os.environ.items() if name != "TODOPLAN_STORE"}
        pipe = subprocess.PIPE
        return subprocess.Popen(line, cwd=work, env=env, text=True, stdout=pipe, **more)

    def person(work, text):
        (name,) = SqliteStore(work / ".todoplan/plans.db").plan_ids()
        if not running:
            running.append(todoplan(work, "watch", "--json", "--plan", name))
            running.append(todoplan(work, "board", "--port", "0", stderr=subprocess.PIPE))
            address = running[-1].stderr.readline().split()[-1]
            shown.append(f"{address}api/plan?plan={name}")
        add = todoplan(work, "add", text, "--plan", name, "--actor", "ann")
        add.communicate(timeout=60)
        line = todoplan(work, "next", "--line", stdin=subprocess.PIPE)
        shown.append(line.communicate(json.dumps({"session_id": name}), timeout=60)[0])

    try:
        played = play(host, program, SCRIPTS["edit"], tmp_path, act=person)
        with urlopen(shown[0], timeout=60) as stream:  # noqa: S310 - ours
            board = next(line.decode() for line in stream if line.startswith(b"data:"))
    finally:
        for process in running:
            process.send_signal(signal.SIGINT)
        watched, *_ = [process.communicate(timeout=60)[0] for process in running]
    assert not played.faults(SCRIPTS["edit"])
    assert [line[:6] for line in shown[1:]] == ["#1 Dig", "#3 Wat"]
    changes = [json.loads(line) for line in watched.splitlines()]
    assert changes[-1]["counts"]["completed"] == 3
    assert "ann" in {(each["entry"] or {}).get("actor") for each in changes}
    assert all(text in board for text in ("Tell Ann", "Tell Bob", "Weed the paths"))


_TERMINAL = """
import os, pty, sys
seen = b""

def read(terminal):
    global seen
    if b"0/5" in seen:
        return b""
    data = os.read(terminal, 4096)
    seen += data
    return data

sized = ["sh", "-c", 'stty rows 40 cols 120; exec "$@"', "sh"]
pty.spawn(["timeout", "60", *sized, *sys.argv[1:]], read)
"""


def test_a_status_line_of_claude_code_shows_the_current_task(tmp_path):
    """Of the session that the agent names, in its interface as a person sees it."""
    host, program = program_of("claude")
    player = Player(host, SCRIPTS["plan"], "ours", None)
    with answering(player) as address:
        place = Place(tmp_path, address)
        run = begin(host, program, place)
        command = f"{sys.executable} -m todoplan next --line"
        settings = {"statusLine": {"type": "command", "command": command}}
        place.write("home/.claude/settings.json", settings)
        asked = {"hasCompletedOnboarding": True, "theme": "dark"}
        asked |= {"customApiKeyResponses": {"approved": ["test"], "rejected": []}}
        asked["projects"] = {str(place.work): {"hasTrustDialogAccepted": True}}
        place.write("home/.claude/.claude.json", asked)
        given = ["--plugin-dir", place.plugin, "--allowedTools", "mcp__plugin_todoplan_plan"]
        line = ["-c", _TERMINAL, *program, "Do the garden.", *given]
        shown = run(*line, program=[sys.executable]).stdout
    # The interface moves the cursor over blanks.
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", " ", shown)
    assert "#1 Dig the beds (in progress), 0/5" in " ".join(plain.split())

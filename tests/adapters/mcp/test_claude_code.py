"""`todoplan plugin` in the real Claude Code, with a scripted model: no stand-in."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.anthropic_model import answering

from todoplan import Planner
from todoplan.core.commands import CreateTask
from todoplan.stores.sqlite import SqliteStore

_SDK = find_spec("claude_agent_sdk")
PROGRAM = Path(_SDK.origin if _SDK else "x").parent / "_bundled" / "claude"
ROOT = Path(__file__).parents[3]
TOOL = "mcp__plugin_todoplan_plan__plan"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason="the program of Claude Code is not installed"),
]


class Model:
    """
    Answers from a script; a step is a text, or the arguments of a planning call. A function in the
    script is called, and the next step is taken.
    """

    def __init__(self, *script):
        self.script, self.requests = [*script], []

    def __call__(self, body):
        self.requests.append(json.dumps(body["messages"]))
        offered = {tool["name"] for tool in body.get("tools", ())}
        # A title and a summary are asked for without a use of tools.
        if TOOL not in offered or "CRITICAL" in json.dumps(body["messages"][-1:]):
            return "ok", []
        step = self.script.pop(0)
        if callable(step):
            step()
            step = self.script.pop(0)
        if isinstance(step, str):
            return step, []
        return "", [(f"toolu_{len(self.requests)}", TOOL, step)]


@pytest.fixture
def project(tmp_path):
    """A project with the plugin beside it."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    line = [sys.executable, "-m", "todoplan", "plugin", tmp_path / "plugin"]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, env=environment())
    return folder


def environment(**more):
    """The environment without a store, and with this todoplan."""
    kept = {name: value for name, value in os.environ.items() if name != "TODOPLAN_STORE"}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def say(project, model, prompt, *options):
    """Say something to the real program, and return the result, its last line."""
    with answering(model) as address:
        env = environment(
            ANTHROPIC_BASE_URL=address,
            ANTHROPIC_API_KEY="test",
            CLAUDE_CONFIG_DIR=str(project.parent / "home"),
            HOME=str(project.parent),
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            CLAUDE_CODE_MAX_RETRIES="1",
            DISABLE_AUTOUPDATER="1",
        )
        plugin = ["--plugin-dir", project.parent / "plugin", "--allowedTools", TOOL]
        form = ["--output-format", "stream-json", "--verbose"]
        done = subprocess.run(
            [PROGRAM, "-p", prompt, *plugin, *form, *options],
            cwd=project,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def planner(project, session):
    """The plan of a session, in the store of the project."""
    return Planner(SqliteStore(project / ".todoplan" / "plans.db"), session)


def test_the_program_takes_the_folder_for_a_plugin(project):
    """By its own check."""
    line = [PROGRAM, "plugin", "validate", project.parent / "plugin"]
    env = environment(HOME=str(project.parent), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1")
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def test_a_conversation_a_person_s_edit_and_a_resume(project):
    """
    The model plans and stops too early, and is sent back. A person adds a task meanwhile; the model
    is told. Resumed, the session has the same plan, and the model sees it.
    """
    found = []

    def ann():
        (path,) = SqliteStore(project / ".todoplan" / "plans.db").plan_ids()
        found.append(path)
        planner(project, path).apply(CreateTask("Tell Ann"), actor="ann").unwrap()

    model = Model({"write": ["Dig", "Sow"]}, "Early.", ann, {"done": [1]}, "Shall I go on?")
    session = say(project, model, "Do the garden.")["session_id"]
    assert found == [session]
    assert any("while tasks of your plan are open" in text for text in model.requests)
    assert "#3 Tell Ann created by ann" in model.requests[-1]
    resumed = Model({"done": [2, 3]}, "All done.")
    result = say(project, resumed, "Yes.", "--resume", session)
    assert (result["result"], result["session_id"]) == ("All done.", session)
    assert "Tell Ann" in resumed.requests[-2]
    plan = planner(project, session).plan
    assert [task.status.value for task in plan] == ["completed"] * 3


def test_a_person_sees_the_plan_by_a_command(project):
    """`/todoplan:plan` shows that of the session, and "off" ends the reminders."""
    first = Model({"write": ["Dig"]}, "Shall I go on?")
    session = say(project, first, "Do the garden.")["session_id"]
    shown = Model("Here it is.")
    say(project, shown, "/todoplan:plan", "--resume", session)
    assert "[~] 1 Dig" in shown.requests[-1]


def test_two_sessions_have_two_plans(project):
    """Each list is of its own session."""
    for text in ("Dig", "Sow"):
        session = say(project, Model({"write": [text]}, "Shall I?"), "Go.")["session_id"]
        assert [task.subject for task in planner(project, session).plan] == [text]


def test_without_the_store_the_conversation_goes_on(project):
    """The model reads an error, and no hook stands in the way."""
    (project / ".todoplan").mkdir()
    (project / ".todoplan" / "plans.db").write_text("no database")
    result = say(project, Model("Done without a plan."), "Go.")
    assert result["result"]

"""`todoplan plugin`: a folder for a coding agent, with the server, the hooks and a way back."""

import json
import re
import shlex
import sys

import pytest

from todoplan import __version__
from todoplan.cli.hook import FOLDER
from todoplan.cli.plugin import HOSTS


def files(folder):
    """The files of the folder by name; JSON is parsed."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            text = path.read_text()
            name = str(path.relative_to(folder))
            found[name] = json.loads(text) if name.endswith("json") else text
    return found


@pytest.fixture
def plugin(invoke, tmp_path):
    """Write a plugin with these options, and return the files of its folder."""

    def write(*options):
        assert invoke("plugin", tmp_path / "x", *options).exit_code == 0
        return files(tmp_path / "x")

    return write


def test_one_folder_for_claude_code_codex_and_copilot_cli(invoke, tmp_path):
    """It names this Python, so that no PATH has to be right."""
    folder = tmp_path / "plugin"
    result = invoke("plugin", folder)
    made = files(folder)
    assert result.exit_code == 0
    assert result.stdout == made["README.md"]
    assert made[".claude-plugin/plugin.json"]["version"] == __version__
    (entry,) = made[".claude-plugin/marketplace.json"]["plugins"]
    assert entry["name"] == made[".claude-plugin/plugin.json"]["name"] == "todoplan"
    server = made[".mcp.json"]["mcpServers"]["plan"]
    assert server["command"] == sys.executable
    assert server["args"] == ["-m", "todoplan", "mcp", "--hooks", "--toolset", "lean"]
    hooks = made["hooks/hooks.json"]["hooks"]
    assert {*hooks} == {
        "SessionStart", "UserPromptSubmit", "Stop", "PreToolUse", "PostToolBatch"
    }  # fmt: skip
    (before,) = hooks["PreToolUse"]
    assert re.fullmatch(before["matcher"], "mcp__plugin_todoplan_plan__plan")
    for name in ("Bash", "plan-plan"):  # Copilot CLI would refuse the call if its hook were killed
        assert not re.fullmatch(before["matcher"], name)
    line = shlex.join([sys.executable, "-m", "todoplan", "hook"])
    for (hook,) in hooks.values():
        assert hook["hooks"] == [{"type": "command", "command": line}]
    assert f"!`{line} show $ARGUMENTS`" in made["commands/plan.md"]


@pytest.mark.parametrize("host", HOSTS)
def test_every_folder_says_how_to_remove_it(plugin, tmp_path, host):
    """And where it is installed from."""
    text = plugin("--host", host)["README.md"]
    assert "remove" in text
    assert "$" not in text
    assert host == "qwen" or str(tmp_path / "x") in text


@pytest.mark.parametrize(
    ("host", "name", "events"),
    [
        ("gemini", "hooks/hooks.json", {"SessionStart", "BeforeAgent", "AfterAgent"}),
        (
            "qwen",
            ".qwen/settings.json",
            {"SessionStart", "UserPromptSubmit", "Stop", "PreToolUse"},
        ),
    ],
)
def test_other_hosts_have_a_form_of_their_own(plugin, host, name, events):
    """With the events by their names there."""
    made = plugin("--host", host, "--tools", "todos")
    assert {*made[name]["hooks"]} == events
    servers = (made.get("gemini-extension.json") or made[name])["mcpServers"]
    assert servers["plan"]["args"][-2:] == ["todos", "--lenient"]


def test_opencode_loads_a_module(plugin):
    """Which adds the server, and hands events to it where the hooks of other agents do."""
    made = plugin("--host", "opencode", "--no-stop", "--store", "a `b`.db")
    module = made[".opencode/plugin/todoplan.js"]
    constants = dict(re.findall(r"^const (\w+) = ([^\n]+?)(?: &&.*)?$", module, re.MULTILINE))
    line = [sys.executable, "-m", "todoplan", "mcp", "--hooks", "--toolset", "lean"]
    server = {"type": "local", "command": [*line, "--store", "a `b`.db"]}
    assert json.loads(constants["server"]) == server
    assert (constants["reminders"], constants["stop"]) == ("true", "false")
    assert constants["path"].startswith(json.dumps(FOLDER))


def test_options_say_what_it_holds(plugin):
    """The store, one plan for the project, and fewer hooks or none."""
    made = plugin("--store", "x.db", "--plan", "project", "--no-stop")
    arguments = made[".mcp.json"]["mcpServers"]["plan"]["args"]
    assert arguments[-4:] == ["--store", "x.db", "--plan", "plan"]
    assert "Stop" not in made["hooks/hooks.json"]["hooks"]
    hooks = plugin("--host", "gemini", "--no-stop")["hooks/hooks.json"]["hooks"]
    assert {*hooks} == {"SessionStart", "BeforeAgent"}  # AfterAgent is Gemini CLI's Stop
    assert plugin("--no-reminders")["hooks/hooks.json"] == {"hooks": {}}


def test_a_folder_of_somebody_else_is_left_alone(invoke, tmp_path):
    """One that this command wrote is written anew."""
    (tmp_path / "README.md").write_text("mine")
    result = invoke("plugin", tmp_path)
    assert result.exit_code == 2
    assert "exists and is not of `todoplan plugin`; name another" in " ".join(result.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_what_cannot_be_written_is_exit_2(invoke, tmp_path):
    """With the reason."""
    (tmp_path / "file").write_text("")
    result = invoke("plugin", tmp_path / "file" / "x")
    assert result.exit_code == 2
    assert "Not a directory" in result.stderr
    assert invoke("plugin", tmp_path / "x", "--host", "vim").exit_code == 2

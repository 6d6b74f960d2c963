"""
`todoplan plugin`: writes a folder that gives a coding agent the planning tools and reminders.

Claude Code, Codex and Copilot CLI use the same files. Gemini CLI loads an extension, Qwen Code
reads settings, and OpenCode loads a module. The files contain the path of this Python, so that the
agent need not find it on its `PATH`.
"""

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

import todoplan
from todoplan.cli.exits import write_files
from todoplan.cli.hook import EVENTS, FOLDER
from todoplan.cli.plans import DEFAULT_PLAN
from todoplan.errors import UNREADABLE
from todoplan.render.terminal import Screen
from todoplan.texts import say

NAME = "todoplan"
SERVER = "plan"

_ABOUT = "Plans that are kept, checked and shared: tools for the model, reminders, a board."
_OWNER = {"name": "todoplan"}
# The events of the coding agents (hosts). Most have the common events; some have more. In Claude
# Code and Qwen Code, PreToolUse says which subagent makes a call. Each of these two has its own
# names for our tools. In Claude Code, PostToolBatch is one event for all calls of a message.
_COMMON = ("SessionStart", "UserPromptSubmit", "Stop")
_OF_CLAUDE = ("PreToolUse", "PostToolBatch")
_OF_QWEN = ("PreToolUse",)
_OF_GEMINI = ("SessionStart", "BeforeAgent", "AfterAgent")


@attrs.frozen
class Plugin:
    """The options for the folder's contents. `reminders` and `stop` say which hooks it gets."""

    tools: str = "lean"
    store: str | None = None
    plan: str = "session"
    reminders: bool = True
    stop: bool = True

    @property
    def server(self) -> dict[str, Any]:
        """The settings with which a host starts the MCP server."""
        line = ["-m", "todoplan", "mcp", "--hooks", "--toolset", self.tools]
        line += ["--store", self.store] if self.store else []
        line += [] if self.plan == "session" else ["--plan", DEFAULT_PLAN]
        return {"command": sys.executable, "args": line}

    def hooks(self, events: tuple[str, ...], tools: str = "") -> dict[str, Any]:
        """
        Return the hook settings for these events, by event name.

        `tools` is a pattern of our tools' names; the hook of PreToolUse runs for these tools only.
        """
        hook = {"hooks": [{"type": "command", "command": _hook_line()}]}
        made = {
            event: [{"matcher": tools, **hook} if event == "PreToolUse" else hook]
            for event in events
            if self.stop or EVENTS.get(event, event) != "Stop"
        }
        return made if self.reminders else {}


def _hook_line() -> str:
    return shlex.join([sys.executable, "-m", "todoplan", "hook"])


# Claude Code defers the tools of a server unless `alwaysLoad` is set. Codex sends its first request
# without the tools of a server that is still starting, unless the server is required.
_AT_ONCE = {"alwaysLoad": True, "required": True, "startup_timeout_sec": 60}


def _claude(plugin: Plugin) -> dict[str, Any]:
    about = {"name": NAME, "description": _ABOUT}
    command = say("plugin", "command", line=_hook_line(), ARGUMENTS="$ARGUMENTS")
    entry = {**about, "source": "./"}
    # The pattern does not match the names of our tools in Copilot CLI, because Copilot CLI refuses
    # a call if its hook is killed. Copilot CLI does not need this hook to recognise subagents,
    # since it calls UserPromptSubmit for subagents too.
    tools = f"mcp__plugin_{NAME}_{SERVER}__.*"
    return {
        ".claude-plugin/plugin.json": {
            **about,
            "version": todoplan.__version__,
            "author": _OWNER,
            "license": "MIT",
        },
        ".claude-plugin/marketplace.json": {**about, "owner": _OWNER, "plugins": [entry]},
        ".mcp.json": {"mcpServers": {SERVER: plugin.server | _AT_ONCE}},
        "hooks/hooks.json": {"hooks": plugin.hooks((*_COMMON, *_OF_CLAUDE), tools)},
        "commands/plan.md": f"{command}\n",
    }


def _loosely(server: Mapping[str, Any]) -> dict[str, Any]:
    # For hosts that check arguments against the schema. With a strict schema, they would refuse
    # arguments that todoplan can repair.
    return {**server, "args": [*server["args"], "--lenient"]}


def _gemini(plugin: Plugin) -> dict[str, Any]:
    servers = {"mcpServers": {SERVER: _loosely(plugin.server)}}
    return {
        "gemini-extension.json": {"name": NAME, "version": todoplan.__version__, **servers},
        "hooks/hooks.json": {"hooks": plugin.hooks(_OF_GEMINI)},
    }


def _qwen(plugin: Plugin) -> dict[str, Any]:
    servers = {"mcpServers": {SERVER: _loosely(plugin.server) | {"trust": True}}}
    hooks = plugin.hooks((*_COMMON, *_OF_QWEN), f"mcp__{SERVER}__.*")
    return {".qwen/settings.json": {**servers, "hooks": hooks}}


def _opencode(plugin: Plugin) -> dict[str, Any]:
    server = {"type": "local", "command": [plugin.server["command"], *plugin.server["args"]]}
    module = say(
        "plugin",
        "opencode",
        server=json.dumps(server),
        reminders=json.dumps(plugin.reminders),
        stop=json.dumps(plugin.stop),
        folder=json.dumps(FOLDER),
    )
    return {".opencode/plugin/todoplan.js": f"{module}\n"}


HOSTS: dict[str, Callable[[Plugin], dict[str, Any]]] = {
    "claude": _claude,
    "gemini": _gemini,
    "qwen": _qwen,
    "opencode": _opencode,
}
"""For each host, the function that returns the files of its folder as JSON values or texts."""


def write_plugin(folder: Path, screen: Screen, *, host: str = "claude", plugin: Plugin) -> int:
    """Write a plugin for Claude Code, Codex, Copilot CLI, Gemini CLI, Qwen Code, OpenCode."""
    files = HOSTS[host](plugin)
    where = folder.absolute()
    files["README.md"] = (
        say("plugin", f"readme.{host}", tools=plugin.tools, folder=where, name=NAME) + "\n"
    )
    own = folder / "README.md"
    is_ours = own.is_file() and "written by `todoplan plugin`" in own.read_text("utf-8")
    if taken := [name for name in files if (folder / name).exists() and not is_ours]:
        screen.complain(f"{folder / taken[0]} exists and is not of `todoplan plugin`; name another")
        return UNREADABLE
    texts = {
        folder / name: content if isinstance(content, str) else f"{json.dumps(content, indent=2)}\n"
        for name, content in files.items()
    }
    if code := write_files(texts, screen):
        return code
    screen.write(files["README.md"])
    return 0

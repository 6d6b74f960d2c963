"""
Which plan is it? A coding agent's server and hooks find the same plan by the ids that each agent
gives them. A row says which servers the agent starts, which hooks it calls, and which calls arrive.
"""

import json
import subprocess
import sys
from contextlib import ExitStack

import pytest
from support.mcp_server import environment

from todoplan import Planner
from todoplan.stores.sqlite import SqliteStore

pytestmark = pytest.mark.slow

CLAUDE, COPILOT = "CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID"
CALL = "claudecode/toolUseId"
HELP = {"agent_id": "a1", "agent_type": "helper"}


def server(*options, **variables):
    """The agent starts a server, with these variables in its environment."""
    return "server", (options, variables)


def resumed(**variables):
    """The agent ends, its server with it, and is started again."""
    return "resumed", ((), variables)


def hook(event, session, **more):
    """The agent calls a hook."""
    return "hook", {"hook_event_name": event, "session_id": session, **more}


def prompt(session, **more):
    """The agent calls the hook of a prompt."""
    return hook("UserPromptSubmit", session, prompt="go", **more)


def call(task, *, at=-1, **meta):
    """A list with one task arrives at the latest server, or that which is named."""
    return "call", (at, {"name": "plan", "arguments": {"add": [task]}, "_meta": meta})


def listed(task, **meta):
    """A list arrives that leaves out whatever the plan has."""
    return "call", (-1, {"name": "plan", "arguments": {"write": [task]}, "_meta": meta})


BOTH = ["Dig", "Sow"]
ROWS = {
    "Claude Code: the environment": (
        [server(**{CLAUDE: "s1"}), call("Dig")],
        {"s1": ["Dig"]},
    ),
    "Copilot CLI: the environment": (
        [server(**{COPILOT: "s1"}), call("Dig")],
        {"s1": ["Dig"]},
    ),
    "Codex: each call": (
        [
            server(),
            call("Dig", sessionId="s1", threadId="s1"),
            call("Sow", sessionId="s2", threadId="s2"),
        ],
        {"s1": ["Dig"], "s2": ["Sow"]},
    ),
    "Gemini CLI, Qwen Code, OpenCode: the process": (
        [server(), prompt("s1"), call("Dig")],
        {"s1": ["Dig"]},
    ),
    "Cline: nothing": ([server(), call("Dig")], {"plan": ["Dig"]}),
    "Claude Code after /clear: the hooks have a new id, the server has the old one": (
        [
            server(**{CLAUDE: "s1"}),
            prompt("s1"),
            call("Dig"),
            hook("SessionStart", "s2", source="clear"),
            prompt("s2"),
            call("Sow"),
        ],
        {"s1": ["Dig"], "s2": ["Sow"]},
    ),
    "Claude Code resumed": (
        [
            server(**{CLAUDE: "s1"}),
            call("Dig"),
            resumed(**{CLAUDE: "s1"}),
            hook("SessionStart", "s1", source="resume"),
            call("Sow"),
        ],
        {"s1": BOTH},
    ),
    "Codex resumed": (
        [
            server(),
            call("Dig", sessionId="s1", threadId="s1"),
            resumed(),
            call("Sow", sessionId="s1", threadId="s1"),
        ],
        {"s1": BOTH},
    ),
    "Gemini CLI, Qwen Code, OpenCode resumed": (
        [server(), prompt("s1"), call("Dig"), resumed(), prompt("s1"), call("Sow")],
        {"s1": BOTH},
    ),
    "Claude Code forked: a new id on both sides": (
        [
            server(**{CLAUDE: "s1"}),
            call("Dig"),
            resumed(**{CLAUDE: "s2"}),
            hook("SessionStart", "s2", source="fork"),
            prompt("s2"),
            call("Sow"),
        ],
        {"s1": ["Dig"], "s2": ["Sow"]},
    ),
    "Claude Code, subagent: the same session and server": (
        [
            server(**{CLAUDE: "s1"}),
            prompt("s1"),
            call("Dig"),
            hook("PreToolUse", "s1", tool_use_id="t1", **HELP),
            listed("Sow", **{CALL: "t1"}),
        ],
        {"s1": BOTH},
    ),
    "Codex, subagent: a thread of the session, and a server of its own": (
        [
            server(),
            call("Dig", sessionId="s1", threadId="s1"),
            server(),
            listed("Sow", sessionId="s1", threadId="t2"),
            call("Weed", at=0, sessionId="s1", threadId="s1"),
        ],
        {"s1": [*BOTH, "Weed"]},
    ),
    "Copilot CLI, subagent: a session that names its parent": (
        [
            server(**{COPILOT: "s1"}),
            prompt("s1"),
            call("Dig"),
            prompt("a1", parent_agent_id="s1", **HELP),
            listed("Sow"),
            hook("Stop", "a1", parent_agent_id="s1", **HELP),
            call("Weed"),
        ],
        {"s1": [*BOTH, "Weed"]},
    ),
    "Qwen Code, OpenCode, subagent: named before the call": (
        [
            server(),
            prompt("s1"),
            call("Dig"),
            hook("PreToolUse", "s1", agent_id="a1"),
            listed("Sow"),
        ],
        {"s1": BOTH},
    ),
    "any, --plan project": (
        [
            server("--plan", "plan", **{CLAUDE: "s1"}),
            call("Dig"),
            server("--plan", "plan", **{COPILOT: "s2"}),
            listed("Sow"),
        ],
        {"plan": BOTH},
    ),
}


class Server:
    """`todoplan mcp --hooks`, spoken to line by line."""

    def __init__(self, folder, options, variables):
        store = ["--store", f"sqlite:///{folder}/plans.db", "--toolset", "lean", *options]
        clean = {
            name: each for name, each in environment().items() if name not in {CLAUDE, COPILOT}
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "todoplan", "mcp", "--hooks", *store],
            env={**clean, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        who = {"clientInfo": {"name": "agent", "version": "1"}, "capabilities": {}}
        self.ask("initialize", {"protocolVersion": "2025-06-18", **who})
        self.tell(method="notifications/initialized")

    def tell(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.tell(id=1, method=method, params=params)
        return json.loads(self.process.stdout.readline())["result"]

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(60) == 0


@pytest.mark.parametrize("row", ROWS)
def test_server_and_hooks_find_the_same_plan(row, tmp_path):
    """Each plan has the tasks of its own session, and no list of a subagent drops any."""
    steps, plans = ROWS[row]
    servers, running = [], ExitStack()
    with running:
        for kind, given in steps:
            if kind == "resumed":
                running.pop_all().close()
            if kind in {"server", "resumed"}:
                servers.append(Server(tmp_path, *given))
                running.callback(servers[-1].end)
            elif kind == "hook":
                line = [sys.executable, "-m", "todoplan", "hook"]
                text = json.dumps(given).encode()
                subprocess.run(line, input=text, env=environment(), check=True)
            else:
                at, params = given
                assert not servers[at].ask("tools/call", params).get("isError")
    store = SqliteStore(tmp_path / "plans.db")
    found = {
        name: sorted(task.subject for task in Planner(store, name).plan)
        for name in store.plan_ids()
    }
    assert found == plans

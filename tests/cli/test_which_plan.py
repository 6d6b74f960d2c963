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

IDS = CLAUDE, COPILOT = "CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID"
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
APART = {"s1": ["Dig"], "s2": ["Sow"]}
DIG, SOW, WEED, HIS = call("Dig"), call("Sow"), call("Weed"), listed("Sow")
IN_CLAUDE, IN_COPILOT = server(**{CLAUDE: "s1"}), server(**{COPILOT: "s1"})
AS_CODEX = {"sessionId": "s1", "threadId": "s1"}
CODEX = [server(), call("Dig", **AS_CODEX)]
COPILOT_HELP = {"parent_agent_id": "s1", **HELP}
PROMPT = prompt("s1")
ROWS = {
    "Claude Code: the environment": ([IN_CLAUDE, DIG], {"s1": ["Dig"]}),
    "Copilot CLI: the environment": ([IN_COPILOT, DIG], {"s1": ["Dig"]}),
    "Codex: each call": ([*CODEX, call("Sow", sessionId="s2", threadId="s2")], APART),
    "Gemini CLI, Qwen Code, OpenCode: the process": ([server(), PROMPT, DIG], {"s1": ["Dig"]}),
    "Cline: nothing": ([server(), DIG], {"plan": ["Dig"]}),
    "Claude Code after /clear: the hooks have a new id, the server has the old one": (
        [IN_CLAUDE, PROMPT, DIG, hook("SessionStart", "s2", source="clear"), prompt("s2"), SOW],
        APART,
    ),
    "Claude Code resumed": (
        [
            IN_CLAUDE,
            DIG,
            resumed(**{CLAUDE: "s1"}),
            hook("SessionStart", "s1", source="resume"),
            SOW,
        ],
        {"s1": BOTH},
    ),
    "Codex resumed": ([*CODEX, resumed(), call("Sow", **AS_CODEX)], {"s1": BOTH}),
    "Gemini CLI, Qwen Code, OpenCode resumed": (
        [server(), PROMPT, DIG, resumed(), PROMPT, SOW],
        {"s1": BOTH},
    ),
    "Claude Code forked: a new id on both sides": (
        [
            *(IN_CLAUDE, DIG, resumed(**{CLAUDE: "s2"})),
            *(hook("SessionStart", "s2", source="fork"), prompt("s2"), SOW),
        ],
        APART,
    ),
    "Claude Code, subagent: the same session and server": (
        [
            *(IN_CLAUDE, PROMPT, DIG, hook("PreToolUse", "s1", tool_use_id="t1", **HELP)),
            listed("Sow", **{CALL: "t1"}),
        ],
        {"s1": BOTH},
    ),
    "Codex, subagent: a thread of the session, and a server of its own": (
        [
            *(*CODEX, server(), listed("Sow", sessionId="s1", threadId="t2")),
            call("Weed", at=0, **AS_CODEX),
        ],
        {"s1": [*BOTH, "Weed"]},
    ),
    "Copilot CLI, subagent: a session that names its parent": (
        [
            *(IN_COPILOT, PROMPT, DIG, prompt("a1", **COPILOT_HELP), HIS),
            *(hook("Stop", "a1", **COPILOT_HELP), WEED),
        ],
        {"s1": [*BOTH, "Weed"]},
    ),
    "Qwen Code, OpenCode, subagent: named before the call": (
        [server(), PROMPT, DIG, hook("PreToolUse", "s1", agent_id="a1"), HIS],
        {"s1": BOTH},
    ),
    "any, --plan project": (
        [
            *(server("--plan", "plan", **{CLAUDE: "s1"}), DIG),
            *(server("--plan", "plan", **{COPILOT: "s2"}), HIS),
        ],
        {"plan": BOTH},
    ),
}


class Server:
    """`todoplan mcp --hooks`, spoken to line by line."""

    def __init__(self, folder, options, variables):
        store = ["--store", f"sqlite:///{folder}/plans.db", "--toolset", "lean", *options]
        clean = {name: value for name, value in environment().items() if name not in IDS}
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

"""The program of Claude Code that the SDK's wheel brings, with a scripted model: no stand-in."""

import asyncio
import json
from pathlib import Path

import claude_agent_sdk
import pytest
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage
from hosts.model import Answer, Call, answering

from todoplan.adapters.claude_agent_sdk import Planning, attach, history_of, plan_of_state
from todoplan.testing.adapters.host import write

PROGRAM = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason="the SDK was installed without its program"),
]
HELPER = "Weed the beds, helper."
TOOL = "mcp__plan__write_todos"
ASK_HELPER = {"description": "weed", "prompt": HELPER, "subagent_type": "general-purpose"}
ASK_HELPER["run_in_background"] = False


class Model:
    """
    Answers main agent and subagent from a script each, whatever else the program asks with "ok".
    """

    def __init__(self, main, helper):
        self.scripts, self.requests = {"main": [*main], "helper": [*helper]}, []

    def __call__(self, request):
        body = request.body
        self.requests.append(body)
        offered = {tool["name"] for tool in body.get("tools", ())}
        texts = json.dumps(body["messages"][:1])
        who = "helper" if HELPER in texts else "main"
        # A summary of the conversation is asked for with the tools, and forbids to call them.
        if TOOL not in offered or "CRITICAL" in json.dumps(body["messages"][-1:]):
            return Answer("ok")
        step = self.scripts[who].pop(0)
        return Answer(step) if isinstance(step, str) else Answer(calls=(Call(*step),))


def run(model, folder, planning, *prompts):
    """Say something to the real program, and return the last result."""

    async def talk():
        with answering(model) as address:
            env = {
                "ANTHROPIC_BASE_URL": address,
                "ANTHROPIC_API_KEY": "test",
                "CLAUDE_CONFIG_DIR": str(folder / "home"),
                "HOME": str(folder),
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "CLAUDE_CODE_MAX_RETRIES": "1",
                "DISABLE_AUTOUPDATER": "1",
            }
            options = ClaudeAgentOptions(env=env, cwd=folder, cli_path=PROGRAM)
            async with ClaudeSDKClient(attach(options, planning)) as client:
                for prompt in prompts:
                    await client.query(prompt)
                    found = [message async for message in client.receive_response()]
                return next(each for each in found if isinstance(each, ResultMessage))

    return asyncio.run(asyncio.wait_for(talk(), 120))


def test_a_whole_conversation(tmp_path):
    """A subagent plans too, an early answer is sent back, and compaction brings the plan again."""
    first = write(("Dig", "in_progress"), ("Lay", "pending"))
    last = write(("Dig", "completed"), ("Lay", "completed"), ("Weed", "completed"))
    main = [(TOOL, first), ("Task", ASK_HELPER), "Early.", (TOOL, first), "Shall I go on?"]
    model = Model(
        [*main, (TOOL, last), "All done."],
        [(TOOL, write(("Weed", "in_progress"))), "Weeded."],
    )
    planning = Planning()
    result = run(model, tmp_path, planning, "Do the garden.", "/compact", "Yes, go on.")
    session = result.session_id
    plan = asyncio.run(plan_of_state(planning, session))
    found = {(task.subject, task.status.value) for task in plan}
    assert found == {(each, "completed") for each in ("Dig", "Lay", "Weed")}
    actors = [entry.actor for entry in asyncio.run(history_of(planning, session))]
    assert actors == [None, "general-purpose", None]
    assert result.result == "All done."
    texts = [json.dumps(body["messages"]) for body in model.requests]
    assert any("kept: #1 Dig, #2 Lay" in text for text in texts)
    assert any("while tasks of your plan are open" in text for text in texts)
    assert "Your plan is not shown in the conversation" in texts[-1]
    offered = {tool["name"] for tool in model.requests[0]["tools"]}
    assert {TOOL, "mcp__plan__read_todos"} <= offered
    assert not offered & {"TaskCreate", "TaskUpdate", "TodoWrite"}

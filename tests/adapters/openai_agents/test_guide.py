"""The guide openai-agents.md keeps its word: its code runs and prints what it shows."""

import asyncio

from agents.testing import function_call
from support.docs import fenced
from support.openai_agents_runs import create, done, scripted


def test_the_agent_prints_what_is_shown(capsys):
    """Two tasks in one turn, an answer too early, the rest; then the answer and the plan."""
    last = function_call("TaskUpdate", {"taskId": "2", "status": "completed"}, call_id="s")
    model = scripted(create("Draft", "Send"), done("1"), "Drafted.", last, "Sent.")
    names = {}
    exec(fenced("openai-agents", "code: openai-agents", "python"), names)  # noqa: S102 - the guide's code
    print(asyncio.run(names["work"](model, "go")))  # noqa: T201 - as the guide does
    assert capsys.readouterr().out == fenced("openai-agents", "output: openai-agents", "text")

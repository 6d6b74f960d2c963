"""The guide openai-agents.md keeps its word: its code runs and prints what it shows."""

import asyncio

from agents.testing import function_call
from support.docs import defined, fenced
from support.openai_agents_runs import create, done, scripted


def test_the_agent_prints_what_is_shown(capsys):
    """Two tasks in one turn, an answer too early, the rest; then the answer and the plan."""
    last = function_call("TaskUpdate", {"taskId": "2", "status": "completed"}, call_id="s")
    model = scripted(create("Draft", "Send"), done("1"), "Drafted.", last, "Sent.")
    names = {}
    exec(fenced("openai-agents", "code: openai-agents", "python"), names)  # noqa: S102 - the guide's code
    print(asyncio.run(names["work"](model, "go")))  # noqa: T201 - as the guide does
    assert capsys.readouterr().out == fenced("openai-agents", "output: openai-agents", "text")


def test_a_session_is_edited_saved_and_resumed(capsys):
    """What was saved has the edit and who made it; the planning that goes on has the plan."""
    above = defined("openai-agents", "openai-agents")
    names = defined("openai-agents", "openai-agents edit", **above)
    planning = asyncio.run(names["resumed"]())
    assert capsys.readouterr().out == fenced("openai-agents", "output: openai-agents edit", "text")
    assert [task.subject for task in asyncio.run(planning.plan())] == ["Tell them"]

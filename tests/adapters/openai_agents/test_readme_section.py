"""The section of the README about the OpenAI Agents SDK: its code runs and prints what it shows."""

import asyncio
import re
from pathlib import Path

from agents.testing import function_call
from support.openai_agents_runs import create, done, scripted

README = (Path(__file__).parents[3] / "README.md").read_text("utf-8")


def block(mark, language):
    """
    Return the fenced block behind a mark.
    """
    return re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", README, re.DOTALL)[1]


def test_the_agent_prints_what_is_shown(capsys):
    """Two tasks in one turn, an answer too early, the rest; then the answer and the plan."""
    last = function_call("TaskUpdate", {"taskId": "2", "status": "completed"}, call_id="s")
    model = scripted(create("Draft", "Send"), done("1"), "Drafted.", last, "Sent.")
    names = {}
    exec(block("code: openai-agents", "python"), names)  # noqa: S102 - the README's code
    print(asyncio.run(names["work"](model, "go")))  # noqa: T201 - as the README does
    assert capsys.readouterr().out == block("output: openai-agents", "text")

"""The README's section about AgentScope keeps its word: its code runs and prints what it shows."""

import asyncio
import doctest
import re
from pathlib import Path

from support.agentscope_agent import ScriptedModel, use

README = (Path(__file__).parents[3] / "README.md").read_text("utf-8")
_SECTION = re.compile(r"^## AgentScope$.*?^<!-- frameworks: end -->$", re.DOTALL | re.MULTILINE)
SECTION = _SECTION.search(README)[0]


def block(mark, language):
    """
    Return the fenced block behind a mark.
    """
    return re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", SECTION, re.DOTALL)[1]


def test_the_agent_prints_what_is_shown(capsys):
    """Two tasks, an answer too early, the rest: events as they happen, then the plan."""
    model = ScriptedModel(
        [
            use("TaskCreate", subject="Draft"),
            use("TaskCreate", subject="Send", blocked_by=["1"]),
        ],
        use("TaskUpdate", task_id="1", status="completed"),
        "Drafted.",
        use("TaskUpdate", task_id="2", status="completed"),
        "Sent.",
    )
    names = {}
    exec(block("code: agentscope", "python"), names)  # noqa: S102 - the README's code
    print(asyncio.run(names["work"](model, "go")))  # noqa: T201 - as the README does
    assert capsys.readouterr().out == block("output: agentscope", "text")


def test_the_examples_are_true():
    """What the prompt shows is what comes."""
    examples = doctest.DocTestParser().get_doctest(SECTION.replace("```", ""), {}, "s", None, 0)
    assert len(examples.examples) == 6
    assert doctest.DocTestRunner().run(examples).failed == 0

"""The guide agentscope.md keeps its word: its code runs and prints what it shows."""

import asyncio
import doctest

from agentscope.agent import Agent
from support.agentscope_agent import ScriptedModel, use
from support.docs import defined, fenced, page

SECTION = page("agentscope")


def test_the_agent_prints_what_is_shown(capsys):
    """Two tasks, an answer too early that is sent back, the rest, then the plan."""
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
    exec(fenced("agentscope", "code: agentscope", "python"), names)  # noqa: S102 - the guide's code
    print(asyncio.run(names["work"](model, "go")))  # noqa: T201 - as the guide does
    assert capsys.readouterr().out == fenced("agentscope", "output: agentscope", "text")


def test_the_examples_are_true(tmp_path):
    """What the prompt shows is what comes."""
    given = {"Agent": Agent, "model": ScriptedModel(), "folder": tmp_path}
    names = defined("agentscope", "agentscope edit", **given)
    examples = doctest.DocTestParser().get_doctest(SECTION.replace("```", ""), names, "s", None, 0)
    assert len(examples.examples) == 9
    assert doctest.DocTestRunner().run(examples).failed == 0

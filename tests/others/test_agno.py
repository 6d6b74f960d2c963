"""The guide other-frameworks.md keeps its word: its agent runs, on the real Agno."""

import asyncio
import json

import pytest
from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse
from support.docs import defined, fenced
from support.letter import DONE, HALFWAY, STARTED

from todoplan.core import commands
from todoplan.testing.adapters.host import write


class Scripted(Model):
    """A model that says what comes next, and keeps the requests."""

    def __init__(self, *script):
        super().__init__(id="scripted")
        self.script, self.requests, self.tools = [*script], [], []

    def invoke(self, messages, tools=None, **_):
        self.requests.append([*messages])
        self.tools = tools
        said = self.script.pop(0)
        return said() if callable(said) else said

    async def ainvoke(self, *given, **options):
        return self.invoke(*given, **options)

    def invoke_stream(self, *_, **__):
        raise NotImplementedError

    ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = invoke_stream


def calls(*lists):
    sent = [{"name": "write_todos", "arguments": json.dumps(todos)} for todos in lists]
    tool_calls = [
        {"id": f"c{number}", "type": "function", "function": function}
        for number, function in enumerate(sent)
    ]
    return ModelResponse(role="assistant", tool_calls=tool_calls)


def says(text):
    return ModelResponse(role="assistant", content=text)


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """What the page defines, with its plans in a folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGNO_TELEMETRY", "false")
    return defined("other-frameworks", "agno")


def replies(model):
    return [message.content for message in model.requests[-1] if message.role == "tool"]


def agent(shown, model):
    definitions = shown["toolbox"].toolset.definitions()
    return Agent(model=model, tools=[*map(shown["make_tool"], definitions)], telemetry=False)


def test_a_run_prints_what_is_shown(shown, capsys):
    """An early answer is followed by a second run, which is told what is open."""
    early = [calls(STARTED), calls(HALFWAY), says("Drafted.")]
    model = Scripted(*early, calls(DONE), says("Drafted and sent."))
    shown["work"](model, "Draft and send the letter.", "letter")
    assert capsys.readouterr().out == fenced("other-frameworks", "output: crewai", "text")
    assert "Open: #2 Send." in model.requests[3][-1].content
    assert {tool["function"]["name"]: tool["function"]["parameters"] for tool in model.tools} == {
        tool.name: tool.schema for tool in shown["toolbox"].toolset.definitions()
    }


def test_an_edit_between_two_calls_is_told_once(shown):
    """Also with equal arguments; a session of its own has a plan of its own."""

    def again():
        shown["planner_of"]("letter").apply(commands.CreateTask("Tell them"), actor="ann")
        return calls(STARTED)

    model = Scripted(calls(STARTED), again, calls(write(("Draft", "done"))), says("Drafted."))
    agent(shown, model).run("Draft.", session_id="letter")
    first, second, third = replies(model)
    assert first == "ok, 0/2 completed"
    assert "#3 Tell them created by ann" in second
    assert "ann" not in third
    assert 'read todos[0].status "done" as completed' in third
    assert len(shown["planner_of"]("another").plan) == 0


def test_the_calls_of_one_message_are_carried_out_in_order(shown):
    """Ten lists, each with a task more; with `arun` all are carried out, in any order."""
    names = [f"Letter {number}" for number in range(10)]
    lists = [write(*((name, "completed") for name in names[: n + 1])) for n in range(10)]
    model = Scripted(calls(*lists), says("Done."))
    agent(shown, model).run("Write.", session_id="letters")
    assert replies(model) == [f"ok, {n}/{n} completed" for n in range(1, 11)]
    model = Scripted(calls(*lists), says("Done."))
    asyncio.run(agent(shown, model).arun("Write.", session_id="more"))
    assert len(replies(model)) == 10
    assert {task.subject for task in shown["planner_of"]("more").plan} <= {*names}

"""The guide other-frameworks.md keeps its word: its crew runs, on the real CrewAI."""

import json
import os
import sys
import warnings
from copy import deepcopy
from importlib import import_module, invalidate_caches

import pytest
from support.docs import fenced
from support.letter import DONE, HALFWAY, STARTED

from todoplan.core import commands
from todoplan.testing.adapters.host import write

# Telemetry would be sent, and an answer about traces waited for, before the first run ends.
os.environ.update(OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its own imports warn
    from crewai import Agent, BaseLLM, Crew, Task

pytestmark = pytest.mark.filterwarnings("ignore")  # what CrewAI warns of is its own matter


class Scripted(BaseLLM):
    """A model that says what comes next, and keeps the requests."""

    script: list
    requests: list
    tools: list

    def call(self, messages, tools=None, **_):
        self.requests.append(deepcopy(messages))
        self.tools[:] = tools or []
        said = self.script.pop(0)
        return said() if callable(said) else said

    def supports_function_calling(self):
        return True


def call(arguments, number=1):
    function = {"name": "write_todos", "arguments": json.dumps(arguments)}
    return [{"id": f"c{number}", "type": "function", "function": function}]


def model(*script):
    return Scripted(model="scripted", script=[*script], requests=[], tools=[])


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """The page's code, with its plans in a folder of the test: in a file, since CrewAI reads it."""
    (tmp_path / "crew_of_page.py").write_text(fenced("other-frameworks", "code: crewai", "python"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "crew_of_page", raising=False)
    invalidate_caches()
    return vars(import_module("crew_of_page"))


def replies(llm):
    return [each["content"] for each in llm.requests[-1] if each["role"] == "tool"]


def test_a_run_prints_what_is_shown(shown, capsys):
    """An early answer is refused by the guardrail, with what is open."""
    llm = model(call(STARTED), call(HALFWAY, 2), "Drafted.", call(DONE, 3), "Drafted and sent.")
    shown["write"](llm, "Draft and send the letter.")
    assert capsys.readouterr().out == fenced("other-frameworks", "output: crewai", "text")
    assert "Open: #2 Send." in str(llm.requests[3])
    sent = {tool["function"]["name"]: tool["function"] for tool in llm.tools}
    definitions = shown["planner"].toolbox.toolset.definitions(strict=True)
    assert {name: tool["parameters"] for name, tool in sent.items()} == {
        tool.name: tool.schema for tool in definitions
    }


def test_an_equal_call_reaches_the_plan(shown):
    """The crew has a cache: the model is told of an edit that a person made in between."""

    def again():
        shown["planner"].apply(commands.CreateTask("Tell them"), actor="ann")
        return call(STARTED, 2)

    done = write(("Draft", "done"), ("Send", "done"), ("Tell them", "done"))
    llm = model(call(STARTED), again, call(done, 3), "All done.")
    shown["write"](llm, "Draft and send the letter.")
    first, second, third = replies(llm)
    assert first == "ok, 0/2 completed"
    assert "#3 Tell them created by ann" in second
    assert 'read todos[0].status "done" as completed' in third


def test_without_the_function_an_equal_call_is_answered_from_memory(shown):
    """The fault that the page warns of: once this fails, the warning can go."""

    def again():
        shown["planner"].apply(commands.CreateTask("Tell them"), actor="ann")
        return call(STARTED, 2)

    tools = shown["make_tools"]()
    for tool in tools:
        tool.cache_function = lambda *_: True
    llm = model(call(STARTED), again, "Done.")
    writer = Agent(role="Writer", goal="Write", backstory="", llm=llm, tools=tools)
    task = Task(description="Write.", expected_output="One line", agent=writer)
    Crew(agents=[writer], tasks=[task], cache=True).kickoff()
    assert replies(llm) == ["ok, 0/2 completed", "ok, 0/2 completed"]


def test_the_calls_of_one_message_are_carried_out_in_order(shown):
    """Ten lists, each with a task more."""
    names = [f"Letter {number}" for number in range(10)]
    lists = [write(*((name, "completed") for name in names[: n + 1])) for n in range(10)]
    calls = [one for number, each in enumerate(lists) for one in call(each, number)]
    llm = model(calls, "Done.")
    shown["write"](llm, "Write.")
    assert replies(llm) == [f"ok, {n}/{n} completed" for n in range(1, 11)]
    assert [task.subject for task in shown["planner"].plan] == names


def test_a_task_that_is_never_done_fails(shown):
    """It is asked for again three times."""
    llm = model(call(STARTED), *["Drafted."] * 4)
    with pytest.raises(Exception, match="The work is not done yet"):
        shown["write"](llm, "Draft and send the letter.")
    assert llm.script == []

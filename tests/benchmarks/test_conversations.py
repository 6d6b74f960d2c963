"""Token counts: the scripts run to their end, and a bill adds up."""

from itertools import pairwise

import pytest
from support.tokens import tokens

from benchmarks.conversations.priced_tool_sets import priced_tool_sets
from benchmarks.conversations.recorded_plans import recorded_plans
from benchmarks.conversations.scripts import Turn, titles
from benchmarks.conversations.token_bill import FRAMING, bill
from benchmarks.conversations.tool_host import ToolHost
from todoplan import Plan, Todo, decide
from todoplan.core import commands

PLAYED = [toolset for toolset in priced_tool_sets() if toolset.script]


def test_titles_are_short_and_differ():
    """Titles are different, and have about seven tokens each."""
    found = titles(50)
    assert len(set(found)) == 50
    assert 6.5 <= sum(map(tokens, found)) / 50 <= 7.5


@pytest.mark.parametrize("toolset", PLAYED, ids=lambda toolset: toolset.name)
def test_a_script_brings_the_plan_to_its_end(toolset):
    """No reply of a host is an error, and the last reply reports a completed task."""
    said = []
    host = toolset.host()

    def answer(name, arguments):
        said.append(host.answer(name, arguments))
        return said[-1]

    found = bill(ToolHost(host.tools, host.system, answer), toolset.script(3))
    assert found.requests >= 4
    assert found.written > 0
    assert "completed" in said[-1]
    assert not [text for text in said if "rror" in text or "not found" in text]


def test_a_bill_adds_up():
    """The figures equal those counted by hand for two planning calls and three calls of work."""

    def script():
        told = yield Turn((("plan", {}),), works=True)
        assert told == ["ok"]
        yield Turn((("plan", {}),))

    host = ToolHost("tools", lambda: "system", lambda _, __: "ok")
    found = bill(host, script())
    call, answer = tokens("plan") + tokens("{}"), tokens("ok")
    fixed, history = tokens("tools") + tokens("system"), call + answer + 2 * FRAMING
    assert (found.fixed, found.requests, found.written, found.read) == (
        fixed,
        2,
        2 * call,
        2 * answer,
    )
    assert found.again == 5 * fixed + 4 * history
    assert found.plain == 5 * found.written + found.again
    kept = 4 * fixed + 3 * history
    assert found.cached == pytest.approx(
        5 * found.written + 0.1 * kept + 1.25 * (found.again - kept)
    )
    assert found.prefix == 1.0


def test_a_changing_system_prompt_breaks_the_prefix():
    """Only what stands before the first change of the system prompt counts as cached prefix."""
    states = iter(["state one", "state two"])

    def script():
        yield Turn((("plan", {}),))
        yield Turn((("plan", {}),))

    found = bill(ToolHost("tools", lambda: next(states), lambda _, __: "ok"), script())
    assert found.prefix == pytest.approx(
        (tokens("tools") + tokens("state ")) / (tokens("tools") + tokens("state one"))
    )


def after(plan, *todos):
    """Return the plan after a write of this list."""
    told = tuple(Todo(text, status) for text, status in todos)
    return decide(plan, commands.WriteTodos(told, clear=not told)).plan


def test_a_story_follows_the_recorded_plan():
    """Each tool set makes the creations, changes and removals for which it has a call."""
    told = recorded_plans()
    plans = [Plan()]
    plans.append(
        after(plans[-1], ("Read", "in_progress"), ("Write", "pending"), ("Old", "pending"))
    )
    plans.append(after(plans[-1], ("Read", "completed"), ("Write", "in_progress")))
    plans.append(
        after(plans[-1], ("Read", "completed"), ("Write", "completed"), ("Ship", "completed"))
    )
    for recorded in told.values():
        for before, now in pairwise(plans):
            recorded.follow(before, now)
    ended = [(task.subject, task.status.value) for task in plans[-1]]
    for name in ("todos", "tasks"):
        assert [(task.subject, task.status.value) for task in told[name].plan] == ended
    lean = {task.subject: task.status.value for task in told["lean"].plan}
    assert lean == {**dict(ended), "Old": "cancelled"}
    assert [recorded.untold for recorded in told.values()] == [0, 0, 0]

"""Three planners in use as configurations, each from the first write to the end of a run."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from support.scripted import Scripted, calls, says, wrote

from todoplan import CLAUDE_STRICT, DEFAULT
from todoplan.adapters.langgraph import (
    claude_like,
    deerflow_like,
    langchain_like,
    plan_of_state,
)
from todoplan.dialogue.guidance import is_reminder
from todoplan.errors import PlanError

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}


def run(script, middleware, *, asynchronous=False):
    model = Scripted(script=script)
    agent = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    if asynchronous:
        done = asyncio.run(agent.ainvoke(HELLO, THREAD))
    else:
        done = agent.invoke(HELLO, THREAD)
    return model, done, plan_of_state(agent.get_state(THREAD))


def answers(done):
    return [(m.status, m.text) for m in done["messages"] if isinstance(m, ToolMessage)]


def told(model):
    """
    The reminder of each request, or "".
    """
    return [r[-1].text if is_reminder(r[-1].text) else "" for r in model.requests]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_langchain_like(asynchronous):
    """
    What LangChain lets pass passes: two in progress, a step back, an emptied list; the list is in
    each reply, nobody is reminded, and an early answer stands.
    """
    script = [
        wrote(("a", "in_progress"), ("b", "in_progress"), call_id="1"),
        wrote(("a", "completed"), ("b", "pending"), call_id="2"),
        wrote(("a", "pending"), ("b", "pending"), call_id="3"),
        wrote(call_id="4"),
        wrote(("c", "pending"), call_id="5"),
        says("early"),
    ]
    model, done, plan = run(script, langchain_like(), asynchronous=asynchronous)
    assert {status for status, _ in answers(done)} == {"success"}
    assert "[in_progress] a" in answers(done)[0][1]
    assert told(model) == [""] * 6
    assert [t.subject for t in plan] == ["c"]
    assert done["messages"][-1].text == "early"


def test_langchain_like_with_changes():
    """
    Any argument of the middleware can be given beside.
    """
    _, done, _ = run(
        [wrote(("a", "pending")), wrote(call_id="2"), says("x")], langchain_like(policy=DEFAULT)
    )
    assert [status for status, _ in answers(done)] == ["success", "error"]


def item(content, status, active="Doing", **more):
    return {"content": content, "status": status, "activeForm": active, **more}


def todo_write(*items, call_id):
    return wrote(*items, name="Plan", call_id=call_id)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_claude_like_from_creation_to_the_end(asynchronous):
    """
    Two in progress are refused with their number and the remedy, the plan is as it was; corrected
    it is accepted; early answers are sent back; the end is noted, and so is the emptied list.
    """
    script = [
        todo_write(item("a", "in_progress"), item("b", "in_progress"), call_id="1"),
        todo_write(item("a", "in_progress"), item("b", "pending"), call_id="2"),
        AIMessage([{"type": "text", "text": "early"}]),
        todo_write(item("a", "completed"), item("b", "in_progress"), call_id="3"),
        todo_write(item("a", "completed"), item("b", "completed"), call_id="4"),
        todo_write(call_id="5"),
        says("done"),
    ]
    model, done, plan = run(script, claude_like("Plan"), asynchronous=asynchronous)
    (refused, why), *rest = answers(done)
    assert refused == "error"
    assert "2 tasks are in progress" in why
    assert "set the others to pending" in why
    assert [status for status, _ in rest] == ["success"] * 4
    assert "All tasks are resolved" in rest[2][1]
    assert "Nothing is left" in rest[3][1]
    reminders = told(model)
    assert "no plan yet" in reminders[0]
    assert "no plan yet" in reminders[1]
    assert ["answer while tasks" in text for text in reminders] == [False] * 3 + [True] + [
        False
    ] * 3
    assert (len(plan), done["todos"], done["messages"][-1].text) == (0, [], "done")
    assert not any("write_todos" in str(message) for r in model.requests for message in r)
    assert not any("TodoWrite" in str(message) for r in model.requests for message in r)


@pytest.mark.parametrize(
    ("fields", "strict", "fine"),
    [
        ({"activeForm": "Doing"}, False, True),
        ({}, False, False),
        ({"activeForm": "Doing"}, True, False),
        ({"activeForm": "Doing", "priority": "high"}, True, True),
        ({"activeForm": "Doing", "priority": "low"}, False, True),
    ],
)
def test_claude_like_fields(fields, strict, fine):
    """
    The active form is wanted, the priority by policy; what is missing is named.
    """
    entry = {"content": "a", "status": "completed", **fields}
    chosen = claude_like(policy=CLAUDE_STRICT) if strict else claude_like()
    _, done, plan = run([wrote(entry, name="TodoWrite"), says("done")], chosen)
    ((status, text),) = answers(done)
    assert (status, len(plan)) == (("success", 1) if fine else ("error", 0))
    assert fine or "#1" in text


def test_claude_like_with_optional_fields():
    """
    Under another policy only content and status are needed; some items may say more.
    """
    entries = [{"content": "a", "status": "completed"}, item("b", "completed", priority="high")]
    _, done, _ = run([wrote(*entries, name="TodoWrite"), says("x")], claude_like(policy=DEFAULT))
    assert done["todos"] == [
        {"content": "a", "status": "completed"},
        {"content": "b", "status": "completed", "activeForm": "Doing", "priority": "high"},
    ]


def test_claude_like_notes_the_list_on_request():
    """
    The current list after each write is an option, since it costs tokens.
    """
    script = [wrote(item("a", "completed"), name="TodoWrite"), says("x")]
    for show in (True, False):
        _, done, _ = run(script, claude_like(show_list=show))
        assert ("[completed] a" in answers(done)[0][1]) is show


def test_claude_like_stop_check():
    """
    One confirmation when all is done; ignored to the cap it lets go, or raises.
    """
    started = wrote(item("a", "in_progress"), name="TodoWrite")
    finished = wrote(item("a", "completed"), name="TodoWrite", call_id="2")
    model, done, _ = run([finished, says("answer"), says("yes")], claude_like(confirm=True))
    assert [m.text for m in done["messages"] if m.type == "ai"] == ["", "answer", "yes"]
    stubborn = [started, *map(says, "1234")]
    assert run(stubborn, claude_like())[1]["messages"][-1].text == "4"
    with pytest.raises(PlanError, match="1 of 1 tasks"):
        run(stubborn, claude_like(on_ignored="raise"))
    assert len(model.requests) == 3


def test_claude_like_across_turns():
    """
    The list is there in the next turn of the user, and is not asked for again.
    """
    model = Scripted(
        script=[
            wrote(item("a", "in_progress"), item("b", "pending"), name="TodoWrite"),
            *map(says, "1234"),
            wrote(item("a", "completed"), item("b", "completed"), name="TodoWrite", call_id="2"),
            says("done"),
        ]
    )
    agent = create_agent(model, middleware=[claude_like()], checkpointer=InMemorySaver())
    agent.invoke(HELLO, THREAD)
    done = agent.invoke(HELLO, THREAD)
    assert [t["status"] for t in done["todos"]] == ["completed", "completed"]
    assert told(model)[5] == ""


@pytest.mark.parametrize("size", [20, 100])
def test_claude_like_large_lists(size):
    """
    Lists of 20 and of 100 items go through whole.
    """
    entries = [item(f"step {n}", "completed", f"Doing step {n}") for n in range(size)]
    _, done, plan = run([wrote(*entries, name="TodoWrite"), says("done")], claude_like())
    assert len(done["todos"]) == len(plan) == size


@pytest.mark.parametrize("asynchronous", [False, True])
def test_deerflow_like(asynchronous):
    """
    Two reminders for early answers, by the name that its interface hides; then the answer stands.
    """
    script = [wrote(("a", "in_progress")), *map(says, "123")]
    model, done, _ = run(script, deerflow_like(), asynchronous=asynchronous)
    assert done["messages"][-1].text == "3"
    assert [r[-1].name for r in model.requests] == [
        None,
        "write_todos",
        "todo_completion_reminder",
        "todo_completion_reminder",
    ]
    assert not any(is_reminder(m.text) for m in done["messages"])


def test_deerflow_like_brings_a_lost_plan_back():
    """
    A plan that the conversation does not show comes back under its own name.
    """
    model = Scripted(
        script=[
            wrote(("a", "in_progress")),
            *map(says, "123"),
            calls(("write_todos", {"todos": [{"content": "a", "status": "completed"}]}, "2")),
            says("done"),
        ]
    )
    agent = create_agent(model, middleware=[deerflow_like()], checkpointer=InMemorySaver())
    agent.invoke(HELLO, THREAD)
    from langchain_core.messages import RemoveMessage  # noqa: PLC0415 - for this story

    removed = [RemoveMessage(m.id) for m in agent.get_state(THREAD).values["messages"]]
    agent.update_state(THREAD, {"messages": removed})
    agent.invoke(HELLO, THREAD)
    assert model.requests[4][-1].name == "todo_reminder"
    assert "[in_progress] a" in model.requests[4][-1].text

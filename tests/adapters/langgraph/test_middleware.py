"""`PlanMiddleware` in `create_agent`: in place of LangChain's own, with any tool set."""

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from support.langgraph_threads import (
    HELLO,
    QUIET,
    THREAD,
    agent,
    answers,
    entries,
    lines,
    subjects,
)
from support.scripted import Scripted, calls, says, wrote

from todoplan import STRICT, TODOS, Toolbox
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    langchain_like,
    neutral,
    protected,
)
from todoplan.dialogue import Message, ToolResult, tasks


@tool
def search(query: str) -> str:
    """Search."""
    return f"found {query}"


def run(script, planner=None, **options):
    model = Scripted(script=script)
    made = agent(model, planner=planner, tools=[search], **options)
    return model, made.invoke(HELLO, THREAD)


PLANNED = [wrote(("a", "in_progress"), ("b", "pending")), says("done")]


def same_with(middleware, prompt=None):
    """What user code sees of an agent: the result's keys, the list, the conversation, the tool."""
    model, done = run(PLANNED, middleware, system_prompt=prompt)
    (bound,) = [t for t in model.bound if t.name != "search"]
    return {
        "keys": sorted(done),
        "todos": done["todos"],
        "messages": [(m.type, getattr(m, "tool_call_id", None)) for m in done["messages"]],
        "tool": (bound.name, bound.description),
        "system": model.requests[0][0].content,
    }


@pytest.mark.parametrize(
    "prompt", [None, "Be kind.", SystemMessage([{"type": "text", "text": "B"}])]
)
def test_in_the_place_of_the_original(prompt):
    """With the same arguments an agent looks the same from outside, but for the plan's key."""
    words = {"system_prompt": "Plan well.", "tool_description": "Write todos."}
    ours = same_with(PlanMiddleware(**words, settings=QUIET), prompt)
    assert ours == same_with(langchain_like(**words), prompt)
    ours["keys"].remove("todoplan")
    assert ours == same_with(TodoListMiddleware(**words), prompt)


def test_the_texts_are_the_tool_sets_own_unless_given():
    """By default the compact texts; an empty prompt leaves the agent's as it is."""
    model, _ = run(PLANNED)
    assert model.requests[0][0].content[-1]["text"] == TODOS.system_prompt()
    model, _ = run(PLANNED, PlanMiddleware(system_prompt="", settings=QUIET), system_prompt="Me.")
    assert model.requests[0][0].content == "Me."


def test_todos_in_the_input_are_the_plan_of_a_thread_that_has_none(caplog):
    """Later ones are overwritten with a warning; a plan in the input is dropped."""
    listed, made = entries(("x", "pending")), agent(*map(says, "123"))
    given = {**HELLO, "todos": listed, "todoplan": {"head": "", "plan": {}}}
    done = made.invoke(given, THREAD)
    assert lines(made) == [("1", "x", "pending")]
    made.invoke({**HELLO, "todos": done["todos"]}, THREAD)
    assert not caplog.records
    done = made.invoke({**HELLO, "todos": entries(("y", "pending"))}, THREAD)
    assert (done["todos"], subjects(made)) == (listed, ["x"])
    assert "edit_plan(agent, config, command)" in caplog.text


def test_two_planners_in_one_agent_are_refused():
    """LangChain itself says that there are two of the same name, ours or theirs."""
    for second in (TodoListMiddleware(), PlanMiddleware()):
        with pytest.raises(AssertionError, match="duplicate"):
            create_agent(Scripted(script=[]), middleware=[PlanMiddleware(), second])


def test_any_tool_set_under_any_name_and_policy():
    """Tools, prompt and refusals follow the tool set, its names and the policy."""
    renamed = tasks().renamed(TaskCreate="new_task")
    script = [calls(("new_task", {"subject": "a"}, "1")), says("done")]
    model, done = run(script, toolbox=Toolbox(renamed, STRICT))
    assert model.tool_names == ["new_task", "TaskGet", "TaskList", "TaskUpdate", "search"]
    assert "`new_task`" in model.requests[0][0].content[0]["text"]
    assert "active form" in answers(done)[0]


CALL = {"name": "f", "args": {}, "id": "1", "type": "tool_call"}
BROKEN = {"name": "g", "args": "{", "id": "2", "error": "bad", "type": "invalid_tool_call"}


def test_each_kind_of_message():
    """Role, text, calls, results and the finish reason are what guidance needs."""
    said = AIMessage(
        "x", tool_calls=[CALL], invalid_tool_calls=[BROKEN], response_metadata={"stop_reason": "s"}
    )
    assert neutral(said) == Message("assistant", "x", ("f",), invalid_calls=1, finish="s")
    assert neutral(HumanMessage("x")) == Message("user", "x")
    assert neutral(SystemMessage([{"type": "text", "text": "x"}])) == Message("system", "x")
    failed = ToolMessage("no", tool_call_id="1", name="f", status="error")
    assert neutral(failed) == Message("tool", results=(ToolResult("f", ok=False, call_id="1"),))
    assert neutral(ToolMessage("x", tool_call_id="1")).results == (ToolResult("", call_id="1"),)


def test_only_the_latest_good_result_of_ours_is_protected():
    """Failed, foreign and older results stay as they are, and nothing is changed in place."""
    good, newer = (ToolMessage("ok", tool_call_id=n, name="f") for n in "12")
    bad = ToolMessage("no", tool_call_id="3", name="f", status="error")
    other = ToolMessage("x", tool_call_id="4", name="g")
    kept = protected([good, newer, bad, other], ["f"])
    assert [bool(m.response_metadata) for m in kept] == [False, True, False, False]
    assert not newer.response_metadata
    assert protected([bad, other], ["f"]) == [bad, other]

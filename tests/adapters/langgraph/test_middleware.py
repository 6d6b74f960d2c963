"""`PlanMiddleware` in `create_agent`: in place of LangChain's own, with any tool set."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
)
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from support.scripted import Scripted, calls, says, wrote

from todoplan import STRICT, TODOS, Plan, Toolbox
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    langchain_like,
    neutral,
    plan_of_state,
    protected,
)
from todoplan.dialogue import Message, Settings, ToolResult, tasks

QUIET = Settings(plan_lost=False, unfinished=0)
HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}


@tool
def search(query: str) -> str:
    """Search."""
    return f"found {query}"


def agent(script, middleware=None, **kwargs):
    model = Scripted(script=script)
    chosen = [middleware or PlanMiddleware(settings=QUIET)]
    kwargs.setdefault("checkpointer", InMemorySaver())
    return model, create_agent(model, tools=[search], middleware=chosen, **kwargs)


def run(script, middleware=None, given=HELLO, **kwargs):
    model, made = agent(script, middleware, **kwargs)
    return model, made.invoke(given, THREAD)


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
    plan = {"head": "", "plan": {}}
    listed = [{"content": "x", "status": "pending"}]
    _, made = agent([says("1"), says("2"), says("3")])
    done = made.invoke({**HELLO, "todos": listed, "todoplan": plan}, THREAD)
    assert [(task.id, task.subject) for task in plan_of_state(done)] == [("1", "x")]
    made.invoke({**HELLO, "todos": done["todos"]}, THREAD)
    assert not caplog.records
    done = made.invoke({**HELLO, "todos": [{"content": "y", "status": "pending"}]}, THREAD)
    assert (done["todos"], [task.subject for task in plan_of_state(done)]) == (listed, ["x"])
    assert "edit_plan(agent, config, command)" in caplog.text


def test_what_a_run_returns_carries_the_plan():
    """From invoke, get_state and stream, with a checkpointer or without."""
    script = [
        calls(
            ("TaskCreate", {"subject": "a"}, "1"),
            ("TaskCreate", {"subject": "b", "blockedBy": ["1"]}, "2"),
            ("TaskUpdate", {"taskId": "1", "status": "cancelled"}, "3"),
        ),
        says("done"),
    ]
    planner = PlanMiddleware(Toolbox(tasks()), settings=QUIET)
    _, made = agent(script, planner)
    done = made.invoke(HELLO, THREAD)
    assert [(t.id, t.status.value, t.blocked_by) for t in plan_of_state(done)] == [
        ("1", "cancelled", ()),
        ("2", "pending", ("1",)),
    ]
    assert plan_of_state(done) == plan_of_state(made.get_state(THREAD))
    saverless = create_agent(Scripted(script=script), middleware=[planner])
    *_, last = saverless.stream(HELLO, stream_mode="values")
    assert plan_of_state(last)["2"].blocked_by == ("1",)
    _, idle = agent([says("hi")])
    assert plan_of_state(idle.invoke(HELLO, THREAD)) == Plan()


def test_two_planners_in_one_agent_are_refused():
    """LangChain itself says that there are two of the same name, ours or theirs."""
    for second in (TodoListMiddleware(), PlanMiddleware()):
        with pytest.raises(AssertionError, match="duplicate"):
            create_agent(Scripted(script=[]), middleware=[PlanMiddleware(), second])


def test_any_tool_set_under_any_name_and_policy():
    """Tools, prompt and refusals follow the tool set, its names and the policy."""
    renamed = tasks().renamed(TaskCreate="new_task")
    script = [
        calls(("new_task", {"subject": "a", "status": "completed"}, "1")),
        calls(("new_task", {"subject": "a"}, "2")),
        says("done"),
    ]
    chosen = PlanMiddleware(Toolbox(renamed, STRICT), settings=QUIET)
    model, done = run(script, chosen)
    assert model.tool_names == ["new_task", "TaskGet", "TaskList", "TaskUpdate", "search"]
    assert "`new_task`" in model.requests[0][0].content[0]["text"]
    answers = [m for m in done["messages"] if isinstance(m, ToolMessage)]
    assert [m.status for m in answers] == ["error", "error"]
    assert "active form" in answers[1].content


def test_a_call_that_a_limit_stops_is_not_carried_out():
    """What another middleware answered is not replayed for its siblings."""
    turn = calls(*((("TaskCreate", {"subject": s}, s)) for s in "abc"))
    model = Scripted(script=[turn, says("done")])
    planner = PlanMiddleware(Toolbox(tasks()), settings=QUIET)
    limit = ToolCallLimitMiddleware(tool_name="TaskCreate", run_limit=2)
    made = create_agent(model, middleware=[planner, limit], checkpointer=InMemorySaver())
    made.invoke(HELLO, THREAD)
    assert [t.subject for t in plan_of_state(made.get_state(THREAD))] == ["a", "b"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_person_approves_edits_or_rejects_a_write(asynchronous):
    """Edited arguments reach the plan, a rejected call does not, an approved one does."""
    model = Scripted(
        script=[
            wrote(("a", "pending"), call_id="1"),
            wrote(("b", "pending"), call_id="2"),
            wrote(("mine", "pending"), ("c", "pending"), call_id="3"),
            says("done"),
        ]
    )
    hitl = HumanInTheLoopMiddleware(interrupt_on={"write_todos": True})
    made = create_agent(
        model,
        middleware=[PlanMiddleware(settings=QUIET), hitl],
        checkpointer=InMemorySaver(),
    )
    edited = {"name": "write_todos", "args": {"todos": [{"content": "mine", "status": "pending"}]}}
    answers = [{"type": "edit", "edited_action": edited}, {"type": "reject"}, {"type": "approve"}]
    seen = []
    for given in (HELLO, *(Command(resume={"decisions": [one]}) for one in answers)):
        call = made.ainvoke(given, THREAD) if asynchronous else None
        done = asyncio.run(call) if call else made.invoke(given, THREAD)
        seen.append([t.subject for t in plan_of_state(made.get_state(THREAD))])
    assert seen == [[], ["mine"], ["mine"], ["mine", "c"]]
    assert done["messages"][-1].content == "done"


def test_the_streams_carry_the_plan():
    """`updates` and `values` show the list as it changes, `custom` each event that is asked for."""
    chosen = PlanMiddleware(settings=QUIET, emit_events=True)
    _, made = agent(PLANNED, chosen)
    told = {"updates": [], "values": [], "custom": []}
    for mode, chunk in made.stream(HELLO, THREAD, stream_mode=list(told)):
        told[mode].append(chunk)
    written = [{"content": "a", "status": "in_progress"}, {"content": "b", "status": "pending"}]
    assert [u["tools"]["todos"] for u in told["updates"] if "tools" in u] == [written]
    assert told["values"][-1]["todos"] == written
    (event,) = told["custom"]
    assert event["todoplan"]["tool"] == "write_todos"
    assert event["todoplan"]["events"]


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

"""The tools in a graph written by hand: parallel calls, errors, callbacks, sync and async."""

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.types import Command
from support.scripted import calls, wrote

from todoplan import Plan
from todoplan.adapters.langgraph import PlanState, make_tools, plan_of_state, plan_update
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, tasks

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TASKS = Toolbox(tasks())


@tool
def other() -> str:
    """Do something else."""
    return "did it"


def run(message, toolbox=None, state=None, *, asynchronous=False, **kwargs):
    """
    Run one turn of calls through a graph that is one ToolNode.
    """
    builder = StateGraph(PlanState)
    made = make_tools(toolbox, clock=lambda: NOON, **kwargs)
    builder.add_node("tools", ToolNode([*made, other]))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    graph = builder.compile()
    given = {**(state or {}), "messages": [message]}
    return asyncio.run(graph.ainvoke(given)) if asynchronous else graph.invoke(given)


def replies(state):
    return [m for m in state["messages"] if isinstance(m, ToolMessage)]


SIX = [
    ("TaskCreate", {"subject": "a"}, "1"),
    ("TaskCreate", {"subject": "b", "blockedBy": ["1"]}, "2"),
    ("TaskUpdate", {"taskId": "1", "status": "completed"}, "3"),
    ("TaskUpdate", {"taskId": "9", "status": "completed"}, "4"),
    ("TaskCreate", {"tasks": [{"subject": "c"}, {"subject": "d", "blockedBy": ["#0"]}]}, "5"),
    ("TaskList", {}, "6"),
]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_parallel_calls_are_as_the_same_calls_in_order(asynchronous):
    """
    Plan, replies and errors are those of the toolbox given the calls one after the other (law 13).
    """
    done = run(calls(*SIX), TASKS, asynchronous=asynchronous)
    turn = TASKS.turn(Plan(), [Call(*one) for one in SIX], at=NOON)
    assert plan_of_state(done) == turn.plan
    assert [(m.tool_call_id, m.content, m.name, m.status) for m in replies(done)] == [
        (r.call_id, r.text, r.name, "error" if r.is_error else "success") for r in turn.replies
    ]


made = st.sampled_from(
    [
        ("TaskCreate", {"subject": "a"}),
        ("TaskCreate", {"subject": "b", "blockedBy": ["1"]}),
        ("TaskCreate", {"tasks": [{"subject": "c"}, {"subject": "d", "blockedBy": ["#0"]}]}),
        ("TaskUpdate", {"taskId": "1", "status": "completed"}),
        ("TaskUpdate", {"taskId": "2", "status": "deleted"}),
        ("TaskUpdate", {"taskId": "2", "addBlocks": ["3"], "subject": "e"}),
        ("TaskGet", {"taskId": "2"}),
        ("write_todos", {}),
    ]
)


@settings(max_examples=25)
@given(st.lists(st.lists(made, min_size=1, max_size=5), min_size=1, max_size=3))
def test_any_turns_are_as_the_same_calls_in_order(turns):
    """
    Turn after turn the state holds what the toolbox alone makes of the same calls (law 12, 13).
    """
    plan, state, place = Plan(), {}, 0
    for turn in turns:
        listed = [(name, arguments, f"{place}-{n}") for n, (name, arguments) in enumerate(turn)]
        done = run(calls(*listed), TASKS, {"todoplan": state.get("todoplan", {})})
        expected = TASKS.turn(
            plan, [Call(*one) for one in listed if one[0] != "write_todos"], at=NOON
        )
        told = [m.content for m in replies(done) if m.name != "write_todos"]
        assert told == [reply.text for reply in expected.replies]
        assert plan_of_state(done) == expected.plan
        plan, state, place = expected.plan, done, place + 1


def test_several_whole_lists_in_a_turn_are_all_refused():
    """
    Each is answered with an error, nothing is written, and the turn's other tools run.
    """
    one = {"todos": [{"content": "a", "status": "pending"}]}
    done = run(calls(("write_todos", one, "1"), ("other", {}, "2"), ("write_todos", one, "3")))
    assert [(m.tool_call_id, m.status) for m in replies(done)] == [
        ("1", "error"),
        ("2", "success"),
        ("3", "error"),
    ]
    assert "2 calls in this turn" in replies(done)[0].content
    assert plan_of_state(done) == Plan()


def test_calls_that_have_an_answer_are_not_carried_out_for_their_siblings():
    """
    What a guard or a person refused does not come back in the plan of the calls beside it.
    """
    message = calls(("TaskCreate", {"subject": "no"}, "1"), ("TaskCreate", {"subject": "b"}, "2"))
    refused = ToolMessage("rejected", tool_call_id="1", name="TaskCreate", status="error")
    builder = StateGraph(PlanState)
    node = ToolNode(make_tools(TASKS))
    builder.add_node("tools", node)

    def route(state):
        from langgraph.types import Send  # noqa: PLC0415 - only here

        return [Send("tools", [{**call, "type": "tool_call"} for call in message.tool_calls[1:]])]

    builder.add_conditional_edges(START, route, ["tools"])
    builder.add_edge("tools", END)
    done = builder.compile().invoke({"messages": [message, refused]})
    assert [task.subject for task in plan_of_state(done)] == ["b"]


def test_a_call_that_no_message_holds_stands_alone():
    """
    Edited or made up by the application, it is answered upon the plan as it is.
    """
    builder = StateGraph(PlanState)
    builder.add_node("tools", ToolNode(make_tools(TASKS)))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    call = {"name": "TaskCreate", "args": {"subject": "x"}, "id": "new", "type": "tool_call"}
    graph = builder.compile()
    node = ToolNode(make_tools(TASKS))
    builder = StateGraph(PlanState)
    builder.add_node(
        "direct", lambda state, config, runtime: node.invoke([call], config, runtime=runtime)
    )
    builder.add_edge(START, "direct")
    done = builder.compile().invoke({"messages": [AIMessage("hello")]})
    assert [task.subject for task in plan_of_state(done)] == ["x"]
    assert graph.invoke({"messages": [calls(("TaskList", {}, "1"))]})["messages"][-1].name


def test_a_state_without_a_message_of_the_models():
    """
    A call that is handed straight to the node is answered as well.
    """
    node = ToolNode(make_tools(TASKS))
    call = {"name": "TaskCreate", "args": {"subject": "x"}, "id": "new", "type": "tool_call"}
    builder = StateGraph(PlanState)
    builder.add_node("one", lambda _, config, runtime: node.invoke([call], config, runtime=runtime))
    builder.add_edge(START, "one")
    done = builder.compile().invoke({"messages": [("user", "hello")]})
    assert [task.subject for task in plan_of_state(done)] == ["x"]


def test_a_refused_call_changes_nothing_and_says_why():
    """
    The message is an error with the call's id; the state has no plan.
    """
    done = run(calls(("write_todos", {"todos": [{"status": "pending"}]}, "w")))
    (message,) = replies(done)
    assert (message.status, message.tool_call_id, message.name) == ("error", "w", "write_todos")
    assert "todos[0].content" in message.content
    assert plan_of_state(done) == Plan()


@pytest.mark.parametrize("junk", ["[]", "null", [], {}, 3, None, {"runtime": "mine"}])
def test_whatever_a_model_sends_is_answered(junk):
    """
    Arguments of any kind become a reply, never an exception.
    """
    done = run(calls(("write_todos", {"todos": junk}, "w"), ("plan", junk_of(junk), "p")), None)
    assert len(replies(done)) == 2
    assert run(calls(("plan", junk_of(junk), "p")), Toolbox(LEAN))["messages"][-1].content


def junk_of(value):
    return value if isinstance(value, dict) else {"write": value, "config": 1, "self": 2}


class Heard(BaseCallbackHandler):
    def __init__(self):
        self.told = []

    def on_tool_start(self, serialized, input_str, **kwargs):
        self.told.append(("start", serialized["name"], kwargs["inputs"]))

    def on_tool_end(self, output, **kwargs):
        self.told.append(("end", output.update["messages"][0].content))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_who_listens_is_told(asynchronous):
    """
    With a callback handler the call goes LangChain's way, and comes to the same.
    """
    heard, message = Heard(), wrote(("a", "pending"))
    builder = StateGraph(PlanState)
    builder.add_node("tools", ToolNode(make_tools(clock=lambda: NOON)))
    builder.add_edge(START, "tools")
    graph, config = builder.compile(), {"callbacks": [heard]}
    given = {"messages": [message]}
    call = graph.ainvoke(given, config) if asynchronous else None
    done = asyncio.run(call) if call else graph.invoke(given, config)
    assert heard.told == [
        ("start", "write_todos", message.tool_calls[0]["args"]),
        ("end", "ok, 0/1 completed"),
    ]
    assert plan_of_state(done) == plan_of_state(run(message))
    junk = {"messages": [calls(("write_todos", {"self": 1, "config": 2, "args": 3}, "j"))]}
    assert graph.invoke(junk, config)["messages"][-1].status == "error"


def test_a_tool_invoked_outside_a_graph_starts_from_an_empty_plan():
    """
    As LangChain's own tests call `write_todos`; what is sent as `runtime` is an argument like any.
    """
    todos = [{"content": "a", "status": "pending"}]
    call = {"name": "write_todos", "args": {"todos": todos}, "id": "1", "type": "tool_call"}
    write = make_tools(emit_events=True)[0]
    update = write.invoke(call).update
    assert update["todos"] == todos
    assert [(m.tool_call_id, m.status) for m in update["messages"]] == [("1", "success")]
    assert plan_of_state(asyncio.run(write.ainvoke(call)).update)["1"].subject == "a"
    forged = {**call, "args": {"todos": todos, "runtime": "mine"}}
    assert write.invoke(forged).update["todos"] == todos
    assert write.invoke("text").update["messages"][0].status == "error"


@pytest.mark.parametrize("heard", [[], None])
def test_a_tool_invoked_by_hand_with_a_runtime(heard):
    """
    As `ToolNode` would; the command holds the update and the message.
    """
    runtime = ToolRuntime(
        state={}, context=None, config={}, stream_writer=print, tool_call_id="1", store=None
    )
    arguments = {"todos": [{"content": "a", "status": "pending"}], "runtime": runtime}
    call = {"name": "write_todos", "args": arguments, "id": "1", "type": "tool_call"}
    command = make_tools()[0].invoke(call, {"callbacks": heard})
    assert command.update["todos"] == [{"content": "a", "status": "pending"}]
    assert command.update["messages"][0].text == "ok, 0/1 completed"


def test_models_see_the_schema_of_the_tool_set():
    """
    What is bound is the definition of the tool set, without the injected runtime.
    """
    for made, definition in zip(make_tools(TASKS), tasks().definitions(), strict=True):
        shown = convert_to_openai_tool(made)["function"]
        assert shown["name"] == definition.name
        assert shown["description"] == definition.description
        assert shown["parameters"]["properties"].keys() == definition.schema["properties"].keys()


def test_each_accepted_call_is_told_on_the_custom_stream():
    """
    With `emit_events` an interface gets the journal's entry; refused and reading calls say nothing.
    Calls of one turn run at once, so their entries come in any order; the revision puts it right.
    """
    builder = StateGraph(PlanState)
    builder.add_node("tools", ToolNode(make_tools(TASKS, clock=lambda: NOON, emit_events=True)))
    builder.add_edge(START, "tools")
    told = list(builder.compile().stream({"messages": [calls(*SIX)]}, stream_mode="custom"))
    told.sort(key=lambda one: one["todoplan"]["revision"])
    assert [(t["todoplan"]["call_id"], t["todoplan"]["tool"]) for t in told] == [
        ("1", "TaskCreate"),
        ("2", "TaskCreate"),
        ("3", "TaskUpdate"),
        ("5", "TaskCreate"),
    ]
    assert told[0]["todoplan"]["events"][0]["task"]["subject"] == "a"
    quiet = list(builder.compile().stream({"messages": [calls(SIX[-1])]}, stream_mode="custom"))
    assert quiet == []


def test_what_a_tool_returns_can_be_shown():
    """Tracers and debuggers print the command."""
    assert "'todoplan'" in repr(Command(update=plan_update(Plan())))

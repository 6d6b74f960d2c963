"""The tools: parallel calls, edited calls, repeated calls, errors, callbacks, sync and async."""

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, wrap_tool_call
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.types import Command
from support.cut_off import Cut, CutMemory, CutSqlite
from support.scripted import Scripted, calls, says, wrote

from todoplan import TODOS, FileStore, Plan, Planner, Toolbox, commands
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    PlanState,
    make_tools,
    plan_of_state,
    plan_update,
)
from todoplan.dialogue import Call, Settings, tasks

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TASKS = Toolbox(tasks())


@tool
def other() -> str:
    """Do something else."""
    return "did it"


def graph_of(node):
    """Return a graph that is one node."""
    return StateGraph(PlanState).add_node("tools", node).add_edge(START, "tools").compile()


def run(message, toolbox=None, state=None):
    """Run one turn of calls through a graph that is one ToolNode."""
    graph = graph_of(ToolNode([*make_tools(toolbox, clock=lambda: NOON), other]))
    return graph.invoke({**(state or {}), "messages": [message]})


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
    """Turn after turn the state has what the toolbox makes of the calls (laws 12 and 13)."""
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


def test_calls_that_have_an_answer_are_not_carried_out_for_their_siblings():
    """What a guard or a person refused does not come back in the plan of the calls beside it."""
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


@pytest.mark.parametrize("said", [AIMessage("hello"), ("user", "hello")], ids=["ai", "user"])
def test_a_call_that_no_message_has_stands_alone(said):
    """Made up by the application, it is answered upon the plan as it is."""
    node = ToolNode(make_tools(TASKS))
    call = {"name": "TaskCreate", "args": {"subject": "x"}, "id": "new", "type": "tool_call"}
    graph = graph_of(lambda _, config, runtime: node.invoke([call], config, runtime=runtime))
    done = graph.invoke({"messages": [said]})
    assert [task.subject for task in plan_of_state(done)] == ["x"]


class Heard(BaseCallbackHandler):
    def __init__(self):
        self.told = []

    def on_tool_start(self, serialized, input_str, **kwargs):
        self.told.append(("start", serialized["name"], kwargs["inputs"]))

    def on_tool_end(self, output, **kwargs):
        self.told.append(("end", output.update["messages"][0].content))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_who_listens_is_told(asynchronous):
    """With a callback handler the call goes LangChain's way, and comes to the same."""
    heard, message = Heard(), wrote(("a", "pending"))
    graph, config = graph_of(ToolNode(make_tools(clock=lambda: NOON))), {"callbacks": [heard]}
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
    """As in LangChain's own tests; `runtime` is an argument like any other."""
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
    """As `ToolNode` would; the command holds the update and the message."""
    runtime = ToolRuntime(
        state={}, context=None, config={}, stream_writer=print, tool_call_id="1", store=None
    )
    arguments = {"todos": [{"content": "a", "status": "pending"}], "runtime": runtime}
    call = {"name": "write_todos", "args": arguments, "id": "1", "type": "tool_call"}
    command = make_tools()[0].invoke(call, {"callbacks": heard})
    assert command.update["todos"] == [{"content": "a", "status": "pending"}]
    assert command.update["messages"][0].text == "ok, 0/1 completed"


def test_models_see_the_schema_of_the_tool_set():
    """What is bound is the definition of the tool set, without the injected runtime."""
    for made, definition in zip(make_tools(TASKS), tasks().definitions(), strict=True):
        shown = convert_to_openai_tool(made)["function"]
        assert shown["name"] == definition.name
        assert shown["description"] == definition.description
        assert shown["parameters"]["properties"].keys() == definition.schema["properties"].keys()


def test_each_accepted_call_is_told_on_the_custom_stream():
    """With `emit_events`; refused and reading calls are not, and revisions give the order."""
    graph = graph_of(ToolNode(make_tools(TASKS, clock=lambda: NOON, emit_events=True)))
    told = list(graph.stream({"messages": [calls(*SIX)]}, stream_mode="custom"))
    told.sort(key=lambda one: one["todoplan"]["revision"])
    assert [(t["todoplan"]["call_id"], t["todoplan"]["tool"]) for t in told] == [
        ("1", "TaskCreate"),
        ("2", "TaskCreate"),
        ("3", "TaskUpdate"),
        ("5", "TaskCreate"),
    ]
    assert told[0]["todoplan"]["events"][0]["task"]["subject"] == "a"
    quiet = list(graph.stream({"messages": [calls(SIX[-1])]}, stream_mode="custom"))
    assert quiet == []


def test_what_a_tool_returns_can_be_shown():
    """Tracers and debuggers print the command."""
    assert "'todoplan'" in repr(Command(update=plan_update(Plan())))


HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
QUIET = Settings(plan_lost=False, unfinished=0)
APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "no"}


def create(subject, call_id, **more):
    return ("TaskCreate", {"subject": subject, **more}, call_id)


def edited(name, **arguments):
    return {"type": "edit", "edited_action": {"name": name, "args": arguments}}


def agent(turn, *middleware, toolset=None):
    planner = PlanMiddleware(Toolbox(toolset or tasks()), settings=QUIET)
    model = Scripted(script=[turn, says("done")])
    return create_agent(model, middleware=[planner, *middleware], checkpointer=InMemorySaver())


def reviewed(turn, *decisions, toolset=None, **options):
    """Run a turn whose calls a person decides upon, each its own decision."""
    gate = HumanInTheLoopMiddleware(
        dict.fromkeys(("TaskCreate", "TaskUpdate", "write_todos"), True), **options
    )
    made = agent(turn, gate, toolset=toolset)
    made.invoke(HELLO, THREAD)
    answer = {"decisions": [*decisions]}
    if options:
        asked = {one.value["tool_call_id"]: one.id for one in made.get_state(THREAD).interrupts}
        named = zip((call["id"] for call in turn.tool_calls), decisions, strict=True)
        answer = {asked[call_id]: decision for call_id, decision in named}
    return made, made.invoke(Command(resume=answer), THREAD)


def subjects(made):
    return [task.subject for task in plan_of_state(made.get_state(THREAD))]


def texts(done):
    return [m.text.rpartition("\n")[2] for m in done["messages"] if isinstance(m, ToolMessage)]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_persons_edit_stays_whatever_stands_beside_it(mode, place):
    """Whichever of a turn's calls was edited, the plan and the list have the edited text."""
    turn = calls(create("a", "1"), create("b", "2", blockedBy=["1"]), create("c", "3"))
    decisions = [APPROVE, APPROVE, APPROVE]
    decisions[place] = edited("TaskCreate", subject="mine")
    options = {} if mode == "batched" else {"interrupt_mode": mode}
    made, done = reviewed(turn, *decisions, **options)
    expected = ["a", "b", "c"]
    expected[place] = "mine"
    assert subjects(made) == [todo["content"] for todo in done["todos"]] == expected
    assert texts(done) == ["0/1: #1 created", "0/2: #2 created", "0/3: #3 created"]


def test_the_calls_beside_an_edit_are_answered_upon_it():
    """A call that reads the plan shows what the person made of the call before it."""
    turn = calls(
        ("write_todos", {"todos": [{"content": "a", "status": "pending"}]}, "1"),
        ("read_todos", {}, "2"),
    )
    edit = edited("write_todos", todos=[{"content": "mine", "status": "pending"}])
    made, done = reviewed(turn, edit, toolset=TODOS)
    assert texts(done) == ["ok, 0/1 completed", "#1 [pending] mine"]
    assert subjects(made) == ["mine"]


def test_a_call_turned_into_another_is_that_one():
    """What it would have made is not there for the calls beside it."""
    turn = calls(create("a", "1"), ("TaskUpdate", {"taskId": "1", "status": "completed"}, "2"))
    made, done = reviewed(turn, edited("TaskList"), APPROVE)
    assert subjects(made) == []
    assert [m.status for m in done["messages"] if isinstance(m, ToolMessage)] == [
        "success",
        "error",
    ]


def test_what_a_person_refuses_as_the_call_runs_is_not_in_the_plan():
    """Its neighbours' tasks are, under the ids that they were told."""
    turn = calls(create("a", "1"), create("b", "2", blockedBy=["1"]))
    made, done = reviewed(turn, REJECT, APPROVE, interrupt_mode="per_call")
    (task,) = plan_of_state(made.get_state(THREAD))
    assert (task.id, task.subject, task.blocked_by) == ("2", "b", ())
    assert "0/2: #2 created" in texts(done)


def test_a_redaction_is_not_undone():
    """A wrapper changes a call's text: nothing of the old one is in the plan or the list."""

    @wrap_tool_call
    def redact(request, handler):
        given = {**request.tool_call, "args": {"subject": "[redacted]"}}
        is_secret = "secret" in request.tool_call["args"]["subject"]
        return handler(request.override(tool_call=given) if is_secret else request)

    made = agent(calls(create("secret", "1"), create("b", "2")), redact)
    done = made.invoke(HELLO, THREAD)
    assert subjects(made) == [todo["content"] for todo in done["todos"]] == ["[redacted]", "b"]


STEPS = st.one_of(
    st.builds(lambda text: ("TaskCreate", {"subject": text}), st.sampled_from("abc")),
    st.builds(
        lambda status: ("TaskUpdate", {"taskId": "1", "status": status}),
        st.sampled_from(["completed", "in_progress", "deleted"]),
    ),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(STEPS, STEPS), min_size=1, max_size=4))
def test_any_edits_come_to_the_edited_calls_in_order(pairs):
    """Plan and replies are as if the model had sent what the person made of its calls (law 13)."""
    turn = calls(*((*sent, f"c{n}") for n, (sent, _) in enumerate(pairs)))
    decisions = [edited(name, **arguments) for _, (name, arguments) in pairs]
    made, done = reviewed(turn, *decisions)
    expected = Toolbox(tasks()).turn(Plan(), [Call(*run) for _, run in pairs])
    plan = plan_of_state(made.get_state(THREAD))
    assert [(t.id, t.subject, t.status) for t in plan] == [
        (t.id, t.subject, t.status) for t in expected.plan
    ]
    assert texts(done) == [reply.text.rpartition("\n")[2] for reply in expected.replies]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=5))
def test_any_rewriting_of_texts_is_what_the_plan_has(sent):
    """Whichever calls a wrapper changes as they run, the plan holds what ran, once each."""

    @wrap_tool_call
    def upper(request, handler):
        call = request.tool_call
        changed = {**call, "args": {"subject": call["args"]["subject"].upper()}}
        is_chosen = sent[int(call["id"])][1]
        return handler(request.override(tool_call=changed) if is_chosen else request)

    made = agent(calls(*(create(text, str(n)) for n, (text, _) in enumerate(sent))), upper)
    done = made.invoke(HELLO, THREAD)
    expected = [text.upper() if is_chosen else text for text, is_chosen in sent]
    assert subjects(made) == [todo["content"] for todo in done["todos"]] == expected


def test_calls_of_the_same_id_are_told_apart_by_their_arguments():
    """Each is answered for itself; the same call twice counts twice."""
    made = agent(calls(create("a", "x"), create("b", "x")))
    assert texts(made.invoke(HELLO, THREAD)) == ["0/1: #1 created", "0/2: #2 created"]
    assert subjects(made) == ["a", "b"]
    made = agent(calls(create("a", "x"), create("a", "x")))
    made.invoke(HELLO, THREAD)
    assert [(t.id, t.subject) for t in plan_of_state(made.get_state(THREAD))] == [
        ("1", "a"),
        ("2", "a"),
    ]


SILENT = Settings(plan_lost=False, unfinished=0, changed=False)


def process(store, saver, *script):
    """Return an agent as another process would build it: it remembers nothing of the one before."""
    ours = PlanMiddleware(Toolbox(tasks()), settings=SILENT, store=store)
    return create_agent(Scripted(script=[*script]), middleware=[ours], checkpointer=saver)


def creates(*names, ids=None):
    """Return a model's turn that creates tasks."""
    named = zip(names, ids or names, strict=True)
    return calls(*(("TaskCreate", {"subject": name}, call_id) for name, call_id in named))


def cut_off(store, saver, turn):
    """Run until the store has what a turn did, and LangGraph does not."""
    with pytest.raises(Cut):
        process(store, saver, turn).invoke(HELLO, THREAD)


def stored(store):
    """Return the subjects of the plan of the thread."""
    return [task.subject for task in store.load("1")]


def answers(result):
    """Return what the tools have answered."""
    return [one.text for one in result["messages"] if isinstance(one, ToolMessage)]


@pytest.mark.parametrize("kind", [CutMemory, CutSqlite])
def test_a_turn_whose_checkpoint_was_lost_is_answered_again_and_not_done_again(kind, tmp_path):
    """Two calls that are carried out as one: the store has both, LangGraph knows of neither."""
    store = CutMemory() if kind is CutMemory else CutSqlite(tmp_path / "plans.db")
    saver = InMemorySaver()
    cut_off(store, saver, creates("a", "b"))
    assert stored(store) == ["a", "b"]
    result = process(store, saver, says("done")).invoke(None, THREAD)
    assert stored(store) == ["a", "b"]
    assert answers(result) == ["0/1: #1 created", "0/2: #2 created"]
    assert result["messages"][-1].text == "done"
    assert [todo["content"] for todo in result["todos"]] == ["a", "b"]
    assert len(store.entries("1")) == 2


def test_what_others_did_meanwhile_stays_and_is_told():
    """The answer of then, and what the model has not seen since; its own work is no news."""
    store, saver = CutMemory(), InMemorySaver()
    cut_off(store, saver, creates("a", "b"))
    Planner(store, "1").apply(commands.CreateTask("Tell Ann"), actor="ann")
    first, second = answers(process(store, saver, says("done")).invoke(None, THREAD))
    assert first.startswith("since you last looked: #3 Tell Ann created by ann"), first
    assert first.endswith("0/1: #1 created")
    assert second == "0/2: #2 created"
    assert stored(store) == ["a", "b", "Tell Ann"]


def test_the_same_ids_in_the_next_message_are_other_calls():
    """Some providers number the calls of each response anew, and models repeat themselves."""
    store, saver = CutMemory(), InMemorySaver()
    cut_off(store, saver, creates("a", ids=["call_1"]))
    script = creates("a", ids=["call_1"]), creates("a", ids=["call_1"]), says("done")
    process(store, saver, *script).invoke(None, THREAD)
    assert stored(store) == ["a", "a", "a"]


class CutFile(FileStore):
    """A store without keys that ends its process right behind an append."""

    is_cut = True

    def append(self, *given):
        """Append, and end."""
        kept = super().append(*given)
        if self.is_cut:
            self.is_cut = False
            raise Cut
        return kept


def test_a_store_that_keeps_no_keys_serves_as_before(tmp_path):
    """It cannot know of the call that was lost: what is made again is done again."""
    store, saver = CutFile(tmp_path / "plans.json"), InMemorySaver()
    cut_off(store, saver, creates("a"))
    process(store, saver, says("done")).invoke(None, THREAD)
    assert stored(store) == ["a", "a"]

"""The tools: parallel calls, edited calls, repeated calls, errors, callbacks, sync and async."""

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents.middleware import HumanInTheLoopMiddleware, wrap_tool_call
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.types import Command
from support.cut_off import Cut, CutMemory, CutSqlite
from support.langgraph_threads import (
    HELLO,
    ROADS,
    THREAD,
    agent,
    answers,
    contents,
    create,
    drive,
    entries,
    lines,
    subjects,
)
from support.scripted import calls, says, wrote

from todoplan import TODOS, FileStore, Plan, Planner, Toolbox, commands
from todoplan.adapters.langgraph import (
    PlanState,
    make_tools,
    plan_of_state,
)
from todoplan.dialogue import Call, tasks

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
    plan, state = Plan(), {}
    for place, turn in enumerate(turns):
        listed = [(name, arguments, f"{place}-{n}") for n, (name, arguments) in enumerate(turn)]
        state = run(calls(*listed), TASKS, {"todoplan": state.get("todoplan", {})})
        ours = [Call(*one) for one in listed if one[0] != "write_todos"]
        expected = TASKS.turn(plan, ours, at=NOON)
        told = [m.text for m in state["messages"] if m.type == "tool" and m.name != "write_todos"]
        assert told == [reply.text for reply in expected.replies]
        assert plan_of_state(state) == expected.plan
        plan = expected.plan


@pytest.mark.parametrize("said", [AIMessage("hello"), ("user", "hello")], ids=["ai", "user"])
def test_a_call_that_no_message_has_stands_alone(said):
    """Made up by the application, it is answered upon the plan as it is."""
    node = ToolNode(make_tools(TASKS))
    call = {"name": "TaskCreate", "args": {"subject": "x"}, "id": "new", "type": "tool_call"}
    graph = graph_of(lambda _, config, runtime: node.invoke([call], config, runtime=runtime))
    assert subjects(graph.invoke({"messages": [said]})) == ["x"]


class Heard(BaseCallbackHandler):
    def __init__(self):
        self.told = []

    def on_tool_start(self, serialized, input_str, **kwargs):
        self.told.append(("start", serialized["name"], kwargs["inputs"]))

    def on_tool_end(self, output, **kwargs):
        self.told.append(("end", output.update["messages"][0].content))


@ROADS
def test_who_listens_is_told(is_async):
    """With a callback handler the call goes LangChain's way, and comes to the same."""
    heard, message = Heard(), wrote(("a", "pending"))
    graph, config = graph_of(ToolNode(make_tools(clock=lambda: NOON))), {"callbacks": [heard]}
    done = drive(graph, {"messages": [message]}, config, is_async=is_async)
    assert heard.told == [
        ("start", "write_todos", message.tool_calls[0]["args"]),
        ("end", "ok, 0/1 completed"),
    ]
    assert plan_of_state(done) == plan_of_state(run(message))
    junk = {"messages": [calls(("write_todos", {"self": 1, "config": 2, "args": 3}, "j"))]}
    assert graph.invoke(junk, config)["messages"][-1].status == "error"


def test_a_tool_invoked_outside_a_graph_starts_from_an_empty_plan():
    """As in LangChain's own tests; `runtime` is an argument like any other, unless it is one."""
    todos = entries(("a", "pending"))
    write = make_tools(emit_events=True)[0]

    def call(**more):
        args = {"todos": todos, **more}
        return {"name": "write_todos", "args": args, "id": "1", "type": "tool_call"}

    update = write.invoke(call()).update
    assert update["todos"] == todos
    assert [(m.tool_call_id, m.status) for m in update["messages"]] == [("1", "success")]
    assert subjects(asyncio.run(write.ainvoke(call())).update) == ["a"]
    assert write.invoke(call(runtime="mine")).update["todos"] == todos
    assert write.invoke("text").update["messages"][0].status == "error"
    given = {"context": None, "config": {}, "stream_writer": print, "store": None}
    runtime = ToolRuntime(state={}, tool_call_id="1", **given)
    for heard in ([], None):
        command = make_tools()[0].invoke(call(runtime=runtime), {"callbacks": heard})
        assert command.update["todos"] == todos
        assert command.update["messages"][0].text == "ok, 0/1 completed"
    assert "'todoplan'" in repr(command)  # tracers and debuggers print it


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


APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "no"}


def edited(name, **arguments):
    return {"type": "edit", "edited_action": {"name": name, "args": arguments}}


def reviewed(turn, *decisions, toolset=None, **options):
    """Run a turn whose calls a person decides upon, each its own decision."""
    named = dict.fromkeys(("TaskCreate", "TaskUpdate", "write_todos"), True)
    gate = HumanInTheLoopMiddleware(named, **options)
    made = agent(turn, says("done"), toolbox=Toolbox(toolset or tasks()), more=[gate])
    made.invoke(HELLO, THREAD)
    answer = {"decisions": [*decisions]}
    if options:
        asked = {one.value["tool_call_id"]: one.id for one in made.get_state(THREAD).interrupts}
        pairs = zip((call["id"] for call in turn.tool_calls), decisions, strict=True)
        answer = {asked[call_id]: decision for call_id, decision in pairs}
    return made, made.invoke(Command(resume=answer), THREAD)


def texts(done):
    return [text.rpartition("\n")[2] for text in answers(done)]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_a_persons_decision_stays_whatever_stands_beside_it(mode):
    """The plan and the list have the edited text, and not the refused call; ids stay as told."""
    turn = create("a", "b", "c", "d", ids="1234")
    decisions = [REJECT, APPROVE, APPROVE]
    decisions.insert(2, edited("TaskCreate", subject="mine"))
    options = {} if mode == "batched" else {"interrupt_mode": mode}
    made, done = reviewed(turn, *decisions, **options)
    assert subjects(made) == contents(done) == ["b", "mine", "d"]
    if mode == "per_call":
        assert texts(done)[1:] == ["0/2: #2 created", "0/3: #3 created", "0/4: #4 created"]


def test_the_calls_beside_an_edit_are_answered_upon_it():
    """A call that reads the plan shows what the person made of the call before it."""
    listed = {"todos": entries(("a", "pending"))}
    turn = calls(("write_todos", listed, "1"), ("read_todos", {}, "2"))
    edit = edited("write_todos", todos=entries(("mine", "pending")))
    made, done = reviewed(turn, edit, toolset=TODOS)
    assert texts(done) == ["ok, 0/1 completed", "#1 [pending] mine"]
    assert subjects(made) == ["mine"]


def test_what_a_person_refuses_as_the_call_runs_is_not_in_the_plan():
    """Its neighbours' tasks are, under the ids that they were told."""
    blocked = ("TaskCreate", {"subject": "b", "blockedBy": ["1"]}, "2")
    turn = calls(("TaskCreate", {"subject": "a"}, "1"), blocked)
    made, done = reviewed(turn, REJECT, APPROVE, interrupt_mode="per_call")
    (task,) = plan_of_state(made.get_state(THREAD))
    assert (task.id, task.subject, task.blocked_by) == ("2", "b", ())
    assert "0/2: #2 created" in texts(done)


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

    turn = create(*(text for text, _ in sent), ids=map(str, range(len(sent))))
    made = agent(turn, says("done"), toolbox=TASKS, more=[upper])
    done = made.invoke(HELLO, THREAD)
    expected = [text.upper() if is_chosen else text for text, is_chosen in sent]
    assert subjects(made) == contents(done) == expected


@pytest.mark.parametrize("names", ["ab", "aa"])
def test_calls_of_the_same_id_are_told_apart_by_their_arguments(names):
    """Each is answered for itself; the same call twice counts twice."""
    made = agent(create(*names, ids="xx"), says("done"), toolbox=TASKS)
    assert texts(made.invoke(HELLO, THREAD))[0] == "0/1: #1 created"
    assert [line[:2] for line in lines(made)] == [*zip("12", names, strict=True)]


def process(store, saver, *script):
    """Return an agent as another process would build it: it remembers nothing of the one before."""
    return agent(*script, says("done"), toolbox=TASKS, store=store, checkpointer=saver)


def cut_off(store, saver, turn):
    """Run until the store has what a turn did, and LangGraph does not."""
    with pytest.raises(Cut):
        process(store, saver, turn).invoke(HELLO, THREAD)


@pytest.mark.parametrize("kind", [CutMemory, CutSqlite])
def test_a_turn_whose_checkpoint_was_lost_is_answered_again_and_not_done_again(kind, tmp_path):
    """Two calls that are carried out as one: the store has both, LangGraph knows of neither."""
    store = CutMemory() if kind is CutMemory else CutSqlite(tmp_path / "plans.db")
    saver = InMemorySaver()
    cut_off(store, saver, create("a", "b"))
    assert subjects(store) == ["a", "b"]
    result = process(store, saver).invoke(None, THREAD)
    assert subjects(store) == ["a", "b"]
    assert answers(result) == ["0/1: #1 created", "0/2: #2 created"]
    assert result["messages"][-1].text == "done"
    assert contents(result) == ["a", "b"]
    assert len(store.entries("1")) == 2


def test_what_others_did_meanwhile_stays_and_is_told():
    """The answer of then, and what the model has not seen since; its own work is no news."""
    store, saver = CutMemory(), InMemorySaver()
    cut_off(store, saver, create("a", "b"))
    Planner(store, "1").apply(commands.CreateTask("Tell Ann"), actor="ann")
    first, second = answers(process(store, saver).invoke(None, THREAD))
    assert first.startswith("since you last looked: #3 Tell Ann created by ann"), first
    assert first.endswith("0/1: #1 created")
    assert second == "0/2: #2 created"
    assert subjects(store) == ["a", "b", "Tell Ann"]


def test_the_same_ids_in_the_next_message_are_other_calls():
    """Some providers number the calls of each response anew, and models repeat themselves."""
    store, saver = CutMemory(), InMemorySaver()
    cut_off(store, saver, create("a", ids=["call_1"]))
    process(store, saver, *(create("a", ids=["call_1"]) for _ in "12")).invoke(None, THREAD)
    assert subjects(store) == ["a", "a", "a"]


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
    cut_off(store, saver, create("a"))
    process(store, saver).invoke(None, THREAD)
    assert subjects(store) == ["a", "a"]

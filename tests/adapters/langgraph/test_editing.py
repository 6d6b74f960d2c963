"""Seeding and editing a thread: nothing that is accepted is lost, on any graph at any time."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt
from support.scripted import Scripted, calls, says, wrote

from todoplan import Plan
from todoplan.adapters.langgraph import (
    PlanApproval,
    PlanMiddleware,
    PlanState,
    aedit_plan,
    aseed_plan,
    edit_plan,
    make_tools,
    plan_of_state,
    seed_plan,
)
from todoplan.core import commands
from todoplan.core.decide import Accepted, decide
from todoplan.core.rules import DEFAULT
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.errors import PlanError

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
SEED = decide(Plan(), commands.CreateTask("seeded")).plan
TURN = ("TaskCreate", {"subject": "a"}, "w")
ASKING = ("ask", {"question": "?"}, "q")


def by_hand(script, first="model", schema=PlanState):
    """
    The graph of the README.
    """
    tools, model = make_tools(), Scripted(script=script)
    graph = StateGraph(PlanState, input_schema=schema)
    graph.add_node(
        first, lambda state: {"messages": [model.bind_tools(tools).invoke(state["messages"])]}
    )
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, first)
    graph.add_conditional_edges(first, tools_condition)
    graph.add_edge("tools", first)
    return graph.compile(checkpointer=InMemorySaver())


@tool
def ask(question: str) -> str:
    """Ask a person."""
    return interrupt(question)


def agent(*script, middleware=()):
    planner = PlanMiddleware(Toolbox(tasks()), settings=Settings(unfinished=0))
    return create_agent(
        Scripted(script=[*script]),
        tools=[ask],
        middleware=[planner, *middleware],
        checkpointer=InMemorySaver(),
    )


def subjects(made):
    return [task.subject for task in plan_of_state(made.get_state(THREAD))]


@pytest.mark.parametrize("first", ["model", "agent"])
def test_a_new_thread_of_a_graph_by_hand_is_seeded_and_edited(first):
    """
    Whatever its nodes are called: the plan counts as an input, and the first run starts with it.
    """
    made = by_hand([wrote(("seeded", "completed"), ("b", "pending")), says("done")], first)
    seed_plan(made, THREAD, SEED)
    assert isinstance(edit_plan(made, THREAD, commands.UpdateTask("1", owner="ann")), Accepted)
    made.invoke(HELLO, THREAD)
    plan = plan_of_state(made.get_state(THREAD))
    assert [(t.subject, t.status.value, t.owner) for t in plan] == [
        ("seeded", "completed", "ann"),
        ("b", "pending", None),
    ]


def test_a_graph_by_hand_whose_input_holds_no_plan():
    """
    The change counts as one of the node "model", or of the node that is named.
    """
    made = by_hand([], schema=MessagesState)
    seed_plan(made, THREAD, SEED, as_node="tools")
    assert subjects(made) == ["seeded"]
    edit_plan(made, THREAD, commands.CreateTask("more"), as_node="tools")
    asyncio.run(aedit_plan(made, THREAD, commands.CreateTask("most"), as_node="tools"))
    assert subjects(made) == ["seeded", "more", "most"]


def test_a_new_thread_of_an_agent():
    """
    An agent's input holds no plan; it is there all the same, and what follows starts with it.
    """
    made = agent(says("done"))
    edit_plan(made, THREAD, commands.CreateTask("first"))
    made.invoke(HELLO, THREAD)
    assert subjects(made) == ["first"]


def test_a_plan_that_no_input_holds_is_not_lost_in_silence():
    """
    Where LangGraph would drop it, the developer is asked for a node.
    """
    made = by_hand([], "agent", schema=MessagesState)
    with pytest.raises(PlanError, match="as_node") as caught:
        edit_plan(made, THREAD, commands.CreateTask("a"))
    assert set(caught.value.data["nodes"]) == {"__start__", "agent", "tools"}
    edit_plan(made, THREAD, commands.CreateTask("a"), as_node="tools")
    with pytest.raises(PlanError, match="as_node"):
        seed_plan(made, THREAD, SEED)
    assert subjects(made) == ["a"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_thread_in_the_middle_of_a_step_is_refused(asynchronous):
    """
    A tool waits for an answer and its neighbours have run: what they did would be done again. After
    the answer the edit holds.
    """

    def changed(change, achange, *given):
        return asyncio.run(achange(*given)) if asynchronous else change(*given)

    made = agent(calls(TURN, ASKING), says("done"))
    made.invoke(HELLO, THREAD)
    edit = commands.UpdateTask("1", owner="ann")
    with pytest.raises(PlanError, match="resume") as caught:
        changed(edit_plan, aedit_plan, made, THREAD, edit)
    assert caught.value.data == {"finished": ("tools",)}
    with pytest.raises(PlanError, match="repeat what has finished"):
        changed(seed_plan, aseed_plan, made, THREAD, SEED)
    assert subjects(made) == ["a"]
    done = made.invoke(Command(resume="yes"), THREAD)
    assert [m.text for m in done["messages"] if isinstance(m, ToolMessage)] == [
        "0/1: #1 created",
        "yes",
    ]
    edit_plan(made, THREAD, edit)
    assert plan_of_state(made.get_state(THREAD))["1"].owner == "ann"


def test_a_crash_in_the_middle_of_a_step_is_refused_too():
    """
    What ran beside the call that failed is kept by going on, not by an edit.
    """

    @tool
    def flaky() -> str:
        """Fail once."""
        if not broken:
            broken.append(1)
            raise ConnectionError
        return "fine"

    broken = []
    planner = PlanMiddleware(Toolbox(tasks()), settings=Settings(unfinished=0))
    model = Scripted(script=[calls(TURN, ("flaky", {}, "f")), says("done")])
    made = create_agent(model, tools=[flaky], middleware=[planner], checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        made.invoke(HELLO, THREAD)
    with pytest.raises(PlanError, match=r"invoke\(None\)"):
        edit_plan(made, THREAD, commands.CreateTask("b"))
    made.invoke(None, THREAD)
    edit_plan(made, THREAD, commands.CreateTask("b"))
    assert subjects(made) == ["a", "b"]


@pytest.mark.parametrize("earlier", [(), ("hi",)])
def test_an_edit_behind_an_input_that_the_model_failed_to_answer_is_not_lost(earlier):
    """LangGraph would take it for an input as well, and drop it: what was said stays, too."""
    down = ConnectionError("down")
    made = agent(*map(says, earlier), lambda _: (_ for _ in ()).throw(down), says("done"))
    for _ in earlier:
        made.invoke(HELLO, THREAD)
    seed_plan(made, THREAD, SEED)
    with pytest.raises(ConnectionError):
        made.invoke(HELLO, THREAD)
    assert isinstance(edit_plan(made, THREAD, commands.CreateTask("more")), Accepted)
    assert subjects(made) == ["seeded", "more"]
    assert made.invoke(HELLO, THREAD)["messages"][-2:][0].text == "hello"
    assert subjects(made) == ["seeded", "more"]


def test_an_edit_before_the_first_step_of_a_run_that_waits_is_refused():
    """There LangGraph would drop it; once the person has answered it is taken."""
    planner = PlanMiddleware(Toolbox(tasks(), DEFAULT.but(approval_required="error")))
    made = create_agent(
        Scripted(script=[says("done")]),
        middleware=[planner, PlanApproval(planner)],
        checkpointer=InMemorySaver(),
    )
    seed_plan(made, THREAD, SEED)
    made.invoke(HELLO, THREAD)
    with pytest.raises(PlanError, match="answer first"):
        edit_plan(made, THREAD, commands.CreateTask("more"))
    made.invoke(Command(resume=True), THREAD)
    edit_plan(made, THREAD, commands.CreateTask("more"))
    assert subjects(made) == ["seeded", "more"]


def test_a_step_of_which_nothing_ran_is_edited():
    """
    A tool that waits alone is asked again, upon the edited plan.
    """
    made = agent(calls(TURN), calls(ASKING), says("done"))
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, commands.UpdateTask("1", owner="ann"))
    done = made.invoke(Command(resume="yes"), THREAD)
    assert done["messages"][-1].text == "done"
    assert [t.owner for t in plan_of_state(made.get_state(THREAD))] == ["ann"]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_an_edit_while_a_person_is_asked_about_calls(mode):
    """
    Nothing ran yet: the calls are carried out upon the edited plan.
    """
    gate = HumanInTheLoopMiddleware({"TaskCreate": True}, interrupt_mode=mode)
    made = agent(calls(TURN), says("done"), middleware=[gate])
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, commands.CreateTask("by ann"))
    if mode == "per_call":
        made.invoke(None, THREAD)
    answer = {"type": "approve"} if mode == "per_call" else {"decisions": [{"type": "approve"}]}
    made.invoke(Command(resume=answer), THREAD)
    assert subjects(made) == ["by ann", "a"]


def test_an_old_checkpoint_is_forked():
    """
    Its step has long finished; the edit starts a branch from before it.
    """
    made = agent(calls(TURN), calls(("TaskCreate", {"subject": "b"}, "x")), says("1"), says("2"))
    made.invoke(HELLO, THREAD)
    old = next(
        state
        for state in made.get_state_history(THREAD)
        if state.next == ("model",) and len(plan_of_state(state)) == 1
    )
    edit_plan(made, old.config, commands.CreateTask("forked"))
    assert subjects(made) == ["a", "forked"]
    made.invoke(None, THREAD)
    assert subjects(made) == ["a", "forked"]

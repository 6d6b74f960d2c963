"""A verifier in LangGraph: over the state, where calls of a turn run apart, and over a store."""

import asyncio
from threading import Lock

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from support.scripted import Scripted, calls, says

from todoplan import DEFAULT, TASKS, MemoryStore, Toolbox
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    PlanState,
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    seed_plan,
)
from todoplan.core.commands import CreateTask, CreateTasks
from todoplan.core.decide import decide
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.dialogue import Settings
from todoplan.errors import PlanError

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
ASKING = Toolbox(TASKS, DEFAULT.but(evidence_required="error"))
NAMES = ["Dig", "Lay", "Mow"]
SEED = decide(
    Plan(),
    CreateTasks(tuple(CreateTask(name, check="it holds", status="in_progress") for name in NAMES)),
    Policy(),
).unwrap()


def completes(*ids):
    return calls(*(("TaskUpdate", {"taskId": n, "status": "completed"}, f"c{n}") for n in ids))


class Looker:
    """
    A verifier that counts its looks, and says yes to all but some tasks.
    """

    def __init__(self, *but):
        self.but, self.asked, self.lock = but, [], Lock()

    def __call__(self, task, plan):
        with self.lock:
            self.asked.append(task.id)
        return task.id not in self.but, f"seen {task.subject}"

    async def awaited(self, task, plan):
        await asyncio.sleep(0)
        return self(task, plan)


def agent(verify, *script, store=None, settings=None):
    made = create_agent(
        Scripted(script=[*script]),
        middleware=[PlanMiddleware(ASKING, store=store, verify=verify, settings=settings)],
        checkpointer=InMemorySaver(),
    )
    seed_plan(made, THREAD, SEED)
    return made


def ran(made, awaited, config=None):
    """
    Return the state after a run.
    """
    config = {**THREAD, **(config or {})}
    return asyncio.run(made.ainvoke(HELLO, config)) if awaited else made.invoke(HELLO, config)


@pytest.mark.parametrize("room", [{}, {"max_concurrency": 1}])
@pytest.mark.parametrize("awaited", [False, True])
def test_calls_that_run_apart_look_once_and_agree(awaited, room):
    """Each carries those before it out again; all go by the same findings."""
    look = Looker("2")
    made = agent(look.awaited if awaited else look, completes("1", "2", "3"), says("done"))
    state = ran(made, awaited, room)
    assert sorted(look.asked) == ["1", "2", "3"]
    plan = plan_of_state(state)
    assert [task.status.value for task in plan] == ["completed", "in_progress", "completed"]
    assert [task.evidence.passed for task in plan] == [True, False, True]
    answers = [one for one in state["messages"] if one.type == "tool"]
    assert [one.status for one in answers] == ["success", "error", "success"]
    assert "did not pass (it holds): seen Lay" in answers[1].text
    assert "verified: #3" in answers[2].text
    assert len(history_of(state)) >= 3


@pytest.mark.parametrize("awaited", [False, True])
def test_a_plain_function_serves_both_ways(awaited):
    """Awaited it is called in a thread, and the loop goes on."""
    look = Looker()
    plan = plan_of_state(ran(agent(look, completes("1"), says("done")), awaited))
    assert (plan["1"].status.value, plan["1"].evidence.summary) == ("completed", "seen Dig")


@pytest.mark.parametrize("store", [None, MemoryStore()], ids=["state", "store"])
def test_an_awaited_verifier_is_refused_in_a_run_that_awaits_nothing(store):
    """It says how to run the graph."""
    made = agent(Looker().awaited, completes("1"), says("done"), store=store)
    with pytest.raises(PlanError, match="ainvoke"):
        ran(made, awaited=False)


def test_a_refusal_does_not_hide_what_a_person_did():
    """The evidence is in the plan, and what the person did is told by the next answer."""
    looks = calls(("TaskList", {}, "l"))
    silent = Settings(plan_lost=False, unfinished=0, changed=False)
    made = agent(Looker("1"), completes("1"), looks, says("done"), settings=silent)
    edit_plan(made, THREAD, CreateTask("Tell Ann"), actor="ann")
    state = ran(made, awaited=False)
    refused, listed = [one.text for one in state["messages"] if one.type == "tool"]
    assert "Tell Ann" not in refused
    assert "#4 Tell Ann created by ann" in listed
    assert plan_of_state(state)["1"].evidence.passed is False


@pytest.mark.parametrize("awaited", [False, True])
def test_tools_of_a_graph_by_hand_look_too(awaited):
    """`make_tools(verify=...)`."""
    look = Looker()
    tools, model = make_tools(ASKING, verify=look), Scripted(script=[completes("1"), says("ok")])
    graph = StateGraph(PlanState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    made = graph.compile(checkpointer=InMemorySaver())
    seed_plan(made, THREAD, SEED)
    assert plan_of_state(ran(made, awaited))["1"].evidence.passed
    assert look.asked == ["1"]


def test_what_is_no_verifier_is_refused():
    """At once, as every other setting."""
    for make in (PlanMiddleware, make_tools):
        with pytest.raises(PlanError, match="give a function"):
            make(ASKING, verify="pytest")

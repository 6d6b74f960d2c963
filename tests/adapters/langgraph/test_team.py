"""Law 19 through LangGraph: agents on one plan in a store, whose claims outlive a process."""

import asyncio

import attrs
import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from support.scripted import Scripted, calls, says

from todoplan import MemoryStore, Planner, Task, Toolbox, plan_of
from todoplan.adapters.langgraph import PlanMiddleware, merge_plans, stored_record, stored_update
from todoplan.dialogue import lean, tasks
from todoplan.dialogue.guidance import Settings
from todoplan.planner.session import Record

QUIET = Settings(plan_lost=False, unfinished=0, changed=False)
NEXT = ("plan", {"next": True})
THREE = plan_of([Task("1", "Dig"), Task("2", "Lay"), Task("3", "Sow")])


def agent(store, *script, toolset=None, saver=None, actor=None):
    """
    Return an agent of the team, on the plan "shared".
    """
    toolbox = Toolbox(toolset or lean(team=True))
    given = {"settings": QUIET, "store": store, "plan_id": "shared", "actor": actor}
    planner = PlanMiddleware(toolbox, **given)
    model = Scripted(script=[*script])
    return create_agent(model, middleware=[planner], checkpointer=saver or InMemorySaver())


def answers(result):
    """
    Return what the tools answered, in order.
    """
    return [each.content for each in result["messages"] if isinstance(each, ToolMessage)]


def run(graph, thread, *, is_async=False):
    """
    Run an agent in a thread.
    """
    said = {"messages": [("user", "go")]}
    config = {"configurable": {"thread_id": thread}}
    if is_async:
        return asyncio.run(graph.ainvoke(said, config))
    return graph.invoke(said, config)


def shared():
    """
    Return a store with a plan of three tasks.
    """
    store = MemoryStore()
    Planner(store, "shared").restore(THREE)
    return store


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_two_agents_share_a_plan(is_async):
    """Each claims, works and completes; the fence is kept in the state of its thread."""
    store = shared()
    first = agent(store, calls((*NEXT, "a")), says("wait"))
    assert answers(run(first, "ann", is_async=is_async)) == ["0/3: #1 claimed (fence 1): Dig"]
    work = [calls((*NEXT, "b")), calls(("plan", {"done": [2, 1]}, "c"))]
    work += [calls(("plan", {"done": [2], "next": True}, "d")), says("wait")]
    told = answers(run(agent(store, *work), "bob", is_async=is_async))
    assert told[0] == "0/3: #2 claimed (fence 1): Lay"
    assert "Task 1 is claimed by ann" in told[1]
    assert told[2] == "1/3: #2 completed; #3 claimed (fence 1): Sow"
    plan = Planner(store, "shared").plan
    assert [task.claim and task.claim.owner for task in plan] == ["ann", None, "bob"]


def test_a_thread_that_is_resumed_goes_on_with_its_task():
    """Another process has the checkpoint, and with it the fence; a thread of that name has not."""
    store, saver = shared(), InMemorySaver()
    first = run(agent(store, calls((*NEXT, "a")), says("wait"), saver=saver), "ann")
    assert first["todoplan"]["session"]["fences"] == {"1": 1}
    done = [calls(("plan", {"done": [1]}, "b")), says("done")]
    assert "claimed by ann" in answers(run(agent(store, *done), "ann"))[0]
    again = run(agent(store, *done, saver=saver), "ann")
    assert answers(again)[-1] == "1/3: #1 completed"
    assert "fences" not in again["todoplan"]["session"]


def test_calls_of_one_turn_claim_beside_each_other():
    """Two tasks in one turn, then one of them closed: what is held is what is left."""
    store, saver = shared(), InMemorySaver()
    one, two = ("TaskClaim", {"taskId": 1}, "a"), ("TaskClaim", {}, "b")
    done = calls(("TaskUpdate", {"taskId": 1, "status": "completed"}, "c"))
    toolset = tasks(team=True)
    script = (calls(one, two), done, says("wait"))
    result = run(agent(store, *script, toolset=toolset, saver=saver), "ann")
    assert result["todoplan"]["session"]["fences"] == {"2": 1}
    assert Planner(store, "shared").plan.counts.completed == 1


def test_an_answer_stands_over_a_task_that_another_agent_works_on():
    """Over a task of its own it is sent back: the claim is kept in the state of its thread."""
    store, saver = MemoryStore(), InMemorySaver()
    Planner(store, "shared").restore(plan_of([Task("1", "Dig")]))
    run(agent(store, calls((*NEXT, "a")), says("wait"), saver=saver), "ann")
    asked = {}
    for thread in ("bob", "ann"):
        model = Scripted(script=[says("ok"), says("ok")])
        settings = attrs.evolve(QUIET, unfinished=1)
        given = {"settings": settings, "store": store, "plan_id": "shared"}
        planner = PlanMiddleware(Toolbox(lean(team=True)), **given)
        run(create_agent(model, middleware=[planner], checkpointer=saver), thread)
        asked[thread] = len(model.requests)
    assert asked == {"bob": 1, "ann": 2}


def test_without_a_team_the_state_is_as_it_was():
    """No name and no fences: an option that is off leaves nothing behind."""
    store = shared()
    create = calls(("TaskCreate", {"subject": "x"}, "a"))
    result = run(agent(store, create, says("ok"), toolset=tasks()), "ann")
    assert set(result["todoplan"]) == {"stored", "session"}
    assert set(result["todoplan"]["session"]) == {"version", "revision", "listed", "overflow"}
    assert Planner(store, "shared").history()[-1].actor is None


def written(current, revision, held=(), now=()):
    """Return a state's value after a call that had the claims `held` before, and then `now`."""
    was, record = Record(fences=dict(held)), Record(revision=revision, fences=dict(now))
    return merge_plans(current, stored_update("p", was, record)["todoplan"])


def test_records_of_one_step_are_joined():
    """The later one counts, whole; of claims each says what its calls changed."""
    first = written({}, 1, {}, {"1": 1})
    assert stored_record(first, "p").fences == {"1": 1}
    both = written(first, 2, {}, {"2": 5})
    assert stored_record(both, "p").fences == {"1": 1, "2": 5}
    ended = written(both, 3, {"1": 1}, {})
    record = {"version": 1, "revision": 3, "fences": {"2": 5}}
    assert ended == {"stored": "p", "session": record}
    assert stored_record(written(ended, 2), "p").revision == 3
    assert stored_record(ended, "q").revision is None
    assert not stored_update("p", Record(revision=3), Record(revision=3))


def test_an_agent_that_has_a_name_claims_in_that():
    """Also where its threads have names of their own."""
    store = shared()
    run(agent(store, calls((*NEXT, "a")), says("wait"), actor="digger"), "ann")
    run(agent(store, calls((*NEXT, "b")), says("wait")), "bob")
    assert [task.claim and task.claim.owner for task in store.load("shared")][:2] == [
        "digger",
        "bob",
    ]
    assert [entry.actor for entry in store.entries("shared")][1:] == ["digger", "bob"]

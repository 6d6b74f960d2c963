"""A plan with several hands: what is accepted is in the plan (law 16), and who did it is known."""

import asyncio
import json

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from support.policies import strict_for
from support.scripted import Scripted, calls, says, wrote

from todoplan import LEAN, STRICT, Plan, plan_of
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    PlanState,
    aedit_plan,
    aseed_plan,
    command_update,
    edit_plan,
    history_of,
    make_tools,
    merge_plans,
    plan_of_state,
    plan_update,
    seed_plan,
    todos_of,
)
from todoplan.codec.documents import RECENT
from todoplan.core import commands
from todoplan.core.decide import Accepted, Rejected, decide
from todoplan.core.events.apply import replay
from todoplan.core.plan.model import Task
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.errors import CodecError, PlanError, TodoplanError

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
QUIET = Settings(plan_lost=False, unfinished=0)
EDIT = commands.CreateTask("Tell Ann")
TWO = decide(decide(Plan(), commands.CreateTask("a")).plan, commands.CreateTask("b")).plan


def agent(*script, toolbox=None, **options):
    planner = PlanMiddleware(toolbox or Toolbox(tasks()), settings=QUIET)
    options = {"middleware": [planner], "checkpointer": InMemorySaver(), **options}
    return create_agent(Scripted(script=[*script]), **options)


def create(subject, call_id="1"):
    return calls(("TaskCreate", {"subject": subject}, call_id))


def subjects(made):
    return [task.subject for task in plan_of_state(made.get_state(THREAD))]


@pytest.mark.parametrize("mode", ["values", "updates", "messages"])
def test_an_edit_inside_a_stream_is_refused_and_nothing_is_lost(mode):
    """
    The run would write over it. Every try is refused with what to do, or what was accepted is in
    the plan at the end; after the run the edit is taken.
    """
    made, accepted = agent(create("a"), create("b", "2"), says("done")), []
    for _ in made.stream(HELLO, THREAD, stream_mode=mode):
        for change, given in ((edit_plan, EDIT), (seed_plan, TWO)):
            if made.get_state(THREAD).tasks:
                with pytest.raises(PlanError, match="stopped=True"):
                    change(made, THREAD, given)
            else:
                accepted.append(change(made, THREAD, given))
    if not accepted:
        edit_plan(made, THREAD, EDIT)
        accepted.append(None)
        assert subjects(made) == ["a", "b", "Tell Ann"]
    assert len(accepted) in {1, 2}


def test_an_edit_inside_an_asynchronous_stream_is_refused():
    """
    As with `stream`.
    """
    made = agent(create("a"), create("b", "2"), says("done"))

    async def story():
        refused = 0
        async for chunk in made.astream(HELLO, THREAD, stream_mode="updates"):
            if "tools" in chunk:
                for change, given in ((aedit_plan, EDIT), (aseed_plan, TWO)):
                    with pytest.raises(PlanError, match="command_update"):
                        await change(made, THREAD, given)
                    refused += 1
        return refused

    assert asyncio.run(story()) == 4
    assert subjects(made) == ["a", "b"]


def test_an_edit_from_inside_a_tool_is_refused():
    """
    The tool is part of the run; another thread may be edited from there, for it is none of it.
    """
    found, other = [], {"configurable": {"thread_id": "2"}}

    @tool
    def meddle() -> str:
        """Meddle."""
        with pytest.raises(PlanError, match="part of it"):
            edit_plan(made, THREAD, EDIT)
        found.append(edit_plan(made, other, EDIT))
        return "done"

    made = agent(calls(("meddle", {}, "m")), says("done"), tools=[meddle])
    made.invoke(HELLO, THREAD)
    assert isinstance(found[0], Accepted)
    assert [task.subject for task in plan_of_state(made.get_state(other))] == ["Tell Ann"]


def test_a_stream_that_was_left_is_edited_by_whoever_knows_that_no_run_goes_on():
    """
    It looks as a run does. After `stopped=True` further edits need none, and the thread goes on.
    """
    made = agent(create("a"), says("done"))
    for chunk in made.stream(HELLO, THREAD, stream_mode="updates"):
        if "tools" in chunk:
            break
    with pytest.raises(PlanError, match="it is at model"):
        edit_plan(made, THREAD, EDIT)
    edit_plan(made, THREAD, EDIT, stopped=True, as_node="tools")
    edit_plan(made, THREAD, commands.UpdateTask("1", owner="ann"), as_node="tools")
    made.invoke(None, THREAD)
    assert subjects(made) == ["a", "Tell Ann"]


def plain(saver):
    return create_agent(Scripted(script=[says("hi")]), checkpointer=saver)


def theirs(saver):
    planner = TodoListMiddleware()
    return create_agent(Scripted(script=[says("hi")]), middleware=[planner], checkpointer=saver)


@pytest.mark.parametrize("make", [plain, theirs])
def test_a_graph_that_keeps_no_plan_is_refused(make):
    """
    LangGraph would drop the plan without a word.
    """
    made = make(InMemorySaver())
    made.invoke(HELLO, THREAD)
    for change in (
        lambda: edit_plan(made, THREAD, EDIT),
        lambda: seed_plan(made, THREAD, TWO),
        lambda: asyncio.run(aedit_plan(made, THREAD, EDIT)),
    ):
        with pytest.raises(PlanError, match="PlanMiddleware"):
            change()


@pytest.mark.parametrize("saver", [None, False])
def test_a_graph_without_a_checkpointer_is_refused(saver):
    """
    There is nowhere to keep the edit.
    """
    with pytest.raises(PlanError, match="checkpointer"):
        edit_plan(agent(checkpointer=saver), THREAD, EDIT)


def test_an_edit_is_judged_by_the_agents_own_policy():
    """
    Unless another is given. A graph whose tools are wrapped in nodes of its own has the default's.
    """
    made = agent(toolbox=Toolbox(tasks(), STRICT))
    bare = commands.CreateTask("a")
    assert isinstance(edit_plan(made, THREAD, bare), Rejected)
    assert isinstance(asyncio.run(aedit_plan(made, THREAD, bare)), Rejected)
    lenient = strict_for(LEAN)
    assert isinstance(edit_plan(made, THREAD, bare, policy=lenient), Accepted)
    graph = StateGraph(PlanState).add_node("model", lambda _: {})
    graph = graph.add_edge(START, "model").add_edge("model", END)
    assert isinstance(
        edit_plan(graph.compile(checkpointer=InMemorySaver()), THREAD, bare), Accepted
    )


def test_the_journal_says_who_did_what_and_when():
    """
    The model's calls under their tools' names, edits and seeds under their commands' with the
    actor; folded, they are the plan. It goes through JSON and another process as the plan does.
    """
    made = agent(create("c", "7"), says("done"), says("hi"))
    seed_plan(made, THREAD, TWO, actor="cron")
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, commands.UpdateTask("1", owner="ann"), actor="bob")
    edit_plan(made, THREAD, commands.DeleteTask("9"), actor="eve")
    state = made.get_state(THREAD)
    history = history_of(state)
    assert [(entry.cause, entry.actor, entry.revision) for entry in history] == [
        ("plan_update", "cron", 2),
        ("TaskCreate", None, 3),
        ("UpdateTask", "bob", 4),
    ]
    assert all(entry.at is not None for entry in history)
    folded = replay(Plan(), [event for entry in history for event in entry.events])
    assert tuple(folded) == tuple(plan_of_state(state))
    assert history_of(json.loads(json.dumps({"todoplan": state.values["todoplan"]}))) == history
    assert history_of(made.invoke(HELLO, THREAD)) == history


def test_a_new_thread_has_an_empty_plan_and_no_journal():
    """
    It has no checkpoint yet; that is a state all the same.
    """
    state = agent().get_state(THREAD)
    assert (plan_of_state(state), history_of(state)) == (Plan(), ())


def test_the_journal_is_bounded():
    """
    At most 50 entries, the latest ones; few if they are long, but always the last.
    """
    made = agent()
    for n in range(RECENT + 5):
        edit_plan(made, THREAD, commands.CreateTask(f"task {n}"))
    assert [entry.revision for entry in history_of(made.get_state(THREAD))] == [*range(6, 56)]
    for n in range(4):
        edit_plan(made, THREAD, commands.UpdateTask(str(n + 1), description=f"{n}" * 7_000))
    assert [entry.revision for entry in history_of(made.get_state(THREAD))] == [58, 59]
    seed_plan(made, THREAD, plan_of([Task(str(n), "x" * 300) for n in range(1, 100)]))
    assert len(history_of(made.get_state(THREAD))) == 1


@pytest.mark.parametrize("damaged", ["text", {"0": "x"}, [1], ["{"]])
def test_a_damaged_journal_is_an_error_and_the_plan_stays_readable(damaged):
    """
    It is never an empty journal.
    """
    value = plan_update(TWO)["todoplan"]
    with pytest.raises(CodecError):
        history_of({"todoplan": {**value, "journal": damaged}})
    assert plan_of_state({"todoplan": {**value, "journal": damaged}}) == TWO


def test_branches_of_one_step_stand_in_the_journal_as_they_were_carried_out():
    """
    Two branches create a task each: the second gets another id, also in the journal, where what
    it does with that task goes on. An entry that both sides of a join have stands once.
    """
    base = merge_plans({}, plan_update(TWO)["todoplan"])
    chain = commands.CreateTasks(
        (commands.CreateTask("d"), commands.CreateTask("e", blocked_by=("#0",)))
    )
    _, one = command_update({"todoplan": base}, commands.CreateTask("c"), actor="one")
    _, two = command_update({"todoplan": base}, chain, actor="two")
    _, three = command_update({"todoplan": base}, commands.UpdateTask("1", owner="me"))
    _, four = command_update({"todoplan": base}, commands.ClearPlan())
    merged = merge_plans(merge_plans(base, one["todoplan"]), two["todoplan"])
    assert [task.id for task in plan_of_state({"todoplan": merged})] == ["1", "2", "3", "4", "5"]
    for update in (three, four):
        merged = merge_plans(merged, update["todoplan"])
    history = history_of({"todoplan": merged})
    assert [entry.actor for entry in history] == [None, "one", "two", None, None]
    created = [e.task.id for entry in history for e in entry.events if hasattr(e, "task")]
    assert created == ["3", "4", "5"]
    folded = replay(Plan(), [event for entry in history[:3] for event in entry.events])
    assert [(task.id, task.blocked_by) for task in folded][-1] == ("5", ("4",))
    left = merge_plans(base, one["todoplan"])
    assert len(history_of({"todoplan": merge_plans(base, left)})) == 2


def test_subtasks_of_branches_stand_in_the_journal_below_what_contains_them():
    """
    Where a task got another id, so did what lies below it, created there or moved.
    """
    base = merge_plans({}, plan_update(TWO)["todoplan"])
    tree = commands.Batch(
        (
            commands.CreateTasks((commands.CreateTask("d"), commands.CreateTask("e", parent="#0"))),
            commands.UpdateTask("2", parent="3"),
        )
    )
    _, one = command_update({"todoplan": base}, commands.CreateTask("c"))
    _, two = command_update({"todoplan": base}, tree)
    merged = merge_plans(merge_plans(base, one["todoplan"]), two["todoplan"])
    plan, history = plan_of_state({"todoplan": merged}), history_of({"todoplan": merged})
    folded = replay(Plan(), [event for entry in history for event in entry.events])
    assert [(task.id, task.parent) for task in plan] == [
        *(("1", None), ("3", None), ("4", None), ("5", "4"), ("2", "4"))
    ]
    assert [(task.id, task.parent) for task in folded] == [(task.id, task.parent) for task in plan]


def test_an_agent_within_a_graph_does_not_change_its_callers_plan():
    """
    Both have a plan under the same key, and the caller's stays as it is, empty or not; what the
    inner agent returns by itself is its own.
    """
    inner = agent(create("inner"), says("done"), checkpointer=None)
    graph = StateGraph(PlanState)
    graph.add_node("inner", inner)
    graph.add_node("own", lambda state: command_update(state, commands.CreateTask("own"))[1])
    graph.add_edge(START, "inner")
    graph.add_edge("inner", "own")
    graph.add_edge("own", END)
    for before in ({}, plan_update(TWO)):
        inner.get_graph()
        made = agent(create("inner"), says("done"), checkpointer=None)
        graph.nodes["inner"].runnable = made
        done = graph.compile().invoke({**HELLO, **before})
        expected = ["own"] if not before else ["a", "b", "own"]
        assert [task.subject for task in plan_of_state(done)] == expected
    alone = agent(create("inner"), says("done"), checkpointer=None).invoke(HELLO)
    assert [task.subject for task in plan_of_state(alone)] == ["inner"]


WRONG = [
    lambda: PlanMiddleware(settings=0),
    lambda: PlanMiddleware(tasks()),
    lambda: PlanMiddleware(clock=0),
    lambda: make_tools(tasks()),
    lambda: make_tools(clock="now"),
    lambda: seed_plan(agent(), THREAD, [{"content": "a"}]),
    lambda: seed_plan(Scripted(script=[]), THREAD, TWO),
    lambda: seed_plan(agent(), "1", TWO),
    lambda: edit_plan(agent(), THREAD, EDIT, policy="strict"),
    lambda: edit_plan(THREAD, agent(), EDIT),
    lambda: command_update(None, EDIT),
    lambda: command_update("state", EDIT),
    lambda: plan_update([]),
    lambda: todos_of({"todos": []}),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_developers_mistake_is_an_error_at_once(wrong):
    """
    It says what was seen and what to write.
    """
    with pytest.raises(TodoplanError, match=r"was given; give|is no Settings; write"):
        wrong()


def test_the_descriptions_can_be_read_as_langchains_tests_do():
    """
    `tool_description` is that of the tool that writes, given or not.
    """
    assert PlanMiddleware(tool_description="Write.").tool_description == "Write."
    planner = PlanMiddleware()
    assert planner.tool_description == planner.tools[0].description
    assert wrote(("a", "pending")).tool_calls[0]["name"] == planner.tools[0].name

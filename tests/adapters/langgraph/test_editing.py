"""Seeding, editing and undoing a thread's plan: nothing that is accepted is lost (law 16)."""

import asyncio
import json

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, TodoListMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt
from support.policies import strict_for
from support.scripted import Scripted, calls, says, wrote

from todoplan import (
    DEFAULT,
    LEAN,
    STRICT,
    Accepted,
    MemoryStore,
    Plan,
    Rejected,
    Task,
    TodoplanError,
    Toolbox,
    commands,
    decide,
    plan_of,
    replay,
)
from todoplan.adapters.langgraph import (
    PlanApproval,
    PlanMiddleware,
    PlanState,
    aedit_plan,
    aseed_plan,
    aundo_plan,
    command_update,
    edit_plan,
    history_of,
    make_tools,
    merge_plans,
    plan_of_state,
    plan_update,
    seed_plan,
    todos_of,
    undo_plan,
)
from todoplan.codec.documents import RECENT
from todoplan.dialogue import Settings, tasks
from todoplan.errors import CodecError, PlanError

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
SEED = decide(Plan(), commands.CreateTask("seeded")).plan
TURN = ("TaskCreate", {"subject": "a"}, "w")
ASKING = ("ask", {"question": "?"}, "q")


def by_hand(script, first="model", schema=PlanState):
    """The graph of the README."""
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


def asking(*script, middleware=()):
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
    """Whatever its nodes are called: the plan counts as input, and the first run has it."""
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
    """The change counts as one of the node "model", or of the node that is named."""
    made = by_hand([], schema=MessagesState)
    seed_plan(made, THREAD, SEED, as_node="tools")
    assert subjects(made) == ["seeded"]
    edit_plan(made, THREAD, commands.CreateTask("more"), as_node="tools")
    asyncio.run(aedit_plan(made, THREAD, commands.CreateTask("most"), as_node="tools"))
    assert subjects(made) == ["seeded", "more", "most"]


def test_a_new_thread_of_an_agent():
    """An agent's input holds no plan; it is there all the same, and what follows starts with it."""
    made = asking(says("done"))
    edit_plan(made, THREAD, commands.CreateTask("first"))
    made.invoke(HELLO, THREAD)
    assert subjects(made) == ["first"]


def test_a_plan_that_no_input_holds_is_not_lost_in_silence():
    """Where LangGraph would drop it, the developer is asked for a node."""
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
    """An edit would repeat the finished calls beside a waiting one; after the answer it holds."""

    def changed(change, achange, *given):
        return asyncio.run(achange(*given)) if asynchronous else change(*given)

    made = asking(calls(TURN, ASKING), says("done"))
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
    """What ran beside the call that failed is kept by going on, not by an edit."""

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
    made = asking(*map(says, earlier), lambda _: (_ for _ in ()).throw(down), says("done"))
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
    """A tool that waits alone is asked again, upon the edited plan."""
    made = asking(calls(TURN), calls(ASKING), says("done"))
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, commands.UpdateTask("1", owner="ann"))
    done = made.invoke(Command(resume="yes"), THREAD)
    assert done["messages"][-1].text == "done"
    assert [t.owner for t in plan_of_state(made.get_state(THREAD))] == ["ann"]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_an_edit_while_a_person_is_asked_about_calls(mode):
    """Nothing ran yet: the calls are carried out upon the edited plan."""
    gate = HumanInTheLoopMiddleware({"TaskCreate": True}, interrupt_mode=mode)
    made = asking(calls(TURN), says("done"), middleware=[gate])
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, commands.CreateTask("by ann"))
    if mode == "per_call":
        made.invoke(None, THREAD)
    answer = {"type": "approve"} if mode == "per_call" else {"decisions": [{"type": "approve"}]}
    made.invoke(Command(resume=answer), THREAD)
    assert subjects(made) == ["by ann", "a"]


def test_an_old_checkpoint_is_forked():
    """Its step has long finished; the edit starts a branch from before it."""
    made = asking(calls(TURN), calls(("TaskCreate", {"subject": "b"}, "x")), says("1"), says("2"))
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


QUIET = Settings(plan_lost=False, unfinished=0)
EDIT = commands.CreateTask("Tell Ann")
TWO = decide(decide(Plan(), commands.CreateTask("a")).plan, commands.CreateTask("b")).plan


def agent(*script, toolbox=None, **options):
    planner = PlanMiddleware(toolbox or Toolbox(tasks()), settings=QUIET)
    options = {"middleware": [planner], "checkpointer": InMemorySaver(), **options}
    return create_agent(Scripted(script=[*script]), **options)


def create(subject, call_id="1"):
    return calls(("TaskCreate", {"subject": subject}, call_id))


@pytest.mark.parametrize("mode", ["values", "updates", "messages"])
def test_an_edit_inside_a_stream_is_refused_and_nothing_is_lost(mode):
    """The run would overwrite it: an edit is refused with a remedy, or it is in the plan."""
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
    """As with `stream`."""
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
    """The tool is part of the run; another thread may be edited from there."""
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
    """It looks like a run; after `stopped=True` further edits need no flag."""
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
    """LangGraph would drop the plan without a word."""
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
    """There is nowhere to keep the edit."""
    with pytest.raises(PlanError, match="checkpointer"):
        edit_plan(agent(checkpointer=saver), THREAD, EDIT)


def test_an_edit_is_judged_by_the_agents_own_policy():
    """Unless another is given; `DEFAULT` if the graph has no planning tools."""
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
    """Calls, edits and seeds, with cause and actor; replayed, they are the plan."""
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
    """It has no checkpoint yet; that is a state all the same."""
    state = agent().get_state(THREAD)
    assert (plan_of_state(state), history_of(state)) == (Plan(), ())


def test_the_journal_is_bounded():
    """At most 50 entries, the latest ones; few if they are long, but always the last."""
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
    """It is never an empty journal."""
    value = plan_update(TWO)["todoplan"]
    with pytest.raises(CodecError):
        history_of({"todoplan": {**value, "journal": damaged}})
    assert plan_of_state({"todoplan": {**value, "journal": damaged}}) == TWO


def test_branches_of_one_step_stand_in_the_journal_as_they_were_carried_out():
    """A task that gets another id has it in the journal too; joined entries are there once."""
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
    """Where a task got another id, so did what lies below it, created there or moved."""
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
    """The caller's plan stays, empty or not; the inner agent returns its own."""
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
    """It says what was seen and what to write."""
    with pytest.raises(TodoplanError, match=r"was given; give|is no Settings; write"):
        wrong()


def test_the_descriptions_can_be_read_as_langchains_tests_do():
    """`tool_description` is that of the tool that writes, given or not."""
    assert PlanMiddleware(tool_description="Write.").tool_description == "Write."
    planner = PlanMiddleware()
    assert planner.tool_description == planner.tools[0].description
    assert wrote(("a", "pending")).tool_calls[0]["name"] == planner.tools[0].name


SILENT = Settings(plan_lost=False, unfinished=0, changed=False)


def writer(*script, store=None, saver=None):
    planner = PlanMiddleware(settings=SILENT, store=store)
    model, saver = Scripted(script=[*script]), saver or InMemorySaver()
    return create_agent(model, middleware=[planner], checkpointer=saver)


def undo(made, is_async, **how):
    if is_async:
        return asyncio.run(aundo_plan(made, THREAD, **how))
    return undo_plan(made, THREAD, **how)


ROADS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@ROADS
def test_the_last_change_is_taken_back_whoever_made_it(is_async):
    """A person's edit, then the model's list; its next list does not bring the edit back."""
    again = wrote(("a", "completed"), ("b", "pending"), call_id="2")
    made = writer(wrote(("a", "pending"), ("b", "pending")), says("ok"), again, says("ok"))
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, commands.DeleteTask("2"), actor="ann")
    assert isinstance(undo(made, is_async, actor="bo"), Accepted)
    assert subjects(made) == ["a", "b"]
    history = history_of(made.get_state(THREAD))
    assert [(entry.cause, entry.actor) for entry in history[1:]] == [
        ("DeleteTask", "ann"),
        ("undo", "bo"),
    ]
    made.invoke(HELLO, THREAD)
    assert [todo["status"] for todo in made.get_state(THREAD).values["todos"]] == [
        "completed",
        "pending",
    ]
    for left in ([("a", "pending"), ("b", "pending")], []):
        assert isinstance(undo(made, is_async), Accepted)
        plan = plan_of_state(made.get_state(THREAD))
        assert [(task.subject, task.status.value) for task in plan] == left
    assert isinstance(undo(made, is_async), Rejected)


@ROADS
def test_what_the_journal_has_dropped_is_found_in_a_checkpoint(is_async):
    """It holds 50 entries, and a thread may have lived for longer."""
    made = writer()
    for n in range(RECENT + 3):
        edit_plan(made, THREAD, commands.CreateTask(f"task {n}"))
    for n in range(2):
        undo(made, is_async)
        assert subjects(made)[-1] == f"task {RECENT + 1 - n}"


@ROADS
def test_without_either_it_is_refused(is_async):
    """A thread that another one's state was copied to has none of its earlier checkpoints."""
    made, other = writer(), writer(says("ok"))
    other.invoke(HELLO, THREAD)
    for n in range(RECENT + 3):
        edit_plan(made, THREAD, commands.CreateTask(f"task {n}"))
    other.update_state(THREAD, made.get_state(THREAD).values, as_node="model")
    with pytest.raises(PlanError, match="with store="):
        undo(other, is_async)


def test_a_plan_that_was_set_is_taken_back_too():
    """As any other change."""
    made = writer()
    edit_plan(made, THREAD, EDIT)
    seed_plan(made, THREAD, plan_of([Task("7", "seeded")]))
    undo_plan(made, THREAD)
    assert subjects(made) == ["Tell Ann"]


@ROADS
def test_a_thread_without_a_plan_has_nothing_to_undo(is_async):
    """Also a new one, and one that has a list of others."""
    made = writer(says("ok"))
    assert isinstance(undo(made, is_async), Rejected)
    made.invoke(HELLO, THREAD)
    assert isinstance(undo(made, is_async), Rejected)


@ROADS
def test_a_store_takes_back_at_any_time(is_async):
    """From its whole journal."""
    store = MemoryStore()
    made = writer(wrote(("a", "pending")), says("ok"), store=store)
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, EDIT)
    assert isinstance(undo(made, is_async, actor="bo"), Accepted)
    assert [task.subject for task in store.load("1")] == ["a"]
    assert store.entries("1")[-1].actor == "bo"


def test_while_a_run_goes_on_it_is_refused():
    """As an edit is."""
    made = writer(wrote(("a", "pending")), says("ok"))
    for _ in made.stream(HELLO, THREAD, stream_mode="updates"):
        if made.get_state(THREAD).tasks:
            with pytest.raises(PlanError, match="stopped=True"):
                undo_plan(made, THREAD)
            break

"""A thread's plan is seeded, edited, undone and approved: nothing accepted is lost (law 16)."""

import asyncio
import json

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, TodoListMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command
from support.docs import defined
from support.editing import Editing
from support.langgraph_threads import (
    EDIT,
    HELLO,
    ROADS,
    THREAD,
    TWO,
    agent,
    answers,
    ask,
    by_hand,
    change,
    contents,
    create,
    drive,
    lines,
    subjects,
    thread,
)
from support.law_15 import TOLD
from support.scripted import Scripted, calls, says, wrote

from todoplan import (
    DEFAULT,
    TASKS,
    Accepted,
    FileStore,
    MemoryStore,
    Plan,
    Planner,
    Rejected,
    Status,
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
from todoplan.codec import documents
from todoplan.codec.documents import RECENT
from todoplan.core.commands import ApprovePlan, CreateTask, UpdateTask
from todoplan.dialogue import WRITE_TODOS, Settings, tasks
from todoplan.errors import CodecError, PlanError

# -------- editing --------


BOX = Toolbox(TASKS)
SEED = decide(Plan(), CreateTask("seeded")).plan
OWNED = UpdateTask("1", owner="ann")
TURN = ("TaskCreate", {"subject": "a"}, "w")
ASKING = ("ask", {"question": "?"}, "q")


def asking(*script, **options):
    return agent(*script, toolbox=BOX, settings=TOLD, tools=[ask], **options)


def plan_in(made):
    return plan_of_state(made.get_state(THREAD))


@pytest.mark.parametrize("name", ["model", "agent"])
def test_a_new_thread_of_a_graph_by_hand_is_seeded_and_edited(name):
    """Whatever its nodes are called: the plan counts as input, and the first run has it."""
    script = wrote(("seeded", "completed"), ("b", "pending")), says("done")
    made = by_hand(*script, name=name)
    seeded = seed_plan(made, THREAD, SEED)
    assert plan_of_state(made.get_state(seeded))["1"].subject == "seeded"
    assert isinstance(edit_plan(made, THREAD, OWNED), Accepted)
    made.invoke(HELLO, THREAD)
    assert lines(made) == [("1", "seeded", "completed"), ("2", "b", "pending")]
    assert plan_in(made)["1"].owner == "ann"


@ROADS
def test_a_graph_by_hand_whose_input_holds_no_plan(is_async):
    """The change counts as one of the node "model", or of the node that is named."""
    made = by_hand(input_schema=MessagesState)
    change("seed", made, SEED, is_async=is_async, as_node="tools")
    change("edit", made, EDIT, is_async=is_async, as_node="tools")
    assert subjects(made) == ["seeded", "Tell Ann"]


def test_a_plan_that_no_input_holds_is_not_lost_in_silence():
    """Where LangGraph would drop it, the developer is asked for a node."""
    made = by_hand(name="agent", input_schema=MessagesState)
    with pytest.raises(PlanError, match="as_node") as caught:
        edit_plan(made, THREAD, EDIT)
    assert set(caught.value.data["nodes"]) == {"__start__", "agent", "tools"}
    edit_plan(made, THREAD, EDIT, as_node="tools")
    with pytest.raises(PlanError, match="as_node"):
        seed_plan(made, THREAD, SEED)
    assert subjects(made) == ["Tell Ann"]


@ROADS
def test_a_thread_in_the_middle_of_a_step_is_refused(is_async):
    """An edit would repeat the finished calls beside a waiting one; after the answer it holds."""
    made = asking(calls(TURN, ASKING), says("done"))
    made.invoke(HELLO, THREAD)
    for name, given in (("edit", OWNED), ("seed", SEED)):
        with pytest.raises(PlanError, match=r"repeat what has finished.*resume") as caught:
            change(name, made, given, is_async=is_async)
        assert caught.value.data == {"finished": ("tools",)}
    assert subjects(made) == ["a"]
    assert answers(made.invoke(Command(resume="yes"), THREAD)) == ["0/1: #1 created", "yes"]
    edit_plan(made, THREAD, OWNED)
    assert plan_in(made)["1"].owner == "ann"


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
    script = calls(TURN, ("flaky", {}, "f")), says("done")
    made = agent(*script, toolbox=BOX, tools=[flaky])
    with pytest.raises(ConnectionError):
        made.invoke(HELLO, THREAD)
    with pytest.raises(PlanError, match=r"invoke\(None\)"):
        edit_plan(made, THREAD, EDIT)
    made.invoke(None, THREAD)
    edit_plan(made, THREAD, EDIT)
    assert subjects(made) == ["a", "Tell Ann"]


@pytest.mark.parametrize("earlier", [(), ("hi",)])
def test_an_edit_behind_an_input_that_the_model_failed_to_answer_is_not_lost(earlier):
    """LangGraph would take it for an input as well, and drop it: what was said stays, too."""
    made = asking(*map(says, earlier), ConnectionError("down"), says("done"))
    for _ in earlier:
        made.invoke(HELLO, THREAD)
    seed_plan(made, THREAD, SEED)
    with pytest.raises(ConnectionError):
        made.invoke(HELLO, THREAD)
    assert isinstance(edit_plan(made, THREAD, EDIT), Accepted)
    assert subjects(made) == ["seeded", "Tell Ann"]
    assert made.invoke(HELLO, THREAD)["messages"][-2].text == "hello"
    assert subjects(made) == ["seeded", "Tell Ann"]


def test_an_edit_before_the_first_step_of_a_run_that_waits_is_refused():
    """There LangGraph would drop it; once the person has answered it is taken."""
    planner = PlanMiddleware(Toolbox(tasks(), DEFAULT.but(approval_required="error")))
    made = agent(says("done"), planner=planner, more=[PlanApproval(planner)])
    seed_plan(made, THREAD, SEED)
    made.invoke(HELLO, THREAD)
    with pytest.raises(PlanError, match="answer first"):
        edit_plan(made, THREAD, EDIT)
    made.invoke(Command(resume=True), THREAD)
    edit_plan(made, THREAD, EDIT)
    assert subjects(made) == ["seeded", "Tell Ann"]


def test_a_step_of_which_nothing_ran_is_edited():
    """A tool that waits alone is asked again, upon the edited plan."""
    made = asking(calls(TURN), calls(ASKING), says("done"))
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, OWNED)
    assert made.invoke(Command(resume="yes"), THREAD)["messages"][-1].text == "done"
    assert [task.owner for task in plan_in(made)] == ["ann"]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_an_edit_while_a_person_is_asked_about_calls(mode):
    """Nothing ran yet: the calls are carried out upon the edited plan."""
    gate = HumanInTheLoopMiddleware({"TaskCreate": True}, interrupt_mode=mode)
    made = asking(calls(TURN), says("done"), more=[gate])
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, EDIT)
    answer = {"decisions": [{"type": "approve"}]}
    if mode == "per_call":
        made.invoke(None, THREAD)
        answer = {"type": "approve"}
    made.invoke(Command(resume=answer), THREAD)
    assert subjects(made) == ["Tell Ann", "a"]


def test_an_old_checkpoint_is_forked():
    """Its step has long finished; the edit starts a branch from before it."""
    made = asking(create("a"), create("b"), says("1"), says("2"))
    made.invoke(HELLO, THREAD)
    history = made.get_state_history(THREAD)
    at_model = (state for state in history if state.next == ("model",))
    old = next(state for state in at_model if len(plan_of_state(state)) == 1)
    edit_plan(made, old.config, EDIT)
    assert subjects(made) == ["a", "Tell Ann"]
    made.invoke(None, THREAD)
    assert subjects(made) == ["a", "Tell Ann"]


@pytest.mark.parametrize("mode", ["values", "updates", "messages"])
def test_an_edit_inside_a_stream_is_refused_and_nothing_is_lost(mode):
    """The run would overwrite it: a change is refused with a remedy, or it is in the plan."""
    made, accepted = asking(create("a"), create("b"), says("done")), 0
    for _ in made.stream(HELLO, THREAD, stream_mode=mode):
        for name, *given in (("edit", EDIT), ("seed", TWO), ("undo",)):
            if made.get_state(THREAD).tasks:
                with pytest.raises(PlanError, match="stopped=True"):
                    change(name, made, *given)
            else:
                change(name, made, *given)
                accepted += 1
    if not accepted:
        assert subjects(made) == ["a", "b"]


def test_an_edit_inside_an_asynchronous_stream_is_refused():
    """As with `stream`."""
    made = asking(create("a"), create("b"), says("done"))

    async def story():
        refused = 0
        async for chunk in made.astream(HELLO, THREAD, stream_mode="updates"):
            if "tools" in chunk:
                with pytest.raises(PlanError, match="command_update"):
                    await aedit_plan(made, THREAD, EDIT)
                refused += 1
        return refused

    assert asyncio.run(story()) == 2
    assert subjects(made) == ["a", "b"]


def test_an_edit_from_inside_a_tool_is_refused():
    """The tool is part of the run; another thread may be edited from there."""
    found = []

    @tool
    def meddle() -> str:
        """Meddle."""
        with pytest.raises(PlanError, match="part of it"):
            edit_plan(made, THREAD, EDIT)
        found.append(edit_plan(made, thread("2"), EDIT))
        return "done"

    made = agent(calls(("meddle", {}, "m")), says("done"), toolbox=BOX, tools=[meddle])
    made.invoke(HELLO, THREAD)
    assert isinstance(found[0], Accepted)
    assert subjects(made.get_state(thread("2"))) == ["Tell Ann"]


def test_a_stream_that_was_left_is_edited_by_whoever_knows_that_no_run_goes_on():
    """It looks like a run; after `stopped=True` further edits need no flag."""
    made = asking(create("a"), says("done"))
    for chunk in made.stream(HELLO, THREAD, stream_mode="updates"):
        if "tools" in chunk:
            break
    with pytest.raises(PlanError, match="it is at model"):
        edit_plan(made, THREAD, EDIT)
    edit_plan(made, THREAD, EDIT, stopped=True, as_node="tools")
    edit_plan(made, THREAD, OWNED, as_node="tools")
    made.invoke(None, THREAD)
    assert subjects(made) == ["a", "Tell Ann"]


@pytest.mark.parametrize("middleware", [[], [TodoListMiddleware()]], ids=["plain", "LangChain's"])
@ROADS
def test_a_graph_that_keeps_no_plan_is_refused(middleware, is_async):
    """LangGraph would drop the plan without a word."""
    model = Scripted(script=[says("hi")])
    made = create_agent(model, middleware=middleware, checkpointer=InMemorySaver())
    made.invoke(HELLO, THREAD)
    for name, given in (("edit", EDIT), ("seed", TWO)):
        with pytest.raises(PlanError, match="PlanMiddleware"):
            change(name, made, given, is_async=is_async)


@pytest.mark.parametrize("saver", [None, False])
def test_a_graph_without_a_checkpointer_is_refused(saver):
    """There is nowhere to keep the edit."""
    with pytest.raises(PlanError, match="checkpointer"):
        edit_plan(agent(checkpointer=saver), THREAD, EDIT)


def test_an_edit_of_a_graph_without_planning_tools_is_judged_by_the_default():
    """By `DEFAULT`."""
    graph = StateGraph(PlanState).add_node("model", lambda _: {}).add_edge(START, "model")
    made = graph.compile(checkpointer=InMemorySaver())
    assert isinstance(edit_plan(made, THREAD, EDIT), Accepted)


def folded(history):
    """Return the plan that the events of a journal make."""
    return replay(Plan(), [event for entry in history for event in entry.events])


class Session:
    """A thread, in whose runs the model creates tasks; its plan is in the state or in a store."""

    def __init__(self, toolbox, store=None, *, is_async=False):
        self.given = {"toolbox": toolbox, "store": store, "checkpointer": InMemorySaver()}
        self.is_async, self.made = is_async, agent(**self.given)

    def again(self):
        return self

    def create(self, subject):
        agent(create(subject), says("ok"), **self.given).invoke(HELLO, THREAD)

    def seed(self, plan, **how):
        change("seed", self.made, plan, is_async=self.is_async, **how)

    def edit(self, command, **how):
        return change("edit", self.made, command, is_async=self.is_async, **how)

    def undo(self, **how):
        return change("undo", self.made, is_async=self.is_async, **how)

    def plan(self):
        store = self.given["store"]
        return store.load("1") if store else plan_in(self.made)

    def history(self):
        store, state = self.given["store"], self.made.get_state(THREAD)
        if store:
            return store.entries("1")
        data = json.loads(json.dumps({"todoplan": state.values["todoplan"]}))
        assert history_of(data) == history_of(state)
        return history_of(state)


class TestEditing(Editing):
    def begin(self, toolbox):
        return Session(toolbox)


class TestEditingAsync(Editing):
    def begin(self, toolbox):
        return Session(toolbox, is_async=True)


class TestEditingStored(Editing):
    def begin(self, toolbox):
        return Session(toolbox, MemoryStore())


class TestEditingStoredAsync(Editing):
    def begin(self, toolbox):
        return Session(toolbox, MemoryStore(), is_async=True)


def test_a_new_thread_has_an_empty_plan_and_no_journal():
    """It has no checkpoint yet; that is a state all the same."""
    state = agent().get_state(THREAD)
    assert (plan_of_state(state), history_of(state)) == (Plan(), ())


def test_the_journal_is_bounded():
    """At most 50 entries, the latest ones; few if they are long, but always the last."""
    state = {"todoplan": {}}

    def edited(command):
        update = command_update(state, command)[1]["todoplan"]
        state["todoplan"] = merge_plans(state["todoplan"], update)
        return [entry.revision for entry in history_of(state)]

    for n in range(RECENT + 5):
        revisions = edited(CreateTask(f"task {n}"))
    assert revisions == [*range(6, 56)]
    for n in range(4):
        revisions = edited(UpdateTask(str(n + 1), description=f"{n}" * 7_000))
    assert revisions == [58, 59]
    update = plan_update(plan_of([Task(str(n), "x" * 300) for n in range(1, 100)]))["todoplan"]
    assert len(history_of({"todoplan": merge_plans(state["todoplan"], update)})) == 1


@pytest.mark.parametrize("damaged", ["text", {"0": "x"}, [1], ["{"]])
def test_a_damaged_journal_is_an_error_and_the_plan_stays_readable(damaged):
    """It is never an empty journal."""
    value = plan_update(TWO)["todoplan"]
    with pytest.raises(CodecError):
        history_of({"todoplan": {**value, "journal": damaged}})
    assert plan_of_state({"todoplan": {**value, "journal": damaged}}) == TWO


def branched(*given):
    """Return the updates of branches of one step upon a plan of two tasks, and their base."""
    base = merge_plans({}, plan_update(TWO)["todoplan"])
    changed = (command_update({"todoplan": base}, one, actor=actor) for one, actor in given)
    return base, [update["todoplan"] for _, update in changed]


def test_branches_of_one_step_stand_in_the_journal_as_they_were_carried_out():
    """A task that gets another id has it in the journal too; joined entries are there once."""
    chain = commands.CreateTasks((CreateTask("d"), CreateTask("e", blocked_by=("#0",))))
    given = (CreateTask("c"), "one"), (chain, "two"), (OWNED, None), (commands.ClearPlan(), None)
    base, (one, two, *more) = branched(*given)
    merged = merge_plans(merge_plans(base, one), two)
    assert [task.id for task in plan_of_state({"todoplan": merged})] == ["1", "2", "3", "4", "5"]
    for update in more:
        merged = merge_plans(merged, update)
    history = history_of({"todoplan": merged})
    assert [entry.actor for entry in history] == [None, "one", "two", None, None]
    created = [e.task.id for entry in history for e in entry.events if hasattr(e, "task")]
    assert created == ["3", "4", "5"]
    assert [(task.id, task.blocked_by) for task in folded(history[:3])][-1] == ("5", ("4",))
    assert tuple(folded(history)) == tuple(plan_of_state({"todoplan": merged}))
    assert len(history_of({"todoplan": merge_plans(base, merge_plans(base, one))})) == 2


def test_a_branch_that_restores_an_earlier_plan_keeps_what_the_others_did():
    """Law 15: a new task and a change beside it stay, and the journal folds to this plan."""
    restore = commands.RestorePlan(tuple(TWO)[:1])
    given = (CreateTask("c"), "one"), (OWNED, "two"), (restore, "three")
    base, updates = branched(*given)
    merged = base
    for update in updates:
        merged = merge_plans(merged, update)
    state = {"todoplan": merged}
    assert subjects(state) == ["a", "c"]
    assert plan_of_state(state)["1"].owner == OWNED.owner
    assert tuple(folded(history_of(state))) == tuple(plan_of_state(state))
    assert merged.keys() == merge_plans(base, updates[0]).keys() | {"moved"}


def test_a_branch_whose_change_is_left_out_adds_nothing_to_the_journal():
    """Two edges in opposite directions would close a cycle: the second one is left out."""
    one, two = UpdateTask("1", add_blocks=("2",)), UpdateTask("2", add_blocks=("1",))
    base, updates = branched((one, "one"), (two, "two"))
    merged = merge_plans(merge_plans(base, updates[0]), updates[1])
    assert [entry.actor for entry in history_of({"todoplan": merged})] == [None, "one"]


def test_subtasks_of_branches_stand_in_the_journal_below_what_contains_them():
    """Where a task got another id, so did what lies below it, created there or moved."""
    tree = commands.CreateTasks((CreateTask("d"), CreateTask("e", parent="#0")))
    both = commands.Batch((tree, UpdateTask("2", parent="3")))
    base, (one, two) = branched((CreateTask("c"), None), (both, None))
    state = {"todoplan": merge_plans(merge_plans(base, one), two)}
    parents = [("1", None), ("3", None), ("4", None), ("5", "4"), ("2", "4")]
    for plan in (plan_of_state(state), folded(history_of(state))):
        assert [(task.id, task.parent) for task in plan] == parents


@pytest.mark.parametrize(
    ("before", "found"), [({}, ["own"]), (plan_update(TWO), ["a", "b", "own"])]
)
def test_an_agent_within_a_graph_does_not_change_its_callers_plan(before, found):
    """The caller's plan stays, empty or not; the inner agent returns its own."""
    inner = asking(*[create("inner"), says("done")] * 2, checkpointer=None)
    graph = StateGraph(PlanState).add_node("inner", inner).add_edge(START, "inner")
    graph.add_node("own", lambda state: command_update(state, CreateTask("own"))[1])
    done = graph.add_edge("inner", "own").add_edge("own", END).compile().invoke({**HELLO, **before})
    assert subjects(done) == found
    assert subjects(inner.invoke(HELLO)) == ["inner"]


WRONG = [
    lambda: PlanMiddleware(settings=0),
    lambda: PlanMiddleware(tasks()),
    lambda: PlanMiddleware(clock=0),
    lambda: PlanMiddleware(plan_id="1"),
    lambda: PlanMiddleware(store="plans.json", plan_id="1"),
    lambda: PlanMiddleware(verify="pytest"),
    lambda: make_tools(tasks()),
    lambda: make_tools(clock="now"),
    lambda: make_tools(plan_id="1"),
    lambda: make_tools(verify="pytest"),
    lambda: agent(says("hi"), store=MemoryStore(), checkpointer=None).invoke(HELLO),
    lambda: seed_plan(agent(), THREAD, [{"content": "a"}]),
    lambda: seed_plan(agent(store=MemoryStore()), THREAD, []),
    lambda: seed_plan(Scripted(script=[]), THREAD, TWO),
    lambda: seed_plan(agent(), "1", TWO),
    lambda: edit_plan(agent(), THREAD, EDIT, policy="strict"),
    lambda: edit_plan(agent(store=MemoryStore()), THREAD, EDIT, policy="strict"),
    lambda: edit_plan(agent(store=MemoryStore()), {}, EDIT),
    lambda: edit_plan(agent(store=MemoryStore()), "1", EDIT),
    lambda: edit_plan(THREAD, agent(), EDIT),
    lambda: command_update(None, EDIT),
    lambda: command_update("state", EDIT),
    lambda: plan_update([]),
    lambda: todos_of({"todos": []}),
    lambda: PlanApproval(Toolbox()),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_developers_mistake_is_an_error_at_once(wrong):
    """It says what was seen and what to write."""
    with pytest.raises(TodoplanError, match=r"give|write"):
        wrong()


def test_the_descriptions_can_be_read_as_langchains_tests_do():
    """`tool_description` is that of the tool that writes, given or not."""
    assert PlanMiddleware(tool_description="Write.").tool_description == "Write."
    planner = PlanMiddleware()
    assert planner.tool_description == planner.tools[0].description
    assert wrote(("a", "pending")).tool_calls[0]["name"] == planner.tools[0].name


def test_the_models_next_list_does_not_bring_back_what_was_undone():
    """A person deletes a task and takes that back: the model's list is about it again."""
    again = wrote(("a", "completed"), ("b", "pending"), call_id="2")
    made = agent(wrote(("a", "pending"), ("b", "pending")), says("ok"), again, says("ok"))
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, commands.DeleteTask("2"), actor="ann")
    undo_plan(made, THREAD, actor="bo")
    assert contents(made.invoke(HELLO, THREAD)) == ["a", "b"]
    undo_plan(made, THREAD)
    assert lines(made) == [("1", "a", "pending"), ("2", "b", "pending")]


@ROADS
def test_what_the_journal_has_dropped_is_found_in_a_checkpoint_or_not_undone(is_async, monkeypatch):
    """A thread that another one's state was copied to has none of its earlier checkpoints."""
    monkeypatch.setattr(documents, "RECENT", 5)
    made, other = agent(), agent(says("ok"))
    for n in range(8):
        edit_plan(made, THREAD, CreateTask(f"task {n}"))
    other.invoke(HELLO, THREAD)
    other.update_state(THREAD, made.get_state(THREAD).values, as_node="model")
    for n in range(2):
        change("undo", made, is_async=is_async)
        assert subjects(made)[-1] == f"task {6 - n}"
    with pytest.raises(PlanError, match="with store="):
        change("undo", other, is_async=is_async)


@ROADS
def test_a_thread_without_a_plan_has_nothing_to_undo(is_async):
    """Also a new one, and one that has a list of others."""
    made = agent(says("ok"))
    assert isinstance(change("undo", made, is_async=is_async), Rejected)
    made.invoke(HELLO, THREAD)
    assert isinstance(change("undo", made, is_async=is_async), Rejected)


# -------- approval --------


NEEDS_APPROVAL = DEFAULT.but(approval_required="error")
PLANS = calls(("TaskCreate", {"subject": "Dig"}, "a"), ("TaskCreate", {"subject": "Lay"}, "b"))
STARTS = calls(("TaskUpdate", {"taskId": "1", "status": "in_progress"}, "s"))
AGREES = {"approved": True, "by": "ann"}


class Desk:
    """An agent that a person watches, at once or awaited; its plan is in the state or a store."""

    def __init__(self, *script, store=None, is_async=False, toolset=TASKS, settings=None):
        self.store, self.is_async = store, is_async
        self.model = Scripted(script=[*script])
        planning = PlanMiddleware(Toolbox(toolset, NEEDS_APPROVAL), store=store, settings=settings)
        self.agent = agent(self.model, planner=planning, more=[PlanApproval(planning)])

    def run(self, given):
        """Run the agent, and return what the person is shown, `None` at its end."""
        done = drive(self.agent, given, is_async=self.is_async)
        self.messages = done["messages"]
        asked = done.get("__interrupt__")
        return asked and asked[0].value

    def resume(self, answer):
        return self.run(Command(resume=answer))

    def edit(self, command, actor="ann"):
        return edit_plan(self.agent, THREAD, command, actor=actor).unwrap()

    @property
    def plan(self):
        if self.store is not None:
            return self.store.load("1")
        return plan_of_state(self.agent.get_state(THREAD))

    def said(self):
        """Return the messages in the words of a user."""
        return [one.text for one in self.messages if isinstance(one, HumanMessage)][1:]


@pytest.fixture(params=["state", "memory", "file"])
def store(request, tmp_path):
    made = {"state": None, "memory": MemoryStore(), "file": FileStore(tmp_path / "plans.json")}
    return made[request.param]


@ROADS
def test_the_plan_is_shown_changed_agreed_to_and_worked_off(store, is_async):
    """As a person would do it; the model learns what the person has changed, and starts."""
    desk = Desk(PLANS, STARTS, says("done"), store=store, is_async=is_async)
    shown = desk.run(HELLO)
    assert json.loads(json.dumps(shown)) == shown
    assert shown["plan"] == "#1 [pending] Dig\n#2 [pending] Lay"
    assert shown["revision"] == desk.plan.revision
    assert [todo["content"] for todo in shown["todos"]] == ["Dig", "Lay"]
    assert len(desk.model.requests) == 1
    desk.edit(CreateTask("Ask Bo first"))
    assert desk.resume(AGREES) is None
    assert desk.plan.approved.by == "ann"
    assert [task.subject for task in desk.plan] == ["Dig", "Lay", "Ask Bo first"]
    assert desk.plan["1"].status is Status.IN_PROGRESS
    assert desk.said() == ["I agree to the plan as it stands. Go on with it."]
    assert "#3 Ask Bo first created by ann" in desk.model.requests[1][-1].text


@ROADS
def test_who_does_not_agree_is_asked_again_once_the_plan_has_changed(store, is_async):
    """What the person said is told to the model; while the plan stays it is not shown again."""
    edits = calls(("TaskUpdate", {"taskId": "1", "subject": "Dig deep"}, "c"))
    looks = calls(("TaskList", {}, "d"))
    desk = Desk(PLANS, looks, edits, says("done"), store=store, is_async=is_async)
    desk.run(HELLO)
    shown = desk.resume({"approved": False, "message": "deeper, please", "by": "ann"})
    assert len(desk.model.requests) == 3
    assert "Dig deep" in shown["plan"]
    assert desk.resume(AGREES) is None
    assert desk.said()[0].startswith("I do not agree to the plan yet: deeper, please\n")
    assert desk.plan.approved is not None


def test_an_agent_that_has_no_agreement_may_ask():
    """It is not sent back for the open tasks that it must not start."""
    desk = Desk(PLANS, says("What should be changed"), settings=Settings(unfinished=3))
    desk.run(HELLO)
    assert desk.resume(answer=False) is None
    assert desk.said() == [
        "I do not agree to the plan yet. Ask me what to change, and start nothing."
    ]
    assert desk.messages[-1].text == "What should be changed"
    assert len(desk.model.requests) == 2


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        {"approved": "yes"},
        {"approved": True, "who": "ann"},
        {"approved": True, "by": 7},
        {"approved": True, "revision": 1},
        {"approved": True, "revision": True},
    ],
)
def test_an_answer_that_cannot_be_taken_is_asked_for_again(answer):
    """With what was wrong in it: raised, it would be in the thread's way for ever."""
    desk = Desk(PLANS, says("done"))
    assert "problem" not in desk.run(HELLO)
    again = desk.resume(answer)
    assert again["problem"]
    assert desk.plan.approved is None
    assert desk.resume({"approved": True, "by": None, "revision": again["revision"]}) is None
    assert desk.plan.approved.by is None


def test_a_plan_that_is_written_whole_is_not_begun_before():
    """A first list that starts a task is refused by the rule, and shown once it does not."""
    begun = wrote(("Dig", "in_progress"), ("Lay", "pending"))
    waits = wrote(("Dig", "pending"), ("Lay", "pending"))
    desk = Desk(begun, waits, says("done"), toolset=WRITE_TODOS)
    assert desk.run(HELLO)["plan"] == "#1 [pending] Dig\n#2 [pending] Lay"
    assert len(desk.model.requests) == 2
    assert desk.resume(answer=True) is None


def test_nobody_is_asked_where_nothing_is_to_be_agreed_to(store):
    """No plan, a plan that is done, one that was agreed to already, by whatever door."""
    desk = Desk(says("hello"), says("again"), PLANS, says("done"), store=store)
    assert desk.run(HELLO) is None
    seed_plan(desk.agent, THREAD, plan_of([Task("1", "Dig", status="completed")]))
    assert desk.run(HELLO) is None
    assert desk.run(HELLO) is not None
    if store is None:
        desk.edit(ApprovePlan("bo"))
    else:
        Planner(store, "1").apply(ApprovePlan("bo"), actor="bo")
    assert desk.resume("whatever") is None
    assert desk.plan.approved.by == "bo"
    assert desk.said()[-1] == "hello"


def test_the_page_on_evidence_does_as_it_says():
    """The run stops, the plan is changed and agreed to, and the model goes on with all of it."""
    waits = wrote(("Dig", "pending"), ("Lay", "pending"))
    done = wrote(("Dig", "completed"), ("Lay", "completed"), ("Ask the neighbours", "completed"))
    model = Scripted(script=[waits, done, says("The shed stands.")])
    names = defined("evidence", "approval", model=model)
    assert names["shown"]["revision"] == 2
    plan = plan_of_state(names["result"])
    assert plan.approved.by == "ann"
    assert [task.subject for task in plan] == ["Dig", "Lay", "Ask the neighbours"]
    assert plan.counts.completed == 3

"""AgentScope's own tasks, changed in place, repaired and read anew; states that 0.2.0 saved."""

import copy
import json
import pickle
from datetime import UTC, datetime
from pathlib import Path

import agentscope.tool as native
import pytest
from agentscope.state import AgentState, Task, TaskContext
from support.agentscope_agent import (
    Desk,
    answers,
    board,
    helper,
    loaded,
    reply,
    subjects,
    theirs,
    use,
    write,
)

from todoplan import FileStore, Policy, Priority, Status, Todo, Toolbox, decide
from todoplan.adapters.agentscope import (
    KEY,
    edit_plan,
    history_of,
    kept_in,
    make_tools,
    plan_of_state,
    repair,
    undo_plan,
)
from todoplan.core.commands import (
    ApprovePlan,
    ClearPlan,
    CreateTask,
    RestorePlan,
    UpdateTask,
    WriteTodos,
)
from todoplan.dialogue import lean
from todoplan.dialogue.guidance import is_reminder
from todoplan.errors import CodecError, PlanError
from todoplan.stores import Entry

# -------- state --------


NOON = datetime(2025, 1, 31, 12, tzinfo=UTC)
NATIVE = [native.TaskCreate(), native.TaskUpdate(), native.TaskList()]


def carry_out(state, *commands):
    """Decide commands upon a state and save what came of them."""
    for command in commands:
        decision = edit_plan(state, command, policy=Policy())
        assert plan_of_state(state) == decision.plan == plan_of_state(loaded(state))


def full():
    """Return a desk whose tasks have everything that AgentScope has no field for."""
    desk = Desk(tools=make_tools(clock=lambda: NOON))
    desk.do(
        "TaskCreate", subject="a", active_form="doing a", priority="high", estimate=30, owner="ann"
    )
    desk.do("TaskCreate", subject="b", blocked_by=["1"], metadata={"k": {"deep": [1, None]}})
    desk.do("TaskCreate", subject="c")
    desk.do("TaskUpdate", task_id="1", status="in_progress")
    desk.do("TaskUpdate", task_id="2", status="cancelled")
    desk.do("TaskUpdate", task_id="3", status="deleted")
    return desk


def test_what_agentscope_has_no_field_for_survives_the_saved_state():
    """Cancelled, priority, active form, estimate, times, next id, revision: all come back."""
    desk = full()
    plan, again = plan_of_state(desk.state), plan_of_state(desk.saved().state)
    assert (again, again.revision, again.next_id) == (plan, plan.revision, plan.next_id)
    first, second = again
    assert (first.priority, first.active_form, first.estimate) == (Priority.HIGH, "doing a", 30)
    assert (first.created_at, first.started_at) == (NOON, NOON)
    assert (second.status, desk.tasks[1].state) == (Status.CANCELLED, "completed")
    assert "#4" in desk.saved().do("TaskCreate", subject="d")
    # The dump is plain JSON of AgentScope's own models, and equal once loaded.
    again = AgentState.model_validate(desk.state.model_dump())
    assert again == desk.state
    assert type(again.middle_context[KEY]) is dict
    kept = json.loads(desk.state.model_dump_json())["middle_context"][KEY]
    assert [entry["revision"] for entry in map(json.loads, kept.pop("journal"))][-1] == 7
    assert kept.pop("session").keys() == {"version", "id", "revision", "answered"}
    assert kept == {"next_id": 4, "revision": plan.revision}


def pickled(value):
    """Return the value after a trip through pickle."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, pickled])
def test_what_is_held_in_memory_is_copied_as_plain_data(twin):
    """A copy never claims to know how another state's tasks look."""
    held = kept_in(full().state)
    assert type(twin(held)) is dict
    assert twin(held) == dict(held)


def test_a_state_saved_by_plain_agentscope_loads():
    """Its own tools' list is read: completed blockers, owners and metadata included."""
    own = Desk(tools=NATIVE)
    for subject in ("a", "b", ""):
        own.call("TaskCreate", subject=subject, description="line one\nline two")
    own.call("TaskUpdate", task_id="2", add_blocked_by=["1"], owner="ann", metadata={"k": 1})
    own.call("TaskUpdate", task_id="1", status="completed")
    before = [task.created_at for task in own.tasks]
    desk = Desk(state=loaded(own))
    text = desk.do("TaskUpdate", task_id="2", status="in_progress")
    assert "(#3)" in text
    assert board(desk)[:2] == [("1", "completed", ["2"], []), ("2", "in_progress", [], ["1"])]
    assert [task.subject for task in desk.tasks] == ["a", "b", "line one"]
    assert (desk.tasks[1].owner, desk.tasks[1].metadata["k"]) == ("ann", 1)
    assert [task.created_at for task in desk.tasks] == before


def test_our_state_is_read_by_plain_agentscope():
    """Its own tools go on with the list, and ours after them."""
    desk = full()
    own = Desk(state=desk.state, tools=NATIVE)
    assert "1 [in_progress] a(ann)" in own.do("TaskList")
    own.do("TaskUpdate", task_id="2", status="pending")
    own.do("TaskCreate", subject="n", description="")
    assert plan_of_state(desk.state)["2"].status is Status.PENDING
    assert subjects(desk.state) == ["a", "b", "n"]


class Ticket(Task):
    """An application's own kind of task."""

    due: str = ""


def test_tasks_and_list_stay_the_same_objects():
    """Application code may keep a task or the list, and a subclass of `Task` keeps what it adds."""
    ticket = Ticket(subject="a", description="", metadata={}, id="1", due="today")
    desk = Desk(ticket, theirs("b", id="2"), theirs("c", id="3"))
    kept, objects = desk.tasks, list(desk.tasks)
    desk.do("TaskUpdate", task_id="1", status="in_progress")
    desk.do("TaskUpdate", task_id="2", status="deleted")
    assert desk.tasks is kept
    assert [id(task) for task in kept] == [id(objects[0]), id(objects[2])]
    assert (ticket.state, ticket.due) == ("in_progress", "today")
    assert [type(task) for task in kept] == [Ticket, Task]


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda tasks: setattr(tasks[0], "subject", "x"), "#1 [pending] x"),
        (lambda tasks: setattr(tasks[0], "state", "completed"), "#1 [completed] a"),
        (lambda tasks: tasks.pop(0), "#2 [pending] b"),
        (lambda tasks: tasks.append(theirs("c", id="9")), "#9 [pending] c"),
        (lambda tasks: tasks.reverse(), "#2 [pending] b\n#1"),
        (lambda tasks: tasks[1].blocked_by.append("1"), "#2 [pending] b [blocked by #1]"),
        (lambda tasks: tasks[0].__dict__.update(owner="ann"), "ann"),
        (lambda tasks: tasks.__setitem__(0, theirs("y", id="1")), "#1 [pending] y"),
        (lambda tasks: tasks[0].metadata["k"]["l"].append(2), '{"k": {"l": [1, 2]}}'),
    ],
)
@pytest.mark.parametrize("warm", [True, False])
def test_every_edit_from_outside_is_seen_at_the_next_call(edit, text, warm):
    """Setting fields, changing lists in place, adding, removing, reordering, replacing."""
    desk = Desk(theirs("a", id="1", metadata={"k": {"l": [1]}}), theirs("b", id="2"))
    if warm:
        desk.do("TaskList")
    edit(desk.tasks)
    assert text in desk.do("TaskList") + desk.call("TaskGet", task_id="1")


def test_an_edit_from_outside_is_a_new_revision():
    """The revision grows when others changed the plan, and not when they did not."""
    desk = full()
    plan = plan_of_state(desk.state)
    assert plan_of_state(desk.state) is plan
    desk.tasks[0].subject = "x"
    assert plan_of_state(desk.state).revision == plan.revision + 1
    desk.tasks[0] = desk.tasks[0].model_copy()
    assert plan_of_state(desk.state).revision == plan.revision + 1


def test_the_list_may_be_replaced_and_cleared():
    """A new context, a new list, an import: the ids go on."""
    desk = full()
    desk.state.tasks_context = TaskContext(tasks=[theirs("n", id="2")])
    assert "n" in desk.do("TaskList")
    desk.state.tasks_context.tasks = []
    assert "#4" in desk.do("TaskCreate", subject="m")


@pytest.mark.parametrize("head", [{"next_id": "x"}, 5, {"revision": 3, "other": 1, "untold": 5}])
def test_a_head_that_is_none_is_no_empty_plan(head):
    """Foreign data under our key: unknown parts are let be, wrong ones are an error."""
    desk = Desk(theirs("a", id="1"))
    desk.state.middle_context[KEY] = head
    wanted = "next_id" if head == {"next_id": "x"} else "#1 [pending] a"
    assert wanted in desk.call("TaskList")


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda task: setattr(task, "state", "done"), "none of pending"),
        (lambda task: setattr(task, "metadata", None), "no object"),
        (lambda task: setattr(task, "metadata", {"at": NOON}), "no JSON value"),
        (lambda task: setattr(task, "blocks", "2"), "no array"),
    ],
)
def test_what_no_plan_can_hold_is_refused_and_named(edit, told):
    """The call says what is wrong and where; the developer's question raises it."""
    desk = Desk(theirs("a", id="1"))
    edit(desk.tasks[0])
    text = desk.fail("TaskCreate", subject="b")
    assert told in text
    assert "tasks[0]" in text
    assert len(desk.tasks) == 1
    with pytest.raises(CodecError, match="tasks"):
        plan_of_state(desk.state)


def test_every_command_ends_in_the_list():
    """Creation, edits, edges, whole lists, clearing and restoring: the state is the plan."""
    state = AgentState()
    carry_out(state, CreateTask("a"), CreateTask("b", blocked_by=("1",)))
    earlier = plan_of_state(state)
    carry_out(
        state,
        UpdateTask("2", remove_blocked_by=("1",), subject="c"),
        WriteTodos((Todo("new"), Todo("c", "completed"))),
        ClearPlan(),
        RestorePlan(tuple(earlier), earlier.next_id),
    )
    assert [task.id for task in state.tasks_context.tasks] == ["1", "2"]


def test_an_approval_is_kept_beside_the_tasks():
    """It comes back from a saved state, and an undo takes it away there too."""
    state = AgentState()
    carry_out(state, CreateTask("a"), ApprovePlan())
    assert plan_of_state(state).approved is not None
    undo_plan(state)
    assert "approved" not in kept_in(state)
    assert plan_of_state(loaded(state)).approved is None


def test_reads_and_refusals_leave_the_dump_as_it_was():
    """AgentScope's app tells a change by the dump of the context: none where none is."""
    desk = full()
    before = desk.state.tasks_context.model_dump_json()
    desk.do("TaskList")
    desk.do("TaskGet", task_id="1")
    desk.fail("TaskUpdate", task_id="9", status="completed")
    assert desk.state.tasks_context.model_dump_json() == before
    desk.do("TaskUpdate", task_id="1", status="completed")
    assert desk.state.tasks_context.model_dump_json() != before


def appended(state, edit):
    """Append a change of task 1 that was decided upon before an edit of the list."""
    slot, plan = kept_in(state).slot, plan_of_state(state)
    done = decide(plan, UpdateTask("1", owner="bob"), Policy())
    edit(state.tasks_context.tasks)
    entry = Entry(done.plan.revision, done.events, NOON, "bob")
    return slot.append(slot.plan_id, plan.revision, [entry], done.plan)


@pytest.mark.parametrize(
    ("edit", "kept"),
    [
        (lambda tasks: setattr(tasks[0], "owner", "ann"), False),
        (lambda tasks: tasks.pop(1), False),
        (lambda tasks: tasks.insert(0, theirs("n", id="9")), False),
        (lambda tasks: setattr(tasks[2], "owner", "ann"), True),
        (lambda tasks: tasks.reverse(), False),
        (lambda _: None, True),
    ],
)
def test_an_edit_between_look_and_append_is_not_written_over(edit, kept):
    """What was decided before it is refused, or stands elsewhere in the list beside it."""
    desk = Desk(theirs("a", id="1"), theirs("b", id="2"), theirs("c", id="3"))
    plan_of_state(desk.state)
    assert appended(desk.state, edit) is kept
    plan = plan_of_state(desk.state)
    assert (plan["1"].owner == "bob") is kept
    assert [task.id for task in plan] == [task.id for task in desk.tasks]
    assert [task.owner for task in plan] == [task.owner for task in desk.tasks]


STATES = Path(__file__).parent / "states"


def saved(name, **beside):
    data = json.loads((STATES / f"{name}.json").read_text())
    data["middle_context"]["todoplan"].update(beside)
    return AgentState.model_validate(data)


def store_of(name, folder):
    (folder / "plans.json").write_text((STATES / f"{name}_plans.json").read_text())
    return FileStore(folder / "plans.json")


def test_a_plan_and_its_journal_are_read():
    """Edges, priority and what was deleted; the state is then saved in the new form alone."""
    state = saved("tasks")
    plan = plan_of_state(state)
    assert (plan.revision, plan.next_id, plan["2"].blocked_by) == (6, 4, ("1",))
    statuses = [(task.subject, task.status.value) for task in plan]
    assert statuses == [("Dig", "in_progress"), ("Lay", "pending")]
    assert [entry.revision for entry in history_of(state)] == [1, 3, 4, 5, 6]
    kept = state.middle_context
    assert "todoplan_guidance" not in kept
    assert kept["todoplan"].keys() == {"next_id", "revision", "journal", "session"}
    assert kept["todoplan"]["session"]["guidance"]["asked"] == 1


@pytest.mark.parametrize(
    ("name", "lines", "said", "found"),
    [
        # All that it had seen it has listed: its next list may drop it.
        ("alone", ["Dig"], 'removed while open: "Lay"', ["Dig"]),
        # Base and actors are read.
        (
            "unseen",
            ["Dig", "Lay"],
            "#1 Dig deep (was: Dig) updated by bo, #3 Tell Ann created by ann",
            ["Dig deep", "Lay", "Tell Ann"],
        ),
        # Its journal says how it was left.
        ("by_hand", ["Dig", "Lay"], "#3 by hand created", ["Dig", "Lay", "by hand"]),
    ],
)
def test_a_session_goes_on_with_what_it_had_seen(name, lines, said, found):
    """What it had not seen is told and stays."""
    agent = helper(write(*lines), "ok", state=saved(name))
    reply(agent)
    assert said in answers(agent)[-1]
    assert subjects(agent) == found


@pytest.mark.parametrize("beside", [{"revision": 9}, {"next_id": 9}])
def test_a_journal_that_leads_elsewhere_changes_nothing(beside):
    """What was saved beside it counts, and the list is not taken for edited by somebody."""
    agent = helper(write("Dig"), "ok", state=saved("alone", **beside))
    plan, wanted = plan_of_state(agent), {"revision": 2, "next_id": 3} | beside
    assert {"revision": plan.revision, "next_id": plan.next_id} == wanted
    assert [entry.revision for entry in history_of(agent)] == [2]
    reply(agent)
    assert answers(agent)[-1] == 'ok, 0/1 completed; removed while open: "Lay"'


def test_a_session_of_a_plan_in_a_store_goes_on(tmp_path):
    """From the revision that it saw last."""
    store = store_of("stored", tmp_path)
    agent = helper(write("Lay"), "ok", state=saved("stored"), store=store)
    reply(agent)
    assert "#3 Tell Ann created by ann" in answers(agent)[-1]
    assert subjects(agent) == ["Lay", "Tell Ann"]
    assert agent.state.middle_context["todoplan"].keys() == {"stored", "session", "seal"}


def test_a_session_keeps_its_claims(tmp_path):
    """By their fencing tokens."""
    given = {"toolbox": Toolbox(lean(team=True)), "store": store_of("team", tmp_path)}
    agent = helper(use("plan", done=[1]), "ok", state=saved("team"), **given)
    reply(agent)
    assert "#1 completed" in answers(agent)[-1]


def test_a_reminder_that_waited_for_its_request_is_given():
    """The state was saved after the answer was sent back."""
    agent = helper("done", state=saved("sent_back"))
    reply(agent)
    assert is_reminder(agent.model.tail(0))
    assert "pending" not in agent.state.middle_context["todoplan"]


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("unseen", {"base": 7}),
        ("stored", {"seen": "x"}),
        ("team", {"fences": {"1": "x"}}),
        ("tasks", {"journal": 7}),
    ],
)
def test_a_damaged_state_is_an_error(name, beside, tmp_path):
    """It is never a new session."""
    store = {} if name in {"unseen", "tasks"} else {"store": FileStore(tmp_path / "plans.json")}
    agent = helper("ok", state=saved(name, **beside), **store)
    with pytest.raises(CodecError):
        plan_of_state(agent)


# -------- repair --------


SEEDS = [
    (
        (theirs("a", id="1", blocks=["2"]), theirs("b", id="2")),
        [("1", "pending", ["2"], []), ("2", "pending", [], ["1"])],
        "both of their tasks (#1 -> #2)",
    ),
    (
        (theirs("a", id="1"), theirs("b", id="2", blocked_by=["1"])),
        [("1", "pending", ["2"], []), ("2", "pending", [], ["1"])],
        "both of their tasks (#1 -> #2)",
    ),
    (
        (theirs("a", id="x9", blocks=["7"]), theirs("b", id="7", blocked_by=["x9"])),
        [("8", "pending", ["7"], []), ("7", "pending", [], ["8"])],
        '"x9" is now #8',
    ),
    (
        (theirs("a", id="1"), theirs("b", id="1"), theirs("c", id="1")),
        [("1", "pending", [], []), ("2", "pending", [], []), ("3", "pending", [], [])],
        '"1" is now #2, "1" is now #3',
    ),
    (
        (theirs("a", id="1", blocks=["9", "1"], blocked_by=["8"]),),
        [("1", "pending", [], [])],
        "led nowhere (#1 -> #9, #1 -> #1, #8 -> #1)",
    ),
    ((theirs("", id="1", description="\n first\nsecond"),), [("1", "pending", [], [])], "(#1)"),
    ((theirs(" ", id="007"),), [("1", "pending", [], [])], '"007" is now #1'),
]


@pytest.mark.parametrize(("seed", "wanted", "told"), SEEDS)
def test_a_seed_is_mended_and_told_once(seed, wanted, told):
    """By the first answer; or by the developer's `repair` beforehand, then by no answer."""
    desk, other = (Desk(*(task.model_copy(deep=True) for task in seed)) for _ in "12")
    assert told in desk.do("TaskList")
    assert told in "".join(repair(other.state))
    assert board(desk) == board(other) == wanted
    for each in (desk, other):
        assert repair(each.state) == ()
        assert "note" not in each.do("TaskList")
    assert repair(AgentState()) == ()


def test_a_mend_is_told_even_if_guidance_read_the_list_first():
    """What was mended waits for the next planning call, also over edits and saving."""
    desk = Desk(theirs("a", id="x"))
    plan_of_state(desk.state)
    desk.tasks.append(theirs("b", id="y"))
    plan_of_state(desk.state)
    desk = desk.saved()
    text = desk.do("TaskCreate", subject="c")
    assert '"x" is now #1' in text
    assert '"y" is now #2' in text


def test_a_refused_call_tells_the_mend_too():
    """An error is an answer like any other."""
    assert '"x" is now #1' in Desk(theirs("a", id="x")).fail("TaskGet", task_id="9")


@pytest.mark.parametrize(
    ("seed", "code"),
    [
        (
            (theirs("a", id="1"), theirs("b", id="1"), theirs("c", id="2", blocks=["1"])),
            "duplicate_id",
        ),
        ((theirs("a", id="x"), theirs("b", id="x"), theirs("c", id="2", blocks=["x"])), "bad_id"),
        ((theirs("a", id="1", blocks=["2"]), theirs("b", id="2", blocks=["1"])), "cycle"),
    ],
)
def test_what_has_more_than_one_mend_is_refused(seed, code):
    """The list is left as it was, and the error holds every fault; the application mends it."""
    desk = Desk(*(task.model_copy(deep=True) for task in seed))
    before = board(desk)
    for read in (repair, plan_of_state):
        with pytest.raises(PlanError, match=code) as caught:
            read(desk.state)
        assert code in {problem.code for problem in caught.value.data["problems"]}
    assert code in desk.fail("TaskCreate", subject="n")
    assert board(desk) == before
    desk.tasks[-1].blocks.clear()
    desk.do("TaskList")


def test_what_no_task_can_hold_is_refused():
    """A wrong type is named with its place."""
    desk = Desk(theirs("a", id="1"))
    desk.tasks[0].owner = 5
    with pytest.raises(CodecError, match=r"tasks\[0\]\.owner"):
        repair(desk.state)

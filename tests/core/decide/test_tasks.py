import pytest

from todoplan.core.commands import (
    Batch,
    CreateTask,
    CreateTasks,
    DeleteTask,
    MoveTask,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Rejected, decide, plan_of
from todoplan.core.events.base import Base
from todoplan.core.plan.model import LEVELS, Task, Todo, Waiting, fast_constructor
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import Policy

CHAIN = plan_of(
    [
        Task("1", "a", blocks=("2",)),
        Task("2", "b", blocks=("3",), blocked_by=("1",)),
        Task("3", "c", blocked_by=("2",)),
    ]
)


# 1 contains 2, which contains 3; 4 contains 5.
TREE = plan_of(
    [
        Task("1", "a"),
        Task("2", "b", parent="1"),
        Task("3", "c", parent="2"),
        Task("4", "d"),
        Task("5", "e", parent="4"),
    ]
)
LINKED = decide(TREE, UpdateTask("5", add_blocks=("3",)), Policy()).unwrap()
ANN = Waiting("ann")


def problems(plan, command):
    """Return what is refused: code, tasks and path."""
    answer = decide(plan, command, Policy())
    assert isinstance(answer, Rejected)
    return [(p.code, p.task_ids, p.path) for p in answer.problems]


def test_items_refer_to_each_other():
    """The reference "#0" is the first of the same command, whether earlier or later."""
    items = (
        CreateTask("a", blocked_by=("#2",)),
        CreateTask("b", blocks=("#0", "1")),
        CreateTask("c"),
    )
    plan = decide(CHAIN, CreateTasks(items), Policy()).plan
    assert plan["4"].blocked_by == ("6", "5")
    assert plan["5"].blocks == ("4", "1")


@pytest.mark.parametrize("end", ["#3", "#", "#-1", "#x", "#01", "#\uff11", "#" + "9" * 5_000])
def test_unknown_references_are_problems(end):
    """A reference that names no item is refused with what would be legal, however it looks."""
    items = (CreateTask("a"), CreateTask("b", blocked_by=(end,)))
    assert problems(CHAIN, CreateTasks(items)) == [("unknown_reference", (), "tasks[1].blocked_by")]
    answer = decide(CHAIN, CreateTasks(items))
    assert (answer.problems[0].seen, answer.problems[0].legal) == (end, "#0 to #1")


def test_an_unknown_id_is_told_with_those_that_there_are():
    """All of few ids, or the first 20; what the refused command itself would create is none."""
    first = Task("1", "a")
    many = plan_of([Task(str(n), "a") for n in range(1, 26)])
    ask = UpdateTask("77", status="failed")
    for plan, command, legal in (
        (CHAIN, ask, "1, 2, 3"),
        (Plan(), ask, ""),
        (many, ask, ", ".join(map(str, range(1, 21))) + " and 5 more"),
        (plan_of([first]), Batch((CreateTask("b"), ask)), "1"),
        (plan_of([first]), Batch((WriteTodos((Todo("b"),)), ask)), "2"),
    ):
        (problem,) = decide(plan, command, Policy()).problems
        assert problem == Problem("unknown_task", ("77",), "77", legal, "task_id")


STARTED_WAITING = CreateTask("d", status="in_progress", waiting=ANN)
FAULTS = [
    (Plan(), CreateTask(" "), "empty_text", (), "subject"),
    (Plan(), CreateTask("a", blocks=("9",)), "unknown_task", ("9",), "blocks"),
    (Plan(), CreateTask("a", blocks=("#0",)), "self_edge", ("1",), "blocks"),
    (CHAIN, STARTED_WAITING, "cannot_wait", ("4",), "waiting"),
    (CHAIN, CreateTasks((CreateTask("d"), STARTED_WAITING)), "cannot_wait", ("5",),
     "tasks[1].waiting"),
    (CHAIN, UpdateTask("9", status="pending"), "unknown_task", ("9",), "task_id"),
    (CHAIN, UpdateTask("007", status="pending"), "unknown_task", ("007",), "task_id"),
    (CHAIN, DeleteTask("9"), "unknown_task", ("9",), "task_id"),
    (CHAIN, UpdateTask("1", subject="\n"), "empty_text", ("1",), "subject"),
    (CHAIN, UpdateTask("1", add_blocks=("1",)), "self_edge", ("1",), "add_blocks"),
    (CHAIN, UpdateTask("1", add_blocked_by=("9",)), "unknown_task", ("9",), "add_blocked_by"),
    (CHAIN, UpdateTask("1", remove_blocks=("9",)), "unknown_task", ("9",), "remove_blocks"),
    (CHAIN, UpdateTask("1", remove_blocked_by=("9",)), "unknown_task", ("9",), "remove_blocked_by"),
    (CHAIN, UpdateTask("1", add_blocked_by=("3",)), "cycle", ("1", "2", "3", "1"),
     "add_blocked_by"),
    (CHAIN, UpdateTask("3", add_blocks=("1",)), "cycle", ("1", "2", "3", "1"), "add_blocks"),
    # What contains a task holds it up, as what blocks it does.
    (TREE, CreateTask("f", parent="9"), "unknown_task", ("9",), "parent"),
    (TREE, UpdateTask("3", parent="9"), "unknown_task", ("9",), "parent"),
    (TREE, MoveTask("9", after="1"), "unknown_task", ("9",), "task_id"),
    (TREE, MoveTask("1", before="9"), "unknown_task", ("9",), "before"),
    (TREE, MoveTask("1", after="3"), "cycle", ("1", "2", "1"), "after"),
    (TREE, UpdateTask("1", parent="1"), "self_edge", ("1",), "parent"),
    (TREE, UpdateTask("1", parent="3"), "cycle", ("1", "2", "3", "1"), "parent"),
    (TREE, UpdateTask("1", parent="2"), "cycle", ("1", "2", "1"), "parent"),
    (TREE, UpdateTask("2", parent="5", add_blocks=("4",)), "cycle", ("4", "5", "2", "4"),
     "add_blocks"),
    (TREE, UpdateTask("3", add_blocks=("1",)), "cycle", ("1", "2", "3", "1"), "add_blocks"),
    # No edge joins a task with what contains it: it would wait for what goes on only with it.
    (TREE, UpdateTask("1", add_blocks=("3",)), "edge_within", ("3", "1"), "add_blocks"),
    (TREE, UpdateTask("3", add_blocked_by=("1",)), "edge_within", ("3", "1"), "add_blocked_by"),
    (TREE, CreateTask("f", parent="5", blocked_by=("4",)), "edge_within", ("6", "4"), "blocked_by"),
    (LINKED, UpdateTask("2", parent="5"), "edge_within", ("3", "5"), "parent"),
]  # fmt: skip


@pytest.mark.parametrize(("plan", "command", "code", "ids", "path"), FAULTS)
def test_a_fault_names_its_tasks_and_its_place(plan, command, code, ids, path):
    """A single task has plain paths, one of several its index; a cycle names its way round."""
    assert problems(plan, command) == [(code, ids, path)]


def test_all_faults_of_a_creation_are_named():
    """Each with its place; and what only looks like a fault is none."""
    items = (CreateTask("a", blocked_by=("#1",)), CreateTask("", blocked_by=("#0", "#0")))
    assert problems(Plan(), CreateTasks(items)) == [
        ("empty_text", (), "tasks[1].subject"),
        ("cycle", ("2", "1", "2"), "tasks[1].blocked_by"),
    ]
    assert decide(TREE, UpdateTask("4", add_blocks=("3",), parent=None), Policy()).events
    assert decide(CHAIN, CreateTask("d", waiting=ANN)).plan["4"].waiting is ANN


def test_edges_are_taken_away_before_they_are_added():
    """One command can turn an edge round."""
    turned = UpdateTask("1", remove_blocks=("2",), add_blocked_by=("2", "2"))
    plan = decide(CHAIN, turned, Policy()).plan
    assert (plan["1"].blocks, plan["1"].blocked_by) == ((), ("2",))
    assert plan["2"].blocks == ("3", "1")
    back = decide(plan, UpdateTask("1", remove_blocked_by=("2",)), Policy()).plan
    assert (back["1"].blocked_by, back["2"].blocks) == ((), ("3",))


def test_metadata_is_merged_and_none_deletes_only_what_it_names():
    """Keys are set, replaced or deleted one by one; a null that was there before stays."""
    plan = plan_of([Task("1", "a")])
    for given, kept in (
        ({"a": 1, "b": {"c": []}}, {"a": 1, "b": {"c": ()}}),
        ({"b": None, "d": 2}, {"a": 1, "d": 2}),
        ({"zz": None}, {"a": 1, "d": 2}),
    ):
        plan = decide(plan, UpdateTask("1", metadata=given), Policy()).plan
        assert plan["1"].metadata == kept
    null = decide(Plan(), CreateTask("a", metadata={"k": None}), Policy()).plan
    assert decide(null, UpdateTask("1", metadata={"l": 1}), Policy()).plan["1"].metadata == {
        "k": None,
        "l": 1,
    }


def test_metadata_of_too_many_levels_is_a_problem():
    """Where a tool's arguments come unconverted it is refused with its place, not raised."""
    deep = {}
    for _ in range(5_000):
        deep = {"k": deep}
    create, update = fast_constructor(CreateTask), fast_constructor(UpdateTask)
    new = create(subject="x", metadata=deep)
    assert problems(CHAIN, new) == [("too_deep", (), "metadata")]
    assert problems(CHAIN, CreateTasks((CreateTask("x"), new))) == [
        ("too_deep", (), "tasks[1].metadata")
    ]
    changed = update(task_id="1", metadata=deep)
    assert problems(CHAIN, changed) == [("too_deep", (), "metadata")]
    assert decide(CHAIN, changed).problems[0].legal == str(LEVELS)


def test_start_next_starts_the_first_ready_task_once():
    """Nothing happens while one is in progress, or when none can start."""
    plan = plan_of([*CHAIN, Task("4", "d")])
    started = decide(plan, StartNext(), Policy()).plan
    assert [task.id for task in started.active()] == ["1"]
    assert [task.id for task in started.ready()] == ["4"]
    assert decide(started, StartNext(), Policy()).events == ()
    assert decide(Plan(), StartNext(), Policy()).events == ()


def after(command, plan=TREE):
    """Return the plan after a command that is accepted, as "id<parent" in order."""
    answer = decide(plan, command, Policy())
    return " ".join(f"{t.id}<{t.parent}" if t.parent else t.id for t in answer.unwrap())


def test_created_below_another_task():
    """Behind its siblings; of several, later ones may go below earlier ones."""
    assert after(CreateTask("f", parent="1")) == "1 2<1 3<2 6<1 4 5<4"
    items = (CreateTask("f", parent="5"), CreateTask("g", parent="#0"), CreateTask("h"))
    assert after(CreateTasks(items)) == "1 2<1 3<2 4 5<4 6<5 7<6 8"


@pytest.mark.parametrize("named", ["#1", "#2", "#01", "#", "#" + "9" * 5_000])
def test_a_later_item_contains_no_earlier_one(named):
    """The reference is refused; what is legal is said."""
    items = (CreateTask("a"), CreateTask("b", parent=named), CreateTask("c"))
    assert problems(TREE, CreateTasks(items)) == [("unknown_reference", (), "tasks[1].parent")]
    answer = decide(TREE, CreateTasks(items))
    assert answer.problems[0].legal == "#0 to #0, or the id of a task"
    answer = decide(TREE, CreateTask("b", parent=named))
    assert (answer.problems[0].legal, answer.problems[0].path) == ("the id of a task", "parent")


def test_an_update_moves_a_task_with_what_it_contains():
    """Below another one, or to the top; where it is already nothing happens."""
    assert after(UpdateTask("2", parent="4")) == "1 4 5<4 2<4 3<2"
    assert after(UpdateTask("2", parent=None)) == "1 4 5<4 2 3<2"
    for command in (UpdateTask("2", parent="1"), UpdateTask("1", parent=None)):
        assert decide(TREE, command).events == ()


def test_moved_before_and_behind():
    """Below the same parent, with all that it contains; where it stands already nothing happens."""
    assert after(MoveTask("4", before="1")) == "4 5<4 1 2<1 3<2"
    assert after(MoveTask("1", after="4")) == "4 5<4 1 2<1 3<2"
    assert after(MoveTask("5", before="3")) == "1 2<1 5<2 3<2 4"
    assert after(MoveTask("5", after="2")) == "1 2<1 3<2 5<1 4"
    for command in (MoveTask("1", before="4"), MoveTask("1", before="1")):
        assert decide(TREE, command).events == ()


def test_deleting_a_parent_says_what_becomes_of_its_subtasks():
    """Refused unless it is said; lifted up to where it stood; or removed, the deepest first."""
    assert problems(TREE, DeleteTask("1")) == [("has_children", ("1", "2"), "task_id")]
    assert after(DeleteTask("2", "lift")) == "1 3<1 4 5<4"
    assert after(DeleteTask("1", "remove")) == "4 5<4"
    events = decide(TREE, DeleteTask("1", "remove")).events
    assert [event.task_id for event in events] == ["3", "2", "1"]
    assert after(DeleteTask("3")) == "1 2<1 4 5<4"


def test_waiting_is_set_and_ended():
    """A started task is taken back; a closed one has nothing to wait for; None ends the wait."""
    ann = Waiting("ann", question="Which?")
    plan = decide(CHAIN, UpdateTask("1", waiting=ann), Policy()).plan
    assert plan["1"].waiting == ann
    assert decide(plan, UpdateTask("1", waiting=ann)).events == ()
    assert decide(plan, UpdateTask("1", waiting=None)).plan["1"].waiting is None
    started = decide(plan, UpdateTask("1", status="in_progress")).plan
    assert started["1"].waiting is None
    back = decide(started, UpdateTask("1", waiting=ann)).plan
    assert (back["1"].status, back["1"].waiting) == ("pending", ann)
    done = decide(started, UpdateTask("1", status="completed")).plan
    assert problems(done, UpdateTask("1", waiting=ann)) == [("cannot_wait", ("1",), "waiting")]
    both = UpdateTask("1", status="completed", waiting=ann)
    assert problems(started, both) == [("cannot_wait", ("1",), "waiting")]


def test_the_next_task_is_the_sessions_own_where_others_work_on_the_plan_too():
    """What it has listed or just made comes before what is others'."""
    plan = plan_of([Task("1", "Ann's"), Task("2", "Mine")])
    started = decide(plan, StartNext(), base=Base(plan, listed=frozenset({"2"}))).plan
    assert [task.id for task in started if task.status.value == "in_progress"] == ["2"]
    new = Base(plan, listed=frozenset())
    batch = Batch((WriteTodos((Todo("Ours"),)), StartNext()))
    for command, wanted in ((batch, "3"), (Batch((CreateTask("x"), StartNext())), "3")):
        started = decide(plan, command, base=new).plan
        assert [task.id for task in started if task.status.value == "in_progress"] == [wanted]
    started = decide(plan, StartNext(), base=new).plan
    assert started["1"].status.value == "in_progress"
    done = plan_of([Task("1", "Done", status="completed")])
    assert decide(done, StartNext(), base=Base(done, listed=frozenset())).events == ()

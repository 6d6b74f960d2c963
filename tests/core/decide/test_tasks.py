import pytest

from todoplan.core.commands import CreateTask, CreateTasks, DeleteTask, StartNext, UpdateTask
from todoplan.core.decide.assembly import plan_of
from todoplan.core.decide.decide import Rejected, decide
from todoplan.core.plan.fast_constructor import fast_keyword_constructor
from todoplan.core.plan.frozen import LEVELS
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy

CHAIN = plan_of(
    [
        Task("1", "a", blocks=("2",)),
        Task("2", "b", blocks=("3",), blocked_by=("1",)),
        Task("3", "c", blocked_by=("2",)),
    ]
)


def problems(plan, command):
    """
    Return what is refused: code, tasks and path.
    """
    answer = decide(plan, command, Policy())
    assert isinstance(answer, Rejected)
    return [(p.code, p.task_ids, p.path) for p in answer.problems]


def test_created_with_every_field():
    """What is given stands on the task; metadata is frozen, edges are mirrored."""
    data = {"k": [1, {"l": None}], "n": None}
    made = CreateTask("d", "why", "pending", "doing", "high", "ann", ("3",), ("1",), 5.0, data)
    plan = decide(CHAIN, made, Policy()).plan
    data["k"].append(2)
    task = plan["4"]
    assert (task.subject, task.description, task.active_form) == ("d", "why", "doing")
    assert (task.priority, task.owner, task.estimate) == ("high", "ann", 5.0)
    assert (task.blocks, task.blocked_by) == (("3",), ("1",))
    assert task.metadata == {"k": (1, {"l": None}), "n": None}
    assert plan["3"].blocked_by == ("2", "4")


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


def test_faults_of_creations_name_their_place():
    """A single task has plain paths, one of several its index."""
    assert problems(Plan(), CreateTask(" ")) == [("empty_text", (), "subject")]
    assert problems(Plan(), CreateTask("a", blocks=("9",))) == [("unknown_task", ("9",), "blocks")]
    assert problems(Plan(), CreateTask("a", blocks=("#0",))) == [("self_edge", ("1",), "blocks")]
    items = (CreateTask("a", blocked_by=("#1",)), CreateTask("", blocked_by=("#0", "#0")))
    assert problems(Plan(), CreateTasks(items)) == [
        ("empty_text", (), "tasks[1].subject"),
        ("cycle", ("2", "1", "2"), "tasks[1].blocked_by"),
    ]


@pytest.mark.parametrize(
    ("command", "code", "ids", "path"),
    [
        (UpdateTask("9", status="pending"), "unknown_task", ("9",), "task_id"),
        (UpdateTask("007", status="pending"), "unknown_task", ("007",), "task_id"),
        (DeleteTask("9"), "unknown_task", ("9",), "task_id"),
        (UpdateTask("1", subject="\n"), "empty_text", ("1",), "subject"),
        (UpdateTask("1", add_blocks=("1",)), "self_edge", ("1",), "add_blocks"),
        (UpdateTask("1", add_blocked_by=("9",)), "unknown_task", ("9",), "add_blocked_by"),
        (UpdateTask("1", remove_blocks=("9",)), "unknown_task", ("9",), "remove_blocks"),
        (UpdateTask("1", remove_blocked_by=("9",)), "unknown_task", ("9",), "remove_blocked_by"),
        (UpdateTask("1", add_blocked_by=("3",)), "cycle", ("1", "2", "3", "1"), "add_blocked_by"),
        (UpdateTask("3", add_blocks=("1",)), "cycle", ("1", "2", "3", "1"), "add_blocks"),
    ],
)
def test_faults_of_changes(command, code, ids, path):
    """Each fault names its tasks and its argument."""
    assert problems(CHAIN, command) == [(code, ids, path)]


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
    create, update = fast_keyword_constructor(CreateTask), fast_keyword_constructor(UpdateTask)
    new = create(subject="x", metadata=deep)
    assert problems(CHAIN, new) == [("too_deep", (), "metadata")]
    assert problems(CHAIN, CreateTasks((CreateTask("x"), new))) == [
        ("too_deep", (), "tasks[1].metadata")
    ]
    changed = update(task_id="1", metadata=deep)
    assert problems(CHAIN, changed) == [("too_deep", (), "metadata")]
    assert decide(CHAIN, changed).problems[0].legal == str(LEVELS)


def test_none_clears_and_unset_leaves():
    """`None` empties a field; what is not given stays."""
    plan = plan_of([Task("1", "a", owner="ann", priority="low", estimate=3.0, active_form="x")])
    cleared = decide(plan, UpdateTask("1", owner=None, priority=None, estimate=None), Policy()).plan
    assert (cleared["1"].owner, cleared["1"].priority, cleared["1"].estimate) == (None, None, None)
    assert cleared["1"].active_form == "x"


def test_start_next_starts_the_first_ready_task_once():
    """Nothing happens while one is in progress, or when none can start."""
    plan = plan_of([*CHAIN, Task("4", "d")])
    started = decide(plan, StartNext(), Policy()).plan
    assert [task.id for task in started.active()] == ["1"]
    assert [task.id for task in started.ready()] == ["4"]
    assert decide(started, StartNext(), Policy()).events == ()
    assert decide(Plan(), StartNext(), Policy()).events == ()


def test_deleting_takes_the_edges_along():
    """Neighbours forget the task, and what waited for it alone is ready."""
    plan = decide(CHAIN, DeleteTask("2"), Policy()).plan
    assert (plan["1"].blocks, plan["3"].blocked_by) == ((), ())
    assert [task.id for task in plan.ready()] == ["1", "3"]

"""What a session last saw of a plan, and what others did since."""

from todoplan import Plan, Task, decide, plan_of
from todoplan.core import commands
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import Base, Difference, Note, changed_by, differences
from todoplan.core.events.types import PlanRestored
from todoplan.core.plan.model import Approval, Todo
from todoplan.planner import Planner

PLAN = plan_of([Task("1", "Draft"), Task("2", "Review"), Task("3", "Send")])


def test_each_task_that_is_not_as_it_was_is_a_difference():
    """In the order of the plan; a task that is gone comes last, as it was."""
    now = PLAN
    for command in (
        commands.CreateTask("Tell Ann"),
        commands.UpdateTask("3", owner="bob"),
        commands.DeleteTask("1"),
    ):
        now = decide(now, command).unwrap()
    assert differences(PLAN, now) == (
        Difference(PLAN["3"], now["3"]),
        Difference(None, now["4"]),
        Difference(PLAN["1"], None),
    )
    assert [one.task.id for one in differences(PLAN, now)] == ["3", "4", "1"]


def test_what_is_equal_is_no_difference():
    """The same plan, or another that equals it."""
    assert differences(PLAN, PLAN) == differences(PLAN, plan_of(tuple(PLAN))) == ()
    assert Base(Plan()).unseen(PLAN) == differences(Plan(), PLAN)


def test_a_base_knows_who_changed_what_since():
    """The last actor who changed a task is named; an actor without a name is not recorded."""
    events = decide(PLAN, commands.UpdateTask("1", status="in_progress")).events
    base = Base(PLAN).after(events, "ann").after((), "bob").after(events, None)
    assert base.actors == {"1": "ann"}
    assert base.plan is PLAN
    now = decide(PLAN, commands.UpdateTask("1", status="in_progress")).unwrap()
    assert [one.actor for one in base.unseen(now)] == ["ann"]
    assert base.after(events, "bob").actors == {"1": "bob"}


class Asked(str):
    """An id that counts how often it is looked up."""

    __slots__ = ()
    times = 0

    def __hash__(self):
        Asked.times += 1
        return super().__hash__()


def test_what_a_session_knows_is_worked_out_in_linear_time():
    """Each line is looked up a few times after a call, however many there are."""
    plan = plan_of([Task(str(number), "x") for number in range(1, 101)])
    for order in (1, -1):
        lines = tuple((Asked(task.id), Todo("x")) for task in tuple(plan)[::order])
        Asked.times = 0
        after = Base(Plan()).advanced(Plan(), plan, [Note(lines)])
        assert after.order == (() if order == 1 else tuple(task_id for task_id, _ in lines))
        assert Asked.times < 20 * len(plan)


def test_what_was_undone_counts_for_nobody():
    """Nor for whoever undid it; other changes are still their authors'."""
    planner = Planner()
    planner.restore(PLAN)
    start = planner.plan
    planner.apply(commands.UpdateTask("1", subject="Draft it"), actor="ann")
    planner.apply(commands.UpdateTask("1", subject="Redraft"), actor="bob")
    planner.apply(commands.UpdateTask("2", subject="Review it"), actor="bob")
    planner.undo(actor="cid")
    planner.undo(actor="cid")
    planner.apply(commands.CreateTask("More"))
    assert changed_by(start, planner.history()[1:]) == {"1": "ann"}


def test_an_undo_of_what_was_there_before_is_the_work_of_who_undid_it():
    """As is a restored plan, for the tasks that it changes."""
    planner = Planner()
    planner.restore(PLAN)
    planner.apply(commands.CreateTask("Mine"), actor="ann")
    start = planner.plan
    planner.undo(actor="bob")
    (undone,) = planner.history()[2:]
    assert changed_by(start, [undone])["4"] == "bob"
    planner.apply(commands.CreateTask("New"), actor="ann")
    planner.restore(plan_of([*planner.plan, Task("9", "Brought")]), actor="cid")
    came = changed_by(planner.plan, [])
    assert came == {}
    assert changed_by(start, planner.history()[2:])["5"] == "ann"
    assert changed_by(start, planner.history()[2:])["9"] == "cid"


def test_an_entry_without_a_name_changes_nothing_of_who_is_known():
    """Whatever is in it."""
    restored = Entry(9, (PlanRestored(tuple(PLAN), 4),))
    assert changed_by(PLAN, [restored]) == {}
    assert Base(PLAN).after(restored.events, None).actors == {}


def test_a_base_names_who_restored_only_for_what_nobody_else_changed():
    """The event itself says which tasks there are, and not which of them it changed."""
    edited = decide(PLAN, commands.UpdateTask("1", subject="x")).events
    restored = (PlanRestored(tuple(PLAN)[:2], 4),)
    base = Base(PLAN).after(edited, "ann").after(restored, "bob")
    assert base.actors == {"1": "ann", "2": "bob", "3": "bob"}


def test_an_approval_that_is_left_by_an_undo_is_no_news():
    """Nobody has approved anew where a later approval was taken back."""
    planner = Planner()
    planner.restore(PLAN)
    before = planner.plan
    planner.apply(commands.ApprovePlan("ann"))
    early = planner.plan
    planner.apply(commands.CreateTask("More"))
    planner.apply(commands.ApprovePlan("bob"))
    late = planner.plan
    planner.undo(actor="cid")
    assert planner.plan.approved == Approval(early.revision, "ann", early.approved.at)
    assert not Base(late).is_newly_approved(planner.plan)
    assert Base(early).is_newly_approved(late)
    assert Base(before).is_newly_approved(planner.plan)


def test_all_who_changed_a_task_are_named_in_order():
    """The last one alone would get the credit for what an earlier one did; a new order is none."""
    planner = Planner()
    for subject in ("Dig", "Lay"):
        planner.apply(commands.CreateTask(subject), actor="bot")
    start = planner.plan
    planner.apply(commands.UpdateTask("1", status="completed"), actor="ann")
    for text in ("deep", "deeper"):
        planner.apply(commands.UpdateTask("1", description=text), actor="bot")
    planner.apply(commands.MoveTask("2", before="1"), actor="cid")
    assert changed_by(start, planner.history()[2:]) == {"1": "ann, bot"}
    planner.apply(commands.DeleteTask("1"), actor="dan")
    assert changed_by(start, planner.history()[2:]) == {"1": "dan"}


def test_a_name_with_a_comma_is_one_name_and_the_last_three_are_kept():
    """A saved session has these names: they do not grow with the number of changes."""
    planner = Planner()
    planner.apply(commands.CreateTask("Dig"), actor="bot")
    start = planner.plan
    for actor in ("Doe, Jane", "ann", "Doe, Jane", "bob", "cid"):
        planner.apply(commands.UpdateTask("1", description=f"by {actor}"), actor=actor)
    planner.apply(commands.UpdateTask("1", description="again"), actor="Doe, Jane")
    assert changed_by(start, planner.history()[1:]) == {"1": "bob, cid, Doe, Jane"}

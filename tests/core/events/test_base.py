"""What a hand last saw of a plan, and what the others did since."""

from todoplan import Plan, Task, commands, decide, plan_of
from todoplan.core.events.base import Base, Difference, differences

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
    """The last hand that touched a task is named; one without a name changes nothing."""
    events = decide(PLAN, commands.UpdateTask("1", status="in_progress")).events
    base = Base(PLAN).after(events, "ann").after((), "bob").after(events, None)
    assert base.actors == {"1": "ann"}
    assert base.plan is PLAN
    now = decide(PLAN, commands.UpdateTask("1", status="in_progress")).unwrap()
    assert [one.actor for one in base.unseen(now)] == ["ann"]
    assert base.after(events, "bob").actors == {"1": "bob"}

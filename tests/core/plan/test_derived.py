"""What is kept beside the tasks: who is ready, who waits, what contains what."""

import pytest

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Evidence, Status, Task, Waiting
from todoplan.core.plan.plan import Draft, Plan

ANN = Waiting("ann")


def tree(*lines, **fields):
    """
    Return a plan of lines such as "1", "2<1" (2 lies in 1); `_2=dict(...)` has fields of task 2.
    """
    tasks = []
    for line in lines:
        task_id, _, parent = line.partition("<")
        more = fields.get(f"_{task_id}", {})
        tasks.append(Task(task_id, f"t{task_id}", parent=parent or None, **more))
    return plan_of(tasks)


def ready(draft):
    """Return the ids of the ready tasks, of the plan that a copy of the draft freezes to."""
    return [task.id for task in draft.freeze().ready()]


def changed(plan, change):
    """Return the plan after a change of its draft, held to a plan that is worked out anew."""
    draft = Draft(plan)
    change(draft)
    after = draft.freeze()
    anew = plan_of(after, next_id=after.next_id, revision=after.revision)
    for question in (Plan.ready, Plan.active, Plan.waiting):
        assert list(question(after)) == list(question(anew))
    assert [after.children(task.id) for task in after] == [anew.children(t.id) for t in anew]
    assert (list(after), after.counts) == (list(anew), anew.counts)
    return after


def test_only_leaves_are_ready():
    """A task that contains others is never offered; without its last subtask it is again."""
    plan = tree("1", "2<1", "3")
    assert [task.id for task in plan.ready()] == ["2", "3"]
    after = changed(plan, lambda draft: draft.remove("2", None))
    assert [task.id for task in after.ready()] == ["1", "3"]
    after = changed(plan, lambda draft: draft.nest("3", "1", None))
    assert [task.id for task in after.ready()] == ["2", "3"]
    after = changed(after, lambda draft: draft.nest("2", None, None))
    assert [task.id for task in after.ready()] == ["3", "2"]


@pytest.mark.parametrize("depth", [1, 2])
def test_what_is_held_up_holds_up_all_that_it_contains(depth):
    """A blocker or a wait above keeps a task from being started, until it is gone."""
    plan = tree("9", "1", "2<1", "3<2", "4")
    upper = ("1", "2")[depth - 1]
    blocked = changed(plan, lambda draft: draft.link("9", upper, None))
    assert [task.id for task in blocked.ready()] == ["9", "4"]
    done = changed(blocked, lambda draft: draft.move("9", Status.COMPLETED, None))
    assert [task.id for task in done.ready()] == ["3", "4"]
    again = changed(done, lambda draft: draft.move("9", Status.FAILED, None))
    assert [task.id for task in again.ready()] == ["4"]
    free = changed(again, lambda draft: draft.unlink("9", upper, None))
    assert [task.id for task in free.ready()] == ["3", "4"]
    waits = changed(free, lambda draft: draft.put(draft.get(upper).but(waiting=ANN)))
    assert [task.id for task in waits.ready()] == ["4"]
    both = changed(waits, lambda draft: draft.link("9", upper, None))
    half = changed(both, lambda draft: draft.put(draft.get(upper).but(waiting=None)))
    assert [task.id for task in half.ready()] == ["4"]


def test_a_task_takes_its_new_place_with_all_that_it_contains():
    """Below what is held up it is held up, and out of there it is not."""
    plan = tree("1", "2<1", "3", "4<3", _1={"waiting": ANN})
    assert [task.id for task in plan.ready()] == ["4"]
    inside = changed(plan, lambda draft: draft.nest("3", "1", None))
    assert list(inside.ready()) == []
    outside = changed(inside, lambda draft: draft.nest("3", None, None))
    assert [task.id for task in outside.ready()] == ["4"]
    assert [task.id for task in outside] == ["1", "2", "3", "4"]


def test_a_waiting_task_is_not_ready():
    """It is open, and stands among those that wait; a move to another status ends the wait."""
    plan = tree("1", "2", _1={"waiting": ANN})
    assert ([t.id for t in plan.ready()], [t.id for t in plan.waiting()]) == (["2"], ["1"])
    assert Draft(plan).has_waiting
    started = changed(plan, lambda draft: draft.move("1", Status.IN_PROGRESS, None))
    assert (started["1"].waiting, list(started.waiting())) == (None, [])
    same = changed(plan, lambda draft: draft.move("1", Status.PENDING, None))
    assert same["1"].waiting is ANN
    gone = changed(plan, lambda draft: draft.remove("1", None))
    assert (list(gone.waiting()), Draft(gone).has_waiting) == ([], False)
    added = changed(gone, lambda draft: draft.add(Task("3", "c", waiting=ANN)))
    assert [task.id for task in added.waiting()] == ["3"]


def test_evidence_does_not_outlive_a_start():
    """Law 20: only what was found since the task was last started counts."""
    found = Task("1", "a", status="in_progress", evidence=Evidence(passed=True))
    done = found.moved(Status.COMPLETED, None)
    assert done.evidence == Evidence(passed=True)
    for status in (Status.PENDING, Status.IN_PROGRESS, Status.CANCELLED, Status.FAILED):
        assert done.moved(status, None).evidence is None
    assert found.moved(Status.PENDING, None).evidence is not None
    assert found.moved(Status.PENDING, None).moved(Status.IN_PROGRESS, None).evidence is None


def test_a_plan_without_subtasks_keeps_no_tree():
    """It costs nothing where nobody asked for it."""
    plan = tree("1", "2")
    assert (plan.nested, Draft(plan).nested, plan.children("1")) == (False, False, ())
    nested = changed(plan, lambda draft: draft.nest("2", "1", None))
    assert (nested.nested, nested.children("1"), nested.children("7")) == (True, ("2",), ())
    assert not plan.nested

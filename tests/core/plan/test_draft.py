from hypothesis import given
from support import strategies as some

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import CHUNK, Draft, Plan, ancestors

PAIR = (Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",)))


def test_a_draft_leaves_its_plan_alone():
    """What happens to a draft is seen in what it freezes to, never in where it came from."""
    plan = plan_of(PAIR)
    draft = Draft(plan)
    draft.add(Task("3", "c"))
    draft.remove("1", None)
    assert [task.id for task in draft.freeze()] == ["2", "3"]
    assert tuple(plan) == PAIR


def test_questions_see_what_happened_so_far():
    """Counts, waiting and the first ready task are those of now."""
    draft = Draft(plan_of(PAIR))
    assert (len(draft), draft.waits_for("2"), next(draft.ready(), None).id) == (2, 1, "1")
    draft.put(draft.get("1").but(status=Status.COMPLETED))
    assert (draft.counts.completed, draft.waits_for("2")) == (1, 0)
    assert next(draft.ready()).id == "2"
    draft.put(draft.get("2").but(status=Status.CANCELLED))
    assert next(draft.ready(), None) is None


def test_deleting_a_resolved_blocker_frees_nobody():
    """It was not waited for, so the count of what is waited for stays."""
    edges = [Task("1", "a", status="completed", blocks=("3",)), Task("2", "b", blocks=("3",))]
    draft = Draft(plan_of([*edges, Task("3", "c", blocked_by=("1", "2"))]))
    draft.remove("1", None)
    assert (draft.get("3").blocked_by, draft.waits_for("3")) == (("2",), 1)
    draft.remove("2", None)
    assert (draft.get("3").blocked_by, draft.waits_for("3")) == ((), 0)


def test_a_task_that_is_not_there_is_not_put():
    """Only a task that exists is replaced."""
    draft = Draft(Plan())
    draft.put(Task("1", "a"))
    assert (len(draft), draft.get("1")) == (0, None)


def test_a_started_task_keeps_count_of_its_blockers():
    """A blocker that is resolved while its dependent runs is not waited for after a reset."""
    draft = Draft(plan_of(PAIR))
    draft.put(draft.get("2").but(status=Status.IN_PROGRESS))
    draft.put(draft.get("1").but(status=Status.COMPLETED))
    draft.put(draft.get("2").but(status=Status.PENDING))
    assert [task.id for task in draft.freeze().ready()] == ["2"]


def test_mostly_empty_plans_pack_themselves():
    """After many deletions the container holds few empty cells, and ids still find their tasks."""
    draft = Draft(Plan())
    for number in range(1, 10 * CHUNK):
        draft.add(Task(str(number), "x"))
    full = draft.freeze()
    draft = Draft(full)
    for number in range(1, 10 * CHUNK - 1):
        draft.remove(str(number), None)
    plan = draft.freeze()
    assert len(plan._tasks) <= 2 * len(plan) + CHUNK
    assert [task.id for task in plan] == [str(10 * CHUNK - 1)]
    assert all(task_id not in plan for task_id in ("1", "2", str(10 * CHUNK), *some.NO_IDS))
    assert len(full) == 10 * CHUNK - 1


def test_gaps_between_ids_are_bridged():
    """A near gap is left empty; after a far one the tasks are laid out anew."""
    for gap in (2, CHUNK, CHUNK + 2, 10_000):
        draft = Draft(Plan())
        for task_id in ("1", str(1 + gap), str(2 + gap), str(1 + 2 * gap)):
            draft.add(Task(task_id, "x"))
        assert draft._tasks.size <= 3 * CHUNK
        plan = draft.freeze()
        assert [plan[t.id] is t for t in plan] == [True] * 4
        assert plan.next_id == 2 + 2 * gap


def test_an_edge_from_a_resolved_blocker_comes_and_goes_without_a_count():
    """What is not waited for is not counted off either."""
    draft = Draft(plan_of([Task("1", "a", status="completed"), Task("2", "b")]))
    draft.link("1", "2", None)
    assert (draft.get("2").blocked_by, draft.waits_for("2")) == (("1",), 0)
    draft.unlink("1", "2", None)
    assert (draft.get("2").blocked_by, draft.waits_for("2")) == ((), 0)


def can_be_started(plan, task):
    """Say by looking at all of them whether a task is ready."""
    above = [task, *(plan[end] for end in ancestors(plan, task.id))]
    held = any(each.waiting for each in above) or any(
        not plan[end].status.resolved for each in above for end in each.blocked_by
    )
    is_leaf = not any(each.parent == task.id for each in plan)
    return task.status is Status.PENDING and is_leaf and not held


@given(some.full_plans)
def test_what_is_kept_beside_the_tasks_agrees_with_them(plan):
    """Counts, waiting and the first ready task are what counting anew gives."""
    draft = Draft(plan)
    assert list(draft) == list(plan)
    assert len(draft) == sum(draft.counts) == len(plan)
    for task in plan:
        waiting = [end for end in task.blocked_by if not draft.get(end).status.resolved]
        assert draft.waits_for(task.id) == len(waiting)
    ready = [t for t in plan if can_be_started(plan, t)]
    assert next(draft.ready(), None) == (ready[0] if ready else None)


def test_a_task_that_is_there_or_has_no_id_is_not_added():
    """A journal may name what makes no sense: nothing happens."""
    draft = Draft(plan_of(PAIR))
    for task in (Task("1", "other"), Task("01", "x"), Task("x", "x")):
        draft.add(task)
    assert tuple(draft) == PAIR


def test_an_id_below_the_next_one_may_come_late():
    """As in a merged history: it takes its place at the end, and ids go on as they were."""
    draft = Draft(plan_of(PAIR, next_id=9))
    draft.add(Task("5", "late"))
    draft.add(Task("4", "later"))
    plan = draft.freeze()
    assert ([task.id for task in plan], plan.next_id) == (["1", "2", "5", "4"], 9)


def test_an_added_task_has_no_edges_yet():
    """They follow as events of their own, and would not be mirrored here."""
    draft = Draft(plan_of(PAIR))
    draft.add(Task("3", "c", blocks=("1",), blocked_by=("2",)))
    assert (draft.get("3").blocks, draft.get("3").blocked_by) == ((), ())


def test_several_tasks_are_added_as_one_by_one():
    """Whether their ids are the next ones or not."""
    for ids in ([], ["3", "4"], ["3", "5"], ["7", "8"], ["1", "3"]):
        tasks = [Task(task_id, "x", status=s) for task_id, s in zip(ids, Status, strict=False)]
        at_once, singly = Draft(plan_of(PAIR)), Draft(plan_of(PAIR))
        at_once.add_all(tasks)
        for task in tasks:
            singly.add(task)
        one, other = at_once.freeze(), singly.freeze()
        assert one == other
        assert [[*p.ready()] for p in (one,)] == [[*p.ready()] for p in (other,)]
        assert [*one.active()] == [*other.active()]


def order(draft):
    """Return the ids as the draft has them now."""
    return " ".join(task.id for task in draft)


def nested(*lines):
    """Return a draft with tasks such as "1" or "2<1": 2 lies in 1."""
    draft = Draft(Plan())
    for line in lines:
        task_id, _, parent = line.partition("<")
        draft.add(Task(task_id, "x", parent=parent or None))
    return draft


def test_subtasks_stand_right_behind_what_contains_them():
    """Wherever in the plan that is, and in the order in which they came."""
    assert order(nested("1", "2", "3<1", "4<3", "5<1", "6")) == "1 3 4 5 2 6"
    assert order(nested("1", "2<1", "3<2", "4<1")) == "1 2 3 4"


def test_a_parent_that_is_not_there_is_none():
    """A journal may name what makes no sense: the task stands at the top."""
    draft = nested("1<9", "2<2", "3<1")
    assert [task.parent for task in draft] == [None, "1", None]
    assert order(draft) == "1 3 2"


def test_a_moved_task_goes_to_the_end_of_its_siblings():
    """With all that it contains; nothing goes below itself, or below what is not there."""
    draft = nested("1", "2<1", "3<2", "4", "5<4")
    draft.nest("2", "4", None)
    assert order(draft) == "1 4 5 2 3"
    draft.nest("4", None, None)
    draft.nest("4", "3", None)
    draft.nest("4", "9", None)
    draft.nest("9", "1", None)
    assert order(draft) == "1 4 5 2 3"
    draft.nest("1", "3", None)
    assert order(draft) == "4 5 2 3 1"


def test_what_a_removed_task_contains_goes_up():
    """To where it stood, the order of the tasks as it was."""
    draft = nested("1", "2<1", "3<2", "4<2", "5<1")
    draft.remove("2", None)
    assert [task.parent for task in draft] == [None, "1", "1", "1"]
    assert order(draft) == "1 3 4 5"
    draft.remove("1", None)
    assert [task.parent for task in draft] == [None, None, None]


def test_many_subtasks_are_put_in_place_at_once(monkeypatch):
    """However many come, all tasks are laid out anew once, when somebody asks for their order."""
    draft = nested("1", "2")
    laid_out = []
    lay_out = Draft._lay_out
    monkeypatch.setattr(
        Draft, "_lay_out", lambda self, *rest: (laid_out.append(1), lay_out(self, *rest))[1]
    )
    for number in range(3, 60):
        draft.add(Task(str(number), "x", parent="1"))
    assert laid_out == []
    assert [task.id for task in draft.freeze()][-1] == "2"
    assert laid_out == [1]


def test_what_comes_in_the_order_of_the_tree_is_not_laid_out_anew(monkeypatch):
    """A nested list that is written from top to bottom costs no more than a plain one."""
    monkeypatch.setattr(Draft, "_lay_out", None)
    draft = nested("1", "2<1", "3<2", "4<1", "5", "6<5")
    assert order(draft) == "1 2 3 4 5 6"


def test_the_end_of_the_plan_is_found_behind_gaps():
    """A removed last task is not the end."""
    draft = nested("1", "2<1", "3")
    draft.remove("3", None)
    draft.add(Task("4", "x", parent="2"))
    assert order(draft) == "1 2 4"


def test_a_top_task_behind_subtasks_that_wait_for_their_place_keeps_its_own():
    """It came after them, and stands behind the tree that they belong to."""
    draft = nested("1", "2", "3<1", "4")
    draft.remove("4", None)
    draft.add(Task("5", "x"))
    assert order(draft) == "1 3 2 5"
    many = nested("1", "2")
    many.add_all([Task("3", "x", parent="1"), Task("4", "x")])
    many.add_all([Task("5", "x"), Task("6", "x")])
    assert order(many) == "1 3 2 4 5 6"


def test_a_new_order_keeps_the_tree():
    """What it names apart from its parent comes back to it."""
    draft = nested("1", "2<1", "3", "4<3")
    draft.reorder(["4", "3", "2", "1"])
    assert order(draft) == "3 4 1 2"


def test_tasks_brought_back_stand_in_the_order_of_their_tree():
    """Whatever order they are given in; a circle of parents is opened at its first task."""
    draft = Draft(Plan())
    draft.replace([Task("3", "x", parent="1"), Task("2", "x"), Task("1", "x")])
    assert order(draft) == "2 1 3"
    draft.replace([Task("1", "x", parent="2"), Task("2", "x", parent="1"), Task("3", "x")])
    assert [(task.id, task.parent) for task in draft] == [("3", None), ("1", None), ("2", "1")]

"""Law: whatever is done to a draft, what it keeps beside the tasks is what counting anew gives."""

from itertools import product

import pytest
from hypothesis import given
from support import strategies as some

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Status, Task, Waiting
from todoplan.core.plan.plan import CHUNK, Draft, Plan, ancestors, number_of, tree_order

PAIR = (Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",)))
TREE = (*PAIR, Task("3", "c"), Task("4", "d", parent="3"), Task("5", "e", parent="4"))
WAITS = "waits"  # a pending task that waits
STEPS = [
    *(("link", *ends) for ends in product("134", "1245")),
    *(("unlink", *ends) for ends in ("12", "21", "91")),
    *(("nest", *ends) for ends in product("1345", ["1", "3", "5", "9", None])),
    *(("remove", task_id) for task_id in "123459"),
    *(("move", *given) for given in product("124", Status)),
    *(("wait", *given) for given in product("25", [True, False])),
    *(
        ("add", task_id, "pending", above)
        for task_id in ("6", "8", "1", "x")
        for above in (None, "3")
    ),
    ("add", "6", WAITS, None),
    ("add_all", [("pending", "4"), ("completed", None)]),
    ("add_all", [("in_progress", None), (WAITS, None)]),
    ("add_all", [("pending", None), ("in_progress", None)]),
    ("reorder", ["5", "3"]),
    ("reorder", ["2", "1", "9"]),
]


def made(task_id, status, parent):
    """Return a task, with edges that a draft must ignore."""
    waiting = Waiting("ann") if status == WAITS else None
    status = Status.PENDING if waiting else status
    given = {"parent": parent, "blocks": ("1",), "blocked_by": ("2",)}
    return Task(task_id, "x", status=status, waiting=waiting, **given)


def take(draft, name, *given):
    """Take one step on a draft, whether it makes sense or not."""
    if name == "add":
        draft.add(made(*given))
    elif name == "add_all":
        numbered = enumerate(*given, draft.next_id)
        new = [made(str(number), *each) for number, each in numbered]
        draft.add_all([task.but(blocks=(), blocked_by=()) for task in new])
    elif name == "wait":
        task_id, waits = given
        if (task := draft.get(task_id)) and task.status is Status.PENDING:
            draft.put(task.but(waiting=Waiting("ann") if waits else None))
    elif name == "reorder":
        draft.reorder(*given)
    else:
        getattr(draft, name)(*given, None)


def has_happened(before, after, name, *given):
    """Return whether a step did what it says, as far as it made sense."""
    known = {task.id: task for task in before}
    first, other = (*given, None)[:2]
    there = isinstance(first, str) and first in known
    if name == "add" and not there and number_of(first):
        above = given[2] if given[2] in known else None
        siblings = [task.id for task in after if task.parent == above]
        return (siblings[-1], bool(after[first].waiting)) == (first, other == WAITS)
    if name == "add_all":
        return len(after) == len(before) + len(first)
    if name == "move" and there:
        return after[first].status is other
    if name == "wait" and there and known[first].status is Status.PENDING:
        return (after[first].waiting is not None) is other
    if name in {"link", "unlink"} and there and other in known and first != other:
        return (other in after[first].blocks) is (name == "link")
    if name == "nest" and there and (other is None or other in known):
        if first in (other, *ancestors(before, other or "")) or known[first].parent == other:
            return list(after) == list(before)
        return [task.id for task in after if task.parent == other][-1] == first
    if name == "remove" and there:
        lifted = {task.id for task in before if task.parent == first}
        order = [task.id for task in before if task.id != first]
        return order == [task.id for task in after] and all(
            after[task_id].parent == known[first].parent for task_id in lifted
        )
    return {task.id for task in after} == set(known)


def can_be_started(plan, task):
    """Say by looking at all of them whether a task is ready."""
    above = [task, *(plan[end] for end in ancestors(plan, task.id))]
    held = any(each.waiting for each in above) or any(
        not plan[end].status.resolved for each in above for end in each.blocked_by
    )
    is_leaf = not any(each.parent == task.id for each in plan)
    return task.status is Status.PENDING and is_leaf and not held


def check(plan):
    """Assert what holds of every plan, from its tasks alone."""
    tasks = {task.id: task for task in plan}
    assert len(plan) == len(tasks) == sum(plan.counts)
    assert list(plan) == tree_order(plan)  # this clears parents that are not there
    for task in plan:
        assert plan.get(task.id) is task
        assert number_of(task.id) < plan.next_id
        assert all(task.id in tasks[end].blocked_by for end in task.blocks)
        assert all(task.id in tasks[end].blocks for end in task.blocked_by)
        assert len({*task.blocks}) == len(task.blocks)
        waits = [end for end in task.blocked_by if not tasks[end].status.resolved]
        assert plan.waits_for(task.id) == len(waits)
        assert plan.children(task.id) == tuple(t.id for t in plan if t.parent == task.id)
    assert list(plan.ready()) == [task for task in plan if can_be_started(plan, task)]
    assert list(plan.active()) == [task for task in plan if task.status == "in_progress"]
    assert list(plan.waiting()) == [task for task in plan if task.waiting]
    assert list(plan.counts) == [[t.status for t in plan].count(status) for status in Status]
    assert plan.nested is any(task.parent for task in plan)


@pytest.mark.parametrize("first", STEPS, ids=str)
def test_a_draft_is_right_after_any_two_steps(first):
    """In one draft or in one each; and a plan is not changed by the drafts that begin with it."""
    plan = plan_of(TREE)
    middle = Draft(plan)
    take(middle, *first)
    half = middle.freeze()
    check(half)
    assert has_happened(plan, half, *first)
    for second in STEPS:
        at_once, apart = Draft(plan), Draft(half)
        take(at_once, *first)
        take(at_once, *second)
        take(apart, *second)
        assert next(at_once.ready(), None) == next(apart.ready(), None)
        assert (len(at_once), at_once.has_waiting) == (len([*apart]), any(t.waiting for t in apart))
        after = at_once.freeze()
        check(after)
        assert after == apart.freeze()
        assert has_happened(half, after, *second)
    assert tuple(plan) == TREE


@given(some.full_plans)
def test_a_plan_that_commands_have_reached_is_right(plan):
    """Counts, edges, the tree, and who is ready are what counting anew gives."""
    check(plan)


def test_a_task_that_is_not_there_is_not_put():
    """Only a task that exists is replaced."""
    draft = Draft(Plan())
    draft.put(Task("1", "a"))
    assert (len(draft), draft.get("1")) == (0, None)


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


@pytest.mark.parametrize("gap", [2, CHUNK, CHUNK + 2, 10_000])
def test_gaps_between_ids_are_bridged(gap):
    """A near gap is left empty; after a far one the tasks are laid out anew."""
    draft = Draft(Plan())
    for task_id in ("1", str(1 + gap), str(2 + gap), str(1 + 2 * gap)):
        draft.add(Task(task_id, "x"))
    assert draft._tasks.size <= 3 * CHUNK
    plan = draft.freeze()
    assert [plan[t.id] is t for t in plan] == [True] * 4
    assert plan.next_id == 2 + 2 * gap


def test_an_id_below_the_next_one_may_come_late():
    """As in a merged history: it takes its place at the end, and ids go on as they were."""
    draft = Draft(plan_of(PAIR, next_id=9))
    draft.add(Task("5", "late"))
    draft.add(Task("4", "later"))
    plan = draft.freeze()
    assert ([task.id for task in plan], plan.next_id) == (["1", "2", "5", "4"], 9)


@pytest.mark.parametrize("ids", [[], ["3", "4"], ["3", "5"], ["7", "8"], ["1", "3"]])
def test_several_tasks_are_added_as_one_by_one(ids):
    """Whether their ids are the next ones or not."""
    tasks = [Task(task_id, "x", status=s) for task_id, s in zip(ids, Status, strict=False)]
    at_once, singly = Draft(plan_of(PAIR)), Draft(plan_of(PAIR))
    at_once.add_all(tasks)
    for task in tasks:
        singly.add(task)
    one, other = at_once.freeze(), singly.freeze()
    assert (one, [*one.ready()], [*one.active()]) == (other, [*other.ready()], [*other.active()])


def nested(*lines):
    """Return a draft with tasks such as "1" or "2<1": 2 lies in 1."""
    draft = Draft(Plan())
    for line in lines:
        task_id, _, parent = line.partition("<")
        draft.add(Task(task_id, "x", parent=parent or None))
    return draft


TOP = "pending", None
ORDERS = {
    "subtasks stand behind what contains them": ("1 2 3<1 4<3 5<1 6", [], "1 3 4 5 2 6"),
    "a moved task comes last": ("1 2<1 3<2 4 5<4", [("nest", "2", "4")], "1 4 5 2 3"),
    "also at the top level": ("1 2<1 3", [("nest", "2", None)], "1 3 2"),
    "what a removed task contains goes up": ("1 2<1 3<2 4<2 5<1", [("remove", "2")], "1 3 4 5"),
    "a removed task is not the end": (
        "1 2<1 3",
        [("remove", "3"), ("add", "4", "pending", "2")],
        "1 2 4",
    ),
    "a top task came after subtasks": (
        "1 2 3<1 4",
        [("remove", "4"), ("add", "5", *TOP)],
        "1 3 2 5",
    ),
    "several came after subtasks": (
        "1 2",
        [("add_all", [("pending", "1"), TOP]), ("add_all", [TOP, TOP])],
        "1 3 2 4 5 6",
    ),
    "a new order keeps the tree": ("1 2<1 3 4<3", [("reorder", ["4", "3", "2", "1"])], "3 4 1 2"),
}


@pytest.mark.parametrize("case", ORDERS)
def test_tasks_are_in_the_order_of_their_tree(case):
    """Each is directly followed by what it contains, siblings by when they came."""
    lines, more, order = ORDERS[case]
    draft = nested(*lines.split())
    for step in more:
        take(draft, *step)
    assert " ".join(task.id for task in draft) == order


def test_many_subtasks_are_put_in_place_at_once(monkeypatch):
    """However many come, all tasks are laid out anew once, when somebody asks for their order."""
    draft, laid_out, lay_out = nested("1", "2"), [], Draft._lay_out
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
    assert [task.id for task in draft] == ["1", "2", "3", "4", "5", "6"]


def test_tasks_brought_back_stand_in_the_order_of_their_tree():
    """Whatever order they are given in; a circle of parents is opened at its first task."""
    draft = Draft(Plan())
    draft.replace([Task("3", "x", parent="1"), Task("2", "x"), Task("1", "x")])
    assert [task.id for task in draft] == ["2", "1", "3"]
    draft.replace([Task("1", "x", parent="2"), Task("2", "x", parent="1"), Task("3", "x")])
    assert [(task.id, task.parent) for task in draft] == [("3", None), ("1", None), ("2", "1")]

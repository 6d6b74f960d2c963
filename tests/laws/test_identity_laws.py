"""Laws 6, 8 and 9: ids live once; a list written twice is written once; nothing is lost unsaid."""

import attrs
from hypothesis import assume, given
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core.commands import (
    Batch,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RestorePlan,
    WriteTodos,
)
from todoplan.core.decide import Accepted, Rejected, decide
from todoplan.core.events.types import PlanCleared, TaskCreated, TaskDeleted
from todoplan.core.plan.model import Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import DEFAULT, Policy

KEPT = ("description", "active_form", "priority", "owner", "estimate", "metadata", "created_at")
indented = st.lists(some.todos(some.good_texts, st.none()), max_size=7).map(tuple)
lines = indented.map(lambda todos: tuple(attrs.evolve(todo, level=None) for todo in todos))


def in_tree(ids, plan):
    """Return ids in the order that the plan's tree makes of theirs."""

    def way(task_id):
        places = []
        while task_id is not None:
            places.append(ids.index(task_id) if task_id in ids else len(ids))
            task_id = plan[task_id].parent
        return places[::-1]

    return sorted(ids, key=way)


def created(script, policy=None):
    """Return the ids that a script created, in order."""
    plan, ids = Plan(), []
    for command in script:
        answer = decide(plan, command, policy or Policy())
        if isinstance(answer, Accepted):
            ids += [event.task.id for event in answer.events if isinstance(event, TaskCreated)]
            plan = answer.plan
    return ids


@given(some.scripts)
def test_no_id_is_created_twice(script):
    """Law 6: through deletions, clears, writes and restores each new id is above all before."""
    numbers = [int(task_id) for task_id in created(script)]
    assert numbers == sorted(set(numbers))


@given(some.plans)
def test_id_of_the_deleted_highest_is_not_given_again(plan):
    """Law 6: also the last task's id is gone for good, and so are all after a clear."""
    assume(not any(task.claim for task in plan))  # none clears away what somebody has claimed
    made = decide(plan, CreateTask("x"), Policy()).plan
    newest = str(made.next_id - 1)
    for gone in (DeleteTask(newest), WriteTodos((), clear=True), RestorePlan(())):
        after = decide(made, Batch((gone, CreateTask("y"))), Policy())
        assert after.plan[str(made.next_id)].subject == "y"
        assert newest not in after.plan


def test_id_survives_many_deletions_and_a_compaction():
    """Law 6: when the container has packed itself, new tasks are found under new ids."""
    plan = some.run([CreateTasks(tuple(CreateTask("x") for _ in range(500)))])[-1]
    for number in range(2, 501):
        plan = decide(plan, DeleteTask(str(number)), Policy()).plan
    assert [task.id for task in plan] == ["1"]
    for number in range(501, 901):
        plan = decide(plan, CreateTask("y"), Policy()).plan
        assert plan[str(number)].subject == "y"
    assert "2" not in plan
    assert plan.next_id == 901


@given(some.plans, lines | indented, some.aware_times)
def test_same_list_twice_changes_nothing_the_second_time(plan, todos, at):
    """Law 8: the second write has no events and gives the very plan, also with waits and levels."""
    first = decide(plan, WriteTodos(todos), Policy(), at=at)
    # Indented, a line may come to lie in what blocks it: that is refused.
    assume(isinstance(first, Accepted))
    ended = any(task.waiting.until and task.waiting.until <= at for task in first.plan.waiting())
    # What a new line waits for may be over by now: the next command ends it, whatever it is.
    assume(not ended)
    second = decide(first.plan, WriteTodos(todos), Policy(), at=at)
    assert second.events == ()
    assert second.plan is first.plan


@given(some.full_plans, st.data())
def test_same_list_with_ids_of_the_plan_twice_changes_nothing(plan, data):
    """Law 8: the same when lines carry ids that the plan holds, in any order and with new texts."""
    known = [task.id for task in plan]
    ids = data.draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    todos = tuple(
        Todo(data.draw(some.good_texts), data.draw(some.statuses), id=task_id)
        for task_id in [*ids, *data.draw(st.lists(st.none(), max_size=3))]
    )
    first = decide(plan, WriteTodos(todos), Policy())
    assert decide(first.plan, WriteTodos(todos), Policy()).events == ()
    assert [task.id for task in first.plan if task.id in ids] == in_tree(ids, first.plan)


own_numbers = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 6).map(str)),
    max_size=6,
    unique_by=lambda line: line[1],
)


@given(own_numbers)
def test_a_list_with_numbers_of_its_own_twice_changes_nothing(lines_given):
    """Law 8: models that number their lines, from 0, from 1 or at random, write no noise."""
    todos = WriteTodos(tuple(Todo(text, id=number) for text, number in lines_given))
    first = decide(Plan(), todos, Policy())
    second = decide(first.plan, todos, Policy())
    assert second.events == ()
    assert [task.subject for task in second.plan] == [text for text, _ in lines_given]


@given(some.full_plans, st.randoms(use_true_random=False), st.booleans())
def test_write_keeps_the_identity_of_what_it_left_alone(plan, random, by_id):
    """Law 8: reordered, with or without ids: every task keeps its id, edges and all its fields."""
    order = list({task.subject: task for task in plan}.values())
    random.shuffle(order)
    todos = tuple(Todo(t.subject, t.status, id=t.id if by_id else None) for t in order)
    only = decide(
        plan, WriteTodos(tuple(Todo(t.subject, t.status, id=t.id) for t in order)), Policy()
    )
    after = decide(only.plan, WriteTodos(todos), Policy()).plan
    assert [task.id for task in after] == in_tree([task.id for task in order], after)
    for task in order:
        assert after[task.id].parent == only.plan[task.id].parent
        assert after[task.id].blocks == only.plan[task.id].blocks
        assert after[task.id].blocked_by == only.plan[task.id].blocked_by
        assert [getattr(after[task.id], f) for f in KEPT] == [getattr(task, f) for f in KEPT]


@given(some.plans, lines)
def test_the_plan_is_the_list_that_was_written(plan, todos):
    """
    Law 8: after a write texts, statuses and order are those of the list; the order as far as the
    tree allows, for a line that does not say how deep it is stays where it is. What somebody has
    claimed no list writes over (law 19).
    """
    answer = decide(plan, WriteTodos(todos), Policy())
    if isinstance(answer, Rejected):
        assert {problem.code for problem in answer.problems} == {"claimed"}
        return
    after = answer.plan
    found = [(task.subject, task.status) for task in after]
    wanted = [(todo.content, todo.status) for todo in todos]
    assert sorted(found) == sorted(wanted)
    if not any(task.parent for task in after):
        assert found == wanted


@given(indented)
def test_an_indented_list_is_a_tree(todos):
    """Law 18: each line lies in the last one above it that is indented less, if there is one."""
    todos = tuple(attrs.evolve(todo, level=todo.level or 0) for todo in todos)
    after = decide(Plan(), WriteTodos(todos), Policy()).plan
    assert [task.subject for task in after] == [todo.content for todo in todos]
    tasks = list(after)
    for place, todo in enumerate(todos):
        above = [n for n in range(place) if todos[n].level < todo.level]
        assert tasks[place].parent == (tasks[above[-1]].id if above else None)


@given(some.full_plans, lines)
def test_dropped_open_items_go_and_are_told(plan, todos):
    """Law 9: what a write leaves out is removed, an event each, and open items are warned of."""
    open_ids = [task.id for task in plan if not task.status.closed]
    answer = decide(plan, WriteTodos(todos), DEFAULT.but(empty_write="off"))
    gone = {e.task_id for e in answer.events if isinstance(e, TaskDeleted)}
    gone |= {i for e in answer.events if isinstance(e, PlanCleared) for i in e.task_ids}
    assert gone == {task.id for task in plan} - {task.id for task in answer.plan}
    told = [p.task_ids for p in answer.warnings if p.code == "dropped_open_items"]
    dropped = tuple(task_id for task_id in open_ids if task_id in gone)
    assert told == ([dropped] if dropped else [])


@given(some.full_plans, lines)
def test_a_policy_refuses_to_drop_open_items(plan, todos):
    """Law 9: with `dropped_open_items` at error no write, alone or batched, drops an open task."""
    policy = Policy().but(dropped_open_items="error")
    for command in (WriteTodos(todos), Batch((WriteTodos(todos),))):
        answer = decide(plan, command, policy)
        if isinstance(answer, Rejected):
            assert [p.code for p in answer.problems] == ["dropped_open_items"]
        else:
            assert all(task.status.closed or task.id in answer.plan for task in plan)

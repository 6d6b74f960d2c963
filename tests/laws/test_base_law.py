"""Law 15: nobody's work is undone unseen."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan import Plan, Rejected, Status, Task, Todo, decide, plan_of, replay
from todoplan.core import commands
from todoplan.core.rules import Policy
from todoplan.testing import strategies
from todoplan.testing.strategies.text import titles

ANYTHING = Policy()


def lines(plan):
    """Return a plan as the list that a model would send back unchanged."""
    return [Todo(task.subject, task.status) for task in plan]


def write(plan, base, todos, policy=ANYTHING):
    """Return the plan after a whole-list write from a base."""
    done = decide(plan, commands.WriteTodos(todos), policy, base=base)
    assert replay(plan, done.events) == done.plan
    return done.plan


def after(plan, *others):
    """Return the plan after commands of another actor."""
    for command in others:
        plan = decide(plan, command, ANYTHING).unwrap()
    return plan


BASE = plan_of([Task("1", "Draft"), Task("2", "Review"), Task("3", "Send")])


def shown(plan):
    """Return each task as its text and status."""
    return [(task.subject, task.status.value) for task in plan]


def test_what_another_actor_added_stays():
    """The list does not have it, for its writer has not seen it; it stays where it was."""
    plan = after(BASE, commands.CreateTask("Tell Ann"))
    todos = [Todo("Draft", "completed"), Todo("Review"), Todo("Send"), Todo("New")]
    done = write(plan, BASE, todos)
    assert [task.subject for task in done] == ["Draft", "Review", "Send", "New", "Tell Ann"]
    assert done["1"].status is Status.COMPLETED
    assert done["4"].subject == "Tell Ann"


@pytest.mark.parametrize(
    "change",
    [
        commands.UpdateTask("2", status="in_progress"),
        commands.UpdateTask("2", status="completed"),
        commands.UpdateTask("2", subject="Review it well"),
        commands.UpdateTask("2", owner="ann"),
        commands.UpdateTask("2", add_blocked_by=("1",)),
    ],
)
def test_what_another_actor_changed_is_neither_removed_nor_set_back(change):
    """Left out, it stays; repeated as the base had it, it is as the other actor made it."""
    plan = after(BASE, change)
    assert write(plan, BASE, [Todo("Draft"), Todo("Send")])["2"] == plan["2"]
    assert write(plan, BASE, lines(BASE)) == plan


def test_what_the_writer_leaves_out_and_nobody_changed_goes():
    """A base takes nothing from what a list means."""
    plan = after(BASE, commands.CreateTask("Tell Ann"))
    assert [task.subject for task in write(plan, BASE, [Todo("Send")])] == ["Send", "Tell Ann"]


def test_where_both_changed_a_field_the_later_write_stands():
    """The status is the writer's, the text is the other actor's."""
    plan = after(BASE, commands.UpdateTask("1", status="cancelled", subject="Draft it"))
    done = write(plan, BASE, [Todo("Draft", "completed"), Todo("Review"), Todo("Send")])
    assert (done["1"].subject, done["1"].status) == ("Draft it", Status.COMPLETED)


def test_what_another_actor_removed_stays_removed():
    """Whether the list repeats it or changes it."""
    plan = after(BASE, commands.DeleteTask("2"))
    for status in ("pending", "completed"):
        todos = [Todo("Draft"), Todo("Review", status), Todo("Send")]
        assert write(plan, BASE, todos) == plan


def test_the_same_text_as_another_actor_added_is_that_task():
    """It is not made twice; what the line says beyond that is taken."""
    plan = after(BASE, commands.CreateTask("Tell Ann", status="in_progress", owner="ann"))
    todos = [*lines(BASE), Todo("Tell Ann")]
    assert write(plan, BASE, todos) == plan
    done = write(plan, BASE, [*lines(BASE), Todo("tell ann!", "completed", id="9")])
    assert (done["4"].subject, done["4"].status) == ("Tell Ann", Status.COMPLETED)
    assert len(done) == 4


def test_the_order_is_the_writers_only_if_it_changed_it():
    """Otherwise the other actor's order stays, and new lines follow the line above them."""
    plan = after(BASE, commands.CreateTask("Tell Ann"), commands.UpdateTask("4", owner="ann"))
    turned = plan_of([plan["3"], plan["4"], plan["1"], plan["2"]], revision=9)
    done = write(turned, BASE, [Todo("Draft"), Todo("New"), Todo("Review"), Todo("Send")])
    assert [task.subject for task in done] == ["Send", "Tell Ann", "Draft", "New", "Review"]
    done = write(turned, BASE, [Todo("First"), Todo("Review"), Todo("Send"), Todo("Draft")])
    assert [task.subject for task in done] == ["First", "Review", "Send", "Tell Ann", "Draft"]


def test_clearing_the_list_leaves_what_others_did():
    """By an empty list that is meant, or by `ClearPlan`."""
    plan = after(BASE, commands.CreateTask("Tell Ann"), commands.UpdateTask("2", owner="ann"))
    for command in (commands.WriteTodos((), clear=True), commands.ClearPlan()):
        left = decide(plan, command, ANYTHING, base=BASE).unwrap()
        assert [task.subject for task in left] == ["Review", "Tell Ann"]
        assert not len(decide(BASE, command, ANYTHING, base=BASE).unwrap())


def test_without_a_base_the_base_is_the_plan_as_it_is():
    """As it is where the base is the plan itself, or equal to it."""
    todos = [Todo("Send"), Todo("New")]
    for base in (None, BASE, plan_of(tuple(BASE))):
        assert shown(write(BASE, base, todos)) == [("Send", "pending"), ("New", "pending")]


@st.composite
def writes(draw):
    """Draw a plan, what another actor makes of it, and a list written without having seen that."""
    base = draw(strategies.plans(max_size=6))
    plan = base
    for _ in range(draw(st.integers(1, 4))):
        command = draw(strategies.sensible_commands(plan))
        decision = decide(plan, command, ANYTHING)
        plan = decision.plan if hasattr(decision, "plan") else plan
    some = st.sampled_from(list(base)) if len(base) else st.nothing()
    kept = draw(st.lists(some, unique_by=lambda task: task.id))
    new = draw(st.lists(titles(), max_size=2))
    todos = [Todo(task.subject, task.status, id=task.id) for task in kept]
    return base, plan, [*todos, *(Todo(f"new {title}") for title in new)]


@given(writes())
def test_what_one_actor_did_and_the_other_did_not_touch_is_in_the_plan(drawn):
    """For any two actors who take turns; and the same list, written again, changes nothing."""
    base, plan, todos = drawn
    named = {todo.id for todo in todos}
    answer = decide(plan, commands.WriteTodos(todos), ANYTHING, base=base)
    if isinstance(answer, Rejected):
        # Law 19: what somebody has claimed is neither removed nor moved on by who has not.
        assert {problem.code for problem in answer.problems} == {"claimed"}
        assert all(plan[problem.task_ids[0]].claim for problem in answer.problems)
        return
    done = write(plan, base, todos)
    for task in plan:
        if base.get(task.id) != task:
            now = done.get(task.id)
            assert now is not None
            # What it lay in may be gone by the list: then it lies where that was.
            within = task.parent if task.parent not in done else now.parent
            assert attrs.evolve(now, **_edges(task), parent=within) == task
        elif task.id not in named and task.id in base:
            assert done.get(task.id) is None
    for todo in todos:
        gone = todo.id is not None and plan.get(todo.id) is None
        assert gone or any(task.subject == todo.content for task in done) or todo.id in base


def _edges(task):
    return {name: getattr(task, name) for name in ("blocks", "blocked_by", "updated_at")}


def test_a_base_that_is_no_plan_is_refused():
    """A developer's mistake, said at once."""
    with pytest.raises(Exception, match="give a Base or a plan"):
        decide(BASE, commands.WriteTodos(()), base=Plan)


def test_an_empty_list_by_mistake_wipes_nothing():
    """Whether or not others have changed the plan: it has to be said that it is meant."""
    plan = after(BASE, commands.CreateTask("Tell Ann"))
    for base in (None, BASE):
        assert decide(plan, commands.WriteTodos(()), base=base).problems[0].code == "empty_write"

from todoplan.core.commands import ClearPlan, UpdateTask, WriteTodos
from todoplan.core.decide import Rejected, decide, plan_of
from todoplan.core.events import types as events
from todoplan.core.plan.model import Task, Todo, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy

PLAN = plan_of(
    [
        Task("1", "a", owner="ann", blocks=("3",)),
        Task("2", "b", active_form="doing b", priority="low"),
        Task("3", "c", blocked_by=("1",)),
    ]
)


def write(*todos, plan=PLAN):
    """Return what `decide` says to a write."""
    return decide(plan, WriteTodos(todos), Policy())


def test_first_write_creates_in_order():
    """A list for an empty plan: one creation a line, and nothing else."""
    answer = write(Todo("a", "in_progress"), Todo("b", priority="high"), plan=Plan())
    assert [type(event) for event in answer.events] == [events.TaskCreated, events.TaskCreated]
    assert [(t.id, t.subject, t.status, t.priority) for t in answer.plan] == [
        ("1", "a", "in_progress", None),
        ("2", "b", "pending", "high"),
    ]


def test_only_what_changed_is_an_event():
    """A status, a new text by id, an insertion in the middle, a deletion: one event each."""
    answer = write(Todo("a", "completed"), Todo("new"), Todo("B, too", id="2"))
    kinds = [type(event).__name__ for event in answer.events]
    assert kinds == ["TaskDeleted", "StatusChanged", "TaskEdited", "TaskCreated", "TasksReordered"]
    assert [task.id for task in answer.plan] == ["1", "4", "2"]
    assert (answer.plan["1"].owner, answer.plan["1"].blocks) == ("ann", ())


def test_not_given_is_left():
    """A line without active form and priority leaves them; one with sets them."""
    same = write(Todo("a"), Todo("b"), Todo("c"))
    assert same.events == ()
    assert same.plan is PLAN
    changed = write(Todo("a"), Todo("b", active_form="at b", priority="high"), Todo("c")).plan["2"]
    assert (changed.active_form, changed.priority) == ("at b", "high")


def test_nothing_kept_is_a_clear_and_new_ids():
    """When no line means a task of the plan, the plan is cleared in one event."""
    answer = write(Todo("x"))
    assert answer.events[0] == events.PlanCleared(("1", "2", "3"))
    assert [task.id for task in answer.plan] == ["4"]
    assert write().events == (events.PlanCleared(("1", "2", "3")),)
    assert decide(PLAN, ClearPlan(), Policy()).events == write().events


def test_faults_of_all_lines_at_once():
    """Empty texts and ids that stand twice are refused with their place; the plan stays."""
    answer = write(
        Todo(" ", id="1"), Todo("x", id="1"), Todo("\t"), Todo("y", id="x"), Todo("z", id="x")
    )
    assert isinstance(answer, Rejected)
    assert [(p.code, p.path) for p in answer.problems] == [
        ("empty_text", "todos[0].content"),
        ("duplicate_id", "todos[1].id"),
        ("empty_text", "todos[2].content"),
        ("duplicate_id", "todos[4].id"),
    ]


def drawn(plan):
    """Return a plan as "subject<parent's subject", in order."""
    return " ".join(
        f"{t.subject}<{plan[t.parent].subject}" if t.parent else t.subject for t in plan
    )


def lines(text):
    """Return a line for each word; dots before it are its level."""
    return [Todo(word.lstrip("."), level=word.count(".")) for word in text.split()]


def test_indented_lines_are_subtasks():
    """Of the last line above them that is indented less; the same list again is nothing new."""
    answer = write(*lines("a .b ..c .d e ...f"), plan=Plan())
    assert drawn(answer.plan) == "a b<a c<b d<a e f<e"
    assert write(*lines("a .b ..c .d e ...f"), plan=answer.plan).events == ()
    assert drawn(write(*lines(".a b"), plan=Plan()).plan) == "a b"


def test_other_levels_move_tasks():
    """Out, in, and together with what they contain."""
    plan = write(*lines("a .b ..c d"), plan=Plan()).plan
    assert drawn(write(*lines("a b .c d"), plan=plan).plan) == "a b c<b d"
    assert drawn(write(*lines("d .a ..b ...c"), plan=plan).plan) == "d a<d b<a c<b"
    assert drawn(write(*lines("c .b ..a d"), plan=plan).plan) == "c b<c a<b d"


def test_a_list_without_levels_leaves_the_tree():
    """Who cannot say where a task lies does not move it; one line that can speaks for all."""
    plan = write(*lines("a .b c"), plan=Plan()).plan
    flat = [Todo(word) for word in "abc"]
    assert write(*flat, plan=plan).events == ()
    assert drawn(write(*reversed(flat), plan=plan).plan) == "c a b<a"
    assert drawn(write(flat[0], flat[1], Todo("c", level=1), plan=plan).plan) == "a b c<b"


def test_what_a_dropped_line_contains_goes_up():
    """Its subtasks are named, and stay."""
    plan = write(*lines("a .b ..c"), plan=Plan()).plan
    assert drawn(write(Todo("a"), Todo("c"), plan=plan).plan) == "a c<a"


def test_equal_lines_mean_the_same_tasks_again():
    """Also where the tree has them in another order than the list (law 8)."""
    plan = write(*lines("d .b"), plan=Plan()).plan
    again = [Todo("b"), Todo("b", "cancelled"), Todo("a"), Todo("b", "cancelled"), Todo("d")]
    once = write(*again, plan=plan)
    assert once.events
    assert write(*again, plan=once.plan).events == ()


def test_of_equal_lines_the_first_means_the_task_that_is_there():
    """However it was spelt, and wherever it lies: the other one is new."""
    plan = write(*lines("d .b"), plan=Plan()).plan
    after = write(Todo("d"), Todo("B", "completed"), Todo("B"), plan=plan).plan
    assert [(task.id, task.status) for task in after if task.subject == "B"] == [
        ("2", "completed"),
        ("3", "pending"),
    ]


def test_a_line_may_wait():
    """It makes a pending task wait that does not wait yet, and takes a started one back."""
    ann = Waiting("ann")
    plan = write(Todo("a", waiting=ann), Todo("b"), plan=Plan()).plan
    assert plan["1"].waiting is ann
    assert write(Todo("a", waiting=Waiting("x")), Todo("b"), plan=plan).events == ()
    assert write(Todo("a", "pending"), Todo("b"), plan=plan).events == ()
    started = write(Todo("a", "in_progress"), Todo("b"), plan=plan).plan
    assert started["1"].waiting is None
    back = write(Todo("a", "pending", waiting=ann), Todo("b"), plan=started).plan
    assert (back["1"].status, back["1"].waiting) == ("pending", ann)
    seen = decide(started, WriteTodos((Todo("b"), Todo("a", waiting=ann))), Policy(), base=plan)
    assert seen.plan["1"].waiting is None
    behind = decide(started, WriteTodos((Todo("b", waiting=ann), Todo("a"))), Policy(), base=plan)
    assert behind.plan["2"].waiting is ann


def test_a_line_that_waits_is_pending():
    """Another status beside it is refused."""
    answer = write(Todo("a", "in_progress", waiting=Waiting("ann")), plan=Plan())
    (problem,) = answer.problems
    assert (problem.code, problem.path) == ("cannot_wait", "todos[0].status")
    assert problem.seen == "in_progress"


def test_levels_from_a_base():
    """What its writer moved is moved; what another actor added stays where it is (law 15)."""
    base = write(*lines("a .b c"), plan=Plan()).plan
    plan = write(*lines("a .b ..x c"), plan=base).plan
    answer = decide(plan, WriteTodos(lines("a b c")), Policy(), base=base)
    assert drawn(answer.plan) == "a b x<b c"


def test_of_equal_lines_of_an_indented_list_the_first_means_the_task():
    """Where it lay counts for nothing: the list says how its tasks lie, and is their order."""
    plan = plan_of([Task("1", "a"), Task("2", "n", parent="1")])
    todos = WriteTodos((Todo("n"), Todo("n"), Todo("y", level=1), Todo("a", id="1")))
    once = decide(plan, todos, Policy()).plan
    assert [task.id for task in once] == ["2", "3", "4", "1"]
    assert [task.parent for task in once] == [None, None, "3", None]
    assert decide(once, todos, Policy()).plan is once


def test_an_indented_list_moves_no_task_that_others_have_moved():
    """A line that stands where it stood for its session moves nothing (law 15)."""
    base = plan_of([Task("1", "a"), Task("2", "b", parent="1"), Task("3", "c")])
    now = decide(base, UpdateTask("2", parent="3")).unwrap()
    todos = (Todo("a", level=0), Todo("b", level=1), Todo("c", "completed", level=0))
    after = decide(now, WriteTodos(todos), base=base).unwrap()
    assert (after["2"].parent, after["3"].status) == ("3", "completed")
    moved = (Todo("a", level=0), Todo("b", level=0), Todo("c", level=0))
    assert decide(now, WriteTodos(moved), base=base).unwrap()["2"].parent is None

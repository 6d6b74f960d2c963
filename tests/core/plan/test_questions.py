from todoplan.core.commands import UpdateTask
from todoplan.core.decide.assembly import plan_of
from todoplan.core.decide.decide import decide
from todoplan.core.events.apply import apply
from todoplan.core.events.types import PlanRestored
from todoplan.core.plan import questions
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.presets import STRICT

PLAN = plan_of(
    [
        Task("1", "a", status="completed", blocks=("3",)),
        Task("2", "b", blocks=("3", "4", "5"), estimate=5.0),
        Task("3", "c", blocked_by=("1", "2"), estimate=1.0),
        Task("4", "d", blocked_by=("2", "6")),
        Task("5", "e", status="in_progress", blocked_by=("2",)),
        Task("6", "f", blocks=("4",)),
    ]
)


def ids(tasks):
    """
    Return the ids of tasks.
    """
    return [task.id for task in tasks]


def test_ready_and_open():
    """Ready: pending and nothing to wait for. Open: pending and in progress."""
    assert ids(questions.ready(PLAN)) == ["2", "6"]
    assert ids(questions.open_tasks(PLAN)) == ["2", "3", "4", "5", "6"]


def test_next_task_is_the_running_one_or_the_first_ready():
    """First what was begun; then what can be; nothing when nothing can."""
    assert questions.next_task(PLAN).id == "5"
    assert questions.next_task(plan_of([Task("1", "a")])).id == "1"
    assert questions.next_task(Plan()) is None


def test_blocked_tells_the_unresolved_blockers():
    """Resolved blockers stay edges and are filtered from the view."""
    assert questions.blocked(PLAN) == {"3": ("2",), "4": ("2", "6"), "5": ("2",)}
    assert questions.unresolved_blockers(PLAN, PLAN["3"]) == ("2",)
    assert questions.unresolved_blockers(PLAN, PLAN["2"]) == ()


def test_an_edge_to_no_task_holds_nothing_up():
    """A journal replays unchecked: the questions are answered, and the rules ask them."""
    tasks = Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("9", "1"))
    loose = apply(Plan(), PlanRestored(tasks))
    assert questions.blocked(loose) == {"2": ("1",)}
    (problem,) = decide(loose, UpdateTask("2", status="in_progress"), STRICT).problems
    assert (problem.code, problem.seen) == ("blocked_start", "1")


def test_progress_is_the_resolved_share():
    """From nothing to all; an empty plan has got nowhere."""
    assert questions.progress(PLAN) == 1 / 6
    assert questions.progress(Plan()) == 0.0
    assert questions.progress(plan_of([Task("1", "a", status="cancelled")])) == 1.0


def test_order_and_critical_path():
    """The order is of all tasks, the critical path of the open ones."""
    assert questions.topological_order(PLAN) == ("1", "2", "3", "5", "6", "4")
    assert questions.critical_path(PLAN) == (("2", "3"), 6.0)


def test_unblocked_by_tells_what_completing_would_make_ready():
    """Only pending tasks that wait for this one alone."""
    assert questions.unblocked_by(PLAN, "2") == ("3",)
    assert questions.unblocked_by(PLAN, "1") == ()
    assert questions.unblocked_by(PLAN, "6") == ()
    assert questions.unblocked_by(PLAN, "99") == ()

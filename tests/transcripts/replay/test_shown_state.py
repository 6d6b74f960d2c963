"""What the answers of tools show of the plan is believed over what the calls alone would give."""

import pytest

from todoplan.transcripts.calls import CallResult, PlanningCall
from todoplan.transcripts.replay import Fold, shown_tasks


def call(tool, arguments, text="ok", line=1, **data):
    return PlanningCall(tool, arguments, line, result=CallResult(text, data=data))


def create(subject, task_id):
    return call("TaskCreate", {"subject": subject}, f"Task #{task_id} created successfully: x")


def listing(*rows):
    keys = ("id", "subject", "status")
    return call(
        "TaskList", {}, "", line=9, tasks=[dict(zip(keys, row, strict=True)) for row in rows]
    )


def played(*calls):
    fold = Fold()
    steps = [fold.feed(one) for one in calls]
    plan = fold.lanes["main"].plan
    codes = [[(one.code, one.task_ids) for one in step.findings] for step in steps]
    return [(task.id, task.subject, task.status.value) for task in plan], codes


SOW, REAP = create("Sow", 1), create("Reap", 2)


def test_a_list_shows_what_others_did():
    """A task that was completed, one that was reworded, one that was made: each is named, once."""
    shown = listing(("1", "Sow", "completed"), ("2", "Mow", "pending"), ("3", "Eat", "in_progress"))
    plan, codes = played(SOW, REAP, shown, shown)
    assert plan == [("1", "Sow", "completed"), ("2", "Mow", "pending"), ("3", "Eat", "in_progress")]
    assert codes[2:] == [[("changed_elsewhere", ("1", "2", "3"))], []]


def test_a_task_that_a_whole_list_leaves_out_is_gone():
    """Only where the answer is structured: words may be cut short."""
    plan, codes = played(SOW, REAP, listing(("2", "Reap", "pending")))
    assert plan == [("2", "Reap", "pending")]
    assert codes[2] == [("changed_elsewhere", ("1",))]
    plan, codes = played(SOW, REAP, call("TaskList", {}, "#2 [completed] Reap [blocked by #1]"))
    assert plan == [("1", "Sow", "pending"), ("2", "Reap", "completed")]


def test_words_tell_the_status_and_not_the_subject():
    """An owner may stand behind a subject; a task that is new gets the text as it stands."""
    plan, _ = played(
        SOW, call("TaskList", {}, "#1 [in_progress] Sow (ann)\n#2 [odd] x\n#4 [pending] Eat")
    )
    assert plan == [("1", "Sow", "in_progress"), ("4", "Eat", "pending")]


def test_one_task_that_is_looked_at_says_nothing_of_the_others():
    """TaskGet shows one."""
    shown = call(
        "TaskGet", {"taskId": "1"}, "", task={"id": "1", "subject": "Sow", "status": "completed"}
    )
    plan, codes = played(SOW, REAP, shown)
    assert plan == [("1", "Sow", "completed"), ("2", "Reap", "pending")]
    assert codes[2] == [("changed_elsewhere", ("1",))]


@pytest.mark.parametrize(
    "empty", [call("TaskList", {}, "No tasks found"), call("TaskList", {}, "", tasks=[])]
)
def test_an_empty_list_is_a_lost_plan_where_tasks_are_open(empty):
    """It removes nothing; a finished plan that is gone was cleared by the program, as it does."""
    plan, codes = played(SOW, REAP, empty)
    assert (len(plan), codes[2]) == (2, [("lost_plan", ("1", "2"))])
    done = call("TaskUpdate", {"taskId": "1", "status": "completed"})
    plan, codes = played(SOW, done, empty)
    assert (len(plan), codes[2]) == (1, [])


def test_an_update_says_what_the_status_was_before():
    """Somebody else started it: the completion is no jump."""
    change = {"from": "in_progress", "to": "completed"}
    update = {"taskId": "1", "status": "completed"}
    plan, codes = played(SOW, call("TaskUpdate", update, taskId="1", statusChange=change))
    assert plan == [("1", "Sow", "completed")]
    assert codes[1] == [("changed_elsewhere", ("1",))]
    again = call(
        "TaskUpdate", update, taskId="1", statusChange={"from": "pending", "to": "completed"}
    )
    assert "linear_status" in [code for code, _ in played(SOW, again)[1][1]]


def test_a_task_of_a_team_that_is_updated_is_made_elsewhere():
    """What its status was before says nothing of its text."""
    change = {"from": "in_progress", "to": "completed"}
    update = call(
        "TaskUpdate", {"taskId": "7", "status": "completed"}, taskId="7", statusChange=change
    )
    assert played(update)[0] == [("7", "(made elsewhere)", "completed")]


def test_a_finished_list_that_was_cleared_is_not_a_list_that_was_changed():
    """
    The program clears it, and the next write begins a new plan: no completed item was removed.
    """
    first = call("TodoWrite", {"todos": [{"content": "Sow", "status": "completed"}]})
    todos = [{"content": "Eat", "status": "in_progress"}]
    plan, codes = played(first, call("TodoWrite", {"todos": todos}, oldTodos=[], newTodos=todos))
    assert plan == [("2", "Eat", "in_progress")]
    assert codes[1] == [("new_plan", ())]
    sow = [{"content": "Sow", "status": "pending"}]
    plan, codes = played(first, call("TodoWrite", {"todos": sow}, oldTodos=[], newTodos=sow))
    assert plan == [("2", "Sow", "pending")]
    assert codes[1] == [("new_plan", ()), ("some_in_progress", ("2",))]
    sown = [{"content": "Sow", "status": "completed"}]
    plan, codes = played(first, call("TodoWrite", {"todos": sown}, oldTodos=[], newTodos=sown))
    assert plan == [("1", "Sow", "completed")]
    assert [code for code, _ in codes[1]] == ["no_op_write"]  # the same items are the same plan
    both = [*sown, {"content": "Eat", "status": "in_progress"}]
    plan, codes = played(first, call("TodoWrite", {"todos": both}, oldTodos=[], newTodos=both))
    assert plan == [("1", "Sow", "completed"), ("2", "Eat", "in_progress")]
    assert codes[1] == []  # nor is it a new one if more is to be done
    _, codes = played(first, call("TodoWrite", {"todos": sow}, oldTodos=[{}], newTodos=sow))
    assert codes[1] == [("some_in_progress", ("1",)), ("completed_is_final", ("1",))]


@pytest.mark.parametrize(
    "tasks",
    [
        ["x"],
        [{"id": 1, "subject": "Sow", "status": "pending"}],
        [{"id": "x1", "subject": "Sow", "status": "pending"}],
        [{"id": "1", "subject": None, "status": "pending"}],
        [{"id": "1", "subject": "Sow", "status": "odd"}],
    ],
)
def test_what_is_no_task_shows_none_and_removes_none(tasks):
    """A list in which nothing is understood says nothing about the plan."""
    assert shown_tasks(CallResult("", data={"tasks": tasks})) == ()
    plan, codes = played(SOW, call("TaskList", {}, "", tasks=tasks))
    assert (len(plan), codes[1]) == (1, [])


def test_what_no_plan_can_hold_is_not_followed():
    """A shown task without a text stays as it was."""
    plan, codes = played(SOW, listing(("1", " ", "pending")))
    assert (plan, codes[1]) == ([("1", "Sow", "pending")], [])


def test_an_answer_that_is_missing_shows_nothing():
    """A list that was asked for and never came."""
    plan, _ = played(SOW, PlanningCall("TaskList", {}, 2))
    assert len(plan) == 1


def test_a_list_in_any_order_keeps_its_ids():
    """A teammate's file begins with TaskList, whose tasks are not in the order of their ids."""
    first = [(number, f"Task {number}", "pending") for number in "352416"]
    then = [(number, text, "completed" if number == "2" else was) for number, text, was in first]
    plan, codes = played(
        listing(*first),
        call("TaskUpdate", {"taskId": "2", "status": "completed"}, "Updated task #2 status"),
        listing(*then),
        create("Task 7", 7),
    )
    assert plan == [*then, ("7", "Task 7", "pending")]
    assert codes[0] == [("changed_elsewhere", tuple("352416"))]
    assert codes[2:] == [[], []]


def test_finished_tasks_that_a_program_clears_were_removed_by_nobody():
    """The list goes on without them; an open one that is missing is still told."""
    done = [("1", "Sow", "completed"), ("2", "Reap", "completed")]
    new = ("3", "Eat", "pending")
    plan, codes = played(SOW, REAP, listing(*done), create("Eat", 3), listing(new))
    assert (plan, codes[4]) == ([new], [])
    _, codes = played(SOW, REAP, listing(("2", "Reap", "pending")))
    assert codes[2] == [("changed_elsewhere", ("1",))]


def test_a_finished_item_that_an_open_list_lost_was_removed():
    """Programs clear a whole list that is finished, and no single items of a list."""
    rows = [{"content": "Sow", "status": "completed"}, {"content": "Reap", "status": "pending"}]
    first = call("TodoWrite", {"todos": rows})
    _, codes = played(first, call("TodoWrite", {"todos": rows}, oldTodos=rows[1:], newTodos=rows))
    assert codes[1][0] == ("changed_elsewhere", ("1",))


def test_a_finished_list_that_another_one_replaced_was_removed_by_nobody():
    """The other one was written where the recording has a gap; of an open list, both are told."""
    eat = [{"content": "Eat", "status": "in_progress"}]
    eaten = [{"content": "Eat", "status": "completed"}]
    write = call("TodoWrite", {"todos": eaten}, oldTodos=eat, newTodos=eaten)
    for status, expected in (("completed", ("2",)), ("pending", ("1", "2"))):
        first = call("TodoWrite", {"todos": [{"content": "Sow", "status": status}]})
        plan, codes = played(first, write)
        assert plan == [("2", "Eat", "completed")]
        assert codes[1] == [("changed_elsewhere", expected)]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Fix `main`", "Fix main", True),
        ('Say "hi"', 'Say \\"hi\\"', True),
        ("Write the tests }", "Write the tests", True),
        ("Write the tests of the parser and run them", "Write the tests of the parser...", True),
        ("Sow", "Sow beans", False),
        ("Write the tests", "Run the tests", False),
    ],
)
def test_a_text_that_was_only_shortened_or_quoted_is_not_reworded(one, other, same):
    """In a list of tasks and in a whole list alike."""
    plan, codes = played(create(one, 1), listing(("1", other, "pending")))
    assert plan == [("1", one if same else other, "pending")]
    assert codes[1] == ([] if same else [("changed_elsewhere", ("1",))])
    row = [{"content": one, "status": "pending"}]
    shown = [{"content": other, "status": "completed"}]
    plan, _ = played(call("TodoWrite", {"todos": row}, newTodos=shown))
    assert ((one if same else other), "completed") in {(text, status) for _, text, status in plan}


def test_tasks_that_are_created_at_once_keep_their_ids():
    """The answers of parallel calls come in any order; the next number is above all of them."""
    plan, codes = played(
        *(create(each, each) for each in "4312"), call("TaskCreate", {"subject": "5"})
    )
    assert plan == [(each, each, "pending") for each in "43125"]
    assert codes == [[]] * 5


def test_an_id_that_was_claimed_in_vain_is_not_the_next():
    """No plan can have the second task, which would wait for itself."""
    vain = {"subject": "Lay", "blocks": ["5"], "blockedBy": ["5"]}
    plan, codes = played(
        create("Dig", 5),
        call("TaskCreate", vain, "Task #2 created successfully: Lay"),
        call("TaskCreate", {"subject": "Mow"}),
    )
    assert [code for code, _ in codes[1]] == ["cycle"]
    assert plan == [("5", "Dig", "pending"), ("6", "Mow", "pending")]

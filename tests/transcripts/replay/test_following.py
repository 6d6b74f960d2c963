"""The plan follows lists that the recording shows, and says what others did."""

import json

import pytest

from todoplan.transcripts.calls import CallResult, Compaction, PersonSpoke, PlanningCall, ShownPlan
from todoplan.transcripts.replay import Fold, Step

SOW = {"content": "Sow", "status": "in_progress"}
REAP = {"content": "Reap", "status": "pending"}
SOWN = SOW | {"status": "completed"}


def write(*todos, text="ok", line=1, **data):
    return PlanningCall(
        "TodoWrite", {"todos": list(todos)}, line, result=CallResult(text, data=data)
    )


def played(*items):
    fold = Fold()
    found = list(fold.steps(items))
    findings = [f for one in found for f in (one.findings if isinstance(one, Step) else (one,))]
    rows = [(task.subject, task.status.value) for task in fold.lanes["main"].plan]
    return rows, [(one.code, one.text) for one in findings if one.code != "ended_unfinished"], found


HEAD = "The current list is now:"
SHOWN = {
    "Claude Code": write(SOW, REAP, newTodos=[SOWN, REAP]),
    "OpenCode": write(SOW, REAP, todos=[SOWN, REAP]),
    "OpenCode's text": write(SOW, REAP, text=json.dumps([SOWN, REAP])),
    "OpenHands": write(SOW, REAP, task_list=[{"title": "Sow", "status": "done"}, REAP]),
    "LangChain": write(SOW, REAP, text=f"Updated todo list to {[SOWN, REAP]}"),
    "Gemini": write(SOW, REAP, text=f"Done. {HEAD}\n1. [completed] Sow\n2. [pending] Reap"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_list_of_an_answer_is_believed_over_the_list_that_was_sent(name):
    """In every system that repeats the list: a person or a program may have changed it."""
    rows, found, _ = played(SHOWN[name])
    assert rows == [("Sow", "completed"), ("Reap", "pending")]
    ((code, text),) = found
    assert code == "changed_elsewhere"
    assert text.startswith("Before line 1 someone else completed #1: another agent, a person")


@pytest.mark.parametrize(
    "text",
    [
        "[not json",
        "[1]",
        "Updated todo list to [{'content'",
        "Updated todo list to 7",
        "Updated todo list to {[]: 1}",
        "The current list is now:\n1. [pending] Sow\nand more",
        "The current list is now:\n",
        "Updated todo list to [{'content': None}]",
    ],
)
def test_an_answer_that_is_not_understood_shows_nothing(text):
    """Answers are cut, and texts have line breaks."""
    assert played(write(SOW, text=text))[:2] == ([("Sow", "in_progress")], [])


def test_the_list_that_a_write_replaced_shows_what_came_before():
    """Claude Code's `oldTodos`: the recording may begin in the middle."""
    rows, found, _ = played(write(SOWN, REAP, oldTodos=[SOW, REAP], newTodos=[SOWN, REAP]))
    assert rows == [("Sow", "completed"), ("Reap", "pending")]
    assert [code for code, _ in found] == ["changed_elsewhere", "some_in_progress"]


def test_reading_shows_the_whole_list():
    """A tool that only reads, and an empty answer over open tasks."""
    read = PlanningCall("TodoRead", {}, 2, result=CallResult("", data={"todos": [REAP]}))
    rows, found, _ = played(write(SOW, REAP), read)
    assert rows == [("Reap", "pending")]
    assert found[0][1].startswith("Before line 2 someone else removed #1:")
    empty = PlanningCall("TodoRead", {}, 2, result=CallResult("[]"))
    assert [code for code, _ in played(write(SOW, REAP), empty)[1]] == ["lost_plan"]


def test_a_plan_that_is_shown_beside_the_calls_is_followed():
    """Its change stands with the next step; without a plan there is nothing to follow."""
    shown = ShownPlan(2, CallResult("", data={"todos": [SOWN, REAP | {"status": "in_progress"}]}))
    rows, found, steps = played(
        shown, write(SOW, REAP), shown, write(SOWN, SOW | {"content": "Reap"})
    )
    assert rows == [("Sow", "completed"), ("Reap", "in_progress")]
    assert [code for code, _ in found] == ["changed_elsewhere", "no_op_write"]
    assert "completed #1, started #2" in found[0][1]
    assert len(steps[-2].events) == 2


def test_an_update_that_changed_no_field_found_it_done():
    """Claude Code answers with no updated fields where the status was so before."""
    made = PlanningCall("TaskCreate", {"subject": "Sow"}, 1, result=CallResult("Task #1 created"))
    data = {"success": True, "taskId": "1", "updatedFields": []}
    done = {"taskId": "1", "status": "completed"}
    answer = CallResult("", data=data)
    rows, found, _ = played(made, PlanningCall("TaskUpdate", done, 2, result=answer))
    assert rows == [("Sow", "completed")]
    # That it had no effect is the same observation.
    assert [code for code, _ in found] == ["changed_elsewhere"]
    odd = PlanningCall("TaskUpdate", "{taskId: 1}", 2, result=answer)
    rows, found, _ = played(made, odd)
    assert "changed_elsewhere" not in [code for code, _ in found]


def test_a_plan_begun_anew_is_named_and_no_violation():
    """With what was open in the old one; the new one is judged by itself."""
    eat = {"content": "Eat", "status": "in_progress"}
    rows, found, _ = played(write(SOWN, REAP), write(eat, line=7))
    assert rows == [("Eat", "in_progress")]
    assert found[-1] == (
        "plan_replaced",
        'The plan was replaced at line 7; 1 of its 2 tasks were open, first "Reap".',
    )
    _, found, _ = played(write(SOWN), write(eat, line=7))
    assert found[-1][1] == "A new plan begins at line 7; the one before (1 tasks) was finished."


def test_steps_know_what_happened_in_the_conversation_before_them():
    """A summary, a message of the person."""
    marks = Compaction(2), PersonSpoke(3)
    steps = played(write(SOW), *marks, write(SOWN))[2]
    assert [step.before for step in steps] == [(), marks]


def test_events_of_other_kinds_tell_nothing():
    """A list in another order is followed without a word."""
    rows, found, _ = played(write(SOW, REAP, newTodos=[REAP, SOW]))
    assert (rows, found) == ([("Reap", "pending"), ("Sow", "in_progress")], [])


def test_a_list_that_is_shown_to_be_another_one_replaces_it():
    """Of which nothing was sent: all that was there is said to be removed."""
    eat = {"content": "Eat", "status": "pending"}
    rows, found, _ = played(write(SOW, REAP, newTodos=[eat]))
    assert rows == [("Eat", "pending")]
    assert "someone else removed #1-#2, added #3" in found[-1][1]

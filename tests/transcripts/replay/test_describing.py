"""What is told of calls that break no rule."""

from datetime import UTC, datetime, timedelta

from todoplan.transcripts.calls import CallResult, PersonSpoke, PlanningCall
from todoplan.transcripts.replay import Fold, Step

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def write(*rows, minute=None):
    todos = [{"content": text, "status": status} for text, status in rows]
    at = None if minute is None else NOON + timedelta(minutes=minute)
    return PlanningCall("TodoWrite", {"todos": todos}, 1, at=at, result=CallResult("ok"))


def texts(code, *items):
    found = []
    for one in Fold().steps(items):
        found += one.findings if isinstance(one, Step) else (one,)
    return [f.text for f in found if f.code == code]


def test_a_plan_that_was_completed_when_written_was_written_after_the_fact():
    """All of it; a single item that is born completed is told by itself."""
    sow, reap = ("Sow", "completed"), ("Reap", "completed")
    (text,) = texts("written_after", write(sow, reap))
    assert text.startswith("The whole plan (#1-#2) was completed when it was written:")
    assert texts("written_after", write(sow, ("Reap", "in_progress"))) == []
    eat = ("Eat", "in_progress")
    assert len(texts("born_completed", write(eat), write(eat, reap))) == 1


def test_a_long_silence_over_a_task_in_progress_is_told():
    """Thirty minutes without a planning call, and not what a person took to answer."""
    work, later = write(("Sow", "in_progress"), minute=0), write(("Sow", "completed"), minute=31)
    assert texts("long_silence", work, later) == [
        "No planning call and no message of the person for 31 minutes while in progress: #1."
    ]
    spoke = PersonSpoke(1, at=NOON + timedelta(minutes=20))
    assert texts("long_silence", work, spoke, later) == []
    assert texts("long_silence", work, write(("Sow", "completed"), minute=29)) == []
    assert texts("long_silence", work, write(("Sow", "completed"))) == []
    assert texts("long_silence", write(("Sow", "pending"), minute=0), later) == []


def update(task_id, status, turn, actor="main", **more):
    arguments = {"taskId": task_id, "status": status, **more}
    answer = CallResult(f"Updated task #{task_id} status")
    return PlanningCall("TaskUpdate", arguments, 7, turn=turn, actor=actor, result=answer)


def create(number):
    answer = CallResult(f"Task #{number} created successfully: x")
    return PlanningCall("TaskCreate", {"subject": f"Task {number}"}, number, result=answer)


def test_parallel_completions_are_told_together():
    """All tasks of the message are named, once, also where the recording ends with it."""
    made = [create(number) for number in (1, 2, 3)]
    done = [update(str(number), "completed", "t") for number in (1, 2, 3)]
    (text,) = texts("parallel_completion", *made, *done)
    assert "(#1-#3)" in text
    (text,) = texts("parallel_completion", *made, *done[:2], update("3", "completed", "u"))
    assert "(#1-#2)" in text
    alone = [update(str(number), "completed", f"t{number}") for number in (1, 2, 3)]
    assert texts("parallel_completion", *made, *alone) == []


def test_agents_that_work_at_once_may_each_have_a_task_in_progress():
    """Two of one agent are still told."""
    made = [create(number) for number in (1, 2)]
    one = [update("1", "in_progress", "a", "ann"), update("2", "in_progress", "b", "bo")]
    assert texts("single_in_progress", *made, *one) == []
    same = [update("1", "in_progress", "a", "ann"), update("2", "in_progress", "b", "ann")]
    assert len(texts("single_in_progress", *made, *same)) == 1
    owned = [update(str(n), "in_progress", str(n), owner=who) for n, who in ((1, "ann"), (2, "bo"))]
    assert texts("single_in_progress", *made, *owned) == []


def test_a_notation_without_in_progress_cannot_say_that_work_began():
    """A checklist has two marks; a list that may say more is judged."""

    def checklist(*lines):
        return PlanningCall(
            "task_progress", {"todos": "\n".join(lines)}, 1, result=CallResult("ok")
        )

    first, then = checklist("- [ ] Sow", "- [ ] Reap"), checklist("- [x] Sow", "- [ ] Reap")
    assert texts("linear_status", first, then) == []
    assert texts("some_in_progress", first, then) == []
    begun = checklist("- [-] Sow", "- [ ] Reap")
    assert len(texts("linear_status", begun, then, checklist("- [x] Sow", "- [x] Reap"))) == 1
    assert len(texts("some_in_progress", begun, then)) == 1
    rows = [(("Sow", "pending"), ("Reap", "pending")), (("Sow", "completed"), ("Reap", "pending"))]
    assert len(texts("linear_status", *(write(*row) for row in rows))) == 1


def test_texts_that_could_not_be_read_are_not_the_same_text():
    """In a wrong encoding every letter is the same mark."""
    unread = ("\ufffd\ufffd", "pending")
    assert texts("duplicate_content", write(unread, unread)) == []
    assert len(texts("duplicate_content", write(("Sow", "pending"), ("Sow", "pending")))) == 1


def test_a_list_that_differs_in_the_active_form_alone_does_nothing():
    """It is a write that changed nothing that anybody acts upon."""
    row = {"content": "Sow", "status": "in_progress", "activeForm": "Sowing"}
    calls = [
        PlanningCall(
            "TodoWrite", {"todos": [row | {"activeForm": form}]}, 1, result=CallResult("ok")
        )
        for form in ("Sowing", "Sowing beans")
    ]
    assert len(texts("no_op_write", *calls)) == 1


def test_a_list_that_is_shown_to_have_been_so_before_is_one_finding():
    """That somebody else changed it says why the write did nothing."""
    sow, sown = ([{"content": "Sow", "status": one}] for one in ("in_progress", "completed"))
    answer = CallResult("ok", data={"oldTodos": sown, "newTodos": sown})
    late = PlanningCall("TodoWrite", {"todos": sown}, 2, result=answer)
    calls = PlanningCall("TodoWrite", {"todos": sow}, 1, result=CallResult("ok")), late
    assert len(texts("changed_elsewhere", *calls)) == 1
    assert texts("no_op_write", *calls) == []
    assert len(texts("no_op_write", *calls, late)) == 1

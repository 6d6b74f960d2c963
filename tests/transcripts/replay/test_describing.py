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
    steps = [one for one in Fold().steps(items) if isinstance(one, Step)]
    return [f.text for step in steps for f in step.findings if f.code == code]


def test_a_plan_that_was_completed_when_written_was_written_after_the_fact():
    """
    All of it; a single item that is born completed is told by itself.
    """
    sow, reap = ("Sow", "completed"), ("Reap", "completed")
    (text,) = texts("written_after", write(sow, reap))
    assert text.startswith("The whole plan (#1-#2) was completed when it was written:")
    assert texts("written_after", write(sow, ("Reap", "in_progress"))) == []
    assert (
        len(
            texts(
                "born_completed", write(("Eat", "in_progress")), write(("Eat", "in_progress"), reap)
            )
        )
        == 1
    )


def test_a_long_silence_over_a_task_in_progress_is_told():
    """
    Thirty minutes without a planning call, and not what a person took to answer.
    """
    work, later = write(("Sow", "in_progress"), minute=0), write(("Sow", "completed"), minute=31)
    assert texts("long_silence", work, later) == [
        "No planning call for 31 minutes while in progress: #1."
    ]
    spoke = PersonSpoke(1, at=NOON + timedelta(minutes=20))
    assert texts("long_silence", work, spoke, later) == []
    assert texts("long_silence", work, write(("Sow", "completed"), minute=29)) == []
    assert texts("long_silence", work, write(("Sow", "completed"))) == []
    assert texts("long_silence", write(("Sow", "pending"), minute=0), later) == []

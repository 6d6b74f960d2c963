"""Calls of our own tool in recordings that begin in the middle, or begin anew."""

import json

import pytest

from todoplan.transcripts.calls import CallResult, PlanningCall
from todoplan.transcripts.replay import Fold, created_ids

ELSEWHERE = "(made elsewhere)"


def played(*calls):
    """
    Fold calls of `plan`, (arguments, answer) each; return the tasks and the codes of findings.
    """
    fold = Fold()
    steps = [
        fold.feed(PlanningCall("plan", arguments, line, result=CallResult(answer)))
        for line, (arguments, answer) in enumerate(calls, 1)
    ]
    codes = [finding.code for step in steps for finding in step.findings]
    tasks = [(task.id, task.subject, task.status.value[:2]) for task in fold.lanes["main"].plan]
    return tasks, [code for code in codes if code in {"made_elsewhere", "reused_id", "impossible"}]


def test_what_a_call_names_of_its_own_tasks_is_found():
    """Tasks of a write may be named by the edits of the same call."""
    arguments = {"write": ["a", "b", "c"], "edit": [{"id": 2, "after": [3]}], "done": [1]}
    tasks, codes = played((arguments, "1/3: #1-#3 created; #2 updated; #1 completed; #3 started"))
    assert tasks == [("1", "a", "co"), ("2", "b", "pe"), ("3", "c", "in")]
    assert codes == []


def test_a_recording_may_begin_in_the_middle():
    """Tasks of before get an entry without their text; new ones keep the ids they were given."""
    tasks, codes = played(
        ({"done": [5], "add": ["x"]}, "5/6: #6 created; #5 completed; #6 started"),
        ({"done": [6]}, "6/6: #6 completed"),
    )
    assert tasks == [("5", ELSEWHERE, "co"), ("6", "x", "co")]
    assert codes == ["made_elsewhere"]


def tree(*calls):
    """
    Fold calls, (tool, arguments, answer) each; return the id, text, parent and blockers of tasks.
    """
    fold = Fold()
    for line, (tool, arguments, answer) in enumerate(calls, 1):
        step = fold.feed(PlanningCall(tool, arguments, line, result=CallResult(answer)))
        assert step.outcome == "applied", step.findings
    return [(t.id, t.subject, t.parent, t.blocked_by) for t in fold.lanes["main"].plan]


def test_parents_are_said_in_our_ids():
    """Of what a call creates, moves or adds below; also where they were made elsewhere."""
    assert tree(
        ("plan", {"add": [{"text": "x", "parent": 5}, "y"]}, "0/7: #6-#7 created"),
        ("plan", {"edit": [{"id": 7, "parent": 6}]}, "0/7: #7 moved"),
        ("plan", {"edit": [{"id": 7, "parent": 4}]}, "0/7: #7 moved"),
        ("plan", {"edit": [{"id": 7, "parent": ""}]}, "0/7: #7 moved"),
    ) == [
        ("5", ELSEWHERE, None, ()),
        ("6", "x", "5", ()),
        ("4", ELSEWHERE, None, ()),
        ("7", "y", None, ()),
    ]
    new = {"subject": "a", "parentId": "3", "blockedBy": ["2"]}
    expected = [("2", ELSEWHERE, None, ()), ("3", ELSEWHERE, None, ()), ("4", "a", "3", ("2",))]
    assert tree(("TaskCreate", new, "Task #4 created successfully: a")) == expected
    several = {"tasks": [{"subject": "a"}, {"subject": "b", "parentId": "#0", "blocks": ["8"]}]}
    made = tree(("TaskCreate", several, "0/10: #9-#10 created"))
    assert made == [("8", ELSEWHERE, None, ("10",)), ("9", "a", None, ()), ("10", "b", "9", ())]


def test_hermes_nests_by_parent():
    """A whole list says what lies in what; a merge names what changes, and moves nothing."""
    first = [
        {"id": "a", "content": "Build", "status": "in_progress"},
        {"id": "b", "content": "Walls", "status": "pending", "parent": "a"},
    ]
    merge = [
        {"id": "b", "content": "Walls", "status": "completed", "parent": "a"},
        {"id": "c", "content": "Roof", "status": "pending", "parent": "a"},
        "odd",
    ]
    answer = json.dumps({"todos": first, "revision": 1})
    nested = [("1", "Build", None, ()), ("2", "Walls", "1", ())]
    assert tree(("todo_list", {"todos": first}, answer)) == nested
    assert tree(
        ("todo_list", {"todos": first}, ""), ("todo_list", {"todos": merge, "merge": True}, "")
    ) == [*nested, ("3", "Roof", None, ()), ("4", "odd", None, ())]


def test_a_plan_may_begin_anew_under_the_same_ids():
    """A second conversation in one file counts from 1 again; its ids lead to its own tasks."""
    tasks, codes = played(
        ({"write": ["a", "b"]}, "0/2: #1-#2 created; #1 started"),
        ({"write": ["c", "d"]}, "0/2: #1-#2 created; #1 started"),
        ({"done": [1]}, "1/2: #1 completed; #2 started"),
    )
    assert tasks == [("3", "c", "co"), ("4", "d", "in")]
    assert codes == ["reused_id", "reused_id"]


def test_without_an_answer_ids_are_counted_on():
    """A call whose answer is lost creates tasks under the next ids."""
    tasks, codes = played(
        ({"write": ["a"], "edit": [{"id": 1, "text": "A"}]}, ""), ({"done": [1]}, "")
    )
    assert tasks == [("1", "A", "co")]
    assert codes == []


@pytest.mark.parametrize(
    ("text", "most", "ids"),
    [
        ("0/3: #1-#3 created; #1 started", 3, ("1", "2", "3")),
        ("1/4, 1 cancelled: #4 created; #2 updated", 2, ("4",)),
        ("0/1: #1-#2 deleted; #3 created; #3 started\nNote: x", 9, ("3",)),
        ("0/9: #1-#999999999999999 created", 2, ("1", "2")),
        ("1/3: #1 completed; #2 started", 3, ()),
        ("0/1: #1 updated\nNote: #7 created", 1, ()),
        ("The task: #7 created", 1, ()),
    ],
)
def test_the_ids_that_an_answer_tells_of(text, most, ids):
    """One range behind the counts, of no more than the call could create."""
    assert created_ids(CallResult(text), most) == ids

"""Calls of our own tools in recordings that begin in the middle, or begin anew."""

import json

import pytest

from todoplan.transcripts.calls import CallResult, PlanningCall
from todoplan.transcripts.replay import Fold, Step, created_ids

MARKS = {"pending": ".", "in_progress": "~", "completed": "x"}


def plan(answer, **arguments):
    """A call of `plan`."""
    return "plan", arguments, answer


ADDED = plan("0/7: #6-#7 created; #6 started", add=[{"text": "x", "parent": 5}, "y"])
FIRST = [
    {"id": "a", "content": "Build", "status": "in_progress"},
    {"id": "b", "content": "Walls", "status": "pending", "parent": "a"},
]
MERGE = [
    {"id": "b", "content": "Walls", "status": "completed", "parent": "a"},
    {"id": "c", "content": "Roof", "status": "pending", "parent_task": "a"},
    "odd",
]
NEW = {"subject": "a", "parentId": "3", "blockedBy": ["2"]}
SEVERAL = [{"subject": "a"}, {"subject": "b", "parentId": "#0", "blocks": ["8"]}]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        # Tasks of a write may be named by the edits of the same call.
        (
            [
                plan(
                    "1/3: #1-#3 created; #2 updated; #1 completed; #3 started",
                    write=["a", "b", "c"],
                    edit=[{"id": 2, "after": [3]}],
                    done=[1],
                )
            ],
            "1 xa, 2 .b after 3, 3 ~c",
        ),
        # Tasks of before the recording get an entry without a text. New ones keep their ids.
        (
            [
                plan("5/6: #6 created; #5 completed; #6 started", done=[5], add=["x"]),
                plan("6/6: #6 completed", done=[6]),
            ],
            "5 x?, 6 xx | made_elsewhere",
        ),
        # They are created before the new ones, also those with a higher id.
        (
            [plan("1/2: #6 created; #9 completed; #6 started", done=[9], add=["x"])],
            "9 x?, 6 ~x | made_elsewhere",
        ),
        # A plan that begins anew under the same ids: they lead to its own tasks.
        (
            [
                plan("0/2: #1-#2 created; #1 started", write=["a", "b"]),
                plan("0/2: #1-#2 created; #1 started", write=["c", "d"]),
                plan("1/2: #1 completed; #2 started", done=[1]),
            ],
            "3 xc, 4 ~d | reused_id reused_id",
        ),
        # An edit that removes all edges of a task finds it under its own number.
        (
            [
                plan("0/2: #1-#2 created; #1 started", write=["a", "b"]),
                plan("0/2: #1-#2 created; #1 started", write=["c", "d"]),
                plan("0/2: #2 updated", edit=[{"id": 2, "after": [1]}]),
                plan("0/2: #2 updated", edit=[{"id": 2, "after": []}]),
            ],
            "3 ~c, 4 .d | reused_id reused_id",
        ),
        # A claim of the next task is one of the task in its answer: others may have claimed tasks.
        (
            [
                plan("0/4: #1-#4 created", write=["a", "b", "c", "d"]),
                plan("0/4: #2 claimed (fence 1): b", next=True),
                plan("0/4: #4 claimed (fence 1): d; #3 claimed (fence 1): c", claim=[4], next=True),
            ],
            "1 .a, 2 ~b, 3 ~c, 4 ~d",
        ),
        # An agent without the set for a team works on the same plan.
        (
            [
                plan("0/2: #1-#2 created", write=["a", "b"]),
                plan("0/2: #1 claimed (fence 1): a", next=True),
                plan("1/2: #1 completed; #2 started", done=[1]),
            ],
            "1 xa, 2 ~b",
        ),
        ([("TaskClaim", {}, "0/9: #7 claimed (fence 2): x")], "7 ~? | made_elsewhere"),
        # A call whose answer is lost creates tasks under the next ids.
        (
            [plan("", write=["a"], edit=[{"id": 1, "text": "A"}]), plan("", done=[1])],
            "1 xA",
        ),
        # Parents are said in our ids: of what a call creates, moves or adds below.
        ([ADDED], "5 .?, 6 ~x in 5, 7 .y | made_elsewhere"),
        (
            [ADDED, *(plan("0/7: #7 moved", edit=[{"id": 7, "parent": at}]) for at in (6, 4, ""))],
            "5 .?, 6 ~x in 5, 4 .?, 7 .y | made_elsewhere made_elsewhere",
        ),
        (
            [("TaskCreate", NEW, "Task #4 created successfully: a")],
            "2 .?, 3 .?, 4 .a in 3 after 2 | made_elsewhere made_elsewhere",
        ),
        (
            [("TaskCreate", {"tasks": SEVERAL}, "0/10: #9-#10 created")],
            "8 .? after 10, 9 .a, 10 .b in 9 | made_elsewhere",
        ),
        # Hermes nests by parent. A merge names what changes, and moves nothing.
        (
            [("todo_list", {"todos": FIRST}, json.dumps({"todos": FIRST, "revision": 1}))],
            "1 ~Build, 2 .Walls in 1",
        ),
        (
            [
                ("todo_list", {"todos": FIRST}, ""),
                ("todo_list", {"todos": MERGE, "merge": True}, ""),
            ],
            "1 ~Build, 2 xWalls in 1, 3 .Roof, 4 .odd",
        ),
    ],
)
def test_recorded_ids_lead_to_tasks_of_our_plan(calls, expected):
    """Each task with its parent and blockers, and what is told of ids."""
    fold = Fold()
    recorded = [
        PlanningCall(tool, arguments, line, result=CallResult(answer))
        for line, (tool, arguments, answer) in enumerate(calls, 1)
    ]
    steps = [one for one in fold.steps(recorded) if isinstance(one, Step)]
    assert {step.outcome for step in steps} == {"applied"}
    told = [one.code for step in steps for one in step.findings]
    told = " ".join(code for code in told if code in {"made_elsewhere", "reused_id"})
    tasks = [
        f"{task.id} {MARKS[task.status]}{task.subject.replace('(made elsewhere)', '?')}"
        + (f" in {task.parent}" if task.parent else "")
        + (f" after {','.join(task.blocked_by)}" if task.blocked_by else "")
        for task in fold.lanes["main"].plan
    ]
    assert ", ".join(tasks) + (f" | {told}" if told else "") == expected


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

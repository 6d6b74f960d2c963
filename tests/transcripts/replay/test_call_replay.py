"""Recorded calls against their lane's plan: what they did, and what their answers show."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from todoplan.core.events.apply import replay
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import STRICT
from todoplan.transcripts.calls import (
    BadLine,
    CallResult,
    Compaction,
    PersonSpoke,
    PlanningCall,
    ShownPlan,
)
from todoplan.transcripts.replay import AUDIT, Fold, Step

STATUSES = {".": "pending", "~": "in_progress", "x": "completed"}
MARKS = {status: mark for mark, status in STATUSES.items()}
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def rows(*marked, **more):
    """The items of a list: a mark and a text each."""
    return [{"content": one[1:], "status": STATUSES[one[0]], **more} for one in marked]


def call(tool, arguments, text="ok", **fields):
    result = CallResult(text or "", fields.pop("failed", False), fields.pop("data", None) or {})
    if "minute" in fields:
        fields["at"] = NOON + timedelta(minutes=fields.pop("minute"))
    line = fields.pop("line", 1)
    return PlanningCall(tool, arguments, line, result=None if text is None else result, **fields)


def write(*marked, **fields):
    return call("TodoWrite", {"todos": rows(*marked)}, **fields)


def answered(*marked, old=None, **fields):
    """A write, with the list that its answer shows, and perhaps the list that it replaced."""
    new = fields.pop("new", marked)
    data = {"newTodos": rows(*new)} | ({} if old is None else {"oldTodos": rows(*old)})
    return write(*marked, data=data, **fields)


def todo(*todos, **more):
    return call("todo_write", {"todos": list(todos), **more})


def create(subject, task_id, **more):
    text = f"Task #{task_id} created successfully: {subject}"
    return call("TaskCreate", {"subject": subject, **more}, text)


def update(task_id, data=None, turn="", actor="main", **changes):
    sent = {"taskId": task_id, **changes}
    return call("TaskUpdate", sent, data=data, turn=turn, actor=actor)


def done(task_id, **more):
    return update(task_id, status="completed", **more)


def was(task_id, status):
    """A completion, of which the answer says what the status was before."""
    return done(task_id, data={"taskId": task_id, "statusChange": {"from": status}})


def listing(*marked):
    """A structured answer of TaskList: an id, a mark and a text each."""
    tasks = [{"id": one[0], "subject": one[2:], "status": STATUSES[one[1]]} for one in marked]
    return call("TaskList", {}, "", data={"tasks": tasks})


def checklist(*lines):
    return call("task_progress", {"todos": "\n".join(f"- [{one[0]}] {one[1:]}" for one in lines)})


def played(*items, policy=AUDIT):
    """Return the fold, and what it yields."""
    fold = Fold(policy)
    return fold, list(fold.steps(items))


def tasks(fold, lane="main"):
    return [f"{task.id} {MARKS[task.status]}{task.subject}" for task in fold.lanes[lane].plan]


def findings(said):
    return [f for one in said for f in (one.findings if isinstance(one, Step) else (one,))]


def told(said):
    """The codes of the findings and the ids of their tasks, without that of an open end."""
    found = [one for one in findings(said) if one.code != "ended_unfinished"]
    return [f"{one.code} {' '.join(one.task_ids)}".strip() for one in found]


SOW, REAP = create("Sow", 1), create("Reap", 2)
MADE = [create(f"T{number}", number) for number in (1, 2, 3)]
WORK = write("~Sow", minute=0)
SHOWN = ShownPlan(2, CallResult("", data={"todos": rows("xSow", "~Reap")}))
EMPTY = [call("TaskList", {}, "No tasks found"), call("TaskList", {}, "", data={"tasks": []})]
STORIES = [
    # ---- calls
    # A deletion ignores the arguments beside it.
    ([create("a", 1), update("1", status="deleted", description="x")], " | "),
    # A refused call changes nothing.
    ([write("~a"), write(".b", text="<tool_use_error>x", failed=True)], "1 ~a | refused_call"),
    # A call without an answer counts and is mentioned.
    ([write("~a", text=None)], "1 ~a | no_result"),
    # Arguments that are no JSON change nothing.
    ([call("TodoWrite", "{")], " | unreadable_arguments"),
    # Arguments of another kind change nothing.
    ([call("TodoWrite", {"todos": 7.5e300})], " | unreadable_arguments"),
    # An unknown status is no guess.
    ([todo({"content": "a", "status": "maybe"})], " | unreadable_arguments"),
    # A creation without a subject is unreadable.
    ([call("TaskCreate", {"description": "d"})], " | unreadable_arguments"),
    # Words of a system's own dialect are no repair.
    (
        [call("task_tracker", {"task_list": [{"title": "a", "status": "done"}]})],
        "1 xa | written_after 1",
    ),
    # Words of no dialect are a repair.
    ([todo({"content": "a", "status": "Finished"})], "1 xa | repaired_arguments, written_after 1"),
    # Two writes of one message are a finding.
    ([write("~a", turn="m1"), write("~b", turn="m1")], "2 ~b | parallel_write, plan_replaced 1"),
    # Writes of two messages are none.
    ([write("~a", turn="m1"), write("xa", turn="m2")], "1 xa | "),
    # ---- ids
    # An id given out twice is told and kept apart.
    ([create("a", 1), create("b", 1), done("1")], "1 .a, 2 xb | reused_id 1, linear_status 2"),
    # An id freed by deletion and used again is followed.
    (
        [create("a", 1), update("1", status="deleted"), create("b", 1), done("1")],
        "2 xb | linear_status 2",
    ),
    # A task made elsewhere gets an entry, once.
    ([update("4", status="in_progress"), done("4")], "4 x(made elsewhere) | made_elsewhere 4"),
    # What its status was before says nothing of its text.
    ([was("7", "in_progress")], "7 x(made elsewhere) | made_elsewhere 7, linear_status 7"),
    # An id beyond all counting gets a number of ours.
    (
        [done("9" * 18), call("TaskCreate", {"subject": "b"})],
        "1 x(made elsewhere), 2 .b | made_elsewhere 999999999999999999, linear_status 1",
    ),
    # Tasks that are created at once keep their ids, and the next number is above all.
    (
        [*(create(each, each) for each in "4312"), call("TaskCreate", {"subject": "5"})],
        "4 .4, 3 .3, 1 .1, 2 .2, 5 .5 | ",
    ),
    # An id that was claimed in vain is not the next.
    (
        [
            create("Dig", 5),
            create("Lay", 2, blocks=["5"], blockedBy=["5"]),
            call("TaskCreate", {"subject": "Mow"}),
        ],
        "5 .Dig, 6 .Mow | cycle 5 2 5",
    ),
    # ---- merges, as Cursor makes them
    # A merge changes what it names by id or text, and adds the rest.
    (
        [
            todo(*rows(".a", id="1"), *rows(".b", id="2"), merge=False),
            todo(*rows("xA", id="1"), *rows("~b"), merge=True),
            todo(*rows(".c", id="x"), merge=True),
        ],
        "1 xA, 2 ~b, 3 .c | some_in_progress 1 2, linear_status 1",
    ),
    # A merge goes by the ids that items were given, and sends only what changes.
    (
        [
            todo(*rows(".Sow", id="sow"), *rows(".Reap", id="2-reap"), merge=False),
            todo({"id": "2-reap", "content": "Cut"}, *rows(".Eat", id="eat"), merge=True),
            todo({"id": "eat", "status": "completed"}, {"id": "sow"}, merge=True),
        ],
        "1 .Sow, 2 .Cut, 3 xEat | some_in_progress 1 2, linear_status 3",
    ),
    # An item of a merge that is no object is unreadable.
    (
        [todo(*rows(".Sow", id="sow"), merge=False), todo({"id": "sow"}, 7, merge=True)],
        "1 .Sow | some_in_progress 1, unreadable_arguments",
    ),
    # A merge may name a task from before the recording; without a list it is a read.
    (
        [
            todo({"id": "mend-it", "status": "in_progress"}, merge=True),
            call("todo_write", {"merge": True}),
        ],
        "1 ~mend-it | ",
    ),
    # ---- findings
    # Between two granular calls nothing need be in progress.
    ([SOW, REAP, update("1", status="in_progress"), done("1")], "1 xSow, 2 .Reap | "),
    # A list without a task in progress is a finding.
    ([write(".a")], "1 .a | some_in_progress 1"),
    # Finished tasks that are taken off the list are one finding.
    (
        [write("xa", "xb", "xc", "~d"), write("xd")],
        "4 xd | born_completed 1 2 3, completed_is_final 1 2 3",
    ),
    # An update without effect is a finding.
    ([SOW, update("1", status="pending")], "1 .Sow | no_effect 1"),
    # What is added as completed was written down after the fact.
    ([write("~a", "xb")], "1 ~a, 2 xb | born_completed 2"),
    # What is completed and reworded was planned.
    (
        [write("~a", "xb"), write("~a", "xb, as agreed")],
        "1 ~a, 2 xb, as agreed | born_completed 2, completed_is_final 2",
    ),
    # A plan that was completed when written was written after the fact.
    ([write("xSow", "xReap")], "1 xSow, 2 xReap | written_after 1 2"),
    # An item that is added to a plan as completed is told by itself.
    ([write("~Eat"), write("~Eat", "xReap")], "1 ~Eat, 2 xReap | born_completed 2"),
    # Completions of one message are told together.
    (
        [*MADE, *(done(one, turn="t") for one in "12"), done("3", turn="u")],
        (
            "1 xT1, 2 xT2, 3 xT3 | "
            "linear_status 1, linear_status 2, parallel_completion 1 2, linear_status 3"
        ),
    ),
    # Completions of the last message are told too.
    (
        [*MADE, *(done(one, turn="t") for one in "123")],
        (
            "1 xT1, 2 xT2, 3 xT3 | "
            "linear_status 1, linear_status 2, linear_status 3, parallel_completion 1 2 3"
        ),
    ),
    # Completions of several messages are none.
    (
        [*MADE, *(done(one, turn=one) for one in "123")],
        "1 xT1, 2 xT2, 3 xT3 | linear_status 1, linear_status 2, linear_status 3",
    ),
    # Agents that work at once may each have a task in progress.
    (
        [SOW, REAP, *(update(n, status="in_progress", actor=who) for n, who in ("1a", "2b"))],
        "1 ~Sow, 2 ~Reap | ",
    ),
    # Owners may each have a task in progress.
    (
        [SOW, REAP, *(update(n, status="in_progress", owner=who) for n, who in ("1a", "2b"))],
        "1 ~Sow, 2 ~Reap | ",
    ),
    # One agent may not.
    (
        [SOW, REAP, *(update(n, status="in_progress", actor="a") for n in "12")],
        "1 ~Sow, 2 ~Reap | single_in_progress 1 2",
    ),
    # A notation without in progress cannot say that work began.
    ([checklist(" Sow", " Reap"), checklist("xSow", " Reap")], "1 xSow, 2 .Reap | "),
    # A checklist that may say more is judged.
    (
        [checklist("-Sow", " Reap"), checklist("xSow", " Reap"), checklist("xSow", "xReap")],
        "1 xSow, 2 xReap | some_in_progress 2, linear_status 2",
    ),
    # Any other list is judged.
    (
        [write(".Sow", ".Reap"), write("xSow", ".Reap")],
        "1 xSow, 2 .Reap | some_in_progress 1 2, linear_status 1",
    ),
    # Texts in a wrong encoding are not the same text.
    ([write("~\ufffd\ufffd", ".\ufffd\ufffd")], "1 ~��, 2 .�� | "),
    # Equal texts are a finding.
    ([write("~Sow", ".Sow")], "1 ~Sow, 2 .Sow | duplicate_content 1 2"),
    # A list that differs in the active form alone does nothing.
    (
        [todo(*rows("~Sow", activeForm=form)) for form in ("Sowing", "Sowing beans")],
        "1 ~Sow | no_op_write",
    ),
    # A task in progress for long without a call is told.
    ([WORK, write("xSow", minute=31)], "1 xSow | long_silence 1"),
    # A person may take long to answer.
    (
        [WORK, PersonSpoke(1, at=NOON + timedelta(minutes=20)), write("xSow", minute=31)],
        "1 xSow | ",
    ),
    # 29 minutes are not long.
    ([WORK, write("xSow", minute=29)], "1 xSow | "),
    # Without a time nothing is long.
    ([WORK, write("xSow")], "1 xSow | "),
    # What is not in progress may rest.
    (
        [write(".Sow", minute=0), write("xSow", minute=31)],
        "1 xSow | some_in_progress 1, linear_status 1",
    ),
    # ---- task lists that answers show
    # What others completed, reworded and made is told once.
    (
        [SOW, REAP, *[listing("1xSow", "2.Mow", "3~Eat")] * 2],
        "1 xSow, 2 .Mow, 3 ~Eat | changed_elsewhere 1 2 3",
    ),
    # A task that a structured list leaves out is gone.
    ([SOW, REAP, listing("2.Reap")], "2 .Reap | changed_elsewhere 1"),
    # A task that a text leaves out is not: it may be cut short.
    (
        [SOW, REAP, call("TaskList", {}, "#2 [completed] Reap [blocked by #1]")],
        "1 .Sow, 2 xReap | changed_elsewhere 2",
    ),
    # Words tell the status of a task that is known, and the text of a new one.
    (
        [SOW, call("TaskList", {}, "#1 [in_progress] Sow (ann)\n#2 [odd] x\n#4 [pending] Eat")],
        "1 ~Sow, 4 .Eat | changed_elsewhere 1 4",
    ),
    # One task that is looked at says nothing of the others.
    (
        [
            SOW,
            REAP,
            call(
                "TaskGet",
                {"taskId": "1"},
                "",
                data={"task": {"id": "1", "subject": "Sow", "status": "completed"}},
            ),
        ],
        "1 xSow, 2 .Reap | changed_elsewhere 1",
    ),
    # No tasks are a lost plan where tasks are open.
    ([SOW, REAP, EMPTY[0]], "1 .Sow, 2 .Reap | lost_plan 1 2"),
    # An empty list is a lost plan too.
    ([SOW, REAP, EMPTY[1]], "1 .Sow, 2 .Reap | lost_plan 1 2"),
    # A finished plan that is gone was cleared by the program.
    ([SOW, done("1"), *EMPTY], "1 xSow | linear_status 1"),
    # An answer that is missing shows nothing.
    ([SOW, call("TaskList", {}, None)], "1 .Sow | no_result"),
    # A shown task without a text stays as it was.
    ([SOW, listing("1. ")], "1 .Sow | "),
    # A list in any order keeps its ids.
    (
        [
            listing(*(f"{number}.T{number}" for number in "352416")),
            done("2"),
            listing(*(f"{number}{'x' if number == '2' else '.'}T{number}" for number in "352416")),
            create("T7", 7),
        ],
        (
            "3 .T3, 5 .T5, 2 xT2, 4 .T4, 1 .T1, 6 .T6, 7 .T7 | "
            "changed_elsewhere 3 5 2 4 1 6, linear_status 2"
        ),
    ),
    # Finished tasks that a program clears were removed by nobody.
    (
        [SOW, REAP, listing("1xSow", "2xReap"), create("Eat", 3), listing("3.Eat")],
        "3 .Eat | changed_elsewhere 1 2",
    ),
    # An update says that somebody else had started the task.
    ([SOW, was("1", "in_progress")], "1 xSow | changed_elsewhere 1"),
    # An update says that nobody had.
    ([SOW, was("1", "pending")], "1 xSow | linear_status 1"),
    # An update that changed no field found it done, which is one observation.
    ([SOW, done("1", data={"taskId": "1", "updatedFields": []})], "1 xSow | changed_elsewhere 1"),
    # An update that is no JSON says nothing.
    (
        [SOW, call("TaskUpdate", "{taskId: 1}", data={"taskId": "1", "updatedFields": []})],
        "1 .Sow | repaired_arguments, no_effect 1",
    ),
    # ---- whole lists that answers show
    # The list that a write replaced shows what came before.
    (
        [answered("xSow", ".Reap", old=["~Sow", ".Reap"])],
        "1 xSow, 2 .Reap | changed_elsewhere 1 2, some_in_progress 2",
    ),
    # A tool that only reads shows the whole list.
    (
        [write("~Sow", ".Reap"), call("TodoRead", {}, "", data={"todos": rows(".Reap")})],
        "2 .Reap | changed_elsewhere 1",
    ),
    # An empty answer over open tasks is a lost plan.
    ([write("~Sow", ".Reap"), call("TodoRead", {}, "[]")], "1 ~Sow, 2 .Reap | lost_plan 1 2"),
    # A plan shown beside the calls is followed, once there is one.
    (
        [SHOWN, write("~Sow", ".Reap"), SHOWN, write("xSow", "~Reap")],
        "1 xSow, 2 ~Reap | changed_elsewhere 1 2, no_op_write",
    ),
    # A list in another order is followed without a word.
    ([answered("~Sow", ".Reap", new=[".Reap", "~Sow"])], "2 .Reap, 1 ~Sow | "),
    # A list that is shown to be another one replaces it.
    ([answered("~Sow", ".Reap", new=[".Eat"])], "3 .Eat | changed_elsewhere 1 2 3"),
    # A list that was so before is one finding: somebody else changed it.
    (
        [write("~Sow"), *[answered("xSow", old=["xSow"])] * 2],
        "1 xSow | changed_elsewhere 1, no_op_write",
    ),
    # A finished item that an open list lost was removed.
    (
        [write("xSow", "~Reap"), answered("xSow", "~Reap", old=["~Reap"])],
        "3 xSow, 2 ~Reap | born_completed 1, changed_elsewhere 1, born_completed 3",
    ),
    # A finished list that another one replaced in a gap was removed by nobody.
    (
        [write("xSow"), answered("xEat", old=["~Eat"])],
        "2 xEat | written_after 1, changed_elsewhere 2",
    ),
    # Of an open list that another one replaced in a gap, both are told.
    (
        [write(".Sow"), answered("xEat", old=["~Eat"])],
        "2 xEat | some_in_progress 1, changed_elsewhere 1 2",
    ),
    # ---- new plans
    # A plan begun anew is named and no violation.
    (
        [write("xSow", ".Reap"), write("~Eat")],
        "3 ~Eat | some_in_progress 2, born_completed 1, plan_replaced 2",
    ),
    # A finished list that the program cleared is followed by a new plan.
    ([write("xSow"), answered("~Eat", old=[])], "2 ~Eat | written_after 1, new_plan"),
    # The same text with another status is a new plan.
    (
        [write("xSow"), answered(".Sow", old=[])],
        "2 .Sow | written_after 1, new_plan, some_in_progress 2",
    ),
    # The same items are the same plan.
    ([write("xSow"), answered("xSow", old=[])], "1 xSow | written_after 1, no_op_write"),
    # Nor is it a new one if more is to be done.
    ([write("xSow"), answered("xSow", "~Eat", old=[])], "1 xSow, 2 ~Eat | written_after 1"),
    # A list that was not cleared is the same plan.
    (
        [
            write("xSow"),
            call(
                "TodoWrite",
                {"todos": rows(".Sow")},
                data={"oldTodos": [{}], "newTodos": rows(".Sow")},
            ),
        ],
        "1 .Sow | written_after 1, some_in_progress 1, completed_is_final 1",
    ),
]


@pytest.mark.parametrize(("items", "expected"), STORIES)
def test_what_calls_and_their_answers_say_is_followed(items, expected):
    """The plan at the end, and every finding with the tasks that it is about."""
    fold, said = played(*items)
    assert f"{', '.join(tasks(fold))} | {', '.join(told(said))}" == expected
    # Replaying the events gives the tasks, also where ids are skipped or others made changes.
    events = [event for one in said if isinstance(one, Step) for event in one.events]
    assert tuple(replay(Plan(), events)) == tuple(fold.lanes["main"].plan)


TITLED = {"title": "a", "status": "in-progress"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("TodoWrite", {"todos": rows("~a", activeForm="A-ing")}),
        ("write_todos", {"todos": [{"description": "a", "status": "in_progress"}]}),
        ("Unity.WriteTodos", {"todos": '[{"description":"a","status":"in_progress"}]'}),
        ("update_plan", '{"explanation":"x","plan":[{"step":"a","status":"in_progress"}]}'),
        ("todowrite", {"todos": rows("~a", priority="high", id="x")}),
        ("todo_write", {"merge": False, "todos": rows("~a", id="7")}),
        ("SetTodoList", {"todos": [TITLED]}),
        ("todos", {"todos": rows("~a", active_form="A-ing")}),
        ("task_tracker", {"command": "plan", "task_list": [TITLED | {"notes": "n"}]}),
        ("manage_todo_list", {"operation": "write", "todoList": [TITLED | {"id": 1}]}),
    ],
)
def test_every_dialect_writes_the_same_list(tool, arguments):
    """The same list in any system's words makes the same plan."""
    fold, said = played(call(tool, arguments))
    assert (tasks(fold), said[0].outcome) == (["1 ~a"], "applied")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("task_tracker", {"command": "view", "task_list": []}),
        ("manage_todo_list", {"operation": "read"}),
        ("SetTodoList", {}),
        ("TodoRead", {}),
        ("todoread", {}),
        ("TaskList", {}),
        ("TaskGet", {"taskId": "1"}),
    ],
)
def test_a_read_changes_nothing(tool, arguments):
    """Whatever a system calls looking at the list, the plan stays."""
    fold, said = played(write(".a"), call(tool, arguments))
    assert (tasks(fold), said[1].outcome) == (["1 .a"], "read")


HEAD = "The current list is now:"
SOWN = rows("xSow", ".Reap")


@pytest.mark.parametrize(
    "shown",
    [
        {"data": {"newTodos": SOWN}},  # Claude Code
        {"data": {"todos": SOWN}},  # OpenCode
        {"text": json.dumps(SOWN)},  # OpenCode
        {"data": {"task_list": [{"title": "Sow", "status": "done"}, SOWN[1]]}},  # OpenHands
        {"text": f"Updated todo list to {SOWN}"},  # LangChain
        {"text": f"Done. {HEAD}\n1. [completed] Sow\n2. [pending] Reap"},  # Gemini
    ],
)
def test_the_list_of_an_answer_is_believed_over_the_list_that_was_sent(shown):
    """In every system that repeats the list: a person or a program may have changed it."""
    fold, said = played(write("~Sow", ".Reap", **shown))
    assert tasks(fold) == ["1 xSow", "2 .Reap"]
    found, _ = findings(said)
    assert found.code == "changed_elsewhere"
    assert found.text.startswith("Before line 1 someone else completed #1: another agent, a person")


@pytest.mark.parametrize(
    "text",
    [
        "[not json",
        "[1]",
        "Updated todo list to [{'content'",
        "Updated todo list to 7",
        "Updated todo list to {[]: 1}",
        f"{HEAD}\n1. [pending] Sow\nand more",
        f"{HEAD}\n",
        "Updated todo list to [{'content': None}]",
    ],
)
def test_an_answer_that_is_not_understood_shows_nothing(text):
    """Answers are cut, and texts have line breaks."""
    fold, said = played(write("~Sow", text=text))
    assert (tasks(fold), told(said)) == (["1 ~Sow"], [])


@pytest.mark.parametrize(
    "listed",
    [
        "x",
        {"id": 1, "subject": "Sow", "status": "pending"},
        {"id": "x1", "subject": "Sow", "status": "pending"},
        {"id": "1", "subject": None, "status": "pending"},
        {"id": "1", "subject": "Sow", "status": "odd"},
    ],
)
def test_what_is_no_task_shows_none_and_removes_none(listed):
    """A list in which nothing is understood says nothing about the plan."""
    fold, said = played(SOW, call("TaskList", {}, "", data={"tasks": [listed]}))
    assert (tasks(fold), told(said)) == (["1 .Sow"], [])


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
    text = one if same else other
    fold, said = played(create(one, 1), listing(f"1.{other}"))
    assert tasks(fold) == [f"1 .{text}"]
    assert told(said) == ([] if same else ["changed_elsewhere 1"])
    fold, _ = played(answered(f".{one}", new=[f"x{other}"]))
    assert f"x{text}" in tasks(fold)[0]


def named(task_id, text="done"):
    return {"text": text, "data": {"task": {"id": task_id, "subject": "a"}}}


@pytest.mark.parametrize(
    ("answer", "task_id"),
    [
        ({"text": "Task #57 created successfully: a"}, "57"),
        (named("9", "Task #57 created successfully: a"), "9"),
        ({"text": None}, "1"),
        ({"text": "ok"}, "1"),
        (named("x"), "1"),
        (named("9" * 19), "1"),
        (named("9" * 5000), "1"),
    ],
)
def test_the_id_of_a_task_is_the_one_in_the_answer(answer, task_id):
    """The structured one first; without one, or with one too long to count, the plan counts on."""
    fold, _ = played(call("TaskCreate", {"subject": "a"}, **answer))
    assert tasks(fold) == [f"{task_id} .a"]


@pytest.mark.parametrize(
    ("argument", "side"), [("addBlockedBy", "blocked_by"), ("addBlocks", "blocks")]
)
def test_an_edge_to_a_task_made_elsewhere_stands(argument, side):
    """Edges name tasks of other files too."""
    fold, _ = played(create("a", 5), update("5", **{argument: ["3"]}))
    assert [getattr(task, side) for task in fold.lanes["main"].plan] == [("3",), ()]


@pytest.mark.parametrize(("policy", "severity"), [(AUDIT, "warn"), (STRICT, "error")])
def test_the_policy_decides_how_severe_a_finding_is(policy, severity):
    """
    A rule that was broken is a finding and the call counts anyway. A cycle leaves the plan as it
    was, though the host let it pass.
    """
    fold, said = played(write("~a", "~b"), policy=policy)
    assert "single_in_progress" in [one.code for one in said[0].findings]
    assert {one.severity for one in said[0].findings} == {severity}
    assert tasks(fold) == ["1 ~a", "2 ~b"]
    edges = update("2", addBlockedBy=["1"]), update("1", addBlockedBy=["2"])
    fold, said = played(SOW, REAP, *edges, policy=policy)
    assert said[3].outcome == "impossible"
    assert [(one.code, one.severity) for one in said[3].findings] == [("cycle", severity)]
    assert fold.lanes["main"].plan["1"].blocked_by == ()


SEVERAL = "unless they were done together."


def refused(text):
    return [write("~a", text=text, failed=True)]


@pytest.mark.parametrize(
    ("items", "code", "text"),
    [
        (
            [write("xa", "xb", "xc", "~d"), write("xd")],
            "completed_is_final",
            'Completed tasks were taken off the list: #1-#3; first "a".',
        ),
        (
            [write("~a", ".Ship it"), write("~a")],
            "dropped_open_items",
            'neither completed nor cancelled: #2; first "Ship it".',
        ),
        ([write("~a", "~b"), write("xa", "xb")], "batch_completion", SEVERAL),
        (
            [WORK, write("xSow", minute=31)],
            "long_silence",
            "No planning call and no message of the person for 31 minutes",
        ),
        (
            [write("xSow", "xReap")],
            "written_after",
            "The whole plan (#1-#2) was completed when it was written:",
        ),
        (
            [write("xSow", ".Reap"), write("~Eat", line=7)],
            "plan_replaced",
            'The plan was replaced at line 7; 1 of its 2 tasks were open, first "Reap".',
        ),
        (
            [write("xSow"), write("~Eat", line=7)],
            "new_plan",
            "A new plan begins at line 7; all tasks of the one before (1) were finished.",
        ),
        (
            [write("~Sow"), SHOWN, write("xSow", "~Reap")],
            "changed_elsewhere",
            "completed #1, added #2",
        ),
        (
            [answered("~Sow", ".Reap", new=[".Eat"])],
            "changed_elsewhere",
            "someone else removed #1-#2, added #3",
        ),
        (refused("<tool_use_error>Sibling tool call errored"), "cancelled_call", "Sibling tool"),
        (refused("<tool_use_error>Cancelled: parallel tool call Bash"), "cancelled_call", "Bash"),
        (refused("[Operation Cancelled] Reason: x"), "cancelled_call", "Reason: x"),
        (refused("<tool_use_error>InputValidationError"), "refused_call", "InputValidationError"),
        ([BadLine(3, "cut")], "bad_line", "cut"),
    ],
)
def test_a_finding_says_what_it_is_about(items, code, text):
    """
    What is gone is named by its text, since its id is in no later plan. A call that was cancelled,
    because its neighbour failed or a person stopped it, is no mistake of the model.
    """
    (found,) = [one for one in findings(played(*items)[1]) if one.code == code]
    assert text in found.text


def test_a_list_that_ends_open_is_a_finding():
    """The last finding of a lane names what was left, and the line of the last call."""
    _, said = played(write("~a", ".b", line=4))
    assert (said[-1].code, said[-1].line, said[-1].task_ids) == ("ended_unfinished", 4, ("1", "2"))


def test_lanes_are_plans_of_their_own():
    """A subagent's list does not touch the session's. How large a plan was is remembered."""
    fold, said = played(write("~a", ".b"), write("xb", lane="side"), write("xa"))
    assert (tasks(fold), tasks(fold, "side")) == (["1 xa"], ["1 xb"])
    assert [one.lane for one in said] == ["main", "side", "main"]
    main = fold.lanes["main"]
    assert (main.calls, main.refused, main.largest) == (2, 0, 2)


def test_a_step_knows_what_it_cost_and_what_came_before():
    """The characters of the call and its answer; a summary, a message of the person."""
    marks = Compaction(2), PersonSpoke(3)
    sent = '{"plan":["a"]}'
    _, said = played(write("xSow"), *marks, call("update_plan", sent, "Plan updated"))
    assert [one.before for one in said[:2]] == [(), marks]
    assert said[1].chars == len(sent) + len("Plan updated")


def test_what_is_shown_between_two_calls_happens_once():
    """The step of the next call has its events, and no later step."""
    _, said = played(write("~Sow"), SHOWN, write("xSow", "~Reap"), write("xSow", "xReap"))
    steps = [one for one in said if isinstance(one, Step)]
    happened = [[type(event).__name__ for event in step.events] for step in steps]
    assert happened == [["TaskCreated"], ["StatusChanged", "TaskCreated"], ["StatusChanged"]]

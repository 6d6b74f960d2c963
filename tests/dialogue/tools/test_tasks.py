"""The tool set `tasks`: one call a task, ids, edges, details."""

import json

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import full_plans
from support.talk import check_reply, planned, texts_of, toolbox, valid

from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import EDITABLE, Status, Task, thaw
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks

honest = st.text("abcXYZ 019\t\n.,:;-[]()&\u00e4\u4f60\u0301\u200d\U0001f600", max_size=40)
BOX = toolbox("tasks")


def call(plan, name, **arguments):
    """Make one call that must be accepted."""
    reply = BOX.call(plan, name, arguments)
    check_reply(plan, reply)
    assert not reply.is_error, reply.text
    return reply


def test_both_key_spellings():
    """Camel and snake case are understood by either variant."""
    for box in (BOX, toolbox("snake")):
        plan = planned("a", "b")
        for given_keys in (
            {"taskId": 2, "addBlockedBy": [1]},
            {"task_id": 2, "add_blocked_by": [1]},
        ):
            reply = box.call(plan, "TaskUpdate", given_keys)
            assert (reply.plan["2"].blocked_by, reply.repairs) == (("1",), ())


def test_every_detail_is_kept():
    """What is given at creation and by an update stands in the task."""
    details = {
        "activeForm": "doing",
        "owner": "ann",
        "priority": "high",
        "estimate": 30,
        "metadata": {"k": 1},
    }
    made = call(
        Plan(), "TaskCreate", subject="a", description="why", status="in_progress", **details
    )
    updated = call(
        planned("a"), "TaskUpdate", taskId=1, description="why", status="in_progress", **details
    )
    for plan in (made.plan, updated.plan):
        task = plan["1"]
        assert (task.description, task.status, task.owner) == ("why", "in_progress", "ann")
        assert (task.active_form, task.priority, task.estimate) == ("doing", "high", 30)
        assert thaw(task.metadata) == {"k": 1}
    assert made.text == "0/1: #1 created"
    assert updated.text == "0/1: #1 updated; #1 started"


def test_status_deleted():
    """Deleting removes the task and its edges; what waited for it alone is ready."""
    plan = call(planned("a", "b"), "TaskUpdate", taskId=2, addBlockedBy=[1]).plan
    reply = call(plan, "TaskUpdate", taskId=1, status="deleted")
    assert texts_of(reply.plan) == ["b"]
    assert reply.text == "0/1: #1 deleted; now ready: #2"


@pytest.mark.parametrize("team", [False, True])
def test_what_is_given_beside_deleted_is_said_to_be_ignored(team):
    """The task is gone; whoever wanted to note something has to note it elsewhere."""
    plan = plan_of([Task("1", "a"), Task("2", "b")])
    change = {"taskId": 1, "status": "deleted", "description": "see #2", "addBlocks": ["2"]}
    reply = Toolbox(tasks(team=team)).call(plan, "TaskUpdate", change)
    assert not reply.is_error
    assert [*reply.plan] == [plan["2"]]
    assert [(each.code, each.path) for each in reply.repairs] == [
        ("ignored_key", "description"),
        ("ignored_key", "addBlocks"),
    ]
    assert "ignored description" in reply.text


def test_metadata_is_merged():
    """Keys are merged, and `null` deletes one."""
    plan = call(planned("a"), "TaskUpdate", taskId=1, metadata={"k": 1, "l": [2]}).plan
    plan = call(plan, "TaskUpdate", taskId=1, metadata={"k": None, "m": "x"}).plan
    assert thaw(plan["1"].metadata) == {"l": [2], "m": "x"}


def test_edges_are_added_and_removed():
    """All four directions work, and the mirrored ends follow."""
    plan = planned("a", "b", "c")
    plan = call(plan, "TaskUpdate", taskId=2, addBlocks=["3"], addBlockedBy=["1"]).plan
    assert (plan["1"].blocks, plan["3"].blocked_by) == (("2",), ("2",))
    plan = call(plan, "TaskUpdate", taskId=2, removeBlocks=["3"], remove_blocked_by=["1"]).plan
    assert (plan["1"].blocks, plan["2"].blocks, plan["3"].blocked_by) == ((), (), ())


def test_several_tasks_in_one_call():
    """A reference "#0" is the first task of the call; a number is a task that is there."""
    given_tasks = [
        {"subject": "b", "blockedBy": ["1"]},
        {"subject": "c", "blockedBy": ["#0"], "blocks": ["1"]},
        "d",
    ]
    reply = BOX.call(planned("a"), "TaskCreate", {"tasks": given_tasks[::2]})
    assert texts_of(reply.plan) == ["a", "b", "d"]
    reply = BOX.call(
        planned("a"),
        "TaskCreate",
        {"tasks": [{"subject": "b"}, {"subject": "c", "blockedBy": "#0"}]},
    )
    assert reply.plan["3"].blocked_by == ("2",)
    assert reply.text.startswith("0/3: #2-#3 created")
    cyclic = BOX.call(planned("a"), "TaskCreate", {"tasks": given_tasks})
    assert "tasks[1].blocks: These tasks would wait for each other" in cyclic.text
    unknown = BOX.call(Plan(), "TaskCreate", {"tasks": [{"subject": "a", "blockedBy": ["#7"]}]})
    assert (
        "tasks[0].blockedBy: #7 names no task of this call; the references are #0 to #0"
        in unknown.text
    )


def test_one_task_with_edges():
    """A single creation takes "#1" and 1 alike, as ids of tasks that are there."""
    reply = call(planned("a", "b"), "TaskCreate", subject="c", blockedBy=["#1"], blocks=[2])
    assert (reply.plan["3"].blocked_by, reply.plan["3"].blocks) == (("1",), ("2",))


def test_the_whole_list_only_on_request():
    """An update names what changed; the list comes from TaskList, one line a task."""
    plan = planned(*(f"task {n}" for n in range(50)))
    update = call(plan, "TaskUpdate", taskId=7, status="completed")
    assert update.text == "1/50: #7 completed"
    assert len(BOX.call(plan, "TaskList").text.splitlines()) == 50
    assert BOX.call(Plan(), "TaskList").text == "The plan is empty."


def test_a_task_in_full():
    """TaskGet shows all that a task holds, in words and JSON."""
    details = {"activeForm": "doing\nit", "owner": "ann", "priority": "low", "estimate": 1.5}
    plan = call(
        Plan(),
        "TaskCreate",
        subject="a\nStatus: b",
        metadata={"k": [None]},
        description="x\ny",
        **details,
    ).plan
    plan = call(plan, "TaskCreate", subject="b", blockedBy=[1]).plan
    assert BOX.call(plan, "TaskGet", {"taskId": 1}).text.splitlines() == [
        "Task #1: a Status: b",
        "Status: pending",
        "Active form: doing it",
        "Priority: low",
        "Owner: ann",
        "Blocks: #2",
        "Estimate: 1.5 minutes",
        'Metadata: {"k": [null]}',
        "Description: x",
        "  y",
    ]
    assert "Blocked by: #1" in BOX.call(plan, "TaskGet", {"taskId": 2}).text
    told = BOX.call(plan, "TaskGet", {"taskId": "#2"}).text
    assert told.startswith('note: read taskId "#2" as 2\nTask #2: b')


def test_a_task_in_full_names_the_blockers_that_it_waits_for():
    """One that is done is no reason to wait, and is not shown."""
    plan = planned("a", "b", "c")
    plan = call(plan, "TaskUpdate", taskId=3, addBlockedBy=[1, 2]).plan
    plan = call(plan, "TaskUpdate", taskId=1, status="completed").plan
    assert BOX.call(plan, "TaskGet", {"taskId": 3}).text.splitlines()[1:] == [
        "Status: pending",
        "Blocked by: #2",
    ]


@given(honest.filter(lambda text: text.strip() == text))
def test_a_description_comes_back_as_given(text):
    """It is the end of TaskGet's reply, to the letter; further lines are indented by two."""
    plan = BOX.call(Plan(), "TaskCreate", json.dumps({"subject": "a", "description": text})).plan
    reply = BOX.call(plan, "TaskGet", {"taskId": "1"})
    shown = text.replace("\n", "\n  ")
    assert reply.text.endswith(f"\nDescription: {shown}" if text else "Status: pending")


def test_unknown_ids_are_named():
    """With what is there; all of them at once."""
    plan = planned("a", "b")
    assert BOX.call(plan, "TaskGet", {"taskId": 7}).text == (
        "Nothing was changed. There is no task 7; the ids are: #1-#2."
    )
    assert "the ids are: nothing yet" in BOX.call(Plan(), "TaskGet", {"taskId": 7}).text
    reply = BOX.call(plan, "TaskUpdate", {"taskId": 1, "addBlocks": [8], "addBlockedBy": [9, 1]})
    assert [problem.code for problem in reply.problems] == [
        "unknown_task",
        "unknown_task",
        "self_edge",
    ]
    for told in (
        "addBlocks: There is no task 8",
        "addBlockedBy: There is no task 9",
        "cannot wait for itself",
    ):
        assert told in reply.text


def test_nothing_changed():
    """An update that changes nothing says so."""
    reply = call(planned("a"), "TaskUpdate", taskId=1, subject="a", status="pending")
    assert reply.text == "no change, 0/1 completed"
    assert reply.plan["1"].status is Status.PENDING


def targets(fields):
    """Return what commands call these arguments."""
    return {field.target for field in fields}


# What shows that a task is done, and what was found, is the program's to say; an answer is a
# person's (law 20). A fence is kept for the model.
NOT_FOR_MODELS = {"check", "evidence", "answer", "fence"}


@pytest.mark.parametrize("toolset", [tasks(), tasks("snake")], ids=repr)
def test_every_field_of_a_task_can_be_sent(toolset):
    """A new field of a task or of a command that no tool takes is named here."""
    create, update = toolset.find("TaskCreate").fields, toolset.find("TaskUpdate").fields
    (several,) = (field for field in create if field.items and not field.hidden)
    asked = {field.name for field in attrs.fields(CreateTask)} - NOT_FOR_MODELS
    assert asked >= EDITABLE - NOT_FOR_MODELS
    assert targets(several.items) - {"id"} == targets(create) - {"tasks"} == asked | {"subtasks"}
    assert targets(update) == {field.name for field in attrs.fields(UpdateTask)} - NOT_FOR_MODELS


SETS = (tasks(), tasks("snake"), tasks().renamed(TaskCreate="add_step", TaskUpdate="change"))
EDGES = ("blocks", "blocked_by")


def test_creating_is_what_only_adds():
    """Whatever the tools are called, and no other tool."""
    for toolset in SETS:
        found = [toolset.shown(tool.key) for tool in toolset.tools if tool.adds_only]
        assert found == [toolset.shown("TaskCreate")]


@given(full_plans, st.sampled_from(SETS), st.data())
def test_what_only_adds_leaves_the_rest(plan, toolset, data):
    """Tasks that were there stay as they are, but for edges that they gain and when that was."""
    for tool in (tool for tool in toolset.tools if tool.adds_only):
        every = tuple(attrs.evolve(field, hidden=False) for field in tool.fields)
        arguments = data.draw(valid(every))
        after = Toolbox(toolset).call(plan, toolset.shown(tool.key), arguments).plan
        assert [task.id for task in after if task.id in plan] == [task.id for task in plan]
        for task in plan:
            now = after[task.id]
            assert all(set(getattr(task, ends)) <= set(getattr(now, ends)) for ends in EDGES)
            gained = {ends: getattr(now, ends) for ends in EDGES}
            assert attrs.evolve(task, **gained, updated_at=now.updated_at) == now


@pytest.mark.parametrize(
    ("arguments", "code", "path", "legal"),
    [
        ({}, "missing_field", "subject", "subject"),
        ({"tasks": []}, "missing_field", "tasks", "tasks"),
        ({"description": "x"}, "missing_field", "subject", "subject"),
        ({"tasks": [{"subject": "a"}], "owner": "x"}, "beside_tasks", "owner", "tasks"),
        ({"subject": "a", "tasks": ["b"]}, "beside_tasks", "subject", "tasks"),
        ({"tasks": ["b"], "blockedBy": ["9"]}, "beside_tasks", "blockedBy", "tasks"),
        ({"subject": ""}, "empty_text", "subject", ""),
        ({"tasks": [{"subject": ""}]}, "empty_text", "tasks[0].subject", ""),
    ],
)
def test_what_creates_nothing_is_refused_with_what_is_missing(arguments, code, path, legal):
    """No title, no entries, or a field beside the entries that would belong to none."""
    reply = BOX.call(Plan(), "TaskCreate", arguments)
    assert reply.problems == (Problem(code, path=path, legal=legal),)


def test_a_reference_that_might_mean_a_task_of_the_plan_is_reported():
    """Replies print "#1" for the task 1; among new tasks it is the entry with the index 1."""
    plan = BOX.call(Plan(), "TaskCreate", {"tasks": [{"subject": "a"}, {"subject": "b"}]}).plan
    new = [{"subject": "c"}, {"subject": "d"}, {"subject": "e", "blockedBy": ["#1", "#1"]}]
    reply = BOX.call(plan, "TaskCreate", {"tasks": new})
    assert reply.text.endswith('; read "#1" as entry 1 of this call (write "1" for task 1)')
    assert reply.plan["5"].blocked_by == ("4",)
    new[2]["blockedBy"] = ["1", "#0"]
    assert "note" not in BOX.call(plan, "TaskCreate", {"tasks": new}).text
    done = BOX.call(plan, "TaskUpdate", {"taskId": "1", "status": "completed"}).plan
    new[2]["blockedBy"] = ["#1"]
    assert "entry 1" not in BOX.call(done, "TaskCreate", {"tasks": new}).text

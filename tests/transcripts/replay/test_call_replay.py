"""One recorded call against its lane's plan."""

import pytest

from todoplan.core.events.apply import replay
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import STRICT, Severity
from todoplan.transcripts.calls import BadLine, CallResult, Compaction, PlanningCall
from todoplan.transcripts.replay import AUDIT, Fold, Step

OK = CallResult("ok")


def call(tool, arguments, result=OK, **fields):
    return PlanningCall(tool, arguments, fields.pop("line", 1), result=result, **fields)


def todo(content, status="pending", **more):
    return {"content": content, "status": status, **more}


def write(*todos, **fields):
    return call("TodoWrite", {"todos": list(todos)}, **fields)


def create(subject, task_id, **fields):
    told = CallResult(f"Task #{task_id} created successfully: {subject}")
    return call("TaskCreate", {"subject": subject}, told, **fields)


def update(task_id, **changes):
    return call("TaskUpdate", {"taskId": task_id, **changes})


def played(*calls, policy=None):
    fold = Fold(policy) if policy else Fold()
    return fold, list(fold.steps(calls))


def listed(fold, lane="main"):
    return [(task.id, task.subject, task.status.value) for task in fold.lanes[lane].plan]


TITLED = {"title": "a", "status": "in-progress"}


def codes(said):
    found = [each.findings if isinstance(each, Step) else (each,) for each in said]
    return [finding.code for findings in found for finding in findings]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("TodoWrite", {"todos": [todo("a", "in_progress", activeForm="A-ing")]}),
        ("write_todos", {"todos": [todo("a", "in_progress")]}),
        ("write_todos", {"todos": [{"description": "a", "status": "in_progress"}]}),
        ("Unity.WriteTodos", {"todos": '[{"description":"a","status":"in_progress"}]'}),
        ("update_plan", '{"explanation":"x","plan":[{"step":"a","status":"in_progress"}]}'),
        ("todowrite", {"todos": [todo("a", "in_progress", priority="high", id="x")]}),
        ("todo_write", {"merge": False, "todos": [todo("a", "in_progress", id="7")]}),
        ("SetTodoList", {"todos": [TITLED]}),
        ("todos", {"todos": [todo("a", "in_progress", active_form="A-ing")]}),
        ("task_tracker", {"command": "plan", "task_list": [TITLED | {"notes": "n"}]}),
        ("manage_todo_list", {"operation": "write", "todoList": [TITLED | {"id": 1}]}),
    ],
)
def test_every_dialect_writes_the_same_list(tool, arguments):
    """The same list in any system's words makes the same plan."""
    fold, said = played(call(tool, arguments))
    assert listed(fold) == [("1", "a", "in_progress")]
    assert said[0].outcome == "applied"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("task_tracker", {"command": "view", "task_list": []}),
        ("manage_todo_list", {"operation": "read"}),
        ("SetTodoList", {}),
        ("TodoRead", {}),
        ("todoread", None),
        ("TaskList", {}),
        ("TaskGet", {"taskId": "1"}),
    ],
)
def test_a_read_changes_nothing(tool, arguments):
    """Whatever a system calls looking at the list, the plan stays."""
    fold, said = played(write(todo("a")), call(tool, arguments or {}))
    assert said[1].outcome == "read"
    assert listed(fold) == [("1", "a", "pending")]


def test_a_systems_own_words_are_no_repair():
    """What its own dialect prescribes is not held against a model."""
    tracker = {"command": "plan", "task_list": [{"title": "a", "status": "done"}]}
    assert "repaired_arguments" not in codes(played(call("task_tracker", tracker))[1])
    assert "repaired_arguments" in codes(played(write(todo("a", "Finished")))[1])


def test_a_deletion_ignores_the_arguments_beside_it():
    """A recorded TaskUpdate that deletes a task and describes it as well deletes it."""
    fold, _ = played(create("a", "1"), update("1", status="deleted", description="x"))
    assert listed(fold) == []


def test_a_refused_call_changes_nothing():
    """An error of the host means that the write did not happen, and is a finding."""
    refused = CallResult(
        "<tool_use_error>Sibling tool call errored</tool_use_error>", is_error=True
    )
    fold, said = played(write(todo("a", "in_progress")), write(todo("b"), result=refused))
    assert listed(fold) == [("1", "a", "in_progress")]
    assert said[1].outcome == "refused"
    assert "Sibling tool call errored" in said[1].findings[0].text
    assert (fold.lanes["main"].calls, fold.lanes["main"].refused) == (2, 1)


def test_a_call_without_an_answer_counts_and_is_mentioned():
    """A recording that ends between call and result loses no write."""
    fold, said = played(write(todo("a", "in_progress"), result=None))
    assert len(fold.lanes["main"].plan) == 1
    assert "no_result" in codes(said)


@pytest.mark.parametrize("arguments", ["{", {"todos": 7.5e300}, {"todos": [todo("a", "maybe")]}])
def test_unreadable_arguments_are_said_and_change_nothing(arguments):
    """What cannot be read is a finding, not a guess."""
    fold, said = played(call("TodoWrite", arguments))
    assert said[0].outcome == "unreadable"
    assert codes(said)[0] == "unreadable_arguments"
    assert len(fold.lanes["main"].plan) == 0


def test_a_creation_without_a_subject_is_unreadable():
    """A problem that the tool itself finds is told like any other."""
    assert played(call("TaskCreate", {"description": "d"}))[1][0].outcome == "unreadable"


@pytest.mark.parametrize(("policy", "severity"), [(AUDIT, "warn"), (STRICT, "error")])
def test_what_no_plan_can_hold_leaves_the_plan_as_it_was(policy, severity):
    """A cycle that the host let pass is a finding: to the audit a warning, else an error."""
    edges = update("2", addBlockedBy=["1"]), update("1", addBlockedBy=["2"])
    fold, said = played(create("a", 1), create("b", 2), *edges, policy=policy)
    assert said[3].outcome == "impossible"
    assert [(f.code, f.severity) for f in said[3].findings] == [("cycle", severity)]
    assert fold.lanes["main"].plan["1"].blocked_by == ()


def named(task_id, text="done"):
    return CallResult(text, data={"task": {"id": task_id, "subject": "a"}})


@pytest.mark.parametrize(
    ("answer", "task_id"),
    [
        (CallResult("Task #57 created successfully: a"), "57"),
        (named("9", "Task #57 created successfully: a"), "9"),
        (None, "1"),
        (OK, "1"),
        (named("x"), "1"),
        (named("9" * 19), "1"),
        (named("9" * 5000), "1"),
    ],
)
def test_the_id_of_a_task_is_the_one_in_the_answer(answer, task_id):
    """The structured one first; without one, or with one too long to count, the plan counts on."""
    fold, _ = played(call("TaskCreate", {"subject": "a"}, answer))
    assert listed(fold) == [(task_id, "a", "pending")]


def test_an_id_given_out_twice_is_told_and_kept_apart():
    """A host that uses an id again does not overwrite the first task."""
    fold, said = played(create("a", 1), create("b", 1), update("1", status="completed"))
    assert listed(fold) == [("1", "a", "pending"), ("2", "b", "completed")]
    assert "reused_id" in codes(said)


def test_an_id_freed_by_deletion_and_used_again_is_followed():
    """
    AgentScope hands the highest id out again after deleting it; the replay keeps the two apart.
    """
    fold, _ = played(
        create("a", 1),
        update("1", status="deleted"),
        create("b", 1),
        update("1", status="completed"),
    )
    assert listed(fold) == [("2", "b", "completed")]


def test_a_task_made_elsewhere_gets_an_entry():
    """
    A teammate's file updates tasks that the leader's file created; their statuses still count.
    """
    fold, said = played(update("4", status="in_progress"), update("4", status="completed"))
    assert listed(fold) == [("4", "(made elsewhere)", "completed")]
    assert codes(said).count("made_elsewhere") == 1


@pytest.mark.parametrize(
    ("argument", "side"), [("addBlockedBy", "blocked_by"), ("addBlocks", "blocks")]
)
def test_an_edge_to_a_task_made_elsewhere_stands(argument, side):
    """Edges name tasks of other files too."""
    fold, _ = played(create("a", 5), update("5", **{argument: ["3"]}))
    assert [getattr(task, side) for task in fold.lanes["main"].plan] == [("3",), ()]


def test_the_events_of_the_steps_lead_to_the_plan():
    """Also where ids are skipped and tasks come from elsewhere, replaying gives the tasks."""
    fold, said = played(create("a", 5), update("9", status="completed", addBlockedBy=["5"]))
    events = [event for step in said if isinstance(step, Step) for event in step.events]
    assert tuple(replay(Plan(), events)) == tuple(fold.lanes["main"].plan)


def test_an_id_beyond_all_counting_gets_a_number_of_ours():
    """A task called 999999999999999999 does not use up the numbers of those that follow."""
    fold, _ = played(update("9" * 18, status="completed"), call("TaskCreate", {"subject": "b"}))
    assert [task_id for task_id, _, _ in listed(fold)] == ["1", "2"]


def test_a_merging_write_keeps_what_it_does_not_name():
    """
    Cursor-style todo_write with merge changes what it names, by id or text, and adds the rest.
    """
    first = call("todo_write", {"merge": False, "todos": [todo("a", id="1"), todo("b", id="2")]})
    then = {"merge": True, "todos": [todo("A", "completed", id="1"), todo("b", "in_progress")]}
    more = {"merge": True, "todos": [todo("c", id="x")]}
    fold, _ = played(first, call("todo_write", then), call("todo_write", more))
    expected = [("1", "A", "completed"), ("2", "b", "in_progress"), ("3", "c", "pending")]
    assert listed(fold) == expected


def test_a_merge_goes_by_the_ids_that_items_were_given():
    """An id may be any text, in a whole list or in a merge; only what changes has to be sent."""
    first = {"merge": False, "todos": [todo("Sow", id="sow"), todo("Reap", id="2-reap")]}
    then = {"merge": True, "todos": [{"id": "2-reap", "content": "Cut"}, todo("Eat", id="eat")]}
    last = {"merge": True, "todos": [{"id": "eat", "status": "completed"}, {"id": "sow"}, 7]}
    fold, found = played(*(call("todo_write", one) for one in (first, then, last)))
    expected = [("1", "Sow", "pending"), ("2", "Cut", "pending"), ("3", "Eat", "pending")]
    assert listed(fold) == expected
    assert "unreadable_arguments" in codes(found)
    last["todos"].pop()
    fold, _ = played(*(call("todo_write", one) for one in (first, then, last)))
    assert listed(fold) == [*expected[:2], ("3", "Eat", "completed")]


def test_a_merge_may_name_a_task_from_before_the_recording():
    """Its text is not known; the id that its writer gave it stands for it. No list is no merge."""
    unknown = {"merge": True, "todos": [{"id": "mend-it", "status": "in_progress"}]}
    fold, found = played(call("todo_write", unknown), call("todo_write", {"merge": True}))
    assert listed(fold) == [("1", "mend-it", "in_progress")]
    assert "unreadable_arguments" not in codes(found)


def test_two_writes_of_one_message_are_a_finding():
    """Hosts let the later one win; the reader should know."""
    first = write(todo("a", "in_progress"), turn="m1")
    assert "parallel_write" in codes(played(first, write(todo("b"), turn="m1"))[1])
    assert "parallel_write" not in codes(played(first, write(todo("b"), turn="m2"))[1])


def test_the_policy_decides_how_severe_a_finding_is():
    """
    The same call is a warning to the audit and an error to the strict policy, and counts anyway.
    """
    both = write(todo("a", "in_progress"), todo("b", "in_progress"))
    _, audited = played(both)
    fold, strict = played(both, policy=STRICT)
    assert {f.severity for f in audited[0].findings} == {Severity.WARN}
    assert "single_in_progress" in [f.code for f in strict[0].findings]
    assert {f.severity for f in strict[0].findings} == {Severity.ERROR}
    assert fold.lanes["main"].plan.counts.in_progress == 2


def test_between_two_granular_calls_nothing_need_be_in_progress():
    """Completing one task and starting the next are two calls; the moment between is no finding."""
    calls = create("a", 1), create("b", 2), update("1", status="in_progress")
    _, said = played(*calls, update("1", status="completed"))
    assert "some_in_progress" not in codes(said)
    assert "some_in_progress" in codes(played(write(todo("a")))[1])


def test_a_list_that_ends_open_is_a_finding():
    """The last finding of a lane names what was left."""
    fold, said = played(write(todo("a", "in_progress"), todo("b"), line=4))
    assert (said[-1].code, said[-1].line, said[-1].task_ids) == ("ended_unfinished", 4, ("1", "2"))
    assert fold.lanes["main"].plan.counts.open == 2


def test_finished_tasks_that_are_taken_off_the_list_are_one_finding():
    """However many they are: the list was cut down to what is open."""
    done = [todo(name, "completed") for name in "abc"]
    _, steps = played(write(*done, todo("d", "in_progress")), write(todo("d", "completed")))
    (found,) = steps[-1].findings
    assert (found.code, found.task_ids) == ("completed_is_final", ("1", "2", "3"))
    assert found.text == 'Completed tasks were taken off the list: #1-#3; first "a".'


def test_a_finding_about_what_is_gone_says_what_it_was():
    """Its id stands in no plan that is shown afterwards."""
    kept = [todo(name, "in_progress") for name in "abc"]
    _, (_, step, *_) = played(write(*kept, todo("Ship it")), write(*kept))
    found = next(one for one in step.findings if one.code == "dropped_open_items")
    assert found.text == (
        'Open tasks are gone without a word, neither completed nor cancelled: #4; first "Ship it".'
    )


def test_tasks_that_were_worked_on_together_need_not_be_late():
    """Two subagents come back at once: the finding claims no more than the recording shows."""
    both = [todo("a", "in_progress"), todo("b", "in_progress")]
    _, steps = played(write(*both), write(todo("a", "completed"), todo("b", "completed")))
    (found,) = steps[-1].findings
    assert found.code == "batch_completion"
    assert found.text.endswith("unless they were done together.")


def test_lanes_are_plans_of_their_own():
    """A subagent's list does not touch the session's."""
    fold, said = played(write(todo("a", "completed")), write(todo("b", "completed"), lane="side"))
    assert (listed(fold), listed(fold, "side")[0][1]) == ([("1", "a", "completed")], "b")
    assert [step.lane for step in said] == ["main", "side"]


def test_the_largest_size_is_remembered():
    """A plan that shrank is known by how large it was."""
    fold, _ = played(write(todo("a"), todo("b"), todo("c")), write(todo("a", "completed")))
    assert (fold.lanes["main"].largest, len(fold.lanes["main"].plan)) == (3, 1)


def test_a_bad_line_is_a_finding_and_a_compaction_is_none():
    """What could not be read is said with its line; summarising changes no plan."""
    _, said = played(BadLine(3, "cut"), Compaction(4))
    assert [(each.code, each.line, each.text) for each in said] == [("bad_line", 3, "cut")]


def test_a_step_says_what_it_cost():
    """Characters of the call and of its answer, as recorded."""
    _, said = played(call("update_plan", '{"plan":["a"]}', CallResult("Plan updated")))
    assert said[0].chars == len('{"plan":["a"]}') + len("Plan updated")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled_call"),
        ("<tool_use_error>Cancelled: parallel tool call Bash(ls) errored", "cancelled_call"),
        ("[Operation Cancelled] Reason: User cancelled the operation.", "cancelled_call"),
        ("<tool_use_error>InputValidationError: TodoWrite failed", "refused_call"),
    ],
)
def test_a_cancelled_call_is_told_from_a_refused_one(text, code):
    """A model made no mistake where its neighbour failed, or where a person stopped it."""
    _, said = played(call("TodoWrite", {"todos": []}, CallResult(text, is_error=True)))
    assert (said[0].outcome, codes(said)) == ("refused", [code])


def test_an_update_without_effect_is_a_finding():
    """The task was so already."""
    _, said = played(create("a", 1), update("1", status="pending"))
    assert codes(said[1:2]) == ["no_effect"]


def test_what_is_added_as_completed_is_a_finding():
    """It was written down after the fact; one that was only reworded was not."""
    _, said = played(write(todo("a", "in_progress"), todo("b", "completed")))
    assert [one.task_ids for one in said[0].findings if one.code == "born_completed"] == [("2",)]
    _, said = played(
        write(todo("a", "in_progress"), todo("b", "completed")),
        write(todo("a", "in_progress"), todo("b, as agreed", "completed")),
    )
    assert "born_completed" not in codes(said[1:2])

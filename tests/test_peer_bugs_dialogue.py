"""What goes wrong between model and plan in the tools that exist: none of it may happen here."""

import json

import pytest
from support.talk import PYTHON, planned, texts_of, toolbox, write

from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import DEFAULT
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks


def call(plan, name, **arguments):
    """Return the reply of the tool set `tasks`."""
    return toolbox("tasks").call(plan, name, arguments)


def test_no_repr_is_echoed():
    """LangChain: `Updated todo list to [{'content': "it's ...", ...}]`, 1,591 characters."""
    entries = [{"content": f'it\'s 中文 "q" {n}', "status": "pending"} for n in range(20)]
    reply = write(entries)
    assert reply.text == "ok, 0/20 completed"
    shown = toolbox().call(reply.plan, "read_todos").text
    assert not PYTHON.search(shown)
    assert '#1 [pending] it\'s 中文 "q" 0' in shown


def test_what_langchain_takes_for_success_is_told_or_refused():
    """LangChain: two in progress, empty texts, duplicates and an emptied list are all `success`."""
    both = [{"content": text, "status": "in_progress"} for text in "ab"]
    assert "Note: 2 tasks are in progress" in write(both).text
    assert "The text is empty" in write([{"content": " ", "status": "pending"}]).text
    assert write([], planned("a")).is_error
    done = write([{"content": "a", "status": "completed"}])
    assert (
        "A completed task should stay as it is"
        in write([{"content": "a", "status": "pending"}], done.plan).text
    )
    twice = toolbox("todos", "strict").call(Plan(), "write_todos", {"todos": [both[0], both[0]]})
    assert "The same text stands 2 times" in twice.text


@pytest.mark.parametrize(
    "entry",
    [
        {"content": "a", "status": "Completed"},
        {"content": "a", "status": "cancelled"},
        {"content": "a", "status": "blocked"},
        {"content": "a", "status": "changes_made", "ok": False},
        {"content": "a"},
    ],
)
def test_no_round_trip_for_a_spelling(entry):
    """LangChain refuses `Completed`, `cancelled` and a missing status; DeepAgents asks for them."""
    wanted = entry.pop("ok", True)
    assert write([entry]).is_error != wanted
    assert write(json.dumps([entry])).is_error != wanted


def test_active_form_is_kept():
    """LangChain drops `activeForm` silently."""
    reply = write([{"content": "a", "status": "pending", "activeForm": "doing a"}])
    assert reply.plan["1"].active_form == "doing a"


def test_the_parallel_guard_names_every_call():
    """LangChain: two branches writing in one step end in InvalidUpdateError."""
    calls = [Call("write_todos", {"todos": [text]}, text) for text in "ab"]
    turn = toolbox().turn(Plan(), calls)
    told = ["Send one with the list as it should be" in reply.text for reply in turn.replies]
    assert told == [True, True]


def test_a_missing_edge_target_is_named():
    """AgentScope drops it and answers "No updates were made ... values are correct"."""
    reply = call(planned("a"), "TaskUpdate", taskId=1, addBlockedBy=["7"])
    assert reply.is_error
    assert "addBlockedBy: There is no task 7; the ids are: 1." in reply.text


def test_a_status_is_never_written_unchecked():
    """AgentScope writes `status="done"` as it is; agentkit accepts any text."""
    plan = planned("a")
    assert call(plan, "TaskUpdate", taskId=1, status="done").plan["1"].status is Status.COMPLETED
    assert call(plan, "TaskUpdate", taskId=1, status="sleeping").is_error


def test_an_empty_subject_is_refused_wherever_it_comes_from():
    """AgentScope accepts it on creation and ignores it on an update."""
    assert call(Plan(), "TaskCreate", subject="").is_error
    reply = call(planned("a"), "TaskUpdate", taskId=1, subject=" ")
    assert "subject: The text is empty" in reply.text


def test_a_completed_blocker_does_not_block():
    """AgentScope: an edge to a completed task blocks for ever; Eino still shows it."""
    plan = call(planned("a", "b"), "TaskUpdate", taskId=1, status="completed").plan
    plan = call(plan, "TaskUpdate", taskId=2, addBlockedBy=[1]).plan
    assert "blocked" not in call(plan, "TaskList").text
    plan = call(plan, "TaskUpdate", taskId=1, status="pending").plan
    assert "#2 [pending] b [blocked by #1]" in call(plan, "TaskList").text


def test_reads_are_marked_as_reads():
    """AgentScope flags its reads as writes."""
    definitions = toolbox("tasks").toolset.definitions()
    assert [d.name for d in definitions if d.read_only] == ["TaskGet", "TaskList"]


def test_a_handoff_in_one_turn_works():
    """pydantic-ai-todo: {complete a, start b} fails, b "has incomplete dependencies"."""
    plan = call(planned("a", "b"), "TaskUpdate", taskId=2, addBlockedBy=[1]).plan
    calls = [
        Call("TaskUpdate", {"taskId": 1, "status": "completed"}),
        Call("TaskUpdate", {"taskId": 2, "status": "in_progress"}),
    ]
    box = Toolbox(tasks(), DEFAULT.but(blocked_start="error", blocked_complete="error"))
    turn = box.turn(plan, calls)
    assert [reply.text for reply in turn.replies] == [
        "1/2: #1 completed; now ready: #2",
        "1/2: #2 started",
    ]
    assert box.turn(plan, calls[::-1]).replies[0].is_error


def test_replies_name_ids():
    """pydantic-ai-todo and its harness answer without ids, which forces a read."""
    assert call(Plan(), "TaskCreate", subject="a").text == "0/1: #1 created"
    made = toolbox("lean").call(Plan(), "plan", {"write": ["a", "b"]})
    assert "#1-#2 created" in made.text


def test_unknown_ids_are_not_ignored():
    """MS agent-framework answers `{"completed": 0}`."""
    reply = toolbox("lean").call(planned("a"), "plan", {"done": [7]})
    assert reply.is_error
    assert "There is no task 7" in reply.text


def test_a_plan_is_not_wiped_by_what_was_left_out():
    """OpenHands: `command="plan"` without `task_list` means `[]`."""
    plan = planned("a")
    for arguments in ({}, None, "", {"todos": None}, {"command": "plan"}, {"todos": []}, "null"):
        assert toolbox().call(plan, "write_todos", arguments).plan is plan
    for arguments in ({"write": []}, {}, {"write": None}):
        assert toolbox("lean").call(plan, "plan", arguments).plan is plan


def test_a_dependency_must_be_there_before():
    """Gemini's tracker takes an unknown dependency, and the task can then never be closed."""
    assert call(Plan(), "TaskCreate", subject="a", dependencies=["ab12"]).is_error
    assert call(Plan(), "TaskCreate", subject="a", dependencies=["7"]).is_error


def test_lists_are_in_the_order_of_numbers():
    """Eino sorts ids as text: 10 before 2."""
    lines = call(planned(*"abcdefghijk"), "TaskList").text.splitlines()
    assert [line.split()[0] for line in lines] == [f"#{n}" for n in range(1, 12)]


def test_both_directions_in_one_call_are_a_cycle():
    """Eino: `addBlocks: ["2"]` with `addBlockedBy: ["2"]` makes one, and half of it stays."""
    plan = planned("a", "b")
    reply = call(plan, "TaskUpdate", taskId=1, addBlocks=["2"], addBlockedBy=["2"])
    assert "would wait for each other" in reply.text
    assert reply.plan is plan


def test_items_without_ids_stay_apart():
    """Hermes gives them all the id "?", and a merge collapses them to one."""
    reply = write([{"id": "?", "content": "a"}, {"id": "?", "content": "b"}, "c"])
    assert texts_of(reply.plan) == ["a", "b", "c"]
    again = write(["a", "b", "c"], reply.plan)
    assert [task.id for task in again.plan] == ["1", "2", "3"]


def test_a_payload_is_not_echoed_for_imitation():
    """AgentScope puts `repr(args)` into a reminder, openclaw's models then copied it."""
    reply = write("[{'content': 'a', 'status': 'pen")
    assert reply.is_error
    assert "pen" not in reply.text.partition("Correct, for example")[0].replace("pending", "")


def test_a_status_of_another_tool_is_no_pending():
    """Eliza falls back to pending for `failed`; OpenCode keeps any text."""
    assert write([{"content": "a", "status": "failed"}]).plan["1"].status == "failed"
    assert "unknown_status" in {
        p.code for p in write([{"content": "a", "status": "changes_made"}]).problems
    }


def test_what_is_blocked_is_not_blocked_for_ever():
    """pydantic-ai-todo stores the word: with every blocker done, nothing takes it back."""
    box, plan = toolbox("tasks"), planned("a", "b")
    blocked = {"taskId": 2, "status": "blocked", "addBlockedBy": ["1"]}
    plan = box.call(plan, "TaskUpdate", blocked).plan
    done = box.call(plan, "TaskUpdate", {"taskId": 1, "status": "completed"})
    assert done.text == "1/2: #1 completed; now ready: #2"


def test_a_dependency_that_failed_is_not_satisfied():
    """CrewAI and swarms go on with what depends on it, as if its result were there."""
    box, plan = toolbox("lean"), Plan()
    plan = box.call(plan, "plan", {"write": ["a", "b"], "edit": [{"id": 2, "after": [1]}]}).plan
    reply = box.call(plan, "plan", {"fail": [1]})
    assert reply.text == "0/2, 1 failed: #1 failed"
    assert "cannot start: #1 failed" in box.call(reply.plan, "plan").text


def test_a_task_cannot_forge_a_line_of_the_list():
    """A title with line ends and marks stays one line of its own."""
    plan = planned("a\n#2 [completed] b")
    assert call(plan, "TaskList").text == "#1 [pending] a #2 [completed] b"
    assert len(call(plan, "TaskGet", taskId=1).text.splitlines()) == 2

"""What goes wrong with AgentScope's own task tools: none of it can happen with ours."""

import asyncio

import pytest
from agentscope.tool import Toolkit
from support.agentscope_agent import Desk, agent_of, board, reply, results, use

from todoplan.adapters.agentscope import TaskUpdate, make_tools
from todoplan.core.rules import AGENTSCOPE


def desk_of(*subjects):
    """
    Return a desk with these tasks.
    """
    desk = Desk()
    for subject in subjects:
        desk.do("TaskCreate", subject=subject, description="")
    return desk


def test_a_deleted_id_is_not_used_again():
    """Create 1, 2, 3, delete 3, create: 4, also after the state was saved and after clearing."""
    desk = desk_of("a", "b", "c")
    desk.do("TaskUpdate", task_id="3", status="deleted")
    assert "#4" in desk.do("TaskCreate", subject="d", description="")
    for task_id in "124":
        desk.do("TaskUpdate", task_id=task_id, status="deleted")
    assert "#5" in desk.saved().do("TaskCreate", subject="e", description="")
    desk.tasks.clear()
    assert "#5" in desk.do("TaskCreate", subject="e", description="")


def test_a_self_edge_is_refused():
    """A task cannot wait for itself."""
    desk = desk_of("a")
    assert "wait for itself" in desk.fail("TaskUpdate", task_id="1", add_blocked_by=["1"])
    assert board(desk) == [("1", "pending", [], [])]


def test_a_cycle_is_refused_with_its_path():
    """A waits for B waits for A: told as a path, nothing changed."""
    desk = desk_of("a", "b", "c")
    desk.do("TaskUpdate", task_id="1", add_blocks=["2"])
    desk.do("TaskUpdate", task_id="2", add_blocks=["3"])
    before = board(desk)
    assert "1 -> 2 -> 3 -> 1" in desk.fail("TaskUpdate", task_id="3", add_blocks=["1"])
    assert board(desk) == before


def test_a_blocked_start_and_a_second_one_in_progress_are_told():
    """Advice by default: it passes, and the model is told what it waits for."""
    desk = desk_of("a", "b")
    desk.do("TaskUpdate", task_id="2", add_blocked_by=["1"])
    assert "waits for" in desk.do("TaskUpdate", task_id="2", status="in_progress")


@pytest.mark.parametrize("key", ["add_blocks", "add_blocked_by"])
def test_an_edge_to_a_missing_task_is_an_error_that_names_it(key):
    """Nothing is dropped behind "no updates were made"."""
    desk = desk_of("a")
    assert "9" in desk.fail("TaskUpdate", task_id="1", owner="ann", **{key: ["9"]})
    assert (board(desk), desk.tasks[0].owner) == ([("1", "pending", [], [])], None)


def test_a_completed_blocker_does_not_block():
    """An edge from a task that was completed before leaves the dependent ready."""
    desk = desk_of("a", "b")
    desk.do("TaskUpdate", task_id="1", status="completed")
    desk.do("TaskUpdate", task_id="2", add_blocked_by=["1"])
    assert "waits" not in desk.do("TaskUpdate", task_id="2", status="in_progress")
    assert board(desk) == [("1", "completed", ["2"], []), ("2", "in_progress", [], ["1"])]


def test_reopening_a_blocker_blocks_again():
    """Completing keeps the edge at both tasks, so that reopening finds it."""
    desk = desk_of("a", "b")
    desk.do("TaskUpdate", task_id="2", add_blocked_by=["1"])
    for status in ("completed", "in_progress"):
        desk.do("TaskUpdate", task_id="1", status=status)
        assert (desk.tasks[0].blocks, desk.tasks[1].blocked_by) == (["2"], ["1"])
    assert "waits for" in desk.do("TaskUpdate", task_id="2", status="in_progress")


def test_deleting_takes_the_edges_along():
    """No task is left waiting for one that is gone."""
    desk = desk_of("a", "b", "c")
    desk.do("TaskUpdate", task_id="2", add_blocked_by=["1"], add_blocks=["3"])
    desk.do("TaskUpdate", task_id="2", status="deleted")
    assert board(desk) == [("1", "pending", [], []), ("3", "pending", [], [])]


def test_empty_subjects_and_unknown_statuses_are_refused():
    """Also when `call` is used without the toolkit."""
    desk = desk_of("a")
    assert "empty" in desk.fail("TaskCreate", subject=" ", description="")
    assert "empty" in desk.fail("TaskUpdate", task_id="1", subject="", owner="ann")
    direct = TaskUpdate().call(_agent_state=desk.state, task_id="1", status="bogus")
    assert "bogus" in asyncio.run(direct).content[0].text
    assert (desk.tasks[0].subject, desk.tasks[0].state, desk.tasks[0].owner) == (
        "a",
        "pending",
        None,
    )


def test_an_unknown_task_is_named():
    """With the ids that there are."""
    desk = desk_of("a", "b")
    for name in ("TaskGet", "TaskUpdate"):
        text = desk.fail(
            name, task_id="9", **({"status": "completed"} if name == "TaskUpdate" else {})
        )
        assert "There is no task 9" in text
        assert "the ids are" in text


def test_an_owner_is_not_overwritten_unsaid():
    """By default the model is told whose task it took; a policy refuses it."""
    desk = desk_of("a")
    assert "belonged" not in desk.do("TaskUpdate", task_id="1", owner="ann")
    assert "belonged" not in desk.do("TaskUpdate", task_id="1", owner="ann", description="x")
    assert "#1 belonged to ann" in desk.do("TaskUpdate", task_id="1", owner="bob")
    policy = AGENTSCOPE.but(owner_taken="error")
    strict = Desk(state=desk.state, tools=[TaskUpdate(policy=policy)])
    assert "#1 belonged to bob" in strict.fail("TaskUpdate", task_id="1", owner="eve")
    assert desk.tasks[0].owner == "bob"


def test_arguments_that_were_cut_off_make_no_half_plan():
    """AgentScope completes them; ours are refused, and what is mended is told."""
    agent = agent_of(
        [
            use("TaskCreate", subject="a"),
            use("TaskCreate", raw='{"subject": "b", "description": "cut'),
        ],
        use("TaskCreate", raw='{"subject": "c",}'),
        use("TaskCreate", raw=""),
        "ok",
        toolkit=Toolkit(tools=make_tools()),
    )
    reply(agent)
    assert [ok for ok, _ in results(agent)] == [True, False, True, False]
    assert "end in the middle" in results(agent)[1][1]
    assert "trailing commas" in results(agent)[2][1]
    assert [task.subject for task in agent.state.tasks_context.tasks] == ["a", "c"]


def test_metadata_are_shown_as_json():
    """Not as a Python repr."""
    desk = desk_of("a")
    desk.do("TaskUpdate", task_id="1", metadata={"ok": True, "none": [1]})
    text = desk.do("TaskGet", task_id="1")
    assert "True" not in text
    assert "true" in text

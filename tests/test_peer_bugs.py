"""What goes wrong in the planning tools that exist, on the core: none of it may happen here."""

import pytest

from todoplan.core.commands import (
    Batch,
    CreateTask,
    CreateTasks,
    DeleteTask,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Accepted, Rejected, decide, plan_of
from todoplan.core.plan.model import Status, Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import blocked, next_task, ready, topological_order
from todoplan.core.rules import CLAUDE, DEFAULT, STRICT, Policy
from todoplan.errors import PlanError


def after(plan, *commands, policy=DEFAULT):
    """Return the plan after commands that must all be accepted."""
    for command in commands:
        answer = decide(plan, command, policy)
        assert isinstance(answer, Accepted), answer
        plan = answer.plan
    return plan


def codes(plan, command, policy=DEFAULT):
    """Return why a command is refused."""
    answer = decide(plan, command, policy)
    assert isinstance(answer, Rejected), answer
    return {problem.code for problem in answer.problems}


def named(*texts):
    """Return a plan of pending tasks."""
    return after(Plan(), CreateTasks(tuple(CreateTask(text) for text in texts)))


def ids(tasks):
    """Return the ids of tasks."""
    return [task.id for task in tasks]


def test_deleted_highest_id_is_not_used_again():
    """AgentScope, Claude Code before 2.1.21: create 1, 2, 3, delete 3, create -> 3 again."""
    plan = after(named("a", "b", "c"), DeleteTask("3"), CreateTask("d"))
    assert ids(plan) == ["1", "2", "4"]


def test_self_edge_is_refused():
    """AgentScope, langchain-agentkit: a task could wait for itself."""
    assert codes(named("a"), UpdateTask("1", add_blocked_by=("1",))) == {"self_edge"}


def test_cycle_is_refused_with_its_path():
    """AgentScope, shrimp, langchain-agentkit: A waits for B waits for A."""
    plan = after(named("a", "b"), UpdateTask("1", add_blocks=("2",)))
    answer = decide(plan, UpdateTask("1", add_blocked_by=("2",)))
    assert answer.problems[0].task_ids == ("1", "2", "1")


def test_cycle_within_one_call_is_refused():
    """Eino: addBlocks and addBlockedBy of one task in one call, both checked on the old map."""
    plan = named("a", "b")
    assert codes(plan, UpdateTask("1", add_blocks=("2",), add_blocked_by=("2",))) == {"cycle"}
    items = (CreateTask("c", blocked_by=("#1",)), CreateTask("d", blocked_by=("#0",)))
    assert codes(plan, CreateTasks(items)) == {"cycle"}


def test_edge_to_a_missing_task_is_told():
    """AgentScope dropped it in silence; Gemini's tracker and shrimp took it or skipped it."""
    plan = named("a")
    for command in (
        UpdateTask("1", add_blocked_by=("9",)),
        CreateTask("b", blocked_by=("9",)),
        CreateTasks((CreateTask("b", blocks=("9",)),)),
    ):
        answer = decide(plan, command)
        assert [(p.code, p.task_ids) for p in answer.problems] == [("unknown_task", ("9",))]


def test_edges_are_not_half_applied():
    """Eino: an error in the second edge left the first one standing."""
    plan = named("a", "b")
    assert codes(plan, UpdateTask("1", add_blocks=("2", "9"), owner="ann")) == {"unknown_task"}
    assert (plan["1"].blocks, plan["1"].owner, plan.revision) == ((), None, 2)


def test_dependency_on_a_completed_task_does_not_block():
    """AgentScope: an edge from a task completed before blocked for ever."""
    plan = after(
        named("a", "b"),
        UpdateTask("1", status="completed"),
        UpdateTask("2", add_blocked_by=("1",)),
    )
    assert ids(ready(plan)) == ["2"]


def test_reopening_blocks_again():
    """AgentScope: completing destroyed the edge, so that reopening no longer blocked."""
    plan = after(
        named("a", "b"),
        UpdateTask("1", add_blocks=("2",)),
        UpdateTask("1", status="completed"),
        UpdateTask("1", status="in_progress"),
    )
    assert (plan["1"].blocks, plan["2"].blocked_by) == (("2",), ("1",))
    assert blocked(plan) == {"2": ("1",)}


def test_completing_the_blocker_frees_the_dependent():
    """pydantic-ai-todo: blocked was a stored status, and stayed."""
    plan = after(named("a", "b"), UpdateTask("2", add_blocked_by=("1",)))
    assert ids(ready(plan)) == ["1"]
    assert ids(ready(after(plan, UpdateTask("1", status="completed")))) == ["2"]


def test_finished_blockers_are_not_shown_as_blocking():
    """Eino: "[blocked by #1]" stayed in the list when #1 was done."""
    plan = after(
        named("a", "b"),
        UpdateTask("2", add_blocked_by=("1",)),
        UpdateTask("1", status="completed"),
    )
    assert blocked(plan) == {}


def test_blocked_is_no_status():
    """pydantic-ai-todo: status "blocked" without a blocker counted nowhere."""
    with pytest.raises(PlanError, match="blocked"):
        UpdateTask("1", status="blocked")
    assert "blocked" not in set(Status)


@pytest.mark.parametrize("word", ["done", "Completed", "DONE", "deleted", ""])
def test_status_outside_the_table_is_not_stored(word):
    """AgentScope, langchain-agentkit, OpenCode: any string could become a status."""
    with pytest.raises(PlanError, match="is no status; write one of pending, "):
        UpdateTask("1", status=word)


def test_hand_off_in_one_batch():
    """pydantic-ai-todo: {complete a, start b} was refused, b still seemed to wait."""
    plan = after(
        named("a", "b"),
        UpdateTask("2", add_blocked_by=("1",)),
        StartNext(),
    )
    batch = Batch((UpdateTask("1", status="completed"), UpdateTask("2", status="in_progress")))
    policy = DEFAULT.but(single_in_progress="error", blocked_start="error")
    answer = decide(plan, batch, policy)
    assert (answer.warnings, ids(answer.plan.active())) == ((), ["2"])


def test_batch_is_one_step():
    """pydantic-ai-harness: a status batch was N writes, so that half of it could stay."""
    plan = named("a", "b")
    batch = Batch((UpdateTask("1", status="completed"), UpdateTask("9", status="completed")))
    assert codes(plan, batch) == {"unknown_task"}
    assert plan["1"].status is Status.PENDING


def test_starting_a_blocked_task_is_told_or_refused():
    """AgentScope, docker-agent: starting a blocked task passed without a word."""
    plan = after(named("a", "b"), UpdateTask("2", add_blocked_by=("1",)))
    start = UpdateTask("2", status="in_progress")
    assert [p.code for p in decide(plan, start).warnings] == ["blocked_start"]
    assert "blocked_start" in codes(plan, start, STRICT)


def test_completing_a_blocked_task_is_told_or_refused():
    """pydantic-ai-todo, pydantic-ai-harness: it was allowed in silence."""
    plan = after(named("a", "b"), UpdateTask("2", add_blocked_by=("1",)))
    done = UpdateTask("2", status="completed")
    assert [p.code for p in decide(plan, done).warnings] == ["blocked_complete"]
    assert "blocked_complete" in codes(plan, done, STRICT)


def test_two_in_progress_is_told_or_refused():
    """LangChain, AgentScope, pydantic-ai-harness: two in progress were a success."""
    todos = WriteTodos((Todo("a", "in_progress"), Todo("b", "in_progress")))
    assert [p.code for p in decide(Plan(), todos).warnings] == ["single_in_progress"]
    assert "single_in_progress" in codes(Plan(), todos, CLAUDE)


def test_deleting_leaves_no_dangling_edge():
    """pydantic-ai-todo, langchain-agentkit: the deleted task went on blocking."""
    plan = after(
        named("a", "b", "c"),
        UpdateTask("2", add_blocked_by=("1",), add_blocks=("3",)),
        DeleteTask("1"),
    )
    assert (plan["2"].blocked_by, ids(ready(plan))) == ((), ["2"])
    plan = after(plan, WriteTodos((Todo("c"),)))
    assert (plan["3"].blocked_by, ids(ready(plan))) == ((), ["3"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: named("a", " "),
        lambda: after(named("a"), UpdateTask("1", subject="")),
        lambda: after(Plan(), WriteTodos((Todo("a"), Todo("\n")))),
    ],
)
def test_empty_text_is_refused(make):
    """LangChain, AgentScope, pydantic-ai-harness: a task without text was a success."""
    with pytest.raises(AssertionError, match="empty_text"):
        make()


def test_empty_text_on_update_is_not_ignored():
    """AgentScope ignored it in silence on update."""
    assert codes(named("a"), UpdateTask("1", subject=" ", owner="ann")) == {"empty_text"}


def test_empty_write_does_not_wipe():
    """LangChain, OpenHands: an empty or missing list wiped the plan."""
    plan = named("a", "b")
    assert codes(plan, WriteTodos(())) == {"empty_write"}
    assert codes(plan, Batch((WriteTodos(()),))) == {"empty_write"}
    assert len(after(plan, WriteTodos((), clear=True))) == 0


def test_dropped_open_items_are_told_or_refused():
    """LangChain, shrimp: a rewritten list lost unfinished tasks unsaid."""
    plan, write = named("a", "b"), WriteTodos((Todo("a"),))
    warned = decide(plan, write).warnings
    assert [(p.code, p.task_ids) for p in warned] == [("dropped_open_items", ("2",))]
    assert codes(plan, write, Policy().but(dropped_open_items="error")) == {"dropped_open_items"}


def test_duplicate_ids_are_refused():
    """pydantic-ai-todo: a list with one id twice; a status update hit the first only."""
    plan = named("a", "b")
    twice = (Todo("x", id="1"), Todo("y", id="1"))
    assert codes(plan, WriteTodos(twice)) == {"duplicate_id"}
    with pytest.raises(PlanError, match="duplicate_id"):
        plan_of([Task("1", "a"), Task("1", "b")])


def test_items_without_id_stay_apart():
    """Hermes: items without an id all became "?" and collapsed; Roo: equal items shared one id."""
    plan = after(Plan(), WriteTodos((Todo("a"), Todo("a"), Todo("a"))))
    assert ids(plan) == ["1", "2", "3"]
    assert after(plan, WriteTodos((Todo("a"), Todo("a"), Todo("a")))) == plan


def test_id_stays_when_the_status_changes():
    """Roo: the id was a hash of text and status, another one after each change."""
    plan = after(Plan(), WriteTodos((Todo("a"), Todo("b"))))
    moved = after(plan, WriteTodos((Todo("a", "completed"), Todo("b", "in_progress"))))
    assert [(t.id, t.status) for t in moved] == [("1", "completed"), ("2", "in_progress")]


def test_ids_are_no_positions():
    """claude-hud: after a deletion the third task was taken for task 3."""
    plan = after(named("a", "b", "c"), DeleteTask("1"), UpdateTask("3", status="completed"))
    assert [(t.subject, t.status) for t in plan] == [("b", "pending"), ("c", "completed")]


def test_ten_comes_after_two():
    """Eino: the list was sorted by ids as text."""
    plan = named(*"abcdefghijkl")
    assert ids(plan) == [str(n) for n in range(1, 13)]
    assert list(topological_order(plan)) == ids(plan)


def test_order_after_a_replace_is_the_lists():
    """pydantic-ai-todo on PostgreSQL: all of one transaction's rows had the same time."""
    plan = after(named("a", "b", "c"), WriteTodos((Todo("c"), Todo("x"), Todo("a"), Todo("b"))))
    assert [task.subject for task in plan] == ["c", "x", "a", "b"]


def test_chain_of_3000_does_not_recurse():
    """pydantic-ai-harness: RecursionError on a chain of 3,000 steps."""
    chain = tuple(
        CreateTask("x", blocked_by=(f"#{n}",) if n >= 0 else ()) for n in range(-1, 2_999)
    )
    plan = after(Plan(), CreateTasks(chain), policy=Policy())
    assert codes(plan, UpdateTask("1", add_blocked_by=("3000",))) == {"cycle"}
    assert len(topological_order(plan)) == 3_000


def test_next_task_is_never_a_resolved_one():
    """AgentScope 1.x: finishing a step set the next one to in progress though it was abandoned."""
    plan = after(
        named("a", "b", "c"),
        UpdateTask("2", status="cancelled"),
        StartNext(),
        UpdateTask("1", status="completed"),
    )
    assert next_task(plan).id == "3"
    assert ids(after(plan, StartNext()).active()) == ["3"]
    assert plan["2"].status is Status.CANCELLED


def test_tasks_stay_when_the_last_one_completes():
    """Eino: all tasks were deleted when the last was completed."""
    plan = after(named("a"), UpdateTask("1", status="completed"))
    assert (ids(plan), plan.next_id) == (["1"], 2)


def test_cancelled_is_a_status():
    """DeepAgents: the prompt said cancelled, the tool refused it."""
    plan = after(Plan(), WriteTodos((Todo("a", "cancelled"),)))
    assert plan["1"].status is Status.CANCELLED


def test_every_write_tells_what_happened():
    """pydantic-ai-todo: a whole-list write made no events."""
    answer = decide(named("a"), WriteTodos((Todo("a", "completed"), Todo("b"))))
    assert [type(event).__name__ for event in answer.events] == ["StatusChanged", "TaskCreated"]


def test_reopening_a_prerequisite_is_told():
    """pydantic-ai-harness: a prerequisite was reopened behind a completed dependent, unsaid."""
    plan = after(named("a", "b"), UpdateTask("2", add_blocked_by=("1",)))
    plan = after(plan, UpdateTask("1", status="completed"), UpdateTask("2", status="completed"))
    warned = decide(plan, UpdateTask("1", status="pending")).warnings
    assert [(p.code, p.task_ids) for p in warned] == [("completed_is_final", ("1",))]


@pytest.mark.parametrize("task_id", ["../../x", "007", "", "#1", "1 "])
def test_what_is_no_id_is_unknown(task_id):
    """Gemini's tracker put an id into a file path; MS framework ignored unknown ids."""
    plan = named("a")
    assert codes(plan, UpdateTask(task_id, status="completed")) == {"unknown_task"}
    assert codes(plan, DeleteTask(task_id)) == {"unknown_task"}

"""What others write under `todos` between two runs counts; what we wrote is never taken for it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents.middleware import TodoListMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from support.langgraph_threads import (
    HELLO,
    QUIET,
    THREAD,
    THREE,
    TOLD,
    agent,
    entries,
    lines,
    ours,
    run,
)
from support.scripted import calls, says, wrote

from todoplan import Plan, commands, plan_of
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    command_update,
    edit_plan,
    plan_of_state,
    plan_update,
    seed_plan,
)
from todoplan.adapters.langgraph.todos import (
    SUM,
    is_published,
    todos_of,
)
from todoplan.core.decide import decide
from todoplan.core.model import Task
from todoplan.dialogue.reminders import is_reminder


def test_what_was_written_after_us_counts():
    """
    Ours, then LangChain's own, then ours again: the later list is the plan; what it left alone
    keeps its identity, and no rule is asked.
    """
    saver = InMemorySaver()
    plan = plan_of(
        [
            Task("1", "a", status="in_progress", owner="ann"),
            Task("3", "gone"),
            Task("4", "dropped", status="cancelled"),
            Task("7", "b", metadata={"k": 1}),
        ]
    )
    _, made = agent(saver, ours(), says("1"))
    seed_plan(made, THREAD, plan)
    made.invoke(HELLO, THREAD)
    later = wrote(("a", "completed"), ("b", "in_progress"), ("new", "pending"))
    run(saver, TodoListMiddleware(), later, says("2"))
    model, made, done = run(saver, ours(TOLD), says("3"), says("4"))
    assert done["todos"] == entries(("a", "completed"), ("b", "in_progress"), ("new", "pending"))
    assert lines(made) == [
        ("1", "a", "completed"),
        ("7", "b", "in_progress"),
        ("8", "new", "pending"),
        ("4", "dropped", "cancelled"),
    ]
    after = plan_of_state(made.get_state(THREAD))
    assert (after["1"].owner, dict(after["7"].metadata)) == ("ann", {"k": 1})
    assert is_reminder(model.requests[0][-1].text)
    made.invoke(HELLO, THREAD)
    assert not is_reminder(model.requests[1][-1].text)


def test_a_list_that_the_application_sets_counts():
    """
    As with LangChain's own: `update_state` between two runs is no more undone, also by an edit.
    """
    saver = InMemorySaver()
    planner = PlanMiddleware(settings=QUIET)
    _, made = agent(saver, planner, THREE, says("1"), says("2"))
    made.invoke(HELLO, THREAD)
    given = [{**todo, "id": "1"} for todo in entries(("c", "completed"), ("z", "pending"))]
    made.update_state(THREAD, {"todos": given})
    edit_plan(made, THREAD, commands.UpdateTask("4", owner="ann"))
    expected = [("3", "c", "completed"), ("4", "z", "pending")]
    assert lines(made) == expected
    made.update_state(THREAD, {"todos": []})
    assert lines(made) == []
    done = made.invoke(HELLO, THREAD)
    assert (done["todos"], lines(made)) == ([], [])


def test_a_list_set_before_a_crashed_run_goes_on_is_told():
    """
    Although the last write under the plan was the model's own.
    """
    saver = InMemorySaver()
    planner = PlanMiddleware(settings=TOLD)
    model, made = agent(saver, planner, THREE, ConnectionError("down"), says("done"))
    with pytest.raises(ConnectionError):
        made.invoke(HELLO, THREAD)
    made.update_state(THREAD, {"todos": entries(("z", "pending"))}, as_node="tools")
    made.invoke(None, THREAD)
    assert "[pending] z" in model.requests[2][-1].text
    assert lines(made) == [("4", "z", "pending")]


def test_the_same_list_with_keys_of_an_interface_changes_nothing():
    """
    Interfaces write back what they read, with ids of their own; only text and status count.
    """
    saver = InMemorySaver()
    _, made = agent(saver, ours(), says("1"), says("2"))
    seed_plan(made, THREAD, plan_of([Task("1", "a"), Task("2", "b", status="cancelled")]))
    made.invoke(HELLO, THREAD)
    before = plan_of_state(made.get_state(THREAD))
    given = [{**todo, "id": "2"} for todo in made.get_state(THREAD).values["todos"]]
    made.update_state(THREAD, {"todos": given})
    made.invoke(HELLO, THREAD)
    assert plan_of_state(made.get_state(THREAD)) == before


STEPS = st.sampled_from(
    [
        ("TaskCreate", {"subject": "a"}),
        ("TaskCreate", {"subject": "b", "blockedBy": ["1"]}),
        ("TaskUpdate", {"taskId": "1", "status": "cancelled"}),
        ("TaskUpdate", {"taskId": "2", "status": "in_progress"}),
        ("TaskUpdate", {"taskId": "1", "status": "deleted"}),
        ("TaskList", {}),
    ]
)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(STEPS, min_size=1, max_size=3), min_size=1, max_size=3), st.booleans())
def test_ours_is_never_taken_for_others(turns, crash):
    """
    At every checkpoint of any run, stopped or not, the plan is the one that was written.
    """
    made_turns = [
        calls(*((*step, f"{n}-{m}") for m, step in enumerate(turn))) for n, turn in enumerate(turns)
    ]
    last = ConnectionError("down") if crash else says("done")
    _, made = agent(InMemorySaver(), ours(), *made_turns, last)
    try:
        made.invoke(HELLO, THREAD)
    except ConnectionError:
        assert crash
    for state in made.get_state_history(THREAD):
        value = state.values.get("todoplan")
        written = plan_of_state({"todoplan": value})
        assert plan_of_state(state) == written
        if "todos" in state.values:
            assert is_published(state.values["todos"], state.values[SUM])


def test_branches_that_disagree_are_not_taken_for_others():
    """
    After a merge the list is the last branch's until the next model step; the plan has all.
    """
    one = command_update({}, commands.CreateTask("x"))[1]
    two = command_update({}, commands.CreateTask("y"))[1]
    saver = InMemorySaver()
    _, made = agent(saver, ours(), says("1"))
    made.update_state(THREAD, plan_update(Plan()), as_node="model")
    for update in (one, two):
        made.update_state(THREAD, update, as_node="tools")
    assert [todo["content"] for todo in made.get_state(THREAD).values["todos"]] == ["y"]
    assert [line[1] for line in lines(made)] == ["x", "y"]
    done = made.invoke(HELLO, THREAD)
    assert [todo["content"] for todo in done["todos"]] == ["x", "y"]


def test_a_checkpoint_of_an_earlier_version_stays_the_plan():
    """
    It has no sum of its list, and heads without one of the call: the plan is what was written.
    """
    saver = InMemorySaver()
    plan = decide(Plan(), commands.CreateTask("a")).plan
    value = {**plan_update(plan)["todoplan"], "head": "1:call"}
    _, made = agent(saver, ours(), says("1"))
    made.update_state(THREAD, {"todoplan": value, "todos": entries(("b", "pending"))}, "model")
    assert [line[1] for line in lines(made)] == ["a"]
    assert made.invoke(HELLO, THREAD)["todos"] == entries(("a", "pending"))


def test_a_checkpointer_that_forgets_what_an_agent_does_not_know(tmp_path):
    """
    SQLite keeps no plan through a run of LangChain's own: the list is the plan again.
    """
    with SqliteSaver.from_conn_string(str(tmp_path / "db")) as saver:
        _, made, _ = run(saver, ours(), calls(("TaskCreate", {"subject": "x"}, "1")), says("1"))
        assert lines(made) == [("1", "x", "pending")]
        run(saver, TodoListMiddleware(), THREE, says("2"))
        _, made, done = run(saver, ours(), says("3"))
        assert [line[1] for line in lines(made)] == ["a", "b", "c"]
        assert done["todos"] == todos_of(plan_of_state(made.get_state(THREAD)))

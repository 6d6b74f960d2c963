"""What others do to the plan is not undone by a model that has not seen it (law 15)."""

import json

import pytest
from agentscope.state import AgentState
from agentscope.tool import TaskCreate as TheirCreate
from support.agentscope_agent import Desk, agent_of, reply, results, theirs, use

from todoplan.adapters.agentscope import attach, edit_plan, plan_of_state, seed_plan
from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Task
from todoplan.dialogue.guidance import TAG, Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS
from todoplan.errors import CodecError

SILENT = Settings(plan_lost=False, unfinished=0, changed=False)
TOLD = Settings(plan_lost=False, unfinished=0)
LIST = [{"content": "Dig", "status": "in_progress"}]


def write():
    return use("write_todos", todos=LIST)


def helper(*script, state=None, settings=SILENT):
    return agent_of(*script, state=state, **attach(Toolbox(TODOS), settings=settings))


def subjects(agent):
    return [task.subject for task in plan_of_state(agent)]


def begun():
    """
    Return the saved state of an agent whose model has written a list.
    """
    agent = helper(write(), "ok")
    reply(agent)
    return agent.state.model_dump_json()


def loaded(text):
    return AgentState.model_validate_json(text)


def by_ann(state):
    edit_plan(state, CreateTask("Tell Ann"), actor="ann")
    edit_plan(state, UpdateTask("1", owner="bo"), actor="bo")


def test_what_a_person_added_stays_until_the_model_has_seen_it():
    """
    No list that leaves it out removes it, and the first reply says so, with the actor, also after
    the state was saved and loaded.
    """
    state = loaded(begun())
    by_ann(state)
    agent = helper(write(), "ok", write(), "ok", state=loaded(state.model_dump_json()))
    reply(agent)
    told = results(agent)[-1][1]
    assert "#2 Tell Ann created by ann" in told
    assert "#1 Dig updated by bo" in told
    assert subjects(agent) == ["Dig", "Tell Ann"]
    assert "behind" not in agent.state.middle_context["todoplan"]["session"]
    reply(agent)
    assert results(agent)[-1][1] == "no change, 0/2 completed"
    assert subjects(agent) == ["Dig", "Tell Ann"]


def in_place(agent):
    agent.state.tasks_context.tasks.append(theirs("Tell Ann", id="2"))


def through_their_tool(agent):
    desk = Desk(state=agent.state, tools=[TheirCreate()])
    desk.do("TaskCreate", subject="Tell Ann", description="")


@pytest.mark.parametrize("change", [in_place, through_their_tool])
def test_a_change_of_the_list_itself_is_another_hand_too(change):
    """
    Nobody says who it was; what differs from how the adapter left the list is unseen, and stays so
    over a restart.
    """
    agent = helper(write(), "ok")
    reply(agent)
    change(agent)
    assert len(plan_of_state(agent)) == 2
    agent = helper(write(), "ok", write(), "ok", state=loaded(agent.state.model_dump_json()))
    reply(agent)
    assert "Tell Ann created" in results(agent)[-1][1]
    reply(agent)
    assert "Tell Ann" not in results(agent)[-1][1]
    assert subjects(agent) == ["Dig", "Tell Ann"]


def test_a_read_is_a_look_and_a_refused_call_is_none():
    """
    A refused call has told nothing, and neither makes a task one that the model has listed.
    """
    state = loaded(begun())
    by_ann(state)
    agent = helper(use("write_todos", todos=7), use("read_todos"), write(), "ok", state=state)
    reply(agent)
    _, refused, read, _ = results(agent)
    assert not refused[0]
    assert read[1].startswith("since you last looked: ")
    assert subjects(agent) == ["Dig", "Tell Ann"]


def test_calls_of_one_turn_share_what_the_model_had_seen():
    """
    A list that was written beside a read is upon what was seen before it, and it is told once.
    """
    state = loaded(begun())
    by_ann(state)
    agent = helper([use("read_todos"), write()], "ok", state=state)
    reply(agent)
    assert ["by ann" in text for _, text in results(agent)[1:]] == [True, False]
    assert subjects(agent) == ["Dig", "Tell Ann"]


def test_the_reminder_says_who_did_what_and_is_kept_nowhere():
    """
    `changed` is on by default, and at the tail. It comes again until an answer has told, and a list
    that answers it and leaves the task out does not remove it.
    """
    state = loaded(begun())
    by_ann(state)
    agent = helper("ok", write(), "ok", state=state, settings=Settings(unfinished=0))
    reply(agent)
    assert "#1 Dig updated by bo, #2 Tell Ann created by ann" in agent.model.tail()
    assert TAG not in agent.state.model_dump_json()
    reply(agent)
    assert [TAG in agent.model.sent(n) for n in (1, 2)] == [True, False]
    assert "by ann" in results(agent)[-1][1]
    assert subjects(agent) == ["Dig", "Tell Ann"]


def test_what_was_told_by_an_answer_is_not_told_by_a_reminder():
    """
    It is said once.
    """
    state = loaded(begun())
    by_ann(state)
    agent = helper(write(), "ok", state=state)
    reply(agent)
    agent = helper("ok", state=agent.state, settings=TOLD)
    reply(agent)
    assert TAG not in agent.model.sent()


def test_what_is_done_while_the_model_answers_a_reminder_is_unseen():
    """
    The reminder showed the plan as it was when the request was sent.
    """
    state = loaded(begun())
    by_ann(state)
    agent = helper("ok", write(), "ok", state=state, settings=TOLD)
    answer = agent.model._call_api

    async def slowly(*args, **options):
        if len(agent.model.requests) == 0:
            edit_plan(agent, CreateTask("Tell Bob"), actor="bob")
        return await answer(*args, **options)

    agent.model._call_api = slowly
    reply(agent)
    assert "Tell Bob" not in agent.model.sent(0)
    reply(agent)
    assert "Tell Bob created by bob" in agent.model.sent(1)
    assert "Tell Ann created" in agent.model.sent(1)


def test_what_is_due_beside_a_further_turn_comes_in_the_next_request():
    """
    One reminder has the tail of a request; what the other has not shown is still unseen.
    """
    agent = helper(
        "early", "ok", "early", "ok", settings=Settings(unfinished=1), state=loaded(begun())
    )
    answer = agent.model._call_api

    async def edited(*args, **options):
        done = await answer(*args, **options)
        if len(agent.model.requests) == 1:
            by_ann(agent.state)
        return done

    agent.model._call_api = edited
    reply(agent)
    assert len(agent.model.requests) == 2
    assert "by ann" not in agent.model.sent(1)
    reply(agent)
    assert "by ann" in agent.model.sent(2)


def test_a_seeded_plan_is_not_removed_unseen():
    """
    The first list of a model that was shown nothing keeps what was seeded.
    """
    agent = helper(write(), "ok")
    seed_plan(agent, plan_of([Task("1", "Tell Ann")]), actor="cron")
    reply(agent)
    assert "not on your list, kept: #1 Tell Ann" in results(agent)[0][1]
    assert subjects(agent) == ["Dig", "Tell Ann"]


def test_a_damaged_record_is_an_error():
    """
    It is never a new session.
    """
    state = loaded(begun())
    by_ann(state)
    text = state.model_dump_json()
    broken = json.loads(text)
    broken["middle_context"]["todoplan"]["session"]["behind"] = 7
    with pytest.raises(CodecError):
        plan_of_state(AgentState.model_validate(broken))


def test_by_default_an_early_answer_stands():
    """
    Who changes an import sees what was seen before: `unfinished` is a setting of one's own choice.
    """
    agent = agent_of(use("TaskCreate", subject="a", description=""), "early", **attach())
    reply(agent, "go")
    assert len(agent.model.requests) == 2

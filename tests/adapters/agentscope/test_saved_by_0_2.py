"""
States that todoplan 0.2.0 saved are read, and their sessions go on as they did.

The files in `states` were made by 0.2.0 itself, with scripted models and a clock of its own.
"""

import json
from pathlib import Path

import pytest
from agentscope.state import AgentState
from support.agentscope_agent import agent_of, reply, results, use

from todoplan import FileStore
from todoplan.adapters.agentscope import attach, history_of, plan_of_state
from todoplan.dialogue import Toolbox, lean
from todoplan.dialogue.guidance import Settings, is_reminder
from todoplan.dialogue.tools import TODOS
from todoplan.errors import CodecError

STATES = Path(__file__).parent / "states"
TOLD = Settings(plan_lost=False, unfinished=0)


def saved(name, **beside):
    data = json.loads((STATES / f"{name}.json").read_text())
    data["middle_context"]["todoplan"].update(beside)
    return AgentState.model_validate(data)


def write(*subjects):
    return use("write_todos", todos=[{"content": each, "status": "pending"} for each in subjects])


def helper(state, *script, box=None, settings=TOLD, **options):
    kept = attach(box or Toolbox(TODOS), settings=settings, **options)
    return agent_of(*script, state=state, **kept)


def subjects(agent):
    return [task.subject for task in plan_of_state(agent)]


def told(agent):
    return results(agent)[-1][1]


def store_of(name, folder):
    (folder / "plans.json").write_text((STATES / f"{name}_plans.json").read_text())
    return FileStore(folder / "plans.json")


def test_a_plan_and_its_journal_are_read():
    """Edges, priority and what was deleted; the state is then saved in the new form alone."""
    state = saved("tasks")
    plan = plan_of_state(state)
    assert (plan.revision, plan.next_id) == (6, 4)
    assert [(task.subject, task.status.value) for task in plan] == [
        ("Dig", "in_progress"),
        ("Lay", "pending"),
    ]
    assert plan["2"].blocked_by == ("1",)
    assert [entry.revision for entry in history_of(state)] == [1, 3, 4, 5, 6]
    kept = state.middle_context
    assert "todoplan_guidance" not in kept
    assert kept["todoplan"].keys() == {"next_id", "revision", "journal", "session"}
    assert kept["todoplan"]["session"]["guidance"]["asked"] == 1


def test_a_session_goes_on_with_what_it_had_seen():
    """All that it had seen it has listed: its next list may drop it."""
    agent = helper(saved("alone"), write("Dig"), "ok")
    reply(agent)
    assert subjects(agent) == ["Dig"]


def test_what_it_had_not_seen_is_told_and_stays():
    """Base and actors are read."""
    agent = helper(saved("unseen"), write("Dig", "Lay"), "ok")
    reply(agent)
    assert "#1 Dig deep (was: Dig) updated by bo, #3 Tell Ann created by ann" in told(agent)
    assert subjects(agent) == ["Dig deep", "Lay", "Tell Ann"]


def test_a_list_that_was_changed_by_hand_is_news():
    """Its journal says how it was left."""
    agent = helper(saved("by_hand"), write("Dig", "Lay"), "ok")
    reply(agent)
    assert "#3 by hand created" in told(agent)
    assert subjects(agent) == ["Dig", "Lay", "by hand"]


@pytest.mark.parametrize("beside", [{"revision": 9}, {"next_id": 9}])
def test_a_journal_that_leads_elsewhere_changes_nothing(beside):
    """What was saved beside it counts, and the list is not taken for edited by somebody."""
    agent = helper(saved("alone", **beside), write("Dig"), "ok")
    plan = plan_of_state(agent)
    assert {"revision": plan.revision, "next_id": plan.next_id} == (
        {"revision": 2, "next_id": 3} | beside
    )
    assert [entry.revision for entry in history_of(agent)] == [2]
    reply(agent)
    assert told(agent) == 'ok, 0/1 completed; removed while open: "Lay"'


def test_a_session_of_a_plan_in_a_store_goes_on(tmp_path):
    """From the revision that it saw last."""
    agent = helper(saved("stored"), write("Lay"), "ok", store=store_of("stored", tmp_path))
    reply(agent)
    assert "#3 Tell Ann created by ann" in told(agent)
    assert subjects(agent) == ["Lay", "Tell Ann"]
    assert saved("stored").middle_context["todoplan"].keys() != (
        agent.state.middle_context["todoplan"].keys()
    )
    assert agent.state.middle_context["todoplan"].keys() == {"stored", "session", "seal"}


def test_a_session_keeps_its_claims(tmp_path):
    """By their fencing tokens."""
    box = Toolbox(lean(team=True))
    store = store_of("team", tmp_path)
    agent = helper(saved("team"), use("plan", done=[1]), "ok", box=box, store=store)
    reply(agent)
    assert "#1 completed" in told(agent)


def test_a_reminder_that_waited_for_its_request_is_given():
    """The state was saved after the answer was sent back."""
    state = saved("sent_back")
    agent = helper(state, "done")
    reply(agent)
    assert is_reminder(agent.model.tail(0))
    assert "pending" not in agent.state.middle_context["todoplan"]


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("unseen", {"base": 7}),
        ("stored", {"seen": "x"}),
        ("team", {"fences": {"1": "x"}}),
        ("tasks", {"journal": 7}),
    ],
)
def test_a_damaged_state_is_an_error(name, beside, tmp_path):
    """It is never a new session."""
    store = {} if name in {"unseen", "tasks"} else {"store": FileStore(tmp_path / "plans.json")}
    agent = helper(saved(name, **beside), "ok", **store)
    with pytest.raises(CodecError):
        plan_of_state(agent)

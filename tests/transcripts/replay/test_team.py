"""Recordings of agents that use our own tool sets replay to the plan that the agents had."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recorded import lines_file

from todoplan.core.events.base import NOTHING_LISTED, Base
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import Toolbox, fences_after
from todoplan.dialogue.tools import TOOLSETS
from todoplan.testing.adapters.host import conversation
from todoplan.testing.strategies.calls import arguments_of
from todoplan.transcripts.calls import BY_ID_TOOLS, PLANNING_TOOLS, TEAM_TOOLS, may_plan
from todoplan.transcripts.replay import RECORDED, replay_together

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ANN, BOB, EVE = "ann", "bob", "eve"


class Session:
    """
    An agent's conversation with the plan that all agents share, and its recording.

    Each call is a message of its own, ten seconds after the previous call of any agent.
    """

    def __init__(self, actor):
        self.actor, self.base, self.fences = actor, Base(Plan(), listed=NOTHING_LISTED), {}
        self.messages = []

    def call(self, toolbox, plan, name, arguments, at):
        known = {"base": self.base, "actor": self.actor, "fences": self.fences}
        reply = toolbox.call(plan, name, arguments, at=at, **known)
        if not reply.is_error:
            self.base = self.base.advanced(plan, reply.plan, [reply.note])
            self.fences = fences_after(self.fences, reply.events)
        function = {"name": name, "arguments": json.dumps(arguments)}
        call_id = f"{self.actor}_{len(self.messages)}"
        times = {"timestamp": at.isoformat()}
        self.messages += [
            {"role": "assistant", "tool_calls": [{"id": call_id, "function": function}], **times},
            {"role": "tool", "tool_call_id": call_id, "content": reply.text, **times},
        ]
        return reply


def lived(folder, toolbox, calls):
    """
    Let agents make calls `(actor, tool, arguments)`; arguments may be a function of the plan.

    Return the recording of each agent, the plan, and whether each call was refused.
    """
    plan, sessions, refused = Plan(), {}, []
    for number, (actor, name, arguments) in enumerate(calls):
        session = sessions.setdefault(actor, Session(actor))
        at = NOON + timedelta(seconds=10 * number)
        sent = arguments(plan) if callable(arguments) else arguments
        reply = session.call(toolbox, plan, name, sent, at)
        plan = reply.plan
        refused.append(reply.is_error)
    paths = [
        lines_file(folder, *session.messages, name=f"{actor}.jsonl")
        for actor, session in sessions.items()
    ]
    return paths, plan, refused


def steps_and_plan(replay):
    """Return the steps, and the plan of the only lane."""
    steps = list(replay.steps())
    (lane,) = replay.lanes
    return steps, lane.plan


UPDATE, CREATE, CLAIM = "TaskUpdate", "TaskCreate", "TaskClaim"
ITEMS = {"tasks": [{"subject": "Dig"}, {"subject": "Lay"}, {"subject": "Fill"}]}
TEAM_LIVES = {
    "tasks-team": [
        (ANN, CREATE, ITEMS),
        (ANN, CREATE, {"subject": "Rake", "blockedBy": ["3"]}),
        (ANN, CLAIM, {}),
        (BOB, CLAIM, {"taskId": "3"}),
        (EVE, UPDATE, {"taskId": "2", "status": "in_progress", "description": "Deep."}),
        (EVE, CLAIM, {}),  # in vain: nothing is ready
        (BOB, UPDATE, {"taskId": "1", "status": "completed"}),  # refused: Ann's
        (BOB, "TaskList", {}),
        (ANN, UPDATE, {"taskId": "1", "status": "completed"}),
        (EVE, UPDATE, {"taskId": "2", "status": "pending"}),  # gives the claim back
        (ANN, CLAIM, {}),
        (BOB, "TaskGet", {"taskId": "3"}),
        (BOB, UPDATE, {"taskId": "3", "status": "completed"}),
        (EVE, CLAIM, {"taskId": "4"}),
        (ANN, UPDATE, {"taskId": "2", "status": "deleted"}),
    ],
    "lean-team": [
        (ANN, "plan", {"write": ["Dig", "Lay", "Fill"], "edit": [{"id": 3, "after": [2]}]}),
        (BOB, "plan", {"write": ["Sow"]}),  # drops no task of Ann's
        (ANN, "plan", {"next": True}),  # Bob's task, which comes first
        (BOB, "plan", {"claim": [2]}),
        (EVE, "plan", {"add": ["Mow", "Rake"], "claim": [5], "next": True}),
        (EVE, "plan", {"drop": [6]}),
        (EVE, "plan", {"next": True}),  # in vain: nothing is ready
        (BOB, "plan", {"done": [4]}),  # refused: Ann's
        (BOB, "plan", {}),
        (BOB, "plan", {"write": ["Reap"]}),  # refused: leaves out a task that Bob has listed
        (ANN, "plan", {"done": [4]}),
        (EVE, "plan", {"wait": {"5": "for rain"}}),
        (BOB, "plan", {"done": [2], "next": True}),
        (BOB, "plan", {"write": ["Lay", "Sow"]}),  # keeps a task that was claimed as the next one
        (EVE, "plan", {"edit": [{"id": 3, "after": [5]}]}),
        (ANN, "plan", {"edit": [{"id": 3, "after": []}]}),
        (EVE, "plan", {"fail": [1]}),
    ],
}


def life(name):
    """Return the calls of agents with a tool set: two agents take turns, or one writes the list."""
    toolset = TOOLSETS[name]
    if toolset.team:
        return TEAM_LIVES[name]
    agents = (ANN, BOB) if toolset.by_id else (ANN, ANN)
    turns = [turn for run in conversation(toolset) for turn in run if turn.calls]
    return [
        (agents[number % 2], call.name, call.arguments)
        for number, turn in enumerate(turns)
        for call in turn.calls
    ]


by_toolset = pytest.mark.parametrize("name", TOOLSETS)


@by_toolset
def test_what_agents_did_with_a_tool_set_replays_to_their_plan(tmp_path, name):
    """Each task with its claim, times and edges; a call is refused in the replay if it was."""
    paths, plan, refused = lived(tmp_path, Toolbox(TOOLSETS[name]), life(name))
    steps, replayed = steps_and_plan(replay_together("team", paths))
    assert [step.outcome == "refused" for step in steps] == refused
    assert {step.outcome for step in steps} <= {"applied", "read", "refused"}
    assert replayed == plan


@pytest.mark.parametrize("name", [name for name, toolset in TOOLSETS.items() if toolset.by_id])
@given(st.data())
def test_whatever_agents_do_replays_to_their_plan(tmp_path_factory, name, data):
    """
    Any calls that make sense for the plan, of any tool set with ids.

    In a set without ids, an audit takes a line with similar words for the same task.
    """
    toolset = TOOLSETS[name]
    agents = st.sampled_from([ANN, BOB, EVE])
    calls = [
        (actor, tool.key, lambda plan, tool=tool: data.draw(arguments_of(tool, plan or None)))
        for actor, tool in data.draw(
            st.lists(st.tuples(agents, st.sampled_from(toolset.tools)), max_size=20)
        )
    ]
    folder = tmp_path_factory.mktemp("team")
    paths, plan, refused = lived(folder, Toolbox(toolset), calls)
    steps = list((replay := replay_together("team", paths)).steps())
    assert [step.outcome == "refused" for step in steps] == refused
    assert [lane.plan for lane in replay.lanes] == [plan] * bool(calls)


@by_toolset
def test_every_call_of_our_tools_is_a_planning_call(name):
    """The argument of a new tool or field is read too, with and without a team."""
    for tool in TOOLSETS[name].tools:
        assert tool.key in PLANNING_TOOLS
        readers = TEAM_TOOLS if TOOLSETS[name].team else RECORDED
        understood = {field.target for field in readers[tool.key].fields}
        for field in tool.fields:
            assert field.target in understood
            assert field.hidden or may_plan(tool.key, {field.name: []})
        assert (tool.key in BY_ID_TOOLS) is TOOLSETS[name].by_id


@pytest.mark.parametrize("toolset", ["tasks-team", "lean-team"])
def test_the_calls_of_a_team_cover_its_tools(toolset):
    """Each tool of a set for a team is called, and each published argument of `plan` is sent."""
    called = {(tool, key) for _, tool, given in TEAM_LIVES[toolset] for key in given or ("",)}
    assert {tool for tool, _ in called} == set(TOOLSETS[toolset].tool_names)
    published = {field.name for field in TEAM_TOOLS["plan"].fields if not field.hidden}
    assert toolset != "lean-team" or published <= {key for _, key in called}

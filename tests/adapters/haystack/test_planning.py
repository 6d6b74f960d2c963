"""What only Haystack has: the state of a run, its hooks, its templates, agents as tools."""

import asyncio
import copy

import pytest
from haystack import Pipeline, component
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.hooks import hook
from haystack.hooks.human_in_the_loop import ConfirmationHook, ToolExecutionDecision
from haystack.tools import AgentTool, Toolset, tool
from support.conformance_haystack import Scripted, seen
from support.small_adapters import OFF, OWN, SmallAdapter, calls, statuses, subjects

from todoplan import LEAN, Toolbox
from todoplan.adapters import haystack
from todoplan.adapters.haystack import (
    KEY,
    Planning,
    attach,
    edit_plan,
    make_tools,
    plan_of_state,
    seed_plan,
)
from todoplan.core.commands import CreateTask
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Task
from todoplan.dialogue import Call, Settings, plan_closed
from todoplan.errors import PlanError
from todoplan.stores.memory import MemoryStore
from todoplan.testing.adapters import ModelTurn, Script
from todoplan.testing.adapters.host import says

GO = [ChatMessage.from_user("go")]


def lean(settings=OFF, **more):
    """A planning with the tool set `lean`."""
    return Planning(Toolbox(LEAN), settings, **more)


def plain(*turns, meanwhile=None, **more):
    """An agent with a script, and no plan."""
    return Agent(chat_generator=Scripted(Script(*turns, meanwhile=meanwhile)), **more)


def agent_of(planning, *turns, **more):
    """An agent with a script and a plan."""
    return attach(plain(*turns, **more), planning)


def texts(result):
    """The messages that a run returned, each as its role and text."""
    assert not any(KEY in each.meta for each in result["messages"])
    return [(each.role, each.text) for each in seen(result["messages"]) if each.role != "system"]


@tool
def save(content: str) -> str:
    """Save a text."""
    return f"saved {content}"


class TestHaystack(SmallAdapter):
    adapter = haystack

    def place(self, planning):
        return {}

    def play(self, planning, place, script):
        agent = attach(Agent(chat_generator=Scripted(script), system_prompt=OWN), planning)
        place |= agent.run(GO, **{key: place[key] for key in place if key == KEY})

    def play_alone(self, planning, script):
        tools, schema = make_tools(planning), planning.state_schema
        return Agent(chat_generator=Scripted(script), tools=tools, state_schema=schema).run(GO)

    def spoil(self, place):
        place[KEY] = {"plan": 1}


def test_a_run_returns_the_plan_and_the_next_one_takes_it():
    """And leaves what the first run returned as it was."""
    planning = lean()
    first = agent_of(planning, calls(write=["Dig"]), says("ok")).run(GO)
    second = agent_of(planning, calls(add=["Sow"]), says("ok"))
    found = second.run(GO, todoplan=first["todoplan"])
    assert subjects(plan_of_state(found)) == ["Dig", "Sow"]
    assert subjects(plan_of_state(first)) == ["Dig"]


def test_a_pipeline_runs_the_agent():
    """The plan is an input and an output of its component, which need not be given."""
    pipeline = Pipeline()
    pipeline.add_component("agent", agent_of(lean(), calls(write=["Dig"]), says("ok")))
    result = pipeline.run({"agent": {"messages": GO}})
    assert subjects(plan_of_state(result["agent"])) == ["Dig"]


def test_an_awaited_store_wants_run_async():
    """`Agent.run` says so."""

    class Awaited(MemoryStore):
        async def load(self, plan_id):
            return MemoryStore.load(self, plan_id)

    agent = agent_of(lean(store=Awaited(), plan_id="garden"), says("ok"))
    with pytest.raises(PlanError, match="cannot await"):
        agent.run(GO)
    assert asyncio.run(agent.run_async(GO))["last_message"].text == "ok"


def test_an_edit_during_a_run_is_refused_without_a_store():
    """What the run returns would not have it (law 16); what it returned is edited."""
    planning, found = lean(), []

    def ann():
        for each in (kept, copy.deepcopy(kept)):
            try:
                asyncio.run(edit_plan(planning, each, CreateTask("Tell Ann")))
                found.append("accepted")
            except PlanError as error:
                found.append(str(error)[:42])

    refused = "a run that was given this state goes on, w"
    kept = {KEY: {}}
    for wanted in ([refused, "accepted"], [refused, refused]):
        script = (calls(add=["Dig"]), says("ok"))
        agent = agent_of(planning, *script, meanwhile={1: ann})
        kept = agent.run(GO, todoplan=kept[KEY])
        # A copy of what was empty is another plan.
        assert found == wanted
        found.clear()
    asyncio.run(edit_plan(planning, kept, CreateTask("Tell Ann"), actor="ann"))
    assert subjects(plan_of_state(kept)) == ["Dig", "Dig", "Tell Ann"]


def test_an_answer_stays_if_it_was_only_asked_whether_it_is_complete():
    """Both answers are in the messages."""
    settings = Settings(all_done="always")
    turns = (calls(write=["Dig"]), calls(done=[1]), says("It is dug."), says("And that was all."))
    found = texts(agent_of(lean(settings), *turns).run(GO))
    assert found[-2:] == [("assistant", "It is dug."), ("assistant", "And that was all.")]


@pytest.mark.parametrize("stop", ["steps", "hook"])
def test_a_run_that_is_stopped_leaves_no_reminder(stop):
    """The answer that was sent back is then the last one."""

    @hook
    def stopped(state: State) -> None:
        if state.data["step_count"] == 2:
            state.set("stop_run", "enough")

    more = {"steps": {"max_agent_steps": 2}, "hook": {"hooks": {"before_llm": [stopped]}}}[stop]
    agent = agent_of(lean(Settings()), calls(write=["Dig"]), says("Early."), **more)
    result = agent.run(GO)
    assert texts(result)[-1] == ("assistant", "Early.")
    assert result["exit_reason"] == {"steps": "max_agent_steps", "hook": "enough"}[stop]


def test_other_hooks_see_the_conversation_without_reminders():
    """The plan's are the last in front of the model and the first behind it; theirs are kept."""
    found = []

    @hook
    def look(state: State) -> None:
        found.append(any(KEY in each.meta for each in state.data["messages"]))

    points = ("before_run", "before_llm", "before_tool", "after_tool", "after_run")
    planning = lean(Settings(unfinished=0, plan_lost=True))
    kept = {}
    asyncio.run(seed_plan(planning, kept, plan_of([Task("1", "Dig")])))
    agent = agent_of(planning, calls(done=[1]), says("ok"), hooks={each: [look] for each in points})
    agent.run(GO, todoplan=kept[KEY])
    assert "reminder" in agent.chat_generator.script.requests[0][-1].text
    assert found == [False] * 6


def test_a_tool_that_ends_the_run_is_not_sent_back():
    """`plan_closed` in a hook of one's own does that."""

    @hook
    def closed(state: State) -> None:
        plan_closed(plan_of_state(state.data)).on_exit(state, ChatMessage.from_user)

    turns = (calls(write=["Dig"]), calls(tool="save", content="x"), calls(done=[1]))
    more = {"tools": [save], "exit_conditions": ["save"]}
    result = agent_of(lean(Settings()), *turns, **more).run(GO)
    assert (result["exit_reason"], statuses(plan_of_state(result))) == ("save", ["in_progress"])
    turns += (calls(tool="save", content="y"),)
    result = agent_of(lean(Settings()), *turns, hooks={"on_exit": [closed]}, **more).run(GO)
    assert (result["exit_reason"], statuses(plan_of_state(result))) == ("save", ["completed"])


def test_a_person_rejects_and_changes_calls_before_they_are_made():
    """Haystack's own hook asks them; what it leaves is carried out."""

    class Ann:
        def run(self, *, tool_name, tool_params, tool_call_id, **_):
            changed = {"done": [1]} if "done" in tool_params else tool_params
            is_wanted = "add" not in tool_params
            return ToolExecutionDecision(tool_name, is_wanted, tool_call_id, "No.", changed)

    turn = calls({"write": ["Dig", "Lay"]}, {"add": ["Sow"]}, {"done": [2]})
    hooks = {"before_tool": [ConfirmationHook({"plan": Ann()})]}
    result = agent_of(lean(), turn, says("ok"), hooks=hooks).run(GO)
    plan = plan_of_state(result)
    assert (subjects(plan), statuses(plan)) == (["Dig", "Lay"], ["completed", "in_progress"])


def test_a_failing_store_fails_all_calls_of_a_message():
    """None gets the reply to another; the run goes on with the next message."""

    class Failing(MemoryStore):
        times = 1

        def append(self, *given, **more):
            if self.times:
                self.times -= 1
                raise OSError
            return super().append(*given, **more)

    store = Failing()
    turns = calls({"write": ["Dig"]}, {"add": ["Sow"]}), calls(add=["Mow"]), says("ok")
    result = agent_of(lean(store=store, plan_id="garden"), *turns).run(GO)
    assert subjects(store.load("garden")) == ["Mow"]
    marks = [each.is_error for each in seen(result["messages"]) if each.role == "tool"]
    assert marks == [True, True, False]


def test_a_message_that_comes_again_is_another_one():
    """A chat generator may return one object twice."""
    same = ChatMessage.from_assistant(tool_calls=[ToolCall("plan", {"add": ["Dig"]}, "c1")])
    ends = ChatMessage.from_assistant("ok")

    @component
    class Fixed:
        replies = iter([same, same, ends])

        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools: list | None = None):
            return {"replies": [next(self.replies)]}

    result = attach(Agent(chat_generator=Fixed()), lean()).run(GO)
    assert subjects(plan_of_state(result)) == ["Dig", "Dig"]


def test_a_run_with_other_tools_has_no_guidance():
    """It cannot work on the plan: nothing is sent back."""
    planning, kept = lean(Settings()), {}
    asyncio.run(seed_plan(planning, kept, plan_of([Task("1", "Dig")])))
    agent = agent_of(planning, says("Early."), tools=[save])
    result = agent.run(GO, tools=["save"], todoplan=kept[KEY])
    assert (result["last_message"].text, result["step_count"]) == ("Early.", 1)
    assert result[KEY] == kept[KEY]


def test_the_prompt_is_no_template_and_is_added_to_one():
    """The agent's own instruction may be a template, or there is none."""
    block = '{% message role="system" %}Work, {{ name }}.{% endmessage %}'
    for own, given, found in (
        (None, None, LEAN.system_prompt()),
        (None, "", None),
        ("x", "{{ y }}", "x\n\n{{ y }}"),
        (block, "y", "Work, Ann.\n\ny"),
    ):
        agent = agent_of(lean(system_prompt=given), says("ok"), system_prompt=own)
        agent.run(GO, **({"name": "Ann"} if own == block else {}))
        first = agent.chat_generator.script.requests[0][0]
        assert (first.text if first.role == "system" else None) == found


def test_an_agent_is_not_changed_and_has_one_plan():
    """Its tools, its hooks and its state stay; a second plan is refused."""
    mine = plain(tools=Toolset([save]), state_schema={"notes": {"type": str}})
    planned = attach(mine, lean())
    assert (list(mine.tools), mine.hooks, [*mine.state_schema]) == ([save], {}, ["notes"])
    assert [*planned.state_schema] == ["notes", KEY]
    with pytest.raises(PlanError, match="has a plan already"):
        attach(planned, lean())


def test_agents_that_are_tools_work_on_one_plan_in_a_store():
    """Each knows what it has listed itself: a list drops nothing of another's."""
    store = MemoryStore()
    planning = lean(store=store, plan_id="garden")
    helper = agent_of(planning, calls(add=["Fetch seed"]), says("fetched"))
    asked = {"messages": [{"role": "user", "content": [{"text": "Fetch seed."}]}]}
    boss = agent_of(
        planning,
        calls(write=["Dig", "Sow"]),
        calls(tool="help", **asked),
        calls(drop=[2]),
        calls(write=["Dig"]),
        says("ok"),
        tools=[AgentTool(helper, name="help", description="Helps.")],
    )
    result = boss.run(GO)
    assert subjects(store.load("garden")) == ["Dig", "Fetch seed"]
    assert ("tool", "fetched") in texts(result)


def test_an_agent_that_is_a_tool_may_have_the_plan_of_the_state():
    """Taken from it and given back; calls beside it in one message are made once."""
    planning, name = lean(), {"todoplan": "todoplan"}
    helper = agent_of(planning, calls(add=["Fetch seed"]), says("fetched"))
    asked = {"messages": [{"role": "user", "content": [{"text": "Fetch seed."}]}]}
    helping = AgentTool(
        helper,
        name="help",
        description="Helps.",
        inputs_from_state=name,
        outputs_to_state={"todoplan": {"source": "todoplan"}},
    )
    turn = ModelTurn(
        (
            Call("plan", {"write": ["Dig"]}, "c1"),
            Call("help", asked, "c2"),
            Call("plan", {"add": ["Sow"]}, "c3"),
        )
    )
    result = agent_of(planning, turn, calls(done=[1]), says("ok"), tools=[helping]).run(GO)
    plan = plan_of_state(result)
    assert subjects(plan) == ["Dig", "Sow", "Fetch seed"]
    assert statuses(plan)[0] == "completed"

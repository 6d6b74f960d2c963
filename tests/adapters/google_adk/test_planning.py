"""What only Google ADK has: its state, its services, its models."""

import asyncio
import json
from functools import wraps
from uuid import uuid4

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService, StaleSessionError
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from pydantic import PrivateAttr
from support.conformance import SCRIPT, result
from support.conformance_google_adk import Scripted
from support.small_adapters import OFF, OWN, SmallAdapter, calls, statuses, subjects

from todoplan import LEAN, Accepted, Plan, Task, Toolbox, plan_of
from todoplan.adapters import google_adk
from todoplan.adapters.google_adk import (
    KEY,
    GuidedModel,
    Planning,
    attach,
    edit_plan,
    make_tools,
    plan_of_state,
    seed_plan,
    undo_plan,
)
from todoplan.codec import documents
from todoplan.core.commands import CreateTask
from todoplan.dialogue import Call, Settings
from todoplan.errors import CodecError, PlanError
from todoplan.testing.adapters import ModelTurn, Script
from todoplan.testing.adapters.host import says

HERE = {"app_name": "app", "user_id": "ann"}


class Answers(BaseLlm):
    """A model that sends ADK's own answers: a list for each request."""

    _script: list = PrivateAttr()
    _requests: list = PrivateAttr(default_factory=list)

    @classmethod
    def of(cls, *script):
        """Return a model with a script."""
        made = cls(model="scripted")
        made._script = [*script]
        return made

    async def generate_content_async(self, llm_request, stream=False):  # noqa: FBT002 - ADK's
        """Yield the next answer."""
        self._requests.append(llm_request)
        for each in self._script.pop(0):
            yield each

    def connect(self, llm_request):
        """Say that it was asked."""
        return "live"


def answers(text, **more):
    """An answer of the model."""
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, **more)


def asks(arguments, **more):
    """A call of the planning tool."""
    call = types.FunctionCall(name="plan", args=arguments)
    content = types.Content(role="model", parts=[types.Part(function_call=call)])
    return LlmResponse(content=content, **more)


class Place:
    """A session of a service."""

    def __init__(self, service=None, session_id="s1"):
        self.service, self.id = service or InMemorySessionService(), session_id

    async def session(self):
        """Return the session as the service has it."""
        found = await self.service.get_session(**HERE, session_id=self.id)
        return found or await self.service.create_session(**HERE, session_id=self.id)

    async def plan(self):
        """Return the plan in the session."""
        return plan_of_state(await self.session())

    async def edit(self, planning, command, **given):
        """Edit the plan of the session."""
        return await edit_plan(planning, self.service, await self.session(), command, **given)

    async def run(self, agent, *turns, meanwhile=None, **config):
        """Run an agent with turns of the model, and return the script and the events."""
        script = Script(*turns, meanwhile=meanwhile)
        return script, await self.play(agent, script, **config)

    async def play(self, agent, script=None, **config):
        """Run an agent with a script, and return the events."""
        SCRIPT.set(script)
        await self.session()
        runner = Runner(app_name="app", agent=agent, session_service=self.service)
        said = types.Content(role="user", parts=[types.Part(text="go")])
        given = {"session_id": self.id, "run_config": RunConfig(**config)}
        ran = runner.run_async(user_id="ann", new_message=said, **given)
        return [event async for event in ran]


def plain(model=None, name="worker", **more):
    """An agent without a plan; its model is by default the script of the run."""
    model = model or Scripted(model="scripted")
    return LlmAgent(name=name, model=model, instruction=OWN, **more)


def agent_of(planning, model=None, **more):
    """An agent that is attached to a planning."""
    return attach(plain(model, **more), planning)


def awaited(test):
    """Run a test that is a coroutine function."""

    @wraps(test)
    def run(*args, **given):
        asyncio.run(test(*args, **given))

    return run


def lean(settings=OFF, **more):
    """A planning with the tool set `lean`."""
    return Planning(Toolbox(LEAN), settings, **more)


class TestGoogleADK(SmallAdapter):
    adapter = google_adk
    own = f'{OWN}\n\nYou are an agent. Your internal name is "worker".'

    def place(self, planning):
        return Place(session_id=str(uuid4()))

    def id_of(self, place):
        return place.id

    def release(self, planning):
        planning._runs.clear()  # pytest's log has the error, which keeps the runner's session alive

    def at(self, place):
        return place.service, result(place.session())

    def play(self, planning, place, script):
        asyncio.run(place.play(agent_of(planning), script))

    def play_alone(self, planning, script):
        place = Place()
        asyncio.run(place.play(plain(tools=make_tools(planning)), script))
        return place

    def spoil(self, place):
        state = {KEY: '{"plan": 1}'}
        result(place.service.create_session(**HERE, session_id=place.id, state=state))


@awaited
async def test_the_plan_is_a_text_in_the_state():
    """ADK merges dicts of parallel calls key by key, which would bring removed keys back."""
    place = Place()
    await place.run(agent_of(lean()), calls(write=["Dig"]), says("ok"))
    session = await place.session()
    assert isinstance(session.state[KEY], str)
    assert subjects(plan_of_state(session.state)) == ["Dig"]
    assert plan_of_state({}) == Plan()
    for text in ("{", "[]", '{"plan": 1}'):
        with pytest.raises(CodecError):
            plan_of_state({KEY: text})


@awaited
async def test_what_the_journal_has_dropped_is_found_in_the_events(monkeypatch):
    """Undo finds there the plan before a change."""
    monkeypatch.setattr(documents, "RECENT", 4)
    planning, place = lean(), Place()
    for name in "abcdef":
        await place.edit(planning, CreateTask(name))
    for left in ("abcde", "abcd"):
        decision = await undo_plan(planning, place.service, await place.session())
        assert isinstance(decision, Accepted)
        assert subjects(await place.plan()) == [*left]


@awaited
async def test_an_edit_during_a_run_is_refused_without_a_store():
    """
    What the run saves next would not have it (law 16); behind the run it is accepted, also while
    somebody still has the run's session.
    """
    planning, refused, held, place = lean(), [], [], Place()

    def holds(callback_context, llm_request):
        held.append(callback_context.session)

    def ann():
        with pytest.raises(PlanError, match="a run of this session goes on"):
            result(place.edit(planning, CreateTask("x")))
        refused.append(True)

    agent = agent_of(planning, before_model_callback=holds)
    await place.run(agent, calls(write=["Dig"]), says("ok"), meanwhile={1: ann})
    await place.edit(planning, CreateTask("Tell Ann"), actor="ann")
    assert (refused, subjects(await place.plan())) == ([True], ["Dig", "Tell Ann"])


@awaited
async def test_a_session_in_sqlite_is_resumed_and_a_stale_one_is_refused(tmp_path):
    """As ADK has it: nothing is half applied."""
    path, planning = str(tmp_path / "sessions.db"), lean()
    before, place = (Place(SqliteSessionService(path)) for _ in range(2))
    await before.run(agent_of(planning), calls(write=["Dig"]), says("ok"))
    stale = await place.session()
    await place.run(agent_of(lean()), calls(done=[1]), says("ok"))
    with pytest.raises(StaleSessionError):
        await edit_plan(planning, place.service, stale, CreateTask("Tell Ann"))
    fresh = await place.session()
    await seed_plan(planning, place.service, fresh, plan_of([Task("1", "Anew")]))
    assert subjects(await place.plan()) == ["Anew"]


@awaited
async def test_a_rewind_takes_the_plan_back():
    """With the conversation: both are of the state."""
    place, agent = Place(), agent_of(lean())
    await place.run(agent, calls(write=["Dig"]), says("ok"))
    _, events = await place.run(agent, calls(done=[1]), says("ok"))
    runner = Runner(app_name="app", agent=agent, session_service=place.service)
    invocation = events[0].invocation_id
    given = {"user_id": "ann", "session_id": place.id}
    await runner.rewind_async(rewind_before_invocation_id=invocation, **given)
    assert statuses(await place.plan()) == ["in_progress"]


@awaited
async def test_a_sub_agent_shares_the_plan():
    """That of the session, in the same run."""
    planning, place = lean(), Place()
    agent = agent_of(planning, sub_agents=[agent_of(planning, name="helper")])
    move = calls(tool="transfer_to_agent", agent_name="helper")
    await place.run(agent, calls(write=["Dig"]), move, calls(done=[1]), says("ok"))
    assert statuses(await place.plan()) == ["completed"]


@awaited
async def test_an_early_answer_is_sent_back_and_its_usage_counts():
    """Its chunks have been streamed by then; the reason is in no event."""

    def spent(count, **more):
        counts = {"prompt_token_count": count, "total_token_count": count, **more}
        return types.GenerateContentResponseUsageMetadata(**counts)

    first = spent(3, cached_content_token_count=2)
    model = Answers.of(
        [asks({"write": ["Dig"]})],
        [answers("Ear", partial=True), answers("Early.", usage_metadata=first)],
        [asks({"done": [1]}, usage_metadata=spent(4))],
        [answers("Done.")],
    )
    streamed = {"streaming_mode": StreamingMode.SSE}
    events = await Place().play(agent_of(lean(Settings()), model), **streamed)
    told = [part.text or "" for content in model._requests[2].contents for part in content.parts]
    assert "while tasks of your plan are open" in told[-1]
    said = [part.text for event in events for part in event.content.parts if part.text]
    assert said == ["Ear", "Done."]
    spends = [event.usage_metadata for event in events if event.usage_metadata]
    counts = [(each.total_token_count, each.cached_content_token_count) for each in spends]
    assert counts == [(7, 2)]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ([says("Nothing to add.")], "Dug.\n\nNothing to add."),
        ([ModelTurn(text="No.", finish="refusal")], "Dug."),
        # A call behind the first answer is carried out.
        ([calls(add=["Sow"]), says("?")], "?"),
    ],
)
@awaited
async def test_the_question_whether_it_is_complete_keeps_the_first_answer(second, said):
    """Both are one answer; what the provider refused adds nothing."""
    place, agent = Place(), agent_of(lean(Settings(all_done="always")))
    script = calls(write=["Dig"]), calls(done=[1]), says("Dug."), *second
    _, (*_, last) = await place.run(agent, *script)
    assert "".join(part.text for part in last.content.parts) == said
    assert subjects(await place.plan()) == ["Dig", "Sow"][: len(second)]


@pytest.mark.parametrize(
    "answer",
    [[], [LlmResponse(error_code="500", error_message="away")], [answers("x", partial=True)]],
    ids=["nothing", "an error", "a part"],
)
@awaited
async def test_what_is_no_answer_is_not_judged(answer):
    """A model that fails is ADK's own affair."""
    model = Answers.of([asks({"write": ["Dig"]})], answer)
    await Place().play(agent_of(lean(Settings()), model))
    assert len(model._requests) == 2


@awaited
async def test_the_model_of_an_attached_agent_works_elsewhere():
    """Without a plan, as the model itself; a live connection is the model's own."""
    model = Answers.of([answers("ok")])
    guided = GuidedModel.of(model, lean())
    (said,) = [each async for each in guided.generate_content_async(LlmRequest())]
    assert said.content.parts[0].text == "ok"
    assert guided.connect(LlmRequest()) == "live"
    assert guided.capabilities == model.capabilities


@awaited
async def test_a_call_that_no_event_has_is_answered():
    """As code in a sandbox makes it, that calls tools on its own."""
    planning, place = lean(), Place()

    async def sandbox(tool_context: ToolContext) -> dict:
        reply = await planning.answer(Call("plan", {"write": ["Dig"]}, "inner"), tool_context)
        assert subjects(plan_of_state(tool_context.state)) == ["Dig"]
        return reply

    agent = agent_of(planning, tools=[sandbox])
    await place.run(agent, calls({}, tool="sandbox"), says("ok"))
    assert subjects(await place.plan()) == ["Dig"]


def test_a_plan_is_attached_once():
    """Two tools of a name would shadow each other; the agent that was given stays as it is."""
    planning, own = lean(), lambda **_: None
    agent = plain(before_model_callback=own, after_model_callback=own)
    attached = attach(agent, planning)
    assert (agent.tools, len(attached.tools)) == ([], 1)
    # Ours are next to the model: they see what is really sent, and what is really answered.
    assert attached.canonical_before_model_callbacks == [own, planning.before_model]
    assert attached.canonical_after_model_callbacks == [planning.after_model, own]
    with pytest.raises(PlanError, match="has plan already; attach one plan, once"):
        attach(attached, planning)


@pytest.mark.parametrize(
    "wrong", [lambda: attach("agent", lean()), lambda: attach(plain(), "planning")]
)
def test_arguments_of_the_wrong_type_are_refused(wrong):
    """At once, and with what is wanted."""
    with pytest.raises(PlanError):
        wrong()


@pytest.mark.parametrize(("most", "kept"), [(1, (1, 0)), (0, (0, 0))])
@awaited
async def test_only_the_latest_runs_are_kept(most, kept, monkeypatch):
    """A server that lives for long would grow otherwise."""
    monkeypatch.setattr("todoplan.planner.steps.MOST_REMEMBERED", most)
    planning = lean()
    place = Place()
    for _ in range(3):
        await place.run(agent_of(planning), says("ok"))
    assert (len(planning._runs), len(planning._asked)) == kept


@awaited
async def test_a_state_that_others_wrote_in_a_run_is_read_anew():
    """Such as an agent that runs as a tool, whose state ADK merges into that of its caller."""
    place, asked = Place(), []

    def restore(callback_context, llm_request):
        if len(asked) == 1:
            callback_context.state[KEY] = json.dumps({})
        asked.append(llm_request)

    agent = agent_of(lean(), before_model_callback=restore)
    await place.run(agent, calls(write=["Dig"]), calls(write=["Sow"]), says("ok"))
    assert subjects(await place.plan()) == ["Sow"]

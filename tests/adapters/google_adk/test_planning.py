"""What only Google ADK has: its state, its services, its models."""

import asyncio
import json
from functools import wraps

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
from support.editing import Editing

from todoplan import LEAN, Accepted, MemoryStore, Plan, Task, Toolbox, plan_of
from todoplan.adapters.google_adk import (
    KEY,
    GuidedModel,
    Planning,
    attach,
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    seed_plan,
    undo_plan,
)
from todoplan.codec import documents
from todoplan.core.commands import CreateTask
from todoplan.dialogue import Call, Settings
from todoplan.errors import CodecError, PlanError

HERE = {"app_name": "app", "user_id": "ann", "session_id": "s1"}
OFF = Settings(unfinished=0)


def says(text, **more):
    """An answer of the model."""
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, **more)


def calls(name="plan", **arguments):
    """A call, by default of the planning tool."""
    call = types.FunctionCall(name=name, args=arguments)
    content = types.Content(role="model", parts=[types.Part(function_call=call)])
    return LlmResponse(content=content)


class Scripted(BaseLlm):
    """Answers from a script; a list is a streamed answer, a function is called first."""

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
        step = self._script.pop(0)
        if callable(step):
            await step()
            step = self._script.pop(0)
        for each in step if isinstance(step, list) else [step]:
            yield each

    def connect(self, llm_request):
        """Say that it was asked."""
        return "live"


class Place:
    """A runner with one session."""

    def __init__(self, agent, service=None):
        self.agent, self.service = agent, service or InMemorySessionService()
        self.runner = Runner(app_name="app", agent=agent, session_service=self.service)

    async def session(self):
        """Return the session as the service has it."""
        found = await self.service.get_session(**HERE)
        return found or await self.service.create_session(**HERE)

    async def plan(self):
        """Return the plan in the session."""
        return plan_of_state(await self.session())

    async def edit(self, planning, command, **given):
        """Edit the plan of the session."""
        return await edit_plan(planning, self.service, await self.session(), command, **given)

    async def run(self, text="go", **config):
        """Say something, and return the events."""
        await self.session()
        said = types.Content(role="user", parts=[types.Part(text=text)])
        given = {"user_id": "ann", "session_id": "s1", "run_config": RunConfig(**config)}
        return [event async for event in self.runner.run_async(new_message=said, **given)]

    @property
    def requests(self):
        """The requests that the model was sent."""
        model = self.agent.canonical_model
        return getattr(model, "_inner", model)._requests


def agent_of(*script, name="worker", **more):
    """An agent with a script."""
    return LlmAgent(name=name, model=Scripted.of(*script), instruction="You work.", **more)


def placed(planning, *script, service=None, **more):
    """A runner of an agent with a script, attached to a planning."""
    return Place(attach(agent_of(*script, **more), planning), service)


def awaited(test):
    """Run a test that is a coroutine function."""

    @wraps(test)
    def run(*args, **given):
        asyncio.run(test(*args, **given))

    return run


def lean(settings=OFF, **more):
    """A planning with the tool set `lean`."""
    return Planning(Toolbox(LEAN), settings, **more)


def subjects(plan):
    """The texts of the tasks."""
    return [task.subject for task in plan]


@awaited
async def test_the_plan_is_a_text_in_the_state():
    """ADK merges dicts of parallel calls key by key, which would bring removed keys back."""
    place = placed(lean(), calls(write=["Dig"]), says("ok"))
    await place.run()
    session = await place.session()
    assert isinstance(session.state[KEY], str)
    assert subjects(plan_of_state(session)) == subjects(plan_of_state(session.state)) == ["Dig"]
    assert [entry.cause for entry in history_of(session)] == ["plan"]
    assert plan_of_state({}) == Plan()
    for text in ("{", "[]", '{"plan": 1}'):
        with pytest.raises(CodecError):
            plan_of_state({KEY: text})


@pytest.mark.parametrize("plan_id", [None, "shared"])
@awaited
async def test_a_store_keeps_the_plan_of_each_session(plan_id):
    """Under the session's id, or all under one; the state has the record alone."""
    store = MemoryStore()
    planning = lean(store=store, plan_id=plan_id)

    async def ann():
        await place.edit(planning, CreateTask("Tell Ann"), actor="ann")

    place = placed(planning, calls(write=["Dig"]), ann, calls(done=[1]), says("ok"))
    await place.run()
    await undo_plan(planning, place.service, await place.session())
    found = [(task.subject, task.status.value) for task in store.load(plan_id or "s1")]
    assert found == [("Dig", "in_progress"), ("Tell Ann", "pending")]
    session = await place.session()
    for read in (plan_of_state, history_of):
        with pytest.raises(PlanError, match="a store keeps the plan"):
            read(session)


class Session:
    """A session of the runner; each run is that of a new agent."""

    def __init__(self, toolbox):
        self.planning = Planning(toolbox, OFF)
        self.place = placed(self.planning)

    def again(self):
        return self

    def _change(self, change, *given, **how):
        async def changed():
            session = await self.place.session()
            return await change(self.planning, self.place.service, session, *given, **how)

        return asyncio.run(changed())

    def create(self, subject):
        script = calls("TaskCreate", subject=subject), says("ok")
        asyncio.run(placed(self.planning, *script, service=self.place.service).run())

    def seed(self, plan, **how):
        self._change(seed_plan, plan, **how)

    def edit(self, command, **how):
        return self._change(edit_plan, command, **how)

    def undo(self, **how):
        return self._change(undo_plan, **how)

    def plan(self):
        return asyncio.run(self.place.plan())

    def history(self):
        return history_of(asyncio.run(self.place.session()))


class TestEditing(Editing):
    def begin(self, toolbox):
        return Session(toolbox)


def test_what_the_journal_has_dropped_is_found_in_the_events(monkeypatch):
    """Undo finds there the plan before a change."""
    monkeypatch.setattr(documents, "RECENT", 4)
    session = Session(Toolbox(LEAN))
    for name in "abcdef":
        session.edit(CreateTask(name))
    for left in ("abcde", "abcd"):
        assert isinstance(session.undo(), Accepted)
        assert subjects(session.plan()) == [*left]


@awaited
async def test_an_edit_during_a_run_is_refused_without_a_store():
    """
    What the run saves next would not have it (law 16); behind the run it is accepted, also while
    somebody still has the run's session.
    """
    planning, refused, held = lean(), [], []

    def holds(callback_context, llm_request):
        held.append(callback_context.session)

    async def ann():
        with pytest.raises(PlanError, match="a run of this session goes on"):
            await place.edit(planning, CreateTask("x"))
        refused.append(True)

    script = calls(write=["Dig"]), ann, says("ok")
    place = placed(planning, *script, before_model_callback=holds)
    await place.run()
    await place.edit(planning, CreateTask("Tell Ann"), actor="ann")
    assert (refused, subjects(await place.plan())) == ([True], ["Dig", "Tell Ann"])


@awaited
async def test_a_run_that_failed_is_over():
    """Its session is let go, and may be edited."""
    planning = lean()

    async def fails():
        raise ZeroDivisionError

    place = placed(planning, calls(write=["Dig"]), fails)
    with pytest.raises(ZeroDivisionError):
        await place.run()
    planning._runs.clear()  # as when the runner's session is collected
    await place.edit(planning, CreateTask("Tell Ann"))
    assert subjects(await place.plan()) == ["Dig", "Tell Ann"]


@awaited
async def test_a_session_in_sqlite_is_resumed_and_a_stale_one_is_refused(tmp_path):
    """As ADK has it: nothing is half applied."""
    path, planning = str(tmp_path / "sessions.db"), lean()
    script = calls(write=["Dig"]), says("ok")
    await placed(planning, *script, service=SqliteSessionService(path)).run()
    place = placed(lean(), calls(done=[1]), says("ok"), service=SqliteSessionService(path))
    stale = await place.session()
    await place.run()
    with pytest.raises(StaleSessionError):
        await edit_plan(planning, place.service, stale, CreateTask("Tell Ann"))
    fresh = await place.session()
    await seed_plan(planning, place.service, fresh, plan_of([Task("1", "Anew")]))
    assert subjects(await place.plan()) == ["Anew"]


@awaited
async def test_a_rewind_takes_the_plan_back():
    """With the conversation: both are of the state."""
    place = placed(lean(), calls(write=["Dig"]), says("ok"), calls(done=[1]), says("ok"))
    await place.run()
    events = await place.run("on")
    given = {"user_id": "ann", "session_id": "s1"}
    invocation = events[0].invocation_id
    await place.runner.rewind_async(rewind_before_invocation_id=invocation, **given)
    assert [task.status.value for task in await place.plan()] == ["in_progress"]


@awaited
async def test_a_sub_agent_shares_the_plan():
    """That of the session, in the same run."""
    planning = lean()
    helper = attach(agent_of(calls(done=[1]), says("ok"), name="helper"), planning)
    move = calls("transfer_to_agent", agent_name="helper")
    place = placed(planning, calls(write=["Dig"]), move, sub_agents=[helper])
    await place.run()
    assert [task.status.value for task in await place.plan()] == ["completed"]


@awaited
async def test_an_early_answer_is_sent_back_and_its_usage_counts():
    """Its chunks have been streamed by then; the reason is in no event."""

    def spent(count, **more):
        counts = {"prompt_token_count": count, "total_token_count": count, **more}
        return types.GenerateContentResponseUsageMetadata(**counts)

    first = spent(3, cached_content_token_count=2)
    early = [says("Ear", partial=True), says("Early.", usage_metadata=first)]
    done = calls(done=[1])
    done.usage_metadata = spent(4)
    place = placed(lean(Settings()), calls(write=["Dig"]), early, done, says("Done."))
    events = await place.run(streaming_mode=StreamingMode.SSE)
    told = [part.text or "" for content in place.requests[2].contents for part in content.parts]
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
        ([says("No.", finish_reason=types.FinishReason.SAFETY)], "Dug."),
        # A call behind the first answer is carried out.
        ([calls(add=["Sow"]), says("?")], "?"),
    ],
)
@awaited
async def test_the_question_whether_it_is_complete_keeps_the_first_answer(second, said):
    """Both are one answer; what the provider refused adds nothing."""
    script = calls(write=["Dig"]), calls(done=[1]), says("Dug."), *second
    place = placed(lean(Settings(all_done="always")), *script)
    *_, last = await place.run()
    assert "".join(part.text for part in last.content.parts) == said
    assert subjects(await place.plan()) == ["Dig", "Sow"][: len(second)]


@pytest.mark.parametrize(
    "answer", [[], LlmResponse(error_code="500", error_message="away"), says("x", partial=True)]
)
@awaited
async def test_what_is_no_answer_is_not_judged(answer):
    """A model that fails is ADK's own affair."""
    place = placed(lean(Settings()), calls(write=["Dig"]), answer)
    await place.run()
    assert len(place.requests) == 2


@awaited
async def test_the_model_of_an_attached_agent_works_elsewhere():
    """Without a plan, as the model itself; a live connection is the model's own."""
    model = Scripted.of(says("ok"))
    guided = GuidedModel.of(model, lean())
    (said,) = [each async for each in guided.generate_content_async(LlmRequest())]
    assert said.content.parts[0].text == "ok"
    assert guided.connect(LlmRequest()) == "live"
    assert guided.capabilities == model.capabilities


@awaited
async def test_a_call_that_no_event_has_is_answered():
    """As code in a sandbox makes it, that calls tools on its own."""
    planning = lean()

    async def sandbox(tool_context: ToolContext) -> dict:
        return await planning.answer(Call("plan", {"write": ["Dig"]}, "inner"), tool_context)

    place = placed(planning, calls("sandbox"), says("ok"), tools=[sandbox])
    await place.run()
    assert subjects(await place.plan()) == ["Dig"]


@awaited
async def test_the_tools_alone_have_no_guidance():
    """Neither prompt nor reminder."""
    agent = agent_of(calls(write=["Dig"]), says("Early."), tools=make_tools(lean(Settings())))
    place = Place(agent)
    await place.run()
    assert (len(place.requests), subjects(await place.plan())) == (2, ["Dig"])
    assert "plan" not in place.requests[0].config.system_instruction


@pytest.mark.parametrize(
    ("given", "found"), [(None, LEAN.system_prompt()), ("", None), ("Plan well.", "Plan well.")]
)
@awaited
async def test_the_prompt_may_be_left_out_or_be_another(given, found):
    """It stands behind the agent's own instruction."""
    place = placed(lean(system_prompt=given), says("ok"))
    await place.run()
    told = place.requests[0].config.system_instruction
    assert told.endswith(found) if found else LEAN.system_prompt() not in told


def test_a_plan_is_attached_once():
    """Two tools of a name would shadow each other; the agent that was given stays as it is."""
    planning, own = lean(), lambda **_: None
    agent = agent_of(before_model_callback=own, after_model_callback=own)
    attached = attach(agent, planning)
    assert (agent.tools, len(attached.tools)) == ([], 1)
    # Ours are next to the model: they see what is really sent, and what is really answered.
    assert attached.canonical_before_model_callbacks == [own, planning.before_model]
    assert attached.canonical_after_model_callbacks == [planning.after_model, own]
    with pytest.raises(PlanError, match="has plan already; attach one plan, once"):
        attach(attached, planning)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Planning(Plan()),
        lambda: Planning(settings="often"),
        lambda: Planning(store="plans.db"),
        lambda: attach("agent", lean()),
        lambda: attach(agent_of(), "planning"),
        lambda: make_tools("planning"),
        lambda: asyncio.run(edit_plan("planning", None, None, CreateTask("x"))),
        lambda: asyncio.run(edit_plan(lean(), None, "s1", CreateTask("x"))),
    ],
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
    place = placed(planning, *[says("ok")] * 3)
    for _ in range(3):
        await place.run()
    assert (len(planning._runs), len(planning._asked)) == kept


@awaited
async def test_a_state_that_others_wrote_in_a_run_is_read_anew():
    """Such as an agent that runs as a tool, whose state ADK merges into that of its caller."""

    def restore(callback_context, llm_request):
        if len(place.requests) == 1:
            callback_context.state[KEY] = json.dumps({})

    script = calls(write=["Dig"]), calls(write=["Sow"]), says("ok")
    place = placed(lean(), *script, before_model_callback=restore)
    await place.run()
    assert subjects(await place.plan()) == ["Sow"]

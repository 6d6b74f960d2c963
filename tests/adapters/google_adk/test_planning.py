"""What only Google ADK has: its state, its services, its models."""

import asyncio
import json

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

from todoplan import LEAN, MemoryStore, Plan, Task, Toolbox, plan_of
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
from todoplan.core.commands import CreateTask
from todoplan.dialogue import Call, Settings
from todoplan.errors import CodecError, PlanError

HERE = {"app_name": "app", "user_id": "ann", "session_id": "s1"}
OFF = Settings(unfinished=0)


def says(text, **more):
    """An answer of the model."""
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, **more)


def calls(**arguments):
    """A call of the planning tool."""
    call = types.FunctionCall(name="plan", args=arguments)
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


def texts(request):
    """The texts of a request."""
    return [part.text or "" for content in request.contents for part in content.parts]


class Place:
    """A runner with one session."""

    def __init__(self, agent, service=None):
        self.service = service or InMemorySessionService()
        self.runner = Runner(app_name="app", agent=agent, session_service=self.service)

    async def session(self):
        """Return the session as the service has it."""
        found = await self.service.get_session(**HERE)
        return found or await self.service.create_session(**HERE)

    async def run(self, text="go", **config):
        """Say something, and return the events."""
        await self.session()
        said = types.Content(role="user", parts=[types.Part(text=text)])
        return [
            event
            async for event in self.runner.run_async(
                user_id="ann", session_id="s1", new_message=said, run_config=RunConfig(**config)
            )
        ]


def agent_of(*script, name="worker", **more):
    """An agent with a script."""
    return LlmAgent(name=name, model=Scripted.of(*script), instruction="You work.", **more)


def lean(settings=OFF, **more):
    """A planning with the tool set `lean`."""
    return Planning(Toolbox(LEAN), settings, **more)


def subjects(plan):
    """The texts of the tasks."""
    return [task.subject for task in plan]


def test_the_plan_is_a_text_in_the_state():
    """ADK merges dicts of parallel calls key by key, which would bring removed keys back."""

    async def talk():
        place = Place(attach(agent_of(calls(write=["Dig"]), says("ok")), lean()))
        await place.run()
        return await place.session()

    session = asyncio.run(talk())
    assert isinstance(session.state[KEY], str)
    assert subjects(plan_of_state(session)) == subjects(plan_of_state(session.state)) == ["Dig"]
    assert [entry.cause for entry in history_of(session)] == ["plan"]
    assert plan_of_state({}) == Plan()


@pytest.mark.parametrize("text", ["{", "[]", '{"plan": 1}'])
def test_a_damaged_state_is_an_error(text):
    """And never an empty plan."""
    with pytest.raises(CodecError):
        plan_of_state({KEY: text})


def test_a_store_keeps_the_plan_of_each_session():
    """Under the session's id, or all under one; the state has the record alone."""
    store = MemoryStore()

    async def talk(planning):
        async def ann():
            session = await place.session()
            await edit_plan(planning, place.service, session, CreateTask("Tell Ann"), actor="ann")

        script = (calls(write=["Dig"]), ann, calls(done=[1]), says("ok"))
        place = Place(attach(agent_of(*script), planning))
        await place.run()
        session = await place.session()
        await undo_plan(planning, place.service, session)
        return session

    session = asyncio.run(talk(lean(store=store)))
    assert subjects(store.load("s1")) == ["Dig", "Tell Ann"]
    assert [task.status.value for task in store.load("s1")] == ["in_progress", "pending"]
    with pytest.raises(PlanError, match="a store keeps the plan"):
        plan_of_state(session)
    asyncio.run(talk(lean(store=store, plan_id="shared")))
    assert subjects(store.load("shared")) == ["Dig", "Tell Ann"]


def test_undo_takes_back_change_after_change():
    """What was before is found in the journal and in the session's events."""

    async def talk():
        planning = lean()
        place = Place(
            attach(agent_of(calls(write=["Dig"]), calls(add=["Sow"]), says("ok")), planning)
        )
        await place.run()
        found = []
        for _ in range(3):
            decision = await undo_plan(planning, place.service, await place.session(), actor="ann")
            plan = plan_of_state(await place.session())
            found.append((type(decision).__name__, subjects(plan)))
        return found, history_of(await place.session())[-1].actor

    done = [("Accepted", ["Dig"]), ("Accepted", []), ("Rejected", [])]
    assert asyncio.run(talk()) == (done, "ann")


def test_an_edit_during_a_run_is_refused_without_a_store():
    """What the run saves next would not have it (law 16); behind the run it is accepted."""

    async def talk():
        planning, found = lean(), []

        async def ann():
            with pytest.raises(PlanError, match="a run of this session goes on"):
                await edit_plan(planning, place.service, await place.session(), CreateTask("x"))
            found.append("refused")

        place = Place(attach(agent_of(calls(write=["Dig"]), ann, says("ok")), planning))
        await place.run()
        session = await place.session()
        await edit_plan(planning, place.service, session, CreateTask("Tell Ann"), actor="ann")
        return found, plan_of_state(await place.session())

    found, plan = asyncio.run(talk())
    assert (found, subjects(plan)) == (["refused"], ["Dig", "Tell Ann"])


def test_a_run_that_failed_is_over():
    """Its session is let go, and may be edited."""

    async def talk():
        planning = lean()

        async def fails():
            raise ZeroDivisionError

        place = Place(attach(agent_of(calls(write=["Dig"]), fails), planning))
        with pytest.raises(ZeroDivisionError):
            await place.run()
        planning._runs.clear()  # as when the runner's session is collected
        await edit_plan(planning, place.service, await place.session(), CreateTask("Tell Ann"))
        return plan_of_state(await place.session())

    assert subjects(asyncio.run(talk())) == ["Dig", "Tell Ann"]


def test_a_session_in_sqlite_is_resumed_and_a_stale_one_is_refused(tmp_path):
    """As ADK has it: nothing is half applied."""

    async def talk():
        path, planning = str(tmp_path / "sessions.db"), lean()
        await Place(
            attach(agent_of(calls(write=["Dig"]), says("ok")), planning), SqliteSessionService(path)
        ).run()
        service = SqliteSessionService(path)
        place = Place(attach(agent_of(calls(done=[1]), says("ok")), lean()), service)
        stale = await place.session()
        await place.run()
        with pytest.raises(StaleSessionError):
            await edit_plan(planning, service, stale, CreateTask("Tell Ann"))
        fresh = await place.session()
        await seed_plan(planning, service, fresh, plan_of([Task("1", "Anew")]))
        return plan_of_state(await place.session())

    assert subjects(asyncio.run(talk())) == ["Anew"]


def test_a_rewind_takes_the_plan_back():
    """With the conversation: both are of the state."""

    async def talk():
        script = (calls(write=["Dig"]), says("ok"), calls(done=[1]), says("ok"))
        place = Place(attach(agent_of(*script), lean()))
        await place.run()
        events = await place.run("on")
        await place.runner.rewind_async(
            user_id="ann", session_id="s1", rewind_before_invocation_id=events[0].invocation_id
        )
        return plan_of_state(await place.session())

    assert [task.status.value for task in asyncio.run(talk())] == ["in_progress"]


def test_a_sub_agent_shares_the_plan():
    """That of the session, in the same run."""

    async def talk():
        planning = lean()
        helper = attach(agent_of(calls(done=[1]), says("ok"), name="helper"), planning)
        transfer = types.FunctionCall(name="transfer_to_agent", args={"agent_name": "helper"})
        move = LlmResponse(
            content=types.Content(role="model", parts=[types.Part(function_call=transfer)])
        )
        root = agent_of(calls(write=["Dig"]), move, sub_agents=[helper])
        place = Place(attach(root, planning))
        await place.run()
        return plan_of_state(await place.session())

    assert [task.status.value for task in asyncio.run(talk())] == ["completed"]


def test_an_early_answer_is_sent_back_and_its_usage_counts():
    """Its chunks have been streamed by then; the reason is in no event."""

    def spends(count):
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=count, total_token_count=count
        )
        return {"usage_metadata": usage}

    async def talk():
        early = [says("Ear", partial=True), says("Early.", **spends(3))]
        agent = agent_of(calls(write=["Dig"]), early, calls(done=[1]), says("Done."))
        agent.model._script[2].usage_metadata = spends(4)["usage_metadata"]
        place = Place(attach(agent, lean(Settings())))
        events = await place.run(streaming_mode=StreamingMode.SSE)
        return agent.model._requests, events

    requests, events = asyncio.run(talk())
    assert "while tasks of your plan are open" in texts(requests[2])[-1]
    said = [part.text for event in events for part in event.content.parts if part.text]
    assert said == ["Ear", "Done."]
    assert [event.usage_metadata.total_token_count for event in events if event.usage_metadata] == [
        7
    ]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (says("Nothing to add."), "Dug.\n\nNothing to add."),
        (says("No.", finish_reason=types.FinishReason.SAFETY), "Dug."),
    ],
)
def test_the_question_whether_it_is_complete_keeps_the_first_answer(second, said):
    """Both are one answer; what the provider refused adds nothing."""

    async def talk():
        script = (calls(write=["Dig"]), calls(done=[1]), says("Dug."), second)
        place = Place(attach(agent_of(*script), lean(Settings(all_done="always"))))
        *_, last = await place.run()
        return "".join(part.text for part in last.content.parts)

    assert asyncio.run(talk()) == said


def test_work_after_that_question_goes_on():
    """A call behind the first answer is carried out."""

    async def talk():
        script = (
            calls(write=["Dig"]),
            calls(done=[1]),
            says("Dug."),
            calls(add=["Sow"]),
            says("?"),
        )
        place = Place(attach(agent_of(*script), lean(Settings(all_done="always"))))
        await place.run()
        return plan_of_state(await place.session())

    assert subjects(asyncio.run(talk())) == ["Dig", "Sow"]


@pytest.mark.parametrize(
    "answer", [[], LlmResponse(error_code="500", error_message="away"), says("x", partial=True)]
)
def test_what_is_no_answer_is_not_judged(answer):
    """A model that fails is ADK's own affair."""

    async def talk():
        agent = agent_of(calls(write=["Dig"]), answer)
        await Place(attach(agent, lean(Settings()))).run()
        return len(agent.model._requests)

    assert asyncio.run(talk()) == 2


def test_the_model_of_an_attached_agent_works_elsewhere():
    """Without a plan, as the model itself; a live connection is the model's own."""
    model = Scripted.of(says("ok"))
    guided = GuidedModel.of(model, lean())

    async def talk():
        return [each async for each in guided.generate_content_async(LlmRequest())]

    assert [each.content.parts[0].text for each in asyncio.run(talk())] == ["ok"]
    assert guided.connect(LlmRequest()) == "live"
    assert guided.capabilities == model.capabilities


def test_a_call_that_no_event_has_is_answered():
    """As code in a sandbox makes it, that calls tools on its own."""
    planning = lean()

    async def sandbox(tool_context: ToolContext) -> dict:
        return await planning.answer(Call("plan", {"write": ["Dig"]}, "inner"), tool_context)

    async def talk():
        call = types.Part(function_call=types.FunctionCall(name="sandbox", args={}))
        asks = LlmResponse(content=types.Content(role="model", parts=[call]))
        place = Place(attach(agent_of(asks, says("ok"), tools=[sandbox]), planning))
        await place.run()
        return plan_of_state(await place.session())

    assert subjects(asyncio.run(talk())) == ["Dig"]


def test_the_tools_alone_have_no_guidance():
    """Neither prompt nor reminder."""

    async def talk(planning):
        agent = agent_of(calls(write=["Dig"]), says("Early."))
        agent.tools = make_tools(planning)
        place = Place(agent)
        await place.run()
        return agent.model._requests, plan_of_state(await place.session())

    requests, plan = asyncio.run(talk(lean(Settings())))
    assert (len(requests), subjects(plan)) == (2, ["Dig"])
    assert "plan" not in requests[0].config.system_instruction


def test_the_prompt_may_be_left_out_or_be_another():
    """It stands behind the agent's own instruction."""
    for given, found in ((None, LEAN.system_prompt()), ("", None), ("Plan well.", "Plan well.")):
        agent = agent_of(says("ok"))
        asyncio.run(Place(attach(agent, lean(system_prompt=given))).run())
        told = agent.model._requests[0].config.system_instruction
        assert told.endswith(found) if found else LEAN.system_prompt() not in told


def test_a_plan_is_attached_once():
    """Two tools of a name would shadow each other; the agent that was given stays as it is."""
    planning, agent = lean(), agent_of()
    attached = attach(agent, planning)
    assert (agent.tools, len(attached.tools)) == ([], 1)
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


def test_only_the_latest_runs_are_kept(monkeypatch):
    """A server that lives for long would grow otherwise."""

    async def talk(most):
        monkeypatch.setattr("todoplan.planner.session.MOST_REMEMBERED", most)
        own = lean()
        place = Place(attach(agent_of(*[says("ok")] * 3), own))
        for _ in range(3):
            await place.run()
        return len(own._runs), len(own._asked)

    assert [asyncio.run(talk(most)) for most in (1, 0)] == [(1, 0), (0, 0)]


def test_a_state_that_others_wrote_in_a_run_is_read_anew():
    """Such as an agent that runs as a tool, whose state ADK merges into that of its caller."""

    async def talk():
        own = lean()

        def restore(callback_context, llm_request):
            if len(model._requests) == 1:
                callback_context.state[KEY] = json.dumps({})

        agent = agent_of(
            calls(write=["Dig"]), calls(write=["Sow"]), says("ok"), before_model_callback=restore
        )
        model = agent.model
        place = Place(attach(agent, own))
        await place.run()
        return plan_of_state(await place.session())

    assert subjects(asyncio.run(talk())) == ["Sow"]

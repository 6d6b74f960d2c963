"""What only LlamaIndex has: its contexts, its scratchpad, its workflows of several agents."""

import asyncio
import json
from types import SimpleNamespace

import pytest
from llama_index.core.agent.workflow import (
    AgentInput,
    AgentOutput,
    AgentStream,
    AgentWorkflow,
    FunctionAgent,
    ReActAgent,
)
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from support.conformance_llama_index import SCRIPT, WARNINGS, Scripted, seen
from support.small_adapters import OFF, OWN, SmallAdapter, calls, subjects

from todoplan import LEAN, TASKS, Toolbox
from todoplan.adapters import llama_index
from todoplan.adapters.llama_index import (
    Planning,
    PlanningAgent,
    _answer,
    edit_plan,
    make_tools,
    plan_of_state,
)
from todoplan.core.commands import CreateTask
from todoplan.dialogue import Call, Settings
from todoplan.dialogue.guidance import is_refusal
from todoplan.errors import PlanError
from todoplan.stores.sqlite import SqliteStore
from todoplan.testing.adapters import ModelTurn, Script
from todoplan.testing.adapters.host import says

pytestmark = WARNINGS


def lean(settings=OFF, **more):
    """A planning with the tool set `lean`."""
    return Planning(Toolbox(LEAN), settings, **more)


def agent_of(planning, **more):
    """An agent with a planning."""
    return PlanningAgent(planning=planning, llm=Scripted(), system_prompt=OWN, **more)


def run(workflow, ctx, *turns, **more):
    """Run a workflow with turns of a model; return its answer, the requests and the memory."""
    return play(workflow, ctx, Script(*turns), **more)


def play(workflow, ctx, script, **more):
    """Run a workflow with a script."""

    async def talk():
        SCRIPT.set(script)
        memory = ChatMemoryBuffer.from_defaults()
        result = await workflow.run("go", ctx=ctx, memory=memory, **more)
        return SimpleNamespace(said=str(result), requests=script.requests, memory=memory.get_all())

    return asyncio.run(talk())


def plan_in(ctx):
    """The plan in a context."""
    return asyncio.run(plan_of_state(ctx))


def restored(workflow, ctx):
    """A context that was saved as JSON and read again."""
    return Context.from_dict(workflow, json.loads(json.dumps(ctx.to_dict())))


class TestLlamaIndex(SmallAdapter):
    adapter = llama_index

    def place(self, planning):
        return Context(agent_of(planning))

    def play(self, planning, place, script):
        play(agent_of(planning), place, script)

    def play_alone(self, planning, script):
        agent = FunctionAgent(tools=make_tools(planning), llm=Scripted())
        ctx = Context(agent)
        play(agent, ctx, script)
        return ctx

    def spoil(self, place):
        asyncio.run(place.store.set("todoplan", "{"))  # the key in contexts that were saved


def test_an_agent_has_a_planning():
    """One with default settings, if none is given; anything else is refused."""
    assert PlanningAgent(llm=Scripted()).system_prompt == Planning().system_prompt
    with pytest.raises(PlanError):
        PlanningAgent(planning="planning", llm=Scripted())


def test_a_run_that_waits_is_saved_and_goes_on():
    """The plan is as it was when the run began to wait."""

    async def ask(ctx: Context) -> str:
        asked = InputRequiredEvent(prefix="Dig?")
        answer = await ctx.wait_for_event(HumanResponseEvent, waiter_event=asked)
        return answer.response

    agent = agent_of(lean(), tools=[ask])

    async def wait():
        SCRIPT.set(Script(calls(write=["Dig"]), calls({}, tool="ask")))
        handler = agent.run("go", ctx=Context(agent))
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                break
        kept = json.dumps(handler.ctx.to_dict())
        await handler.cancel_run()
        return kept

    async def go_on(kept):
        script = Script(calls(done=[1]), says("Dug."))
        SCRIPT.set(script)
        ctx = Context.from_dict(agent, json.loads(kept))
        await ctx.store.set("memory", ChatMemoryBuffer.from_defaults())
        handler = agent.run(ctx=ctx)
        handler.ctx.send_event(HumanResponseEvent(response="yes"))
        await handler
        return handler.ctx, script

    ctx, script = asyncio.run(go_on(asyncio.run(wait())))
    assert [task.status.value for task in plan_in(ctx)] == ["completed"]
    assert "yes" in [message.text for message in script.requests[0]]


def test_what_a_model_writes_is_no_class_for_the_framework():
    """LlamaIndex would import and build the class that a dictionary in the context names."""
    bomb = {"__is_pydantic": True, "qualified_name": "todoplan.nothing.Bomb", "value": {}}
    agent = agent_of(Planning(Toolbox(TASKS), OFF))
    ctx = Context(agent)
    create = calls(subject="Dig", description="", metadata={"bomb": bomb}, tool="TaskCreate")
    run(agent, ctx, create, says("ok"))
    (task,) = plan_in(restored(agent, ctx))
    assert task.metadata == {"bomb": bomb}


def test_a_plan_may_be_edited_while_its_run_goes_on():
    """By the context of the run; the model is told, and neither's work is lost."""

    async def dig(ctx: Context) -> str:
        await edit_plan(agent.planning, ctx, CreateTask("Tell Ann"), actor="ann")
        return "dug"

    agent = agent_of(lean(), tools=[dig])
    ctx = Context(agent)
    ran = run(
        agent, ctx, calls(write=["Dig"]), calls({}, tool="dig"), calls(done=[1]), says("Dug.")
    )
    assert subjects(plan_in(ctx)) == ["Dig", "Tell Ann"]
    assert "Tell Ann" in ran.requests[2][-1].text


def test_an_early_answer_is_sent_back():
    """Without a second copy of the user's message, and what was sent back is not kept."""
    agent = agent_of(lean(Settings()))
    script = (calls(write=["Dig"]), says("Early."), calls(done=[1]), says("Done."))
    # Four answers; the one that was sent back is no iteration.
    ran = run(agent, Context(agent), *script, max_iterations=4)
    assert ran.said == "Done."
    texts = [message.text for message in ran.requests[2]]
    assert (texts[1], texts[-2], texts.count("go")) == ("go", "Early.", 1)
    assert "while tasks of your plan are open" in texts[-1]
    assert [one.text for message in ran.memory for one in seen(message)][-1] == "Done."
    assert "Early." not in str(ran.memory)


def test_the_events_of_a_run_are_streamed():
    """As those of any agent: what is sent, what comes, and the answer."""
    agent = agent_of(lean(Settings()))

    async def kinds():
        SCRIPT.set(Script(calls(write=["Dig"]), says("Early."), calls(done=[1]), says("Done.")))
        events = [event async for event in agent.run("go", ctx=Context(agent)).stream_events()]
        return [sum(isinstance(each, kind) for each in events) for kind in KINDS]

    assert asyncio.run(kinds()) == [4, 4, 3]


KINDS = (AgentInput, AgentStream, AgentOutput)


def test_the_first_choice_of_a_tool_is_for_the_user_s_message():
    """A reminder, which is a user's message too, does not force the tool again."""
    chosen = []

    class Choosing(Scripted):
        def _prepare_chat_with_tools(self, tools, **more):
            chosen.append(more.get("tool_choice"))
            return super()._prepare_chat_with_tools(tools, **more)

    agent = PlanningAgent(
        planning=lean(Settings()), llm=Choosing(), initial_tool_choice="plan", streaming=False
    )
    run(agent, Context(agent), calls(write=["Dig"]), says("Early."), calls(done=[1]), says("Done."))
    assert chosen == ["plan", None, None, None]


def test_equal_ids_are_told_apart(tmp_path):
    """Some providers give all calls of a message the tool's name as their id; a store has keys."""
    store = SqliteStore(tmp_path / "plans.db")
    agent = agent_of(lean(store=store, plan_id="garden"))
    first, second = (ModelTurn((Call("plan", {"add": [one]}, "plan"),) * 3) for one in "ab")
    run(agent, Context(agent), first, second, says("ok"))
    assert subjects(store.load("garden")) == [*"aaabbb"]


def test_calls_beside_the_blocks_of_a_message_are_answered():
    """Some integrations leave them there; the arguments are those that LlamaIndex has read."""

    class Beside(Scripted):
        async def achat(self, messages, tools=(), **more):
            answer = await super().achat(messages, tools, **more)
            made = self.get_tool_calls_from_response(answer)
            answer.message = ChatMessage(
                answer.message.content, role="assistant", additional_kwargs={"tool_calls": made}
            )
            return answer

    agent = PlanningAgent(planning=lean(), llm=Beside(), streaming=False)
    ctx = Context(agent)
    run(agent, ctx, calls({"write": ["Dig"]}, {"add": ["Sow"]}), says("ok"))
    assert subjects(plan_in(ctx)) == ["Dig", "Sow"]


def test_names_of_python_and_of_the_framework_are_arguments():
    """`self` and `ctx` reach the tool set, which says that it has no such field."""
    agent = agent_of(lean())
    odd = calls({"self": 1, "write": ["Dig"]}, {"ctx": 1, "add": ["Sow"]})
    ran = run(agent, Context(agent), odd, says("ok"))
    told = [message.text for message in ran.requests[1] if message.role == "tool"]
    assert [text.splitlines()[-1] for text in told] == ["note: ignored self", "note: ignored ctx"]


def hands_over(to):
    """A message that hands over to another agent."""
    return calls({"to_agent": to, "reason": "It is yours."}, tool="handoff")


@pytest.mark.parametrize("shares", [True, False])
def test_agents_of_a_workflow_have_one_plan(shares):
    """That of the context, with one planning or with several."""
    digs, sows = lean(Settings()), lean(Settings())
    agents = [
        agent_of(digs, name="digger", description="It digs."),
        agent_of(digs if shares else sows, name="sower", description="It sows."),
    ]
    workflow = AgentWorkflow(agents=agents, root_agent="digger")
    ctx = Context(workflow)
    turns = (
        calls(write=["Dig", "Sow"]),
        hands_over("sower"),
        says("Early."),
        calls(done=[1]),
        hands_over("digger"),
        calls(done=[2]),
        says("Both are done."),
    )
    ran = run(workflow, ctx, *turns)
    assert ran.said == "Both are done."
    assert [task.status.value for task in plan_in(ctx)] == ["completed", "completed"]
    assert "while tasks of your plan are open" in ran.requests[3][-1].text
    ctx = restored(workflow, ctx)
    run(workflow, ctx, calls(add=["Water"]), says("ok"), *[says("ok")] * 2)
    assert subjects(plan_in(ctx)) == ["Dig", "Sow", "Water"]


@pytest.mark.filterwarnings("ignore:is_running called from within a step")
def test_an_agent_that_reads_tools_from_a_text_has_them_too():
    """`ReActAgent` shows a model the schema, and reads calls from what it says."""
    texts = iter(
        [
            'Thought: I plan.\nAction: plan\nAction Input: {"write": ["Dig"]}',
            "Thought: Done.\nAnswer: ok",
        ]
    )
    shown = []

    class Saying(MockLLM):
        async def achat(self, messages, **_):
            shown.append(str(messages))
            answer = await super().achat(messages)
            answer.message = ChatMessage(role="assistant", content=next(texts))
            return answer

    agent = ReActAgent(tools=make_tools(lean()), llm=Saying(), streaming=False)
    ctx = Context(agent)
    run(agent, ctx)
    assert subjects(plan_in(ctx)) == ["Dig"]
    assert "indent subtasks" in shown[0]


@pytest.mark.parametrize(
    ("raw", "more"),
    [
        ({"choices": [{"finish_reason": "content_filter"}]}, {}),
        ({"stop_reason": "refusal"}, {}),
        ({"choices": []}, {"stop_reason": "refusal"}),
        (None, {"stop_reason": "refusal"}),
        ({"choices": [object()], "stop_reason": "refusal"}, {}),
    ],
)
def test_why_an_answer_ended_is_read_where_providers_leave_it(raw, more):
    """In the raw response, or beside the message."""
    said = ChatMessage("No.", role="assistant", additional_kwargs=more)
    assert is_refusal(_answer(AgentOutput(response=said, current_agent_name="a", raw=raw)))
    plain = ChatMessage("No.", role="assistant")
    assert not is_refusal(_answer(AgentOutput(response=plain, current_agent_name="a")))

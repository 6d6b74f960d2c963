"""LangChain's agent, on LangGraph's graph and checkpointer, passes the conformance suite."""

import pickle
from typing import Any

from hypothesis import settings
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from support.conformance import InFolders, events_of

from todoplan import FileStore
from todoplan.adapters.langgraph import PlanMiddleware, edit_plan, plan_of_state, seed_plan
from todoplan.codec import entry_from_data
from todoplan.testing.adapters import ALL, AdapterSuite, Capability, Definition, Ran, Seen
from todoplan.testing.adapters.checks import Others, Turns

_ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
_MODES = ["custom", "values"]


class Scripted(BaseChatModel):
    """Says what the script of the run's thread says."""

    scripts: Any
    offered: Any = ()

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self.model_copy(update={"offered": [_offered(tool) for tool in tools]})

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        script = self.scripts[run_manager.metadata["thread_id"]]
        return _said(script.reply(map(seen, messages), self.offered))

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        script = self.scripts[run_manager.metadata["thread_id"]]
        return _said(await script.areply(map(seen, messages), self.offered))


def _offered(tool):
    told = convert_to_openai_tool(tool)["function"]
    return Definition(told["name"], told["description"], told["parameters"])


def _said(turn):
    calls = [{"name": call.name, "args": call.arguments, "id": call.call_id} for call in turn.calls]
    finish = "content_filter" if turn.finish else "tool_calls" if calls else "stop"
    thoughts = [{"type": "thinking", "thinking": turn.thoughts}] if turn.thoughts else []
    content = [*thoughts, {"type": "text", "text": turn.text}] if thoughts else turn.text
    message = AIMessage(content, tool_calls=calls, response_metadata={"finish_reason": finish})
    return ChatResult(generations=[ChatGeneration(message=message)])


def seen(message):
    """Return a message of LangChain as the suite reads it."""
    if isinstance(message, ToolMessage):
        return Seen("tool", message.text, message.tool_call_id, message.status == "error")
    return Seen(_ROLES[message.type], message.text)


class LangGraph:
    """An agent of `create_agent`, whose threads are the sessions; a checkpointer keeps them."""

    def __init__(self, setup, store=None):
        self.setup, self.saver, self.scripts = setup, InMemorySaver(), {}
        planning = PlanMiddleware(
            setup.toolbox,
            settings=setup.settings,
            store=store,
            clock=setup.clock,
            verify=setup.verify,
            emit_events=True,
        )
        self.graph = create_agent(
            Scripted(scripts=self.scripts),
            system_prompt="You work.",
            middleware=[planning],
            checkpointer=self.saver,
        )

    def _config(self, session):
        return {"configurable": {"thread_id": session}}

    def seed(self, session, plan):
        seed_plan(self.graph, self._config(session), plan)

    def edit(self, session, command, actor):
        return edit_plan(self.graph, self._config(session), command, actor=actor)

    def plan(self, session):
        return plan_of_state(self.graph.get_state(self._config(session)))

    def saved(self):
        kept = [self.saver.blobs, self.saver.writes, self.saver.storage]
        threads = {name: {**each} for name, each in self.saver.storage.items()}
        return pickle.dumps([{**kept[0]}, {**kept[1]}, threads])

    def resume(self, saved):
        blobs, writes, threads = pickle.loads(saved)  # noqa: S301 - what `saved` has written
        self.saver.blobs.update(blobs)
        self.saver.writes.update(writes)
        for name, each in threads.items():
            self.saver.storage[name].update(each)

    async def run(self, session, script):
        self.scripts[session] = script
        streamed = await self._streamed(session)
        told = [value for mode, value in streamed if mode == "custom"]
        returned = [value for mode, value in streamed if mode == "values"][-1]
        state = self.graph.get_state(self._config(session)).values
        entries = sorted((one["todoplan"] for one in told), key=lambda one: one["revision"])
        events = events_of(entry_from_data(_entry(entry)) for entry in entries)
        return Ran(list(map(seen, state["messages"])), events, self._returned(returned))

    def _returned(self, values):
        return plan_of_state(values)

    async def _streamed(self, session):
        config, asked = self._config(session), {"messages": [("user", "go")]}
        return list(self.graph.stream(asked, config, stream_mode=_MODES))


class Awaited:
    """A host of the same kind whose runs are awaited."""

    async def _streamed(self, session):
        config, asked = self._config(session), {"messages": [("user", "go")]}
        return [one async for one in self.graph.astream(asked, config, stream_mode=_MODES)]


class AsyncLangGraph(Awaited, LangGraph):
    """The same, awaited."""


class Stored(LangGraph):
    """The same, with the plans in a file."""

    def __init__(self, setup, folder):
        self.store, self.folder = FileStore(f"{folder}/plans.json"), folder
        super().__init__(setup, self.store)

    def saved(self):
        return pickle.dumps([super().saved(), self.folder])

    def resume(self, saved):
        kept, folder = pickle.loads(saved)  # noqa: S301 - what `saved` has written
        self.__init__(self.setup, folder)
        super().resume(kept)

    def plan(self, session):
        return self.store.load(session)

    def _returned(self, values):
        return None


class AsyncStored(Awaited, Stored):
    """The same, awaited."""


def _entry(told):
    return {key: value for key, value in told.items() if key not in {"tool", "call_id"}}


HANDED_ON = ALL - {
    Capability.TEXT_ARGUMENTS,
    Capability.RAW_ARGUMENTS,
    Capability.LONG_NUMBERS,
}


class TestLangGraph(AdapterSuite):
    capabilities = HANDED_ON - {Capability.TASKS, Capability.LIVE_EDITS}

    def host(self, setup):
        return LangGraph(setup)


class TestLangGraphAsync(AdapterSuite):
    reads_as = TestLangGraph
    capabilities = HANDED_ON - {Capability.LIVE_EDITS}

    def host(self, setup):
        return AsyncLangGraph(setup)


class InFiles(InFolders):
    """Plans are in files, in a folder for each host."""

    kind = AsyncStored
    capabilities = HANDED_ON - {Capability.RETURNS}  # the store has it

    def host(self, setup):
        return self.kind(setup, self.new_folder())


class TestLangGraphStored(InFiles, AdapterSuite):
    reads_as = TestLangGraph
    drawing = settings(max_examples=3, deadline=None)


class TestLangGraphStoredInThreads(InFiles, Turns, Others):
    """What may differ where the calls of a turn run in threads."""

    kind = Stored

"""AgentScope's agent, with its state saved and loaded, passes the conformance suite."""

import json

from agentscope.agent import Agent
from agentscope.credential import CredentialBase
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import (
    HintBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)
from agentscope.model import ChatModelBase, ChatResponse
from agentscope.state import AgentState
from agentscope.tool import Toolkit
from hypothesis import settings
from support.conformance import InFolders, as_text, events_of

from todoplan import FileStore
from todoplan.adapters.agentscope import (
    PlanMiddleware,
    edit_plan,
    make_tools,
    plan_of_state,
    seed_plan,
)
from todoplan.codec import entry_from_data
from todoplan.testing.adapters import ALL, AdapterSuite, Capability, Definition, Ran, Seen


class Scripted(ChatModelBase):
    """Says what a script says."""

    def __init__(self, script):
        super().__init__(
            CredentialBase(), "scripted", self.Parameters(), stream=False, context_size=1_000_000
        )
        self.formatter, self.script = OpenAIChatFormatter(), script

    async def _call_api(self, model_name, messages, tools=None, tool_choice=None, **kwargs):
        turn = await self.script.areply(flattened(messages), map(_offered, tools))
        thoughts = [ThinkingBlock(thinking=turn.thoughts)] if turn.thoughts else []
        texts = [TextBlock(text=turn.text)] if turn.text else []
        uses = [
            ToolCallBlock(id=call.call_id, name=call.name, input=as_text(call.arguments))
            for call in turn.calls
        ]
        return ChatResponse(content=[*thoughts, *texts, *uses], is_last=True)


def _offered(tool):
    told = tool["function"]
    return Definition(told["name"], told["description"], told["parameters"])


def _joined(output):
    return output if isinstance(output, str) else "".join(part.text for part in output)


def flattened(messages):
    """Return messages of AgentScope as the suite reads them, a block each."""
    return [
        each for message in messages for block in message.content for each in _seen(message, block)
    ]


def _seen(message, block):
    if isinstance(block, ToolResultBlock):
        is_error = block.state != "success"
        return [Seen("tool", _joined(block.output), block.id, is_error)]
    if isinstance(block, HintBlock):
        return [Seen("user", block.hint)]
    return [Seen(message.role, block.text)] if isinstance(block, TextBlock) else []


class AgentScope:
    """An agent whose states are the sessions; a state is saved as JSON after every run."""

    def __init__(self, setup, store=None):
        self.setup, self.texts, self.states = setup, {}, {}
        self.store = store

    def state(self, session):
        return self.states.setdefault(session, AgentState(session_id=session))

    def seed(self, session, plan):
        seed_plan(self.state(session), plan)

    def edit(self, session, command, actor):
        state, policy = self.state(session), self.setup.toolbox.policy
        decision = edit_plan(state, command, actor=actor, policy=policy)
        self.texts[session] = state.model_dump_json()
        return decision

    def plan(self, session):
        return plan_of_state(self.state(session))

    def saved(self):
        return json.dumps(self.texts)

    def resume(self, saved):
        self.texts = json.loads(saved)
        for session, text in self.texts.items():
            self.states[session] = AgentState.model_validate_json(text)

    def _agent(self, state, script):
        kept = {"store": self.store, "clock": self.setup.clock}
        tools = make_tools(self.setup.toolbox, verify=self.setup.verify, **kept)
        guidance = PlanMiddleware(self.setup.toolbox, settings=self.setup.settings, **kept)
        return Agent(
            "helper",
            "You work.",
            Scripted(script),
            toolkit=Toolkit(tools=tools),
            middlewares=[guidance],
            state=state,
        )

    async def run(self, session, script):
        state = self.state(session)
        agent = self._agent(state, script)
        events = [e async for e in agent.reply_stream(UserMsg(name="user", content="go"))]
        self.texts[session] = state.model_dump_json()
        told = [(getattr(event, "metadata", None) or {}).get("todoplan") for event in events]
        entries = [entry_from_data(one) for one in told if one]
        return Ran(flattened(state.context), events_of(entries))


class Stored(AgentScope):
    """The same, with the plans in a file."""

    def __init__(self, setup, folder):
        super().__init__(setup, FileStore(f"{folder}/plans.json"))
        self.folder = folder

    def _edited(self, session):
        return self._agent(self.state(session), None)

    def seed(self, session, plan):
        seed_plan(self._edited(session), plan)

    def edit(self, session, command, actor):
        decision = edit_plan(self._edited(session), command, actor=actor)
        self.texts[session] = self.state(session).model_dump_json()
        return decision

    def plan(self, session):
        return plan_of_state(self._edited(session))

    def saved(self):
        return json.dumps([super().saved(), self.folder])

    def resume(self, saved):
        texts, folder = json.loads(saved)
        self.__init__(self.setup, folder)
        super().resume(texts)


class TestAgentScope(AdapterSuite):
    capabilities = ALL - {
        Capability.RAW_ARGUMENTS,
        Capability.LONG_NUMBERS,
        Capability.DEEP_TEXTS,
        Capability.FINISH,
        Capability.RETURNS,
    }

    def host(self, setup):
        return AgentScope(setup)


class TestAgentScopeStored(InFolders, TestAgentScope):
    reads_as = TestAgentScope
    drawing = settings(max_examples=3, deadline=None)

    def host(self, setup):
        return Stored(setup, self.new_folder())

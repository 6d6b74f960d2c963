"""A real AgentScope agent with a scripted model, and a quick way to call tools on a state."""

import asyncio
import json
from itertools import count

from agentscope.agent import Agent
from agentscope.credential import CredentialBase
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import TextBlock, ToolCallBlock, ToolResultState, UserMsg
from agentscope.model import ChatModelBase, ChatResponse
from agentscope.state import AgentState, Task
from agentscope.tool import Toolkit
from support.law_15 import TOLD

from todoplan import TODOS, Toolbox, plan_of
from todoplan import Task as OwnTask
from todoplan.adapters.agentscope import attach, make_tools, plan_of_state
from todoplan.core.commands import CreateTask

EDIT = CreateTask("Tell Ann")
TWO = plan_of([OwnTask("1", "a"), OwnTask("2", "b")])

_numbers = count(1)


def use(name, **arguments):
    """Return a tool call as the model sends it; `raw` is the text of its arguments."""
    raw = arguments.pop("raw", None)
    text = json.dumps(arguments) if raw is None else raw
    return ToolCallBlock(id=f"call{next(_numbers)}", name=name, input=text)


class ScriptedModel(ChatModelBase):
    """Sends the given turns, each a text or tool calls, and records the requests."""

    def __init__(self, *turns):
        super().__init__(
            CredentialBase(), "scripted", self.Parameters(), stream=False, context_size=100_000
        )
        self.formatter = OpenAIChatFormatter()
        self.turns, self.requests, self.tools = list(turns), [], []

    async def _call_api(self, model_name, messages, tools=None, tool_choice=None, **kwargs):
        self.requests.append([message.model_copy(deep=True) for message in messages])
        self.tools.append(tools)
        turn = self.turns.pop(0)
        parts = [turn] if isinstance(turn, str | ToolCallBlock) else turn
        blocks = [TextBlock(text=part) if isinstance(part, str) else part for part in parts]
        return ChatResponse(content=blocks, is_last=True)

    def tail(self, index=-1):
        """Return the text of the last message of a request."""
        return self.requests[index][-1].get_text_content() or ""

    def sent(self, index=-1):
        """Return a whole request as text."""
        return json.dumps([message.model_dump(mode="json") for message in self.requests[index]])


def agent_of(*turns, state=None, **kwargs):
    """Return an agent whose model sends these turns."""
    return Agent("helper", "You work.", ScriptedModel(*turns), state=state, **kwargs)


def helper(*turns, state=None, toolbox=None, settings=TOLD, **given):
    """Return an agent with tools and guidance; by default with tools for a whole list."""
    kept = attach(toolbox or Toolbox(TODOS), settings=settings, **given)
    return agent_of(*turns, state=state, **kept)


def write(*subjects, **statuses):
    """Return a call that writes a list."""
    todos = [{"content": each, "status": statuses.get(each, "pending")} for each in subjects]
    return use("write_todos", todos=todos)


def reply(agent, text="go"):
    """Return the events and the final message of one reply."""

    async def run():
        stream = agent.reply_stream(UserMsg(name="user", content=text), yield_final_msg=True)
        return [event async for event in stream]

    return asyncio.run(run())


def results(agent):
    """Return the tool results in the agent's context, as (ok, text), in the order of the calls."""
    found = [b for m in agent.state.context for b in m.get_content_blocks("tool_result")]
    return [(block.state == ToolResultState.SUCCESS, _text(block.output)) for block in found]


def answers(agent):
    """Return the texts of the tool results in the agent's context."""
    return [text for _, text in results(agent)]


def loaded(agent):
    """Save and load a state, or the state of an agent, and return it."""
    state = getattr(agent, "state", agent)
    return AgentState.model_validate_json(state.model_dump_json())


def subjects(where, plan_id="1"):
    """Return the texts of the tasks in a store, or of the plan of an agent or a state."""
    plan = where.load(plan_id) if hasattr(where, "load") else plan_of_state(where)
    return [task.subject for task in plan]


def listed(agent):
    """Return the texts of AgentScope's own tasks."""
    return [task.subject for task in agent.state.tasks_context.tasks]


def _text(output):
    return output if isinstance(output, str) else "".join(block.text for block in output)


class Desk:
    """A state and a toolkit of planning tools, called one after the other."""

    def __init__(self, *seed, state=None, tools=None, toolbox=None):
        self.state = state or AgentState()
        self.state.tasks_context.tasks.extend(seed)
        self.toolkit = Toolkit(tools=make_tools(toolbox) if tools is None else tools)
        self.last = None

    def call(self, name, **arguments):
        """Call a tool and return the text of its answer. The whole answer is `last`."""
        return self.asked(use(name, **arguments))

    def asked(self, call):
        """Return the text of the answer to a call of the model."""

        async def run():
            return [part async for part in self.toolkit.call_tool(call, self.state)][-1]

        self.last = asyncio.run(run())
        return self.last.content[0].text

    def fail(self, name, **arguments):
        """Call a tool that must answer with an error, and return the text."""
        text = self.call(name, **arguments)
        assert self.last.state == ToolResultState.ERROR, text
        return text

    def do(self, name, **arguments):
        """Call a tool that must not answer with an error, and return the text."""
        text = self.call(name, **arguments)
        assert self.last.state == ToolResultState.SUCCESS, text
        return text

    @property
    def tasks(self):
        """AgentScope's own list."""
        return self.state.tasks_context.tasks

    def saved(self):
        """Return a desk whose state was saved and loaded."""
        return Desk(state=loaded(self.state), tools=self.toolkit.tool_groups[0].tools)


def theirs(subject, **fields):
    """Return one of AgentScope's tasks."""
    return Task(**{"subject": subject, "description": "", "metadata": {}, **fields})


def board(desk):
    """Return id, state, blocks and blocked_by of every task."""
    return [(task.id, task.state, task.blocks, task.blocked_by) for task in desk.tasks]

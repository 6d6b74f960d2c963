"""A model of Pydantic AI that follows a script and records the requests."""

import asyncio

from pydantic_ai import Agent, AgentRunResultEvent
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

from todoplan.adapters.pydantic_ai import kept_in
from todoplan.planner.session import opened


class Script:
    """Says its steps, one after the other: a text, calls, a response or an exception."""

    def __init__(self, *steps):
        self._steps = iter(steps)
        self.requests = []
        self.infos = []
        self.model = FunctionModel(self._answer, stream_function=self._stream)

    def _next(self, messages, info):
        self.requests.append(messages)
        self.infos.append(info)
        step = next(self._steps)
        step = step(messages) if callable(step) else step
        if isinstance(step, Exception):
            raise step
        return step

    def _answer(self, messages, info):
        return response(self._next(messages, info))

    async def _stream(self, messages, info):
        step = response(self._next(messages, info))
        for place, part in enumerate(step.parts):
            if isinstance(part, TextPart):
                yield part.content
            else:
                name, arguments = part.tool_name, part.args_as_json_str()
                yield {place: DeltaToolCall(name, arguments, tool_call_id=part.tool_call_id)}

    @property
    def tails(self):
        """The last text of every request."""
        return [request[-1].parts[-1].content for request in self.requests]

    @property
    def tool_names(self):
        """The names of the tools in the last request."""
        return [tool.name for tool in self.infos[-1].function_tools]


def response(step):
    """Return a step as the model's response."""
    if isinstance(step, ModelResponse):
        return step
    parts = [TextPart(step)] if isinstance(step, str) else step
    return ModelResponse(parts=[*parts] if isinstance(parts, list | tuple) else [parts])


def use(name, arguments, call_id):
    """Return a call; the arguments are an object or a text."""
    return ToolCallPart(name, arguments, call_id)


def wrote(*todos, call_id="w", name="write_todos"):
    """Return a call that writes a list of (content, status)."""
    listed = [dict(zip(("content", "status"), todo, strict=True)) for todo in todos]
    return use(name, {"todos": listed}, call_id)


def created(*subjects):
    """Return calls of TaskCreate, one for each subject."""
    return [use("TaskCreate", {"subject": each}, f"c{n}") for n, each in enumerate(subjects)]


def run(agent, prompt="go", **options):
    """Run an agent to its end."""
    return asyncio.run(agent.run(prompt, **options))


async def streamed(agent, prompt="go", **options):
    """Run an agent, streaming; return all events, and the result."""
    async with agent.run_stream_events(prompt, **options) as stream:
        *events, last = [event async for event in stream]
    assert isinstance(last, AgentRunResultEvent)
    return events, last.result


def saved(result):
    """Save all messages as JSON and load them, as another process would."""
    return ModelMessagesTypeAdapter.validate_json(result.all_messages_json())


def returns(messages):
    """Return the tool results in messages, in order."""
    return [p for m in messages for p in m.parts if isinstance(p, ToolReturnPart)]


def texts(messages):
    """Return what the user and the model said, in order."""
    parts = (part for message in messages for part in message.parts)
    return [part.content for part in parts if isinstance(part, TextPart | UserPromptPart)]


def planner(script, capability, **options):
    """Return an agent whose model is the script."""
    return Agent(script.model, capabilities=[capability], **options)


def record_of(messages):
    """Return the session's record (what it has listed and seen), with the plan, from messages."""
    return opened(kept_in(messages, stored=False)).state

"""Runs of the OpenAI Agents SDK on its own scripted model: no network, and no tracing."""

import asyncio

from agents import Agent, Runner
from agents.testing import ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseOutputMessage, ResponseOutputRefusal

from todoplan.adapters.openai_agents import edit_plan
from todoplan.dialogue import Memory


def say(text="Done."):
    """Return a final answer."""
    return [assistant_message(text)]


def refuse(why="No."):
    """Return a refusal."""
    part = ResponseOutputRefusal(type="refusal", refusal=why)
    return ResponseOutputMessage(
        id="m", type="message", role="assistant", status="completed", content=[part]
    )


def write(*todos, call_id="w"):
    """Return a call that writes a list of (content, status)."""
    listed = [dict(zip(("content", "status"), todo, strict=True)) for todo in todos]
    return function_call("write_todos", {"todos": listed}, call_id=call_id)


def create(*subjects):
    """Return a call of TaskCreate for each subject."""
    named = enumerate(subjects)
    return [function_call("TaskCreate", {"subject": s}, call_id=f"c{n}") for n, s in named]


def done(*task_ids):
    """Return a call of TaskUpdate that completes each task."""
    return [
        function_call("TaskUpdate", {"taskId": t, "status": "completed"}, call_id=f"d{t}")
        for t in task_ids
    ]


def scripted(*turns):
    """Return a model that sends these turns: a text, one call or a list of items."""
    return ScriptedModel([_items(turn) for turn in turns])


def _items(turn):
    if isinstance(turn, str):
        return say(turn)
    return turn if isinstance(turn, list | dict | Exception) else [turn]


def agent_of(model, **options):
    """Return an agent."""
    return Agent(name="worker", instructions="Work.", model=model, **options)


def run(agent, given="go", **options):
    """Run an agent to its end."""
    return asyncio.run(Runner.run(agent, given, **options))


async def stream(agent, given="go", **options):
    """Run an agent, streaming; return the result and its events."""
    result = Runner.run_streamed(agent, given, **options)
    return result, [event async for event in result.stream_events()]


def plan_of(planning):
    """Return the plan of a session."""
    return asyncio.run(planning.plan())


def edit(planning, command):
    """Change the plan of a session, as an application does."""
    return asyncio.run(edit_plan(planning, command))


def tails(model):
    """Return the text of the last item of each request, or "" if this item has no text."""
    lasts = [call.input if isinstance(call.input, str) else call.input[-1] for call in model.calls]
    return [last if isinstance(last, str) else last.get("content", "") for last in lasts]


def outputs(result):
    """Return what the tools have answered, by the ids of their calls."""
    items = result.to_input_list()
    return {i["call_id"]: i["output"] for i in items if i.get("type") == "function_call_output"}


def remembered(planning):
    """Return what guidance remembers, as it is saved."""
    return Memory.of(planning.to_data()["session"].get("guidance"))


def turns(planning):
    """Return how many requests to the model guidance has counted."""
    return remembered(planning).turn

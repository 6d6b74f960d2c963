"""Guidance and changes in a run that is streamed."""

import asyncio

from support.pydantic_ai_agent import Script, planner, saved, streamed, texts, wrote

from todoplan.adapters.pydantic_ai import KEY, Planning, plan_of_state
from todoplan.dialogue.guidance import is_reminder

OPEN = wrote(("A", "in_progress"), ("B", "pending"))
DONE = wrote(("A", "completed"), ("B", "completed"), call_id="done")


def test_a_streamed_answer_that_was_seen_is_kept():
    """The model goes on behind it; answer and reminder stay in the history."""
    script = Script(OPEN, "early", DONE, "final")
    _, result = asyncio.run(streamed(planner(script, Planning())))
    said = texts(result.all_messages())
    assert [text for text in said if not is_reminder(text)] == ["go", "early", "final"]
    assert is_reminder(said[2])
    assert result.output == "final"
    assert plan_of_state(saved(result)).counts.open == 0


def test_a_streamed_run_is_capped_as_well():
    """Twice without progress."""
    _, result = asyncio.run(streamed(planner(Script(OPEN, "1", "2", "3"), Planning())))
    assert result.output == "3"


def test_a_stream_of_the_first_answer_ends_with_it():
    """`run_stream` takes the first answer for the last; it stands."""

    async def first_answer(agent):
        async with agent.run_stream("go") as stream:
            return await stream.get_output(), stream.all_messages()

    output, messages = asyncio.run(first_answer(planner(Script(OPEN, "early"), Planning())))
    assert output == "early"
    assert len(plan_of_state(messages)) == 2


def test_a_stream_tells_every_change():
    """`FunctionToolResultEvent` carries what happened, and the plan after it."""
    events, result = asyncio.run(streamed(planner(Script(OPEN, DONE, "ok"), Planning())))
    told = [e.part.metadata[KEY] for e in events if e.event_kind == "function_tool_result"]
    assert [note["entry"]["revision"] for note in told] == [2, 4]
    assert told[-1]["plan"]["revision"] == plan_of_state(result).revision

"""A guided model is the model itself but for guidance: costs, errors, closing, streams."""

import asyncio
import copy

import pytest
from agents import Model, ModelRetryBackoffSettings, ModelRetrySettings, ModelSettings
from agents.testing import ModelStep, assistant_message
from agents.usage import Usage
from support.openai_agents_runs import (
    agent_of,
    create,
    done,
    plan_of,
    run,
    scripted,
    stream,
    tails,
    turns,
)

from todoplan.adapters.openai_agents import Planning, attach, guided_model
from todoplan.dialogue.guidance import TAG, Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.errors import PlanError

TASKS = Toolbox(tasks())


def costing(*given, tokens=10):
    """
    Return turns that cost tokens each.
    """
    usage = Usage(requests=1, input_tokens=tokens, output_tokens=1, total_tokens=tokens + 1)
    return [ModelStep(output=turn, usage=usage) for turn in given]


SCRIPT = [create("A"), [assistant_message("Early.")], done("1"), [assistant_message("Ok.")]]


def worker(*given, **options):
    """
    Return a model, a planning and the agent attached to it.
    """
    model, planning = scripted(), Planning(TASKS)
    model.extend(given)
    return model, planning, attach(agent_of(model), planning, **options)


def test_what_a_sent_back_answer_cost_is_counted():
    """Each request of a run is part of its usage."""
    _, _, agent = worker(*costing(*SCRIPT))
    usage = run(agent).context_wrapper.usage
    assert (usage.requests, usage.input_tokens, usage.total_tokens) == (4, 40, 44)


def test_a_stream_counts_the_tokens_too():
    """The completion of the last answer reports the tokens of all."""
    _, _, agent = worker(*costing(*SCRIPT))
    result, _ = asyncio.run(stream(agent))
    usage = result.context_wrapper.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (40, 4, 44)


def test_a_streamed_run_is_the_same_run():
    """Requests, plan and answer are those of a run that is not streamed."""
    seen = []
    for streamed in (False, True):
        model, planning, agent = worker(*SCRIPT)
        result = asyncio.run(stream(agent))[0] if streamed else run(agent)
        subjects = [(task.subject, task.status) for task in plan_of(planning)]
        inputs = [call.input for call in model.calls]
        seen.append((inputs, subjects, result.final_output, result.to_input_list()))
    assert seen[0] == seen[1]


def test_an_answer_that_is_sent_back_is_streamed_without_completion():
    """Its words were seen; one completion stands behind each turn, and one answer is kept."""
    _, _, agent = worker(*SCRIPT)
    _, events = asyncio.run(stream(agent))
    raw = [event.data for event in events if event.type == "raw_response_event"]
    texts = [event.delta for event in raw if event.type == "response.output_text.delta"]
    assert texts == ["Early.", "Ok."]
    assert sum(event.type == "response.completed" for event in raw) == 3
    items = [event.item for event in events if event.type == "run_item_stream_event"]
    answers = [item.raw_item for item in items if item.type == "message_output_item"]
    assert [answer.content[0].text for answer in answers] == ["Ok."]


def test_a_stream_may_raise_as_well():
    """Once the further turns are used up."""
    settings = Settings(unfinished=1, on_ignored="raise")
    _, _, agent = worker(*SCRIPT[:2], [assistant_message("No.")], settings=settings)
    with pytest.raises(PlanError, match="1 of 1 tasks"):
        asyncio.run(stream(agent))


def test_a_stream_without_planning_tools_passes_through():
    """So does a response: no tools, no guidance."""
    planning = Planning(TASKS)
    for go in (run, lambda agent: asyncio.run(stream(agent))[0]):
        model = scripted("Ok.")
        assert go(agent_of(guided_model(planning, model))).final_output == "Ok."
        assert turns(planning) == 0


def test_an_error_of_the_model_is_its_own():
    """It ends the run, and nothing is remembered of the request that failed."""
    for go in (run, lambda agent: asyncio.run(stream(agent))):
        _, planning, agent = worker(ModelStep.raise_error(OSError("down")))
        with pytest.raises(OSError, match="down"):
            go(agent)
        assert turns(planning) == 0


def test_a_request_that_is_tried_again_is_one_turn():
    """The SDK retries behind our back; caps and reminders are those of one request."""
    retry = ModelRetrySettings(
        max_retries=1, policy=lambda _: True, backoff=ModelRetryBackoffSettings(initial_delay=0)
    )
    model, planning = scripted(OSError("down"), create("A"), "1", "2", "3"), Planning(TASKS)
    agent = agent_of(model, model_settings=ModelSettings(retry=retry))
    assert run(attach(agent, planning)).final_output == "3"
    assert turns(planning) == 2
    assert [TAG in tail for tail in tails(model)] == [False, False, False, True, True]


def test_everything_else_is_the_models_own():
    """Its methods, its attributes, and none that it does not have."""
    model = scripted()
    guided = guided_model(Planning(), model)
    assert isinstance(guided, Model)
    assert guided.assert_complete == model.assert_complete
    assert asyncio.run(guided.close()) is None
    with pytest.raises(AttributeError):
        _ = guided.no_such_thing


def test_it_can_be_copied():
    """Looking for methods of copying does not look up the model."""
    guided = guided_model(Planning(), "local")
    assert isinstance(copy.copy(guided), Model)

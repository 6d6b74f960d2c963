"""Guidance through real runs: at the tail, unsaved, capped, and quiet where it cannot see."""

import pytest
from agents import ModelRefusalError, RunConfig, RunHooks, function_tool
from agents.run import CallModelData, ModelInputData
from agents.testing import assistant_message, function_call
from pydantic import BaseModel
from support.openai_agents_runs import (
    agent_of,
    create,
    done,
    edit,
    outputs,
    plan_of,
    refuse,
    run,
    scripted,
    tails,
)

from todoplan import Plan
from todoplan.adapters.openai_agents import Planning, attach, edit_plan
from todoplan.core import commands
from todoplan.dialogue.guidance import TAG, Settings, reminder
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.errors import PlanError

TASKS = Toolbox(tasks())
LOST = Settings(unfinished=0)
LIST = function_call("TaskList", {}, call_id="l")


def planned(*subjects):
    """
    Return a planning with tasks that the application has made.
    """
    planning = Planning(TASKS)
    edit(planning, commands.CreateTasks(tuple(map(commands.CreateTask, subjects))))
    return planning


def reminded(model):
    """
    Say for each request how many reminders it holds.
    """
    return [str(call.input).count(f"<{TAG}>") for call in model.calls]


def told(kind, planning):
    """
    Return the reminder of a kind about the plan as it stands.
    """
    return reminder(kind, plan_of(planning), TASKS.toolset)


def go(planning, *turns, settings=Settings(), given="go", **options):  # noqa: B008 - a value
    """
    Return the model and the result of a run.
    """
    model = scripted(*turns)
    return model, run(attach(agent_of(model), planning, settings=settings), given, **options)


def test_a_lost_plan_is_told_at_the_tail():
    """In the request alone: neither in the result nor in the next request."""
    planning = Planning(TASKS, saved=planned("Dig").to_data())
    model, result = go(planning, LIST, "Ok.", settings=LOST)
    assert tails(model)[0] == told("plan_lost", planning)
    assert reminded(model) == [1, 0]
    assert TAG not in str(result.to_input_list())
    assert len({call.system_instructions for call in model.calls}) == 1


def test_a_failed_call_does_not_show_the_plan():
    """A refusal is no sight of the plan, though the SDK does not mark it."""
    failing = function_call("TaskGet", {"taskId": "9"}, call_id="g")
    model, _ = go(planned("Dig"), failing, LIST, "Ok.", settings=LOST)
    assert reminded(model) == [1, 1, 0]


def test_what_a_filter_leaves_is_looked_at():
    """A user's filter that cuts the history stays, and the plan is told where it is cut off."""

    def cut(data: CallModelData):
        return ModelInputData(data.model_data.input[:1], data.model_data.instructions)

    config = RunConfig(call_model_input_filter=cut)
    model, _ = go(planned("Dig"), LIST, "Ok.", settings=LOST, run_config=config)
    assert reminded(model) == [1, 1]
    assert [len(call.input) for call in model.calls] == [2, 2]


def test_an_early_answer_is_sent_back():
    """Behind the answer stands the reminder; neither of them is kept."""
    planning = planned("Dig")
    model, result = go(planning, LIST, "Early.", done("1"), "Ok.")
    early, asked = model.calls[2].input[-2:]
    assert early["content"][0]["text"] == "Early."
    assert asked == {"role": "user", "content": told("unfinished", planned("Dig"))}
    assert len(model.calls) == 4
    assert "Early." not in str(result.to_input_list())
    assert TAG not in str(result.to_input_list())
    assert result.final_output == "Ok."


def test_further_turns_are_capped_and_renewed_by_progress():
    """Two a run, anew when a task is resolved, and the last answer is let go."""
    model, result = go(planned("A", "B"), LIST, "1", "2", done("1"), "3", "4", "5")
    assert len(model.calls) == 7
    assert result.final_output == "5"
    model, result = go(
        planned("A"), LIST, "1", "2", function_call("TaskList", {}, call_id="m"), "3"
    )
    assert len(model.calls) == 5


def test_a_run_has_its_own_cap():
    """The next request of the user has further turns again."""
    planning = planned("A")
    for _ in range(2):
        model, _ = go(planning, "1", "2", "3")
        assert len(model.calls) == 3


def test_a_filter_that_speaks_at_the_tail_renews_nothing():
    """A request that answers calls goes on with its run, whatever stands behind the answers."""

    def nag(data: CallModelData):
        nagging = {"role": "user", "content": "Hurry."}
        return ModelInputData([*data.model_data.input, nagging], data.model_data.instructions)

    looks = [function_call("TaskList", {}, call_id=str(n)) for n in range(3)]
    script = (looks[0], "1", "2", looks[1], "3")
    config = RunConfig(call_model_input_filter=nag)
    model, result = go(planned("A"), *script, run_config=config)
    assert result.final_output == "3"
    assert len(model.calls) == 5


def test_it_may_raise():
    """If the settings say so, once the further turns are used up."""
    settings = Settings(unfinished=1, on_ignored="raise")
    with pytest.raises(PlanError, match="1 of 1 tasks"):
        go(planned("A"), LIST, "1", "2", settings=settings)


class Report(BaseModel):
    """
    A structured answer.
    """

    text: str


def test_a_structured_answer_is_never_sent_back():
    """Its shape is what was asked for."""
    model = scripted(LIST, '{"text": "Early."}')
    agent = attach(agent_of(model, output_type=Report), planned("A"))
    assert run(agent).final_output == Report(text="Early.")


def test_a_plain_text_type_is_no_structure():
    """An answer that is a text is sent back."""
    model = scripted(LIST, "1", "2", "3")
    assert run(attach(agent_of(model, output_type=str), planned("A"))).final_output == "3"


def test_both_answers_stand_behind_a_question_whether_all_was_said():
    """What was answered first is not lost to a short confirmation."""
    settings = Settings(all_done="always")
    model, result = go(planned("A"), done("1"), "The report.", "That was all.", settings=settings)
    assert tails(model)[-1] == told("all_done", _done())
    assert result.final_output == "The report.\n\nThat was all."
    _, silent = go(planned("A"), done("1"), "The report.", [], settings=settings)
    assert silent.final_output == "The report."


def _done():
    planning = planned("A")
    go(planning, done("1"), "Ok.")
    return planning


def test_a_silent_end_is_asked_about_once():
    """An answer without words is replaced by the one that follows; one that has words stands."""
    settings = Settings(all_done="if_silent")
    _, result = go(planned("A"), done("1"), [assistant_message("")], "Here.", settings=settings)
    assert result.final_output == "Here."


def test_a_question_may_be_answered_by_work():
    """If the model goes on after all, its first answer does not stand."""
    settings = Settings(all_done="always")
    script = (done("1"), "All.", create("B"), done("2"), "Now all.", "Yes.")
    _, result = go(planned("A"), *script, settings=settings)
    assert result.final_output == "Now all.\n\nYes."


@pytest.mark.parametrize("kept", [{"conversation_id": "c"}, {"previous_response_id": "r"}])
def test_where_the_provider_keeps_the_conversation_nothing_is_lost_each_time(kept):
    """Requests hold only what is new: the plan is told once, not in each of them."""
    looks = [function_call("TaskList", {}, call_id=str(n)) for n in range(4)]
    model, _ = go(planned("A"), *looks, "Ok.", settings=LOST, **kept)
    assert reminded(model) == [1, 0, 0, 0, 0]
    model, _ = go(Planning(TASKS), create("A"), *looks, "Ok.", settings=LOST, **kept)
    assert reminded(model) == [0] * 6


def test_a_kept_conversation_is_not_sent_again():
    """Behind an early answer the provider is sent the reminder alone, in its conversation."""
    model, result = go(planned("A"), LIST, "Early.", done("1"), "Ok.", conversation_id="c")
    assert len(model.calls[2].input) == 1
    assert TAG in model.calls[2].input[0]["content"]
    assert {call.conversation_id for call in model.calls} == {"c"}
    assert result.final_output == "Ok."


def test_a_response_that_is_gone_on_from_is_branched():
    """The further turn goes on from the same response: what was new, the answer, the reminder."""
    model, _ = go(planned("A"), "Early.", done("1"), "Ok.", previous_response_id="r")
    assert [call.previous_response_id for call in model.calls[:2]] == ["r", "r"]
    assert [item["role"] for item in model.calls[1].input] == ["user", "assistant", "user"]


def test_a_refusal_is_let_go():
    """It is no early answer, however many tasks are open: the SDK raises it at once."""
    model = scripted(refuse(), "Never said.")
    with pytest.raises(ModelRefusalError):
        run(attach(agent_of(model), planned("A")))
    assert len(model.calls) == 1


def test_an_answer_stands_if_the_question_behind_it_is_refused():
    """What was answered before it was asked whether all was said is handed on."""
    settings = Settings(all_done="always")
    model, result = go(planned("A"), done("1"), "Sent.", refuse(), settings=settings)
    assert len(model.calls) == 3
    assert result.final_output == "Sent."


def test_others_changes_are_told_and_the_models_own_are_not():
    """What the application did is told once; what the model did is known to it."""
    planning, settings = Planning(TASKS), Settings(plan_lost=False, unfinished=0, changed=True)
    model, _ = go(planning, create("A"), LIST, "Ok.", settings=settings)
    assert reminded(model) == [0, 0, 0]
    edit(planning, commands.CreateTask("B"))
    model, _ = go(planning, function_call("TaskList", {}, call_id="x"), "Ok.", settings=settings)
    assert reminded(model) == [1, 0]


class Meddler(RunHooks):
    """
    Changes the plan just before the model's own call does.
    """

    def __init__(self, planning):
        self.planning = planning

    async def on_tool_start(self, context, agent, tool):
        await edit_plan(self.planning, commands.CreateTask("B"))


def test_a_change_of_others_in_between_is_told():
    """The model's own change does not hide it: its answer tells of it, no reminder does."""
    planning, settings = Planning(TASKS), Settings(plan_lost=False, unfinished=0, changed=True)
    model, result = go(planning, create("A"), "Ok.", settings=settings, hooks=Meddler(planning))
    assert outputs(result)["c0"].startswith("since you last looked: #1 B created")
    assert reminded(model) == [0, 0]


def test_other_tools_calls_are_not_the_plans():
    """They are awaited, since their answers belong to the run, but each on its own."""
    planning, seen = Planning(TASKS), []

    @function_tool
    async def search() -> str:
        """Search."""
        seen.extend(planning.pending.to_data())
        return "found"

    model = scripted([function_call("search", {}, call_id="s"), *create("A", "B")], "Ok.")
    run(attach(agent_of(model, tools=[search]), planning, settings=LOST))
    assert [[call["call_id"] for call in calls] for calls in seen] == [["s"], ["c0", "c1"]]


def test_a_repetition_is_not_carried_out():
    """The SDK leaves out a call that it has answered; what stands beside it is carried out."""
    again = [*create("A"), LIST]
    planning = Planning(TASKS)
    _, result = go(planning, create("A"), again, "Ok.", settings=LOST)
    assert [task.subject for task in plan_of(planning)] == ["A"]
    assert outputs(result)["c0"] == "0/1: #1 created"


def test_an_empty_plan_is_quiet():
    """No reminder, no further turn."""
    model, _ = go(Planning(TASKS), "Ok.")
    assert reminded(model) == [0]
    assert plan_of(Planning(TASKS)) == Plan()

"""What a person does between two runs is not undone by a model that has not seen it (law 15)."""

import asyncio
from dataclasses import replace

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter, ToolReturnPart
from support.pydantic_ai_agent import Script, planner, returns, run, saved, use, wrote

from todoplan import commands
from todoplan.adapters.pydantic_ai import Planning, edit_plan, make_tools, plan_of_state, seed_plan
from todoplan.adapters.pydantic_ai.history import KEY, base_of
from todoplan.core.decide.assembly import plan_of
from todoplan.core.plan.model import Task
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.guidance.reminders import TAG
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools.todos import TODOS
from todoplan.errors import CodecError
from todoplan.planner import AsyncPlanner
from todoplan.stores.memory import MemoryStore

SILENT = Settings(plan_lost=False, unfinished=0, changed=False)
TOLD = Settings(plan_lost=False, unfinished=0)
EDIT = commands.CreateTask("Tell Ann")
DIG = ("Dig", "in_progress")


def subjects(messages):
    return [task.subject for task in plan_of_state(messages)]


def edited(planning, messages):
    """
    Return the history with two edits by a person, after a way through JSON.
    """
    _, messages = edit_plan(planning, messages, EDIT, actor="ann")
    _, messages = edit_plan(planning, messages, commands.UpdateTask("1", owner="bo"), actor="bo")
    return ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json([*messages]))


def go(planning, messages, *steps):
    """
    Return the script and the result of one run, without or with guidance.
    """
    script = Script(*steps)
    if isinstance(planning, Planning):
        agent = planner(script, planning)
    else:
        agent = Agent(script.model, toolsets=[planning])
    return script, run(agent, message_history=messages)


@pytest.mark.parametrize("planning", [Planning(settings=SILENT), make_tools()])
def test_what_a_person_added_stays_until_the_model_has_seen_it(planning):
    """
    The write that does not name it keeps it and says so, with the actor; the next one removes it.
    The base goes with the messages, and the caller's own are as they were.
    """
    _, first = go(planning, None, wrote(DIG), "ok")
    before = saved(first)
    messages = edited(planning, before)
    assert before == saved(first)
    _, second = go(planning, messages, wrote(DIG, call_id="v"), "ok")
    told = returns(second.new_messages())[0].content
    assert "#2 Tell Ann created by ann" in told
    assert "#1 Dig updated by bo" in told
    assert subjects(second) == ["Dig", "Tell Ann"]
    assert base_of(saved(second)) is None
    _, third = go(planning, saved(second), wrote(DIG, call_id="u"), "ok")
    assert "by ann" not in returns(third.new_messages())[0].content
    assert subjects(third) == ["Dig"]


@pytest.mark.parametrize("planning", [Planning(Toolbox(TODOS), SILENT), make_tools(Toolbox(TODOS))])
def test_a_read_is_a_look_and_a_refused_call_is_none(planning):
    """
    A refused call has told nothing; what was read was seen, also by the next run.
    """
    _, first = go(planning, None, wrote(DIG), "ok")
    refused = use("write_todos", {"todos": 7}, "x")
    _, second = go(planning, edited(planning, saved(first)), refused, "ok")
    assert base_of(saved(second)) is not None
    _, third = go(planning, saved(second), use("read_todos", {}, "y"), "ok")
    assert returns(third.new_messages())[0].content.startswith("since you last looked: ")
    assert base_of(saved(third)) is None
    _, fourth = go(planning, saved(third), wrote(DIG, call_id="u"), "ok")
    assert subjects(fourth) == ["Dig"]


def test_calls_of_one_turn_share_what_the_model_had_seen():
    """
    A list that was written beside a read is upon what was seen before it, and it is told once.
    """
    planning = Planning(settings=SILENT)
    _, first = go(planning, None, wrote(DIG), "ok")
    turn = [use("read_todos", {}, "a"), wrote(DIG, call_id="b")]
    _, second = go(planning, edited(planning, saved(first)), turn, "ok")
    texts = [part.content for part in returns(second.new_messages())]
    assert ["by ann" in text for text in texts] == [True, False]
    assert subjects(second) == ["Dig", "Tell Ann"]


def test_the_reminder_says_who_did_what_and_is_kept_nowhere():
    """
    `changed` is on by default, and at the tail. It comes again until an answer has told; the list
    that answers it was written in sight of it.
    """
    planning = Planning(settings=Settings(unfinished=0))
    _, first = go(planning, None, wrote(DIG), "ok")
    script, second = go(planning, edited(planning, saved(first)), "ok")
    assert "#1 Dig updated by bo, #2 Tell Ann created by ann" in script.tails[0]
    assert script.tails[0].startswith(f"<{TAG}>")
    assert TAG not in second.all_messages_json().decode()
    script, third = go(planning, saved(second), wrote(DIG, call_id="v"), "ok")
    assert [tail.startswith(f"<{TAG}>") for tail in script.tails] == [True, False]
    assert "by ann" in returns(third.new_messages())[0].content
    assert subjects(third) == ["Dig"]


def test_what_was_told_by_an_answer_is_not_told_by_a_reminder():
    """
    With several hands in one turn it is said once.
    """
    planning = Planning(settings=SILENT)
    _, first = go(planning, None, wrote(DIG), "ok")
    messages = edited(planning, saved(first))
    _, second = go(planning, messages, wrote(DIG, call_id="v"), "ok")
    script, _ = go(Planning(settings=TOLD), saved(second), "ok")
    assert script.tails == ["go"]


def test_a_seeded_plan_is_not_removed_unseen():
    """
    The first list of a model that was shown nothing keeps what was seeded.
    """
    planning = Planning(settings=SILENT)
    messages = seed_plan(planning, [], plan_of([Task("1", "Tell Ann")]), actor="cron")
    _, result = go(planning, messages, wrote(DIG), "ok")
    assert subjects(result) == ["Dig", "Tell Ann"]
    assert "Tell Ann created by cron" in returns(result.new_messages())[0].content


def test_a_plan_that_is_taken_along_is_no_news():
    """
    Where an application cuts messages away and seeds the plan anew, the model knows it.
    """
    planning = Planning(settings=TOLD)
    _, first = go(planning, None, wrote(DIG), "ok")
    messages = saved(first)
    messages = seed_plan(planning, messages[-1:], plan_of_state(messages))
    script, second = go(planning, messages, wrote(("Sow", "pending"), call_id="v"), "ok")
    assert script.tails[0] == "go"
    assert "since" not in returns(second.new_messages())[0].content
    assert subjects(second) == ["Sow"]


def test_a_base_is_kept_where_the_messages_that_held_it_are_cut_away():
    """
    A run that has lost the plan writes both anew.
    """

    class Cut(Planning):
        async def prepare_model_request(self, ctx, request_context):
            del ctx.messages[:-1]
            ctx.messages[0] = replace(ctx.messages[0], metadata=None)
            return await super().prepare_model_request(ctx, request_context)

    planning = Planning(settings=SILENT)
    _, first = go(planning, None, wrote(DIG), "ok")
    _, second = go(Cut(settings=SILENT), edited(planning, saved(first)), "ok")
    kept = second.all_messages()[-1:]
    assert subjects(kept) == ["Dig", "Tell Ann"]
    assert [task.subject for task in base_of(kept).plan] == ["Dig"]


def test_a_damaged_base_is_an_error():
    """
    It is never "all was seen".
    """
    planning = Planning(settings=SILENT)
    _, first = go(planning, None, wrote(DIG), "ok")
    messages = edited(planning, saved(first))
    messages[-1].metadata[KEY]["base"] = 7
    with pytest.raises(CodecError):
        go(planning, messages, "ok")


def test_with_a_store_the_reminder_names_who_did_what():
    """
    The journal knows it; a run that knows the plan as it is asks for none.
    """
    store = MemoryStore()
    planning = Planning(settings=TOLD, store=store)
    more = Script(wrote(DIG, call_id="v"), "ok")
    agents = [Script(wrote(DIG), "ok"), Script("ok"), more, Script("ok")]
    result = run(planner(agents[0], planning), conversation_id="c")
    asyncio.run(AsyncPlanner(store, "c").apply(EDIT, actor="ann"))
    for script in agents[1:]:
        messages = result.all_messages()
        result = run(planner(script, planning), message_history=messages, conversation_id="c")
    assert "#2 Tell Ann created by ann" in agents[1].tails[0]
    assert "#2 Tell Ann created by ann" in agents[2].tails[0]
    assert agents[3].tails == ["go"]
    assert not any(
        isinstance(part, ToolReturnPart) and "ann" in part.content
        for message in result.new_messages()
        for part in message.parts
    )


def test_another_agent_on_the_plan_of_a_store_is_another_hand():
    """
    Its calls have no name either, as the model's own have none: what it did after this
    conversation's model has looked, in an earlier run, is not undone.
    """
    store = MemoryStore()
    planning = Planning(Toolbox(TODOS), SILENT, store=store)
    _, first = go_on(planning, None, wrote(DIG), "ok")
    other = AsyncPlanner(store, "1", toolbox=Toolbox(TODOS))
    listed = [{"content": name, "status": "pending"} for name in ("Dig", "Lay")]
    asyncio.run(other.call("write_todos", {"todos": listed}))
    _, second = go_on(planning, saved(first), wrote(DIG, call_id="v"), "ok")
    assert "#2 Lay created" in returns(second.new_messages())[0].content
    assert [task.subject for task in store.load("1")] == ["Dig", "Lay"]


def go_on(planning, messages, *steps):
    script = Script(*steps)
    result = run(planner(script, planning), message_history=messages, conversation_id="1")
    return script, result

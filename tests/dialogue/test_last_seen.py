"""The calls of a turn one by one, with what the model last saw: as `Toolbox.turn` answers them."""

from datetime import UTC, datetime

import pytest

from todoplan import Plan, commands
from todoplan.core.decide.decide import decide
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.last_seen import LastSeen, base_at
from todoplan.dialogue.toolbox import Call, Toolbox
from todoplan.dialogue.tools.lean import LEAN
from todoplan.dialogue.tools.tasks import tasks
from todoplan.dialogue.tools.todos import TODOS

AT = datetime(2026, 1, 1, tzinfo=UTC)
OWN = decide(Plan(), commands.CreateTask("Dig")).plan
LIST = {"todos": [{"content": "Dig", "status": "completed"}]}


def edited(plan, subject, actor="ann"):
    """
    Return the plan with one task more, and the journal's entry.
    """
    decision = decide(plan, commands.CreateTask(subject), DEFAULT, at=AT)
    return decision.plan, Entry(decision.plan.revision, decision.events, AT, actor, "CreateTask")


def one_by_one(toolbox, plan, seen, calls):
    """
    Return the replies to the calls of a turn, each answered by itself.
    """
    replies = []
    for call in calls:
        reply = seen.answer(toolbox, plan, call, calls, at=AT)
        seen.answered(reply, calls)
        plan = reply.plan
        replies.append(reply)
    return replies


@pytest.mark.parametrize(
    ("toolset", "calls"),
    [
        (TODOS, [("write_todos", LIST)]),
        (TODOS, [("read_todos", {}), ("write_todos", LIST)]),
        (TODOS, [("write_todos", LIST), ("read_todos", {})]),
        (TODOS, [("write_todos", LIST), ("write_todos", LIST), ("read_todos", {})]),
        (TODOS, [("write_todos", {"todos": 7}), ("write_todos", LIST)]),
        (TODOS, [("nothing", {}), ("write_todos", LIST)]),
        (tasks(), [("TaskUpdate", {"taskId": "9"}), ("TaskCreate", {"subject": "Sow"})]),
        (tasks(), [("TaskCreate", {"subject": "Sow"}), ("TaskList", {})]),
        (LEAN, [("plan", {"add": ["Sow"]}), ("plan", {})]),
    ],
)
def test_the_replies_are_those_of_the_turn(toolset, calls):
    """
    Same texts, same plans: what others did is told once, and nothing that a call of the turn could
    not know of is removed by it.
    """
    toolbox = Toolbox(toolset)
    calls = [Call(name, given, f"c{place}") for place, (name, given) in enumerate(calls)]
    plan, entry = edited(OWN, "Tell Ann")
    base = Base(OWN).after(entry.events, "ann")
    seen = LastSeen()
    seen.edited(OWN, entry)
    assert seen.base == base
    wanted = toolbox.turn(plan, calls, at=AT, base=base).replies
    found = one_by_one(toolbox, plan, seen, calls)
    assert [(one.text, one.plan) for one in found] == [(one.text, one.plan) for one in wanted]
    assert (seen.base is None) is any(not one.is_error for one in found)


def test_the_next_turn_is_upon_the_answers_of_this_one():
    """
    What was told has been seen: a list without it removes it, and says nothing of others.
    """
    seen, toolbox = LastSeen(), Toolbox(TODOS)
    plan, entry = edited(OWN, "Tell Ann")
    seen.edited(OWN, entry)
    first, second = ([Call("write_todos", LIST, call_id)] for call_id in "ab")
    (reply,) = one_by_one(toolbox, plan, seen, first)
    assert "Tell Ann created by ann" in reply.text
    assert len(reply.plan) == 2
    (reply,) = one_by_one(toolbox, reply.plan, seen, second)
    assert "ann" not in reply.text
    assert len(reply.plan) == 1


def test_an_edit_between_the_calls_of_a_turn_is_told_by_the_next():
    """
    Nothing of it is removed by a list that was written before it.
    """
    seen, toolbox = LastSeen(), Toolbox(TODOS)
    plan, entry = edited(OWN, "Tell Ann")
    seen.edited(OWN, entry)
    turn = [Call("read_todos", {}, "a"), Call("write_todos", LIST, "b")]
    assert seen.answered(seen.answer(toolbox, plan, turn[0], turn, at=AT), turn)
    later, entry = edited(plan, "Tell Bob", "bob")
    seen.edited(plan, entry)
    reply = seen.answer(toolbox, later, turn[1], turn, at=AT)
    assert "Tell Bob created" in reply.text
    assert len(reply.plan) == 3


def test_a_base_is_found_in_a_journal():
    """
    The plan at the revision that is known, and who changed what since.
    """
    one, first = edited(Plan(), "Dig", None)
    two, second = edited(one, "Tell Ann")
    base = base_at((first, second), 1)
    assert base == Base(one, {"2": "ann"})
    assert base_at((first, second), two.revision).unseen(two) == ()

"""What the model has not seen, its next list does not undo (law 15): the caller keeps the base."""

import pytest
from support.wires import WIRES, numbered

from todoplan.core.commands import CreateTask
from todoplan.core.decide.decide import decide
from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import Toolbox
from todoplan.errors import PlanError

EVERY = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
READ = ("read_todos", {})
BAD = ("write_todos", {"todos": [{"status": "pending"}]})


def write(*contents):
    return "write_todos", {"todos": [{"content": one, "status": "pending"} for one in contents]}


def edited_by_ann(wire):
    """
    Return a plan that the model has written, after Ann's edit, and the base.
    """
    plan = wire.module.answer(Toolbox(), Plan(), wire.respond(numbered([write("a", "b")]))).plan
    decision = decide(plan, CreateTask("Tell Ann"))
    return decision.plan, Base(plan).after(decision.events, "ann")


@EVERY
def test_a_list_that_leaves_out_what_a_person_added_keeps_it_once(wire):
    """
    The answer says who did what, and nothing is left to be told: the next list means what it says.
    """
    plan, base = edited_by_ann(wire)
    response = wire.respond(numbered([write("a", "b")]))
    answered = wire.module.answer(Toolbox(), plan, response, base=base)
    assert [task.subject for task in answered.plan] == ["a", "b", "Tell Ann"]
    ((_, text),) = wire.read(answered.messages)
    assert "#3 Tell Ann created by ann" in text
    assert answered.base is None
    again = wire.module.answer(Toolbox(), answered.plan, response, base=answered.base)
    assert [task.subject for task in again.plan] == ["a", "b"]


@EVERY
@pytest.mark.parametrize(
    ("calls", "seen"),
    [([READ], True), ([BAD], False), ([("search", {})], False), ([], False), ([BAD, READ], True)],
)
def test_a_base_is_kept_until_an_answer_is_no_error(wire, calls, seen):
    """
    Reading is a look; a refused call, other tools and a turn without calls have shown nothing.
    """
    plan, base = edited_by_ann(wire)
    answered = wire.module.answer(Toolbox(), plan, wire.respond(numbered(calls)), base=base)
    assert answered.base is (None if seen else base)


@EVERY
def test_what_is_no_base_is_an_error_at_once(wire):
    """
    Also with a response that makes no call.
    """
    with pytest.raises(PlanError, match="is no Base; give Base"):
        wire.module.answer(Toolbox(), Plan(), wire.respond([]), base=Plan())

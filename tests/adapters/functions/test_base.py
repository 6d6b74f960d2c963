"""What the model has not seen, its next list does not undo (law 15): the caller keeps the base."""

import pytest
from support.wires import WIRES, numbered

from todoplan.core.commands import CreateTask
from todoplan.core.decide import decide
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
    """Return a plan that the model has written, after Ann's edit, and the base."""
    plan = wire.module.answer(Toolbox(), Plan(), wire.respond(numbered([write("a", "b")]))).plan
    decision = decide(plan, CreateTask("Tell Ann"))
    return decision.plan, Base(plan).after(decision.events, "ann")


def texts_of(wire, answered):
    return [text for _, text in wire.read(answered.messages)]


@EVERY
def test_a_list_that_leaves_out_what_a_person_added_keeps_it_and_says_so_once(wire):
    """The first answer says who did what; every further list keeps what the model never listed."""
    plan, base = edited_by_ann(wire)
    response = wire.respond(numbered([write("a", "b")]))
    for is_told in (True, False, False):
        answered = wire.module.answer(Toolbox(), plan, response, base=base)
        plan, base = answered.plan, answered.base
        assert [task.subject for task in plan] == ["a", "b", "Tell Ann"]
        assert ["#3 Tell Ann created by ann" in text for text in texts_of(wire, answered)] == [
            is_told
        ]
    response = wire.respond(numbered([write("b", "Tell Ann")]))
    answered = wire.module.answer(Toolbox(), plan, response, base=base)
    assert [task.subject for task in answered.plan] == ["b", "Tell Ann"]
    assert answered.base is None


@EVERY
@pytest.mark.parametrize(
    ("calls", "read"),
    [([READ], True), ([BAD], False), ([("search", {})], False), ([], False), ([BAD, READ], True)],
)
def test_a_base_is_kept_until_an_answer_is_no_error(wire, calls, read):
    """Refused calls, other tools and turns without calls have shown the model nothing."""
    plan, base = edited_by_ann(wire)
    answered = wire.module.answer(Toolbox(), plan, wire.respond(numbered(calls)), base=base)
    if read:
        assert answered.base.plan is plan
    else:
        assert answered.base is base


@EVERY
def test_what_is_no_base_is_an_error_at_once(wire):
    """Also with a response that makes no call."""
    with pytest.raises(PlanError, match="is no Base; give Base"):
        wire.module.answer(Toolbox(), Plan(), wire.respond([]), base=Plan())

"""The one road from a call to a reply."""

import inspect
from datetime import UTC, datetime
from enum import StrEnum

import pytest
from support.talk import check_reply, planned, texts_of, toolbox

from todoplan import DEFAULT, STRICT, Plan, decide, dialogue
from todoplan.core.commands import ApprovePlan
from todoplan.core.events.base import Base
from todoplan.dialogue import TASKS
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox

AT = datetime(2026, 1, 2, tzinfo=UTC)


def test_an_unknown_tool():
    """The tools that there are are named."""
    reply = Toolbox().call(Plan(), "nobody\n")
    check_reply(reply.plan, reply)
    assert reply.text == (
        "Nothing was changed. There is no planning tool nobody\\n; "
        "the tools are write_todos, read_todos."
    )


def test_parallel_small_calls_build_on_each_other():
    """A turn of granular calls is that of the same calls in order; events stand in one line."""
    calls = [Call("TaskCreate", {"subject": text}, text) for text in "abc"]
    calls.append(Call("TaskUpdate", {"taskId": 3, "status": "completed"}))
    turn = toolbox("tasks").turn(Plan(), calls, at=AT)
    assert texts_of(turn.plan) == ["a", "b", "c"]
    assert turn.plan["3"].completed_at == AT
    assert len(turn.events) == 4
    assert [reply.call_id for reply in turn.replies] == ["a", "b", "c", ""]


def test_one_whole_list_write_a_turn_is_fine():
    """Only several clash; unknown names count for nothing."""
    box = toolbox()
    assert box.clashing(["write_todos", "read_todos", "x"]) == frozenset()
    assert box.clashing(["write_todos", "x", "write_todos"]) == {0, 2}
    turn = box.turn(Plan(), [Call("write_todos", {"todos": ["a"]}), Call("read_todos", "")])
    assert turn.replies[1].text == "#1 [pending] a"


class Awkward(str):
    """A text that answers no question about itself."""

    __slots__ = ()

    def __eq__(self, other):
        raise ValueError

    def __hash__(self):
        raise ValueError

    def __str__(self):
        raise ValueError


class Silent:
    """An object that is neither a text nor ready to say what it is."""

    @property
    def __class__(self):
        raise ValueError

    def __repr__(self):
        raise ValueError


class Named(StrEnum):
    """Names of tools, as an application may keep them."""

    READ = "read_todos"


NAMES = [list, dict, bool, bytes, object, Silent, lambda: Awkward("nobody"), lambda: Toolbox]


@pytest.mark.parametrize("make", NAMES, ids=range(len(NAMES)))
def test_any_object_as_a_name_gives_an_error(make):
    """A list was a TypeError: it has no hash. In a turn it is answered beside the others."""
    plan, name = planned("a"), make()
    reply = Toolbox().call(plan, name, {})
    check_reply(plan, reply)
    assert "There is no planning tool" in reply.text
    assert type(reply.name) is str
    calls = [Call(name, {}), Call("read_todos", {})]
    assert [each.is_error for each in Toolbox().turn(plan, calls).replies] == [True, False]


def test_a_name_may_be_any_kind_of_text():
    """A member of an enum of texts, or another subclass, names the tool that it spells."""
    for name in (Named.READ, Awkward("read_todos")):
        assert Toolbox().call(planned("a"), name).text == "#1 [pending] a"


def test_a_toolbox_shows_how_it_is_written():
    """Its repr has the tool set and the policy by name, and the options that are not as usual."""
    policy = repr(STRICT)
    assert repr(Toolbox(TASKS, STRICT)) == f"Toolbox(TASKS, {policy})"
    assert repr(Toolbox(TASKS, STRICT, say_done=True)) == f"Toolbox(TASKS, {policy}, say_done=True)"


PUBLIC = [
    (name, value)
    for name in dialogue.__all__
    if callable(value := getattr(dialogue, name)) and name != "Clock"
]


@pytest.mark.parametrize(("name", "value"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_help_reads(name, value):
    """No signature is longer than a few lines, whatever the defaults are; 45 for each parameter."""
    defaults = sum(len(repr(policy)) for policy in (DEFAULT,)) - len("DEFAULT")
    signature = inspect.signature(value)
    longest = max(250, 45 * len(signature.parameters)) + (defaults if name == "Toolbox" else 0)
    assert len(str(signature)) <= longest


def test_rules_are_told_whose_call_it_is():
    """By `actor`, of a call and of all calls of a turn: a rule may ask who changes the plan."""
    approved = decide(planned("a"), ApprovePlan("ann")).unwrap()
    box = Toolbox(TASKS, DEFAULT.but(approved_changed="error"))
    call = Call("TaskCreate", {"subject": "b"})
    for actor, refused in (("ann", False), ("agent", True), (None, True)):
        reply = box.call(approved, call.name, call.arguments, actor=actor)
        assert reply.is_error is refused
        assert box.turn(approved, [call], actor=actor).replies[0].is_error is refused
        seen = box.call(approved, call.name, call.arguments, base=Base(approved), actor=actor)
        assert seen.is_error is refused
    assert "The plan was approved by ann" in reply.text

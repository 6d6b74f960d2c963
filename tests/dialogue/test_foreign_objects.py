"""Law 10 for what frameworks hand over: classes of their own, which may raise from any method."""

from collections import OrderedDict, UserDict
from collections.abc import Mapping
from enum import IntEnum, StrEnum

import pytest
from support.talk import BOXES, check_reply, planned, texts_of, toolbox, write

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake import InputLimits


def boom(*_, **__):
    """Raise, as a method of a foreign class may."""
    msg = "not now"
    raise RuntimeError(msg)


METHODS = (
    *("__iter__", "__len__", "__getitem__", "__contains__", "__eq__", "__str__", "__repr__"),
    *("__hash__", "__bool__", "__int__", "__float__", "keys", "items", "values", "get", "strip"),
    *("casefold", "encode", "isascii", "startswith", "copy", "__lt__", "__abs__", "__index__"),
)


def raising(base):
    """Return a class derived from this one whose methods raise."""
    names = {name: boom for name in METHODS if hasattr(base, name)}
    return type(f"Raising{base.__name__.title()}", (base,), names)


class Nothing(Mapping):
    """A mapping that has no readable entry."""

    __getitem__ = __iter__ = __len__ = boom


class Endless(Mapping):
    """A mapping that never ends."""

    def __len__(self):
        return 1

    def __getitem__(self, key):
        return key

    def __iter__(self):
        number = 0
        while True:
            yield f"k{number}"
            number += 1


class Unclassed:
    """An object that does not even say what it is."""

    __class__ = property(boom)


class Word(StrEnum):
    """A text of a class of its own."""

    A = "a"


class Number(IntEnum):
    """A number of a class of its own."""

    ONE = 1


TEXT = raising(str)
READABLE = [
    raising(dict)({"content": "a"}),
    raising(list)([{"content": "a"}]),
    raising(tuple)([{"content": "a"}]),
    [raising(dict)({"content": TEXT("a")})],
    [TEXT("a")],
    [{"content": Word.A}],
    [OrderedDict(content="a")],
    [UserDict(content="a")],
]


@pytest.mark.parametrize("place", range(len(READABLE)))  # pytest itself trips over such values
def test_classes_derived_from_plain_ones_are_read_as_those(place):
    """Their own methods are not asked: what they were made of is what counts."""
    assert texts_of(write(READABLE[place]).plan) == ["a"]


UNREADABLE = [Nothing(), [Nothing()], {"todos": Nothing()}, Unclassed(), [Unclassed()], {"x": boom}]
ALL = [
    *UNREADABLE,
    raising(int)(3),
    raising(float)(1.5),
    raising(bytes)(b"{}"),
    raising(bytearray)(b"[1"),
    TEXT('{"todos": ["a"]}'),
    *READABLE,
]


@pytest.mark.parametrize("place", range(len(ALL)))
def test_no_foreign_object_raises_through_a_call(place):
    """Wherever it stands, and in whichever tool: the answer is a reply."""
    value, plan = ALL[place], planned("a", "b")
    for box in BOXES:
        for tool in box.toolset.tools:
            for given in (value, *({field.name: value} for field in tool.fields)):
                check_reply(plan, box.call(plan, tool.key, given))


@pytest.mark.parametrize("place", range(len(UNREADABLE)))
def test_an_object_that_cannot_be_read_is_named(place):
    """One problem says that it is no value of JSON's types."""
    reply = BOXES[0].call(Plan(), "write_todos", UNREADABLE[place])
    assert [problem.code for problem in reply.problems] == ["wrong_type"]
    assert "it should be JSON values" in reply.text


def test_a_mapping_without_an_end_is_too_large():
    """It is read up to the limit, and refused."""
    for value in (Endless(), {"todos": Endless()}):
        reply = toolbox(limits=InputLimits(chars=1_000)).call(Plan(), "write_todos", value)
        assert [problem.code for problem in reply.problems] == ["too_large"]


def test_keys_of_a_foreign_class():
    """A key that raises when it is looked up is read as its text; two alike are refused."""

    class Key(str):
        alive = False
        __slots__ = ()

        def __hash__(self):
            return id(self) if not Key.alive else boom()

        def __eq__(self, other):
            return self is other

    one, two = {Key("todos"): ["a"]}, {Key("todos"): ["a"], Key("todos"): ["b"]}
    Key.alive = True
    assert texts_of(BOXES[0].call(Plan(), "write_todos", one).plan) == ["a"]
    reply = BOXES[0].call(Plan(), "write_todos", two)
    assert [problem.code for problem in reply.problems] == ["duplicate_key"]


def test_numbers_of_a_foreign_class():
    """An enumeration's member is the number it stands for."""
    plan = planned("a")
    reply = BOXES[1].call(plan, "TaskUpdate", {"taskId": Number.ONE, "estimate": Number.ONE})
    assert type(reply.plan["1"].estimate) is int

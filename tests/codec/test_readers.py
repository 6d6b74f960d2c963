"""Laws of readers put together."""

import pytest

from todoplan.codec.engine import (
    MisfitError,
    count,
    one_of,
    optional,
    read_each,
    read_object,
    text,
)

READERS = {"a": text, "b": optional(count)}


def found(read, *arguments):
    with pytest.raises(MisfitError) as caught:
        read(*arguments)
    return list(caught.value.found)


def test_fields_that_are_missing_are_left_out():
    """A reader sees only what is there; null is there."""
    assert read_object({"a": "x"}, READERS) == {"a": "x"}
    assert read_object({"a": "x", "b": None}, READERS, ("a", "b")) == {"a": "x", "b": None}


def test_all_faults_of_an_object_are_found():
    """Unknown keys, whatever their type, missing ones and wrong values."""
    wrong = found(read_object, {5: 1, "c d": 2, "b": "x"}, READERS, ("a",))
    assert wrong == [
        (".a", "missing"),
        ("[5]", "no such field; there are a, b"),
        ('["c d"]', "no such field; there are a, b"),
        (".b", '"x" is no whole number from 0 on'),
    ]


def test_what_is_no_object_has_no_fields():
    """An array of pairs is no object."""
    assert found(read_object, [["a", "x"]], READERS) == [("", "an array is no object")]


def test_each_counts_items_from_where_it_is_told():
    """Every item is converted, and every fault has its place."""
    assert read_each([1, 2], count) == (1, 2)
    assert [path for path, _ in found(read_each, ["a", 1, None], count, 7)] == ["[7]", "[9]"]


def test_a_word_is_one_of_those_that_are_known():
    """The reader returns what the word stands for."""
    read = one_of({"on": True, "off": False})
    assert read("off") is False
    assert found(read, "On") == [("", '"On" is none of on, off')]
    assert found(read, 1) == [("", "1 is none of on, off")]

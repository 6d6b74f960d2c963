"""Laws of JSON text: any string comes back, and what is wrong is said with its place."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.documents import any_text, json_values, plans

from todoplan.codec import dump_plan, load_plan
from todoplan.codec.engine import (
    LIMIT,
    an_object,
    doubled_paths,
    has_lost_keys,
    parse,
    to_text,
    to_unicode,
)
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Task
from todoplan.errors import CodecError

surrogates = st.text(st.sampled_from("\ud83d\udbff\ude00\udc00\ufdd0a"), max_size=8)


def read(text):
    return parse(to_unicode(text, LIMIT))


def refused(text, limit=LIMIT):
    with pytest.raises(CodecError) as caught:
        load_plan(text, limit=limit)
    return caught.value


@given(json_values | st.lists(surrogates) | st.dictionaries(surrogates, surrogates))
@example(["\ud83d\ude00", "😀", "\ud83d\ufdd0\ude00", "\ufdd0", "\ud83d", "\ud83d\ufdd0"])
def test_any_json_value_comes_back(value):
    """Text round trips exactly: surrogates in any order, control characters, any number."""
    text = to_text(value)
    assert read(text) == value
    assert read(text.encode()) == value
    assert len(text.splitlines()) == 1


@given(any_text)
def test_the_text_is_json_for_everyone(text):
    """Without a split pair, any JSON reader sees the same value."""
    if all(ord(char) < 0xD800 or ord(char) > 0xDFFF for char in text):
        assert json.loads(to_text([text])) == [text]


def test_a_text_with_a_byte_order_mark_is_read():
    """Editors put one in front of a file; it is no part of the document."""
    text = dump_plan(plan_of((Task("1", "é"),)))
    assert load_plan("\ufeff" + text) == load_plan(f"\ufeff{text}".encode())


@given(plans(), st.data())
def test_a_document_that_was_cut_is_truncated(plan, data):
    """Every beginning of a document is told to be truncated, and where it ends."""
    text = dump_plan(plan)
    end = data.draw(st.integers(0, len(text) - 1))
    error = refused(text[:end])
    assert error.data["problem"] == "truncated"
    assert error.data["position"] == end
    assert f"it ends after {end} characters, unfinished" in str(error)


@pytest.mark.parametrize(
    "end", ["1.", "1e", "1e-", "-", "t", "tru", "fals", "nu", '"\\', '"\\u12', "[1,", '{"a"']
)
def test_a_value_that_was_cut_is_truncated(end):
    """Half a number, word or escape is truncation, not bad JSON."""
    assert refused('{"tasks": ' + end).data["problem"] == "truncated"


@pytest.mark.parametrize(
    ("text", "position"),
    [("{'a': 1}", 1), ("# plan", 0), ('{"a": 1} {}', 9), ('{"a": 1,}', 8), ("[1 2]", 3)],
)
def test_what_is_not_json_is_refused(text, position):
    """The error says where the JSON went wrong."""
    error = refused(text)
    assert error.data["problem"] == "not_json"
    assert error.data["position"] == position
    assert f"at line 1, column {position + 1}" in str(error)


def test_bytes_that_are_not_utf8_are_refused():
    """The error names the byte."""
    error = refused(b'{"a": "\xff"}')
    assert (error.data["problem"], error.data["position"]) == ("not_utf8", 7)


@pytest.mark.parametrize("value", [None, 5, {"format": "todoplan/plan"}])
def test_what_is_neither_text_nor_bytes_is_refused(value):
    """Data go to `plan_from_data`, not here."""
    assert refused(value).data["problem"] == "not_text"


@pytest.mark.parametrize(
    ("text", "size"), [("a" * 11, 11), ("é" * 6, 12), ("\ud800" * 4, 12), (b"1" * 11, 11)]
)
def test_a_document_over_the_limit_is_not_read(text, size):
    """The limit counts bytes, and the error names both."""
    error = refused(text, limit=10)
    assert error.data == {"problem": "too_large", "size": size, "limit": 10}
    assert f"{size} bytes, the limit is 10" in str(error)
    assert refused(text, limit=size).data["problem"] != "too_large"


def test_keys_that_stand_twice_are_refused():
    """All of them are named by their paths, never silently the last one taken."""
    task = '{"id": "1", "id": "2", "id": "3", "metadata": {"a b": 1, "a b": 1}}'
    text = f'{{"tasks": [{task}], "x": 1, "x": 2}}'
    error = refused(text)
    assert error.data["problem"] == "duplicate_key"
    assert error.data["paths"] == ("x", "tasks[0].id", 'tasks[0].metadata["a b"]')
    assert error.data["path"] == "x"


def test_a_document_may_nest_only_so_deep():
    """A bomb of brackets is an error, and no RecursionError."""
    error = refused("[" * 100_000)
    assert error.data["problem"] == "too_deep"
    assert "deeper than 64 levels" in str(error)


def problem_of(text):
    """Return what a reader of JSON says is wrong with a text, `None` if nothing is."""
    try:
        parse(text)
    except CodecError as error:
        return error.data["problem"]
    return None


@pytest.mark.parametrize("inner", ["1", '"\ufdd0"', '"\\ufdd0"'])
def test_at_whatever_depth_reading_stops_it_is_a_codec_error(inner):
    """Also where the value can be read, but not written and read again for its U+FDD0."""
    problems = {problem_of("[" * depth + inner + "]" * depth) for depth in range(800, 1_100)}
    assert problems <= {None, "too_deep"}
    assert None in problems


@given(st.text(max_size=40) | st.binary(max_size=40))
def test_whatever_text_is_given_a_codec_error_comes_back(text):
    """No text makes loading fail in any other way."""
    assert refused(text).data["problem"]


keys = st.sampled_from(["a", "b", "a b", "é", '"', "\\", '\\"', ":", ""])
documents = st.recursive(
    any_text.map(json.dumps) | json_values.map(json.dumps),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(keys.map(json.dumps), inner), max_size=4).map(
            lambda pairs: "{" + ",\t".join(f"{key} : {item}" for key, item in pairs) + "}"
        )
    ),
    max_leaves=12,
)


@given(documents)
def test_counting_finds_what_looking_finds(text):
    """Whatever the texts, escapes and blanks: keys are lost exactly where one stands twice."""
    value = json.loads(text, object_pairs_hook=an_object)
    doubled = list(doubled_paths(value))
    assert has_lost_keys(text, json.loads(text)) == bool(doubled)
    assert (problem_of(text) == "duplicate_key") is bool(doubled)

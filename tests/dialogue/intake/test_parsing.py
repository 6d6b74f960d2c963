"""From text to value: JSON texts and Python literals, strictly; what is bounded stays bounded."""

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.problems import Problem
from todoplan.dialogue.intake import (
    InputLimits,
    Parsed,
    Reading,
    from_python,
    parse,
)

LIMITS = InputLimits()
texts = st.text(st.characters(codec="utf-8"), max_size=6)
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    leaves | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)
objects = st.dictionaries(texts, values, max_size=3)


@given(objects, st.sampled_from([None, 1]))
def test_json_is_read_as_json(value, indent):
    """Text, bytes and the value itself give the same value, without a repair."""
    text = json.dumps(value, indent=indent)
    for raw in (text, text.encode(), bytearray(text.encode()), value):
        assert parse(raw, LIMITS) == Parsed(value)


@given(objects)
def test_a_python_literal_is_read_as_the_same_value(value):
    """What `repr` makes of a value is read back as that value."""
    found = parse(repr(value), LIMITS)
    assert isinstance(found, Parsed)
    assert found.value == value


@given(
    st.recursive(leaves, lambda inner: st.lists(inner, max_size=3), max_leaves=20),
    st.integers(1, 6),
)
def test_depth_is_counted_exactly(value, depth):
    """A value as deep as the limit is read, one level more is refused."""

    def levels(of):
        return 1 + max(map(levels, of), default=0) if isinstance(of, list) else 1

    found = parse([value], InputLimits(depth=depth))
    assert isinstance(found, Problem) == (levels([value]) > depth)


@pytest.mark.parametrize(
    ("value", "levels"),
    [
        ('"a"', None),
        ("[1, 2", None),
        ("[x", None),
        ("a", None),
        (5, None),
        ("{}", {}),
        ('"[]"', []),
    ],
)
def test_only_lists_and_objects_are_unwrapped(value, levels):
    """Scalars within texts stay the texts they are; what begins like no structure is a text."""
    reading = Reading()
    assert reading.decoded(value, "p") == (value if levels is None else levels)
    assert bool(reading.repairs) == (levels is not None)


def test_a_limit_beyond_what_python_can_nest_is_kept_all_the_same():
    """Whoever allows any depth gets a refusal, not an exception."""
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert parse(deep, InputLimits(depth=10**6)).code == "too_deep"


@pytest.mark.parametrize(
    ("raw", "code", "seen", "legal"),
    [
        ("x" * 41, "too_large", "41 characters", "40"),
        (b"x" * 41, "too_large", "41 characters", "40"),
        ({"a": "x" * 50}, "too_large", "over 40 characters", "40"),
        ({"a": ["x" * 9] * 5}, "too_large", "over 40 characters", "40"),
        ("[[[[1]]]]", "too_deep", "over 3 levels", "3"),
        ([[[[1]]]], "too_deep", "over 3 levels", "3"),
        ("nothing", "not_json", "nothing", ""),
        ('{"a": [1', "truncated", "", ""),
        ('{"a": 1, "a": 2}', "duplicate_key", "a", ""),
        ("{'a': 1, 'a': 2}", "duplicate_key", "a", ""),
        ({"a": float("nan")}, "bad_number", "nan", ""),
        ({"a": 10**18}, "bad_number", "a number of over 18 digits", ""),
        ('{"a": 1000000000000000000}', "bad_number", "a number of 19 digits", ""),
        ('{"a": 1, "a": true}', "duplicate_key", "a", ""),
        ("[{'a': [1], 'a': [2]}]", "duplicate_key", "a", ""),
        *((f"[{word}]", "bad_number", word, "") for word in ("NaN", "Infinity", "-1e999")),
        *((f"[{'9' * size}]", "bad_number", f"a number of {size} digits", "") for size in (19, 36)),
        ((((1,),),), "too_deep", "over 3 levels", "3"),
        ({"k": {"k": ["a"]}}, "too_deep", "over 3 levels", "3"),
        (["a"] * 41, "too_large", "over 40 characters", "40"),
        ({1: 2}, "wrong_type", "a key that is not text", "text keys"),
        ({"a": {1}}, "wrong_type", "set", "JSON values"),
        (object(), "wrong_type", "object", "JSON values"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_was_seen(raw, code, seen, legal):
    """And with what is allowed, where there is a limit."""
    path = "arguments" if code == "wrong_type" else ""
    assert parse(raw, InputLimits(chars=40, depth=3)) == Problem(code, (), seen, legal, path)


@given(st.text(st.characters(codec="utf-8"), max_size=10))
def test_texts_come_back(text):
    """Whatever a Python text holds, its literal is read as that text; nothing warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert from_python(repr([text])) == [text]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(1, 'a')", [1, "a"]),
        ("(1,)", [1]),
        ("()", []),
        ("{'a': [True, None, False,],}", {"a": [True, None, False]}),
        (r"['\x41\u0042\U00000043\104\n\'']", ["ABCD\n'"]),
        ("[u'a', -1.5e3]", ["a", -1500.0]),
        ("[{'a': [1], 'a': [1]}]", [{"a": [1]}]),
        (r"['\d \ \w', 'C:\path\q']", [r"\d \ \w", r"C:\path\q"]),
    ],
)
def test_literals_of_plain_values(text, value):
    """Tuples are lists; commas may trail, escapes are Python's."""
    assert from_python(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("(1)", "[1 2]", "[1,,]", "[,]", "[1}", "]", "1,", "[b'a']", "[nan]", "[1] # all"),
        *('["a" "b"]', "['a' 'b']", "['a' u'b']", "['a'\n'b']"),
        *("[1_0]", "[0x1]", "[...]", "[a]", "['a]", "[" * 101 + "]" * 101, "[01]", "[\uff11]"),
    ],
)
def test_what_is_no_literal_of_plain_values(text):
    """Comments, other brackets, names and numbers of other forms are refused, not read halfway."""
    with pytest.raises(ValueError, match=r"a literal holds|Expecting|Extra data|Illegal"):
        from_python(text)

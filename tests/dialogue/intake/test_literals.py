"""JSON texts and Python literals, strictly."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.dialogue.intake import RefusedError, from_json, from_python


@given(st.text(st.characters(codec="utf-8"), max_size=10))
def test_texts_come_back(text):
    """Whatever a Python text holds, its literal is read as that text; nothing warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert from_python(repr([text])) == [text]


@pytest.mark.parametrize("text", [r"['\d \ \w']", r"['C:\path\q']"])
def test_unknown_escapes_keep_their_backslash(text):
    """As Python itself reads them, without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert from_python(text) == [text[2:-2]]


@pytest.mark.parametrize("text", ['["a" "b"]', "['a' 'b']", "['a' u'b']", "['a'\n'b']"])
def test_a_missing_comma_is_no_joined_string(text):
    """Python would join the two; here a comma was lost."""
    with pytest.raises(ValueError, match="delimiter"):
        from_python(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": 1, "a": 2}', "duplicate_key"),
        ('{"a": 1, "a": true}', "duplicate_key"),
        ("[NaN]", "bad_number"),
        ("[1e999]", "bad_number"),
        ("[1111111111111111111]", "bad_number"),
    ],
)
def test_what_must_not_be_read(text, code):
    """A key with two values, and numbers that cannot be kept, are refused with their code."""
    with pytest.raises(RefusedError) as caught:
        from_json(text)
    assert caught.value.problem.code == code


def test_a_key_twice_in_python():
    """With one value it is read, with two it is refused, also deep inside."""
    assert from_python("[{'a': [1], 'a': [1]}]") == [{"a": [1]}]
    with pytest.raises(RefusedError):
        from_python("[{'a': [1], 'a': [2]}]")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(1, 'a')", [1, "a"]),
        ("(1,)", [1]),
        ("()", []),
        ("{'a': [True, None, False,],}", {"a": [True, None, False]}),
        (r"['\x41\u0042\U00000043\104\n\'']", ["ABCD\n'"]),
        ("[u'a', -1.5e3]", ["a", -1500.0]),
    ],
)
def test_literals_of_plain_values(text, value):
    """Tuples are lists; commas may trail, escapes are Python's."""
    assert from_python(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("(1)", "[1 2]", "[1,,]", "[,]", "[1}", "]", "1,", "[b'a']", "[nan]", "[1] # all"),
        *("[1_0]", "[0x1]", "[...]", "[a]", "['a]", "[" * 101 + "]" * 101, "[01]", "[\uff11]"),
    ],
)
def test_what_is_no_literal_of_plain_values(text):
    """Comments, other brackets, names and numbers of other forms are refused, not read halfway."""
    with pytest.raises(ValueError, match=r"a literal holds|Expecting|Extra data|Illegal"):
        from_python(text)

"""JSON from untrusted text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.transcripts.files import NotJsonError, parse_json, parse_values

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.lists(JSON))
def test_values_that_follow_one_another_are_all_read(values):
    """Values written one after the other are read back, whatever they are."""
    assert list(parse_values(" ".join(map(json.dumps, values)))) == values


@given(st.text())
def test_every_value_that_is_read_can_be_written(text):
    """Halves of surrogate pairs do not get through, pairs and other escapes do."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    parse_json(json.dumps(text)).encode()
    assert parse_json(json.dumps(whole)) == whole


def test_half_a_pair_is_replaced_and_its_neighbours_stay():
    """A lone surrogate becomes U+FFFD; an escaped backslash before `u` is no escape."""
    assert parse_json(r'"\ud83d \ud83d\ude00 \\ud83d \n"') == "\ufffd \U0001f600 \\ud83d \n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "0 JSON values"),
        ("1 2", "2 JSON values"),
        ("{", "Expecting property name"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "Exceeds the limit"),
    ],
)
def test_what_cannot_be_read_has_a_reason_in_one_line(text, reason):
    """Each failure is the one exception, its reason in one line."""
    with pytest.raises(NotJsonError, match=reason) as caught:
        parse_json(text)
    assert "\n" not in str(caught.value)

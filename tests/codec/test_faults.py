"""Laws of faults: what was seen is shown short and on one line, whatever it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents import json_values

from todoplan.codec.documents import TASK
from todoplan.codec.engine import MisfitError, field_path, misfit, shown, write_ids, wrong_shape
from todoplan.core.plan.model import FrozenDict


@given(json_values | st.floats() | st.text(min_size=50, max_size=5000))
def test_what_is_shown_is_short_and_on_one_line(value):
    """No value floods or breaks a message, or steers a terminal."""
    text = shown(value)
    assert len(text) < 1000
    assert text.isascii()
    assert text.isprintable()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (2.5, "2.5"),
        (float("nan"), "NaN"),
        ((), "an array"),
        (FrozenDict(), "an object"),
        (b"x", "a Python bytes"),
        ("x" * 61, f'"{"x" * 60}"...'),
        pytest.param(10**70, f"1{'0' * 59}...", id="long"),
        pytest.param(10**5000, "a number of more than 4300 digits", id="huge"),
    ],
)
def test_a_value_is_shown_as_json(value, text):
    """Python's own words do not appear where JSON has one."""
    assert shown(value) == text


def test_a_path_goes_on_to_any_key():
    """A plain key stands behind a dot, any other in brackets."""
    assert field_path("next_id") == ".next_id"
    assert field_path('a"b') == '["a\\"b"]'
    assert len(field_path("x" * 5000)) < 100


def test_faults_are_seen_from_further_up():
    """The path grows at its front."""
    assert misfit(1, "no text").below(".a").pop() == (".a", "1 is no text")
    assert str(MisfitError([(".a", "missing")])) == ".a missing"


def test_a_fault_of_the_whole_has_no_path():
    """The sentence stands alone then."""
    error = wrong_shape([("", "5 is no object")], "plan", line=3)
    assert str(error) == "this is no plan: 5 is no object"
    assert (error.data["path"], error.data["line"]) == ("", 3)


def test_a_value_of_another_type_is_not_written():
    """Neither ids that are no tuple, nor another value in place of a task."""
    for write, value in ((write_ids, ["1"]), (TASK.write, "1")):
        with pytest.raises(MisfitError):
            write(value)

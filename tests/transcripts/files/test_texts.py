"""JSON from untrusted text, and tool calls in scripts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pace import is_linear, seconds

from todoplan.transcripts.files import NotJsonError, parse_json, parse_values, tool_calls


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "{plan:[{step:\"A\",'status':'pending',},]}",
            {"plan": [{"step": "A", "status": "pending"}]},
        ),
        ("{ a: 1,\n b: [-2.5e3, ], }", {"a": 1, "b": [-2500.0]}),
        ("{a: true, b: false, c: null}", {"a": True, "b": False, "c": None}),
        (
            """{a: 'it\\'s "b"', b: `x\\ny\\${`, c: '\\u0041\\ud83d\\ude00\\ud83d', d: `\\n\n`}""",
            {"a": 'it\'s "b"', "b": "x\ny${", "c": "A😀\ufffd", "d": "\n\n"},
        ),
        ("{}", {}),
        ("{$a_1: [], b: {}}", {"$a_1": [], "b": {}}),
    ],
)
def test_literals_are_mappings(source, expected):
    """An object literal of plain values is read in full."""
    script = f"const p = await tools.update_plan({source}); text(p)"
    assert list(tool_calls(script)) == [("update_plan", expected)]


MORE = "plan|[1]|{a: `${x}`}|{a: 1} + b|{1: 2}||{a: 1 b: 2}|{a: [1 2]}|{plan}|{plan: f(')', [1])}"
# No recorded literal has a comment or `undefined`. A regular expression begins no string.
RARE = [
    "{a: 1, /* b */ c: 2}",
    "{a: 1 // b\n}",
    "{a: undefined}",
    "x.replace(/\\//g, 1)",
    'x(/\\"/)',
]


@pytest.mark.parametrize("source", [*MORE.split("|"), "{a: '\\x41'}", "{a: 'one\\\ntwo'}", *RARE])
def test_what_is_more_than_values_stays_text(source):
    """An argument that has to be run is given as its source, and the next call is found."""
    script = f"await tools.update_plan({source}); tools.x({{a: 1}})"
    assert list(tool_calls(script)) == [("update_plan", source), ("x", {"a": 1})]


@pytest.mark.parametrize("source", ["{a: [1,", "{a", "{a:", "{'a': 'open", "{", "f("])
def test_a_cut_script_gives_what_is_there(source):
    """A script that ends too early gives the text up to its end."""
    assert list(tool_calls(f"tools.update_plan({source}")) == [("update_plan", source)]


@pytest.mark.parametrize("quote", ['\\"', "\\`"])
def test_what_is_never_closed_takes_linear_time(quote):
    """It is searched for its end once, not from each place in it."""
    assert [name for name, _ in tool_calls("tools.f(" + quote * 99)] == ["f"]
    assert is_linear(
        lambda times: seconds(lambda: [*tool_calls("tools.f(" + quote * times)]), 12_000
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
JSON_OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)


@given(st.lists(JSON_OBJECTS, max_size=4))
def test_json_is_javascript(values):
    """Any JSON object is read as itself, in order."""
    script = "; ".join(f"await tools.f({json.dumps(value)})" for value in values)
    assert list(tool_calls(script)) == [("f", value) for value in values]


@given(st.text("tols.f(){}[]'\"`\\:,a1$/*\n "))
def test_no_script_raises(text):
    """Any text gives calls or none."""
    for name, _ in tool_calls("tools.f(" + text):
        assert name


@given(st.lists(JSON, max_size=4))
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

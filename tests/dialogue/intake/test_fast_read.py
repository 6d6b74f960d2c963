"""The fast way through intake against the careful one."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.talk import TOOLSETS, valid

from todoplan.core.plan.model import Todo
from todoplan.dialogue import intake
from todoplan.dialogue.intake import Field, InputLimits, Intake, Kind, NotPlainError

DEFER = object()


def fast_read(raw, fields, limits):
    """Return what is read of plain arguments; `DEFER` if they are not plain."""
    try:
        return intake.plain_read(raw, fields, limits)
    except NotPlainError:
        return DEFER


ALL = [tool for toolset in TOOLSETS for tool in toolset.tools]
TOOLS = {tool.key: tool for tool in reversed(ALL)}
LIMITS = InputLimits()
WRITE, UPDATE, LEAN = TOOLS["write_todos"].fields, TOOLS["TaskUpdate"].fields, TOOLS["plan"].fields
EIGHT = [{"content": f"Title {number}", "status": "pending"} for number in range(8)]

tools = st.sampled_from(ALL)
TEXTS = ["", " ", "3", "#1", "007", "done", "deleted", "a<b", "\x00", "é", "\ud800", "\u202e"]
LISTS = [[], ["1"], [1, "1"], ["#0"], [[1]], ["a"]]
odd = st.sampled_from(
    [None, True, 0, 3, 2.5, 10**18, *TEXTS, "[x] a", "{", "1,2", *LISTS, {}, {"id": 1}]
)


@st.composite
def nearly_valid(draw):
    """Draw a tool, and arguments as published in which some values, entries or keys are others."""
    tool = draw(tools)
    given = draw(valid(tool.fields))
    keys = st.sampled_from([*(field.name for field in tool.fields), "status", "content", "x"])
    given |= draw(st.dictionaries(keys, odd, max_size=2))
    more = st.lists(odd | st.dictionaries(keys, odd, max_size=2), max_size=2)
    for key, value in given.items():
        if isinstance(value, list) and draw(st.booleans()):
            given[key] = [*value, *draw(more)] * draw(st.integers(1, 3))
    return tool, given


def agrees(raw, fields, limits=LIMITS):
    """Assert that the fast way reads what the careful way reads; say whether it read anything."""
    values = fast_read(raw, fields, limits)
    if values is not DEFER:
        assert Intake(values) == intake.careful_read(raw, fields, limits)
    return values is not DEFER


@given(nearly_valid(), st.sampled_from([None, 1]), st.booleans())
@example(
    (TOOLS["write_todos"], {"todos": [*EIGHT, {"content": " ", "status": "pending"}]}), None, 1
)
@example((TOOLS["write_todos"], {"todos": [*EIGHT, {"content": "a"}]}), None, 1)
def test_both_ways_read_the_same(call, indent, as_text):
    """Whatever the fast way reads, the careful way reads alike, without a repair or a problem."""
    tool, given = call
    agrees(json.dumps(given, indent=indent, ensure_ascii=False) if as_text else given, tool.fields)


@given(tools.flatmap(lambda tool: st.tuples(st.just(tool), valid(tool.fields))), st.data())
def test_both_ways_read_the_same_of_a_changed_text(call, data):
    """So it is with a text in which a few characters were changed, a key doubled among them."""
    tool, given = call
    text = json.dumps(given)
    start, more = (
        data.draw(st.integers(0, len(text))),
        st.sampled_from([" ", '"', ":", ",", "\\", "0"]),
    )
    piece = data.draw(
        st.text(more, max_size=3) | st.sampled_from(['"status": 1,', "NaN", "[[", "1e999"])
    )
    agrees(text[:start] + piece + text[start + data.draw(st.integers(0, 2)) :], tool.fields)


@pytest.mark.parametrize(
    ("raw", "fields"),
    [
        ({"todos": EIGHT}, WRITE),
        (json.dumps({"todos": EIGHT}), WRITE),
        ({"todos": EIGHT[:2], "clear": False}, WRITE),
        ({"todos": [{**item, "activeForm": "é", "priority": "low"} for item in EIGHT]}, WRITE),
        ({"todos": [{**item, "id": str(n + 1)} for n, item in enumerate(EIGHT)]}, WRITE),
        ('{"taskId": "3", "status": "completed"}', UPDATE),
        ('{"taskId": 3, "subject": "Fix: the parser", "owner": null}', UPDATE),
        ('{"taskId": "3", "estimate": 2.5, "addBlockedBy": ["1", 2]}', UPDATE),
        ('{"subject": "a", "blockedBy": ["#0", "7"]}', TOOLS["TaskCreate"].fields),
        ('{"write": ["Read it", "Fix it"]}', LEAN),
        ('{"done": [1], "add": ["More"], "edit": [{"id": 2, "after": [1]}]}', LEAN),
        ("{}", TOOLS["TaskList"].fields),
    ],
)  # fmt: skip
def test_what_models_usually_send_is_read_the_fast_way(raw, fields):
    """Calls as the schemas ask for them need no careful reading."""
    assert agrees(raw, fields)


TEXTS_TO_REPAIR = [
    *("", b"{}", "[1]", "{} ", ' {"taskId": "3"}', '{"taskId": "3"', "[" * 100_000),
    '{"taskId": "3", "taskId": "4"}',
    '{"taskId": "3", "taskId" : "4"}',
    '{"taskId": "3", "subject": "\\":", "taskId": "4"}',
    '{"taskId": "3", "taskId" : "4", "subject": "\\":"}',
    *(f'{{"taskId": "3", "taskId"{blank}: "4", "subject": "x"}}' for blank in " \n\t\r"),
    '{"taskId": "3", "metadata": {"a": 1}}',
    '{"taskId": "3", "estimate": NaN}',
    '{"taskId": "3", "estimate": ' + "9" * 5000 + "}",
]
VALUES_TO_REPAIR = [
    *(None, [], {"status": "pending"}, {"taskId": "3", "subject": "x" * 2_000_000}),
    *({"taskId": "3", "addBlockedBy": ids} for ids in (["1", "a"], ["1", "1"], ["1", "#2"], "1")),
    {"taskId": "3", "addBlockedBy": ["1"] * 1_001},
]


@pytest.mark.parametrize("raw", [*TEXTS_TO_REPAIR, *VALUES_TO_REPAIR])
def test_what_could_need_a_repair_is_left_to_the_careful_way(raw):
    """Other texts, keys that stand twice, odd numbers, ids and sizes: none of them is read."""
    assert fast_read(raw, UPDATE, LIMITS) is DEFER


@pytest.mark.parametrize(
    "odd_one",
    [
        *({"content": "a", "status": value} for value in (3, "Done", ["pending"], {})),
        {"content": 3, "status": "pending"},
        {"content": " ", "status": "pending"},
        {"content": "a<b", "status": "pending"},
        {"content": "a", "status": "pending", "x": 1},
        ["a"],
    ],
)
def test_one_odd_entry_defers_the_whole_list(odd_one):
    """Among well-formed ones, and among its like: nothing is read by halves."""
    for listed in ([*EIGHT, odd_one], [odd_one] * 8):
        assert fast_read({"todos": listed}, WRITE, LIMITS) is DEFER
    assert agrees({"todos": [*EIGHT, "a title"]}, WRITE)


@pytest.mark.parametrize("title", ["a ", " a", "a\u00a0", "a\n", "- a", '{"text": "a"}'])
def test_a_title_that_is_read_as_a_line_is_left_to_the_careful_way(title):
    """What stands around it goes there."""
    assert not agrees({"write": ["b", title]}, LEAN)


def test_limits_hold_on_the_fast_way_too():
    """What is longer, deeper or has more entries than allowed is not read."""
    text = json.dumps({"todos": EIGHT})
    for limits in (InputLimits(chars=len(text) - 1), InputLimits(depth=4), InputLimits(items=7)):
        assert fast_read(text, WRITE, limits) is DEFER
    assert agrees(text, WRITE, InputLimits(chars=len(text), depth=5, items=8))
    assert fast_read('{"done": [1, 2]}', LEAN, InputLimits(items=1)) is DEFER


def test_entries_are_made_the_class_that_their_field_names():
    """A line of a whole-list write is a `Todo` by whichever way it was read."""
    for raw in (
        {"todos": EIGHT[:1]},
        {"todos": EIGHT},
        {"todos": [{"content": "a", "status": "Done"}]},
    ):
        assert {type(todo) for todo in intake.read(raw, WRITE).values["todos"]} == {Todo}


def test_an_entry_with_more_that_must_be_given_is_no_bare_title():
    """A list of titles is read the fast way only where nothing but a title is asked for."""
    others = Field("a", "a", Kind.LINE), Field("b", "b", Kind.LINE, required=True)
    for items in (others, (Field("n", "n", Kind.ID),)):
        assert fast_read({"x": ["t"]}, (Field("x", "x", Kind.ITEMS, items=items),), LIMITS) is DEFER


@pytest.mark.parametrize(
    "raw",
    [
        '{"taskId": "3", "estimate": 0}',
        '{"taskId" : "3", "status": "completed"}',  # as many colons as keys: blanks do not matter
        '{"taskId": "3", "subject": "a\\u00e9"}',
    ],
)
def test_odd_spelling_alone_needs_no_careful_reading(raw):
    """Only where a colon could be one of a lost key does it matter how the text is written."""
    assert agrees(raw, UPDATE)


def test_values_do_not_change_places_where_keys_do():
    """Entries with the same keys in another order are read each by its own keys."""
    first = {"content": "a", "status": "pending", "activeForm": "b"}
    other = {"activeForm": "b", "status": "pending", "content": "a"}
    assert agrees({"todos": [*[first] * 7, other]}, WRITE)
    read = fast_read({"todos": [*[first] * 7, other]}, WRITE, LIMITS)["todos"]
    assert {(todo.content, todo.active_form) for todo in read} == {("a", "b")}


def test_an_entry_with_more_that_must_be_given_is_read_where_it_is():
    """Only a bare title is left to the careful way."""
    items = Field("a", "a", Kind.LINE), Field("b", "b", Kind.LINE, required=True)
    fields = (Field("x", "x", Kind.ITEMS, items=items),)
    entry = {"a": "t", "b": "u"}
    assert fast_read({"x": [entry]}, fields, LIMITS) == {"x": [entry]}

"""What arguments stand in. The table is in test_bad_input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.talk import valid

from todoplan.dialogue.intake import Findings, Line, arguments_in, entries_in, entry_in
from todoplan.dialogue.tools import LEAN, TODOS

WRITE = TODOS.tools[0].fields
PENDING, DONE = {"status": "pending"}, {"status": "completed"}
wrappers = st.lists(st.sampled_from(["arguments", "input", "parameters", "args"]), max_size=3)


@given(valid(WRITE), wrappers)
def test_wrapped_or_not_the_arguments_are_the_same(arguments, keys):
    """Up to three wrappers come off, and each is told."""
    findings, wrapped = Findings(), arguments
    for key in keys:
        wrapped = {"name": "write_todos", key: wrapped}
    assert arguments_in(wrapped, WRITE, findings) == arguments
    assert [repair.code for repair in findings.repairs] == ["wrapper"] * len(keys)
    assert not findings.problems


def test_a_bare_list_is_adopted_only_where_it_can_mean_one_thing():
    """One list of entries takes it; of several the one that begins a plan, and only titles."""
    assert arguments_in(["a"], WRITE, Findings()) == {"todos": ["a"]}
    fields = LEAN.tools[0].fields
    assert arguments_in(["a", "b"], fields, Findings()) == {"write": ["a", "b"]}
    for other in (
        [],
        [1],
        ["a", "1 and 2"],
        ["done"],
        ["a", {"text": "b"}],
        ["a", '{"text": "b"}'],
    ):
        findings = Findings()
        assert arguments_in(other, fields, findings) is None
        assert (findings.problems[0].path, findings.problems[0].legal) == ("arguments", "an object")


def test_keys_of_the_tool_are_no_wrapper():
    """A field that is called like one keeps its meaning."""
    assert arguments_in({"todos": [], "clear": True}, WRITE, Findings()) == {
        "todos": [],
        "clear": True,
    }
    assert arguments_in({}, WRITE, Findings()) == {}
    assert arguments_in(None, WRITE, Findings()) == {}


def test_a_wrapper_around_nothing_holds_no_arguments():
    """{"arguments": null} is how some frameworks send a call without arguments."""
    findings = Findings()
    assert arguments_in({"arguments": None}, WRITE, findings) == {}
    assert [repair.code for repair in findings.repairs] == ["wrapper"]


@pytest.mark.parametrize(
    ("inner", "entries", "code"),
    [
        ("- [ ] a\n- [x] b", [{"content": "a"} | PENDING, {"content": "b"} | DONE], "checklist"),
        ('[{"content": "a"}]', [{"content": "a"}], "json_text"),
        ({"content": "a"}, [{"content": "a"}], "bare_entry"),
    ],
)
def test_what_a_list_may_be_written_as_it_may_be_in_a_wrapper(inner, entries, code):
    """A text is read inside of {"todos": ...} as it is outside."""
    findings = Findings()
    listed = entries_in({"todos": inner}, WRITE[0], "todos", findings)
    read = [
        entry_in(one, WRITE[0], "todos[0]", findings) if isinstance(one, Line) else one
        for one in listed
    ]
    assert read == entries
    assert [repair.code for repair in findings.repairs] == ["wrapper", code]
    assert {repair.path for repair in findings.repairs} == {"todos"}

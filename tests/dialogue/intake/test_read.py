"""Arguments against fields: values by target, repairs, problems. The table is in test_bad_input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.talk import TOOLSETS, valid

from todoplan.core.problems import Problem
from todoplan.dialogue.intake import (
    GUESSES,
    MISSING,
    MOST_KEPT,
    MOST_TABLES,
    Field,
    InputLimits,
    Intake,
    Kind,
    Reading,
    Repair,
    arguments_in,
    find_field,
    folded,
    meant_by,
    parts_of,
    read,
    shown_path,
    table_of,
)
from todoplan.dialogue.tools import LEAN, TODOS
from todoplan.texts import wording

ENTRY = (Field("text", "subject", Kind.LINE, required=True), Field("state", "status", Kind.STATUS))
FIELDS = (
    Field("items", "todos", Kind.ITEMS, required=True, items=ENTRY),
    Field("id", "task_id", Kind.ID),
)
STATUSES = "one of pending, in_progress, completed, cancelled"
TOOLS = [tool for toolset in TOOLSETS for tool in toolset.tools]


def test_values_stand_under_their_targets():
    """Names are the model's, targets those of commands; what was not given is not there."""
    found = read({"items": [{"text": "a", "state": "Done"}], "id": 3}, FIELDS)
    assert found.values == {"todos": [{"subject": "a", "status": "completed"}], "task_id": "3"}
    assert found.repairs == (Repair("word", "items[0].state", "Done", "completed"),)
    assert read({"items": []}, FIELDS) == Intake({"todos": []})


def test_faults_carry_their_paths():
    """All of them, with what was seen and what is allowed."""
    found = read({"items": [{"state": 1}, 2], "id": "x"}, FIELDS)
    assert found.problems == (
        Problem("missing_field", (), "", "text", "items[0].text"),
        Problem("wrong_type", (), "1", STATUSES, "items[0].state"),
        Problem("wrong_type", (), "2", "an object", "items[1]"),
        Problem("bad_id", (), "x", 'an id such as "3"', "id"),
    )  # fmt: skip


def test_what_cannot_be_parsed_has_no_values():
    """One problem, and nothing else."""
    assert read("{", FIELDS) == Intake({}, (), (Problem("truncated"),))
    assert read("x" * 9, FIELDS, InputLimits(chars=8)).problems[0].code == "too_large"


@given(st.sampled_from(TOOLS).flatmap(lambda tool: st.tuples(st.just(tool), valid(tool.fields))))
def test_valid_arguments_are_read_whole(call):
    """Every field that was given has a value, under its target."""
    tool, arguments = call
    found = read(arguments, tool.fields)
    given_fields = {field.target for field in tool.fields if field.name in arguments}
    for repair in found.repairs:
        if (repair.code, repair.seen) == ("ignored_key", "waiting"):
            given_fields -= {"waiting"}  # what is closed waits for nothing
    assert set(found.values) == given_fields
    assert not found.problems


def test_tools_that_are_made_anew_for_each_request_do_not_pile_up():
    """What is worked out for a tool is kept for some hundred tools, not for all there ever were."""
    for number in range(MOST_TABLES + 20):
        (field,) = (Field(f"text{number}", "text", Kind.LINE),)
        assert read({field.name: "a"}, (field,)).values == {"text": "a"}
        assert read({field.name.upper(): "a"}, (field,)).values == {"text": "a"}
    for table in (find_field, table_of):
        assert table.cache_info().currsize == MOST_TABLES


TITLE = Field("text", "subject", Kind.LINE, aliases=("title",), weak=("description",))
SPELLED = (
    Field("description", "description", Kind.TEXT),
    Field("items", "todos", Kind.ITEMS, items=(TITLE,)),
    TITLE,
)


def test_the_stronger_spelling_wins():
    """A field's own name beats another's weak spelling, whichever comes first."""
    assert meant_by("Description", SPELLED) == (SPELLED[0], 2)
    assert meant_by("description", SPELLED[::-1]) == (SPELLED[0], 2)
    assert meant_by("description", (TITLE,)) == (TITLE, 0)
    assert meant_by("TITLE", SPELLED) == (TITLE, 1)
    assert meant_by("x", SPELLED) == (None, -1)


def test_words_are_folded():
    """Without case, spaces, `_` and `-`; only so much of a word counts as any name has."""
    assert folded("Active-Form _") == "activeform"
    assert folded("a" * 10**6) == "a" * 80


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("todos[2].subject", "items[2].text"),
        ("todos", "items"),
        ("nothing", ""),
        ("todos[0].nothing", "items[0]"),
        ("", ""),
    ],
)
def test_paths_are_shown_in_the_models_names(path, shown):
    """A place that the tool does not have is no place."""
    assert shown_path(path, SPELLED) == shown


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_no_two_fields_of_a_tool_claim_one_word(toolset):
    """Apart from weak spellings and a shown name against an alias, every word means one field."""
    for tool in toolset.tools:
        for fields in (tool.fields, *(field.items for field in tool.fields)):
            claims = {
                (word, strength, field.name)
                for field in fields
                for word, strength in field.spellings()
                if strength
            }
            assert len({(word, strength) for word, strength, _ in claims}) == len(claims)
            assert all(find_field(fields)[word][1] >= strength for word, strength, _ in claims)


def test_an_expected_text_is_nothing_to_tell():
    """A JSON text where the schema asks for one is read silently; its own repairs are reported."""
    reading = Reading()
    assert reading.decoded("[1]", "p", expected=True) == [1]
    assert reading.repairs == []
    assert reading.decoded("[1,]", "p", expected=True) == [1]
    assert reading.repairs == [Repair("trailing_comma", "p")]
    assert reading.decoded("[1]", "p") == [1]
    assert reading.repairs[-1] == Repair("json_text", "p")


def test_repairs_and_faults_are_kept_in_order_and_no_more_than_so_many():
    """With what was seen, quoted. All faults are counted, so that what comes late looks unsound."""
    reading = Reading()
    reading.repair("word", "p", "a\n", "b")
    assert reading.refuse("bad_id", "q", None, "an id") is MISSING
    assert reading.decoded("[" * 33 + "]" * 33, "p") is MISSING
    assert reading.decoded('{"a": ', "") is MISSING
    assert reading.cleaned('<parameter name="x">', "q") is MISSING
    assert reading.repairs == [Repair("word", "p", "a\\n", "b")]
    assert reading.problems == [
        Problem("bad_id", (), "null", "an id", "q"),
        Problem("too_deep", (), "over 32 levels", "32", "p"),
        Problem("truncated", (), "", "", "arguments"),
        Problem("swallowed_field", (), '<parameter name="x">', "", "q"),
    ]
    for _ in range(MOST_KEPT):
        reading.refuse("bad_id", "p")
    assert (len(reading.problems), reading.faults) == (MOST_KEPT, MOST_KEPT + 4)


def test_every_guess_has_words():
    """The refusal says how the call was read."""
    for code in GUESSES:
        assert "$path" in wording("repairs", code)


def test_no_command_has_no_parts():
    """A call that only reads removes nothing, whatever was guessed."""
    assert list(parts_of(None)) == []


WRITE = TODOS.tools[0].fields
wrappers = st.lists(st.sampled_from(["arguments", "input", "parameters", "args"]), max_size=3)


@given(valid(WRITE), wrappers)
def test_wrapped_or_not_the_arguments_are_the_same(arguments, keys):
    """Up to three wrappers come off, and each is told."""
    reading, wrapped = Reading(), arguments
    for key in keys:
        wrapped = {"name": "write_todos", key: wrapped}
    assert arguments_in(wrapped, WRITE, reading) == arguments
    assert [repair.code for repair in reading.repairs] == ["wrapper"] * len(keys)
    assert not reading.problems


def test_a_bare_list_is_adopted_only_where_it_can_mean_one_thing():
    """One list of entries takes it; of several the one that begins a plan, and only titles."""
    assert arguments_in(["a"], WRITE, Reading()) == {"todos": ["a"]}
    fields = LEAN.tools[0].fields
    assert arguments_in(["a", "b"], fields, Reading()) == {"write": ["a", "b"]}
    for other in (
        [],
        [1],
        ["a", "1 and 2"],
        ["done"],
        ["a", {"text": "b"}],
        ["a", '{"text": "b"}'],
    ):
        reading = Reading()
        assert arguments_in(other, fields, reading) is None
        assert (reading.problems[0].path, reading.problems[0].legal) == ("arguments", "an object")

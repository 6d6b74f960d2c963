"""Arguments against fields: values by target, repairs, problems. The table is in test_bad_input."""

from hypothesis import given
from hypothesis import strategies as st
from support.talk import TOOLSETS, valid

from todoplan.core.problems import Problem
from todoplan.dialogue.intake import (
    MOST_TABLES,
    Field,
    InputLimits,
    Intake,
    Kind,
    Repair,
    find_field,
    read,
    table_of,
)

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
    if Repair("ignored_key", "waitingFor", "waiting") in found.repairs:
        given_fields -= {"waiting"}  # what is closed waits for nothing
    if Repair("ignored_key", "waiting_for", "waiting") in found.repairs:
        given_fields -= {"waiting"}
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

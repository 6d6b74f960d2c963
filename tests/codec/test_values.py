"""Laws of values, objects and faults: nothing is coerced, and what is wrong is named."""

from datetime import UTC, datetime, timedelta, timezone

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents import any_text, approvals, json_values, objects, or_none, times

from todoplan.codec import dump_plan, json_schema, plan_to_data
from todoplan.codec.documents import TASK, write_task
from todoplan.codec.engine import (
    KINDS,
    MisfitError,
    count,
    field_path,
    ids,
    metadata,
    misfit,
    number,
    optional,
    positive,
    read_each,
    read_object,
    shown,
    text,
    time,
    write_fields,
    write_ids,
    write_metadata,
    write_time,
    wrong_shape,
)
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import (
    EMPTY,
    Approval,
    Claim,
    Evidence,
    FrozenDict,
    Status,
    Task,
    Waiting,
    freeze,
)
from todoplan.errors import CodecError

READERS = (count, ids, metadata, number, positive, text, time)


@given(json_values)
def test_a_reader_returns_an_equal_value_or_refuses(value):
    """What comes back equals what was given, and has its type."""
    for reader in READERS:
        try:
            read = reader(value)
        except MisfitError as error:
            assert error.found  # noqa: PT017 - either outcome is right
        else:
            assert read == freeze(value)
            assert isinstance(read, type(freeze(value)))


@given(times)
def test_a_time_comes_back_with_its_offset(at):
    """Instant, microseconds and offset are kept."""
    read = time(write_time(at))
    assert read == at
    assert read.utcoffset() == at.utcoffset()


@given(objects)
def test_metadata_come_back(value):
    """Any JSON object is written as plain dicts and lists."""
    assert write_metadata(metadata(value)) == value


def test_empty_metadata_are_shared():
    """A plan of tasks without metadata holds one empty object."""
    assert metadata({}) is EMPTY


@pytest.mark.parametrize(("reader", "lowest"), [(count, 0), (positive, 1)])
def test_a_count_begins_at_its_lowest(reader, lowest):
    """Below it, or other than a whole number, nothing passes."""
    assert reader(lowest) == lowest
    for wrong in (lowest - 1, True, 1.0, "1", None, 10**5000):
        with pytest.raises(MisfitError):
            reader(wrong)


@pytest.mark.parametrize("micros", [1, -1, 999_999, -60_000_001])
def test_an_offset_below_a_second_is_kept(micros):
    """Python 3.11 reads such an offset as UTC; we do not."""
    at = datetime(2025, 1, 1, tzinfo=timezone(timedelta(microseconds=micros)))
    assert time(write_time(at)) == at


def test_a_time_may_be_spelled_with_z():
    """UTC has two spellings."""
    assert time("2025-01-31T09:00:00.50000Z") == datetime(2025, 1, 31, 9, 0, 0, 500_000, tzinfo=UTC)


def test_all_faults_of_metadata_are_found():
    """Every value that JSON cannot hold is named with its path."""
    with pytest.raises(MisfitError) as caught:
        metadata({"a": [float("nan"), {1}], "b": FrozenDict({"c d": {2: 3}})})
    assert list(caught.value.found) == [
        (".a[0]", "NaN is no number that JSON can hold"),
        (".a[1]", "a Python set is no JSON value"),
        ('.b["c d"]', "2 is no key, a text"),
    ]


class Whole(int):
    """A number of a class of its own."""

    def __int__(self):
        return 99


class Real(float):
    """Another."""


@pytest.mark.parametrize(
    ("reader", "value", "plain"),
    [
        (count, Whole(0), 0),
        (positive, Whole(3), 3),
        (number, Whole(3), 3),
        (number, Real(0.5), 0.5),
    ],
)
def test_a_number_of_a_subclass_is_written_as_a_plain_one(reader, value, plain):
    """What is equal comes out; the subclass is not asked."""
    assert (reader(value), type(reader(value))) == (plain, type(plain))


def test_ids_may_be_texts_of_a_subclass():
    """They are texts; among others, each that is none is named with its place."""
    assert ids([]) == ()
    assert ids(["1", Status.PENDING]) == ("1", "pending")
    with pytest.raises(MisfitError) as caught:
        ids(["1", 2, None])
    assert [path for path, _ in caught.value.found] == ["[1]", "[2]"]


FIELDS = {"a": text, "b": optional(count)}


def found(read, *arguments):
    with pytest.raises(MisfitError) as caught:
        read(*arguments)
    return list(caught.value.found)


def test_fields_that_are_missing_are_left_out():
    """A reader sees only what is there; null is there."""
    assert read_object({"a": "x"}, FIELDS) == {"a": "x"}
    assert read_object({"a": "x", "b": None}, FIELDS, ("a", "b")) == {"a": "x", "b": None}


def test_all_faults_of_an_object_are_found():
    """Unknown keys, whatever their type, missing ones and wrong values."""
    wrong = found(read_object, {5: 1, "c d": 2, "b": "x"}, FIELDS, ("a",))
    assert wrong == [
        (".a", "missing"),
        ("[5]", "no such field; there are a, b"),
        ('["c d"]', "no such field; there are a, b"),
        (".b", '"x" is no whole number from 0 on'),
    ]


def test_each_counts_items_from_where_it_is_told():
    """Every item is converted, and every fault has its place."""
    assert read_each([1, 2], count) == (1, 2)
    assert [path for path, _ in found(read_each, ["a", 1, None], count, 7)] == ["[7]", "[9]"]


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


OBJECTS = (Waiting, Evidence, Approval, Claim)
OF_OBJECTS = {kind: KINDS[kind].read for kind in OBJECTS}
waiting, evidence, approval, _ = OF_OBJECTS.values()
NAMES = [(kind, field.name) for kind in OBJECTS for field in attrs.fields(kind)]
AT = datetime(2026, 1, 1, tzinfo=UTC)


def faults(call, value):
    """Return every fault that is named, by its path."""
    with pytest.raises(MisfitError) as caught:
        call(value)
    return dict(caught.value.found)


@given(
    st.builds(Waiting, any_text, or_none(times), or_none(any_text))
    | st.builds(Evidence, st.booleans(), any_text, or_none(any_text), or_none(times))
    | approvals
    | st.builds(Claim, any_text, st.integers(1, 10**9), or_none(times))
)
def test_what_is_written_is_read(value):
    """Exactly, offsets of times included; nothing that has its default is written."""
    data = write_fields(value)
    assert repr(OF_OBJECTS[type(value)](data)) == repr(value)
    defaults = {field.name: field.default for field in attrs.fields(type(value))}
    assert all(held != defaults[name] for name, held in data.items())


@pytest.mark.parametrize("kind", OBJECTS)
def test_every_field_stands_in_the_schema(kind):
    """Those without a default are required."""
    names = [field.name for field in attrs.fields(kind)]
    part = json_schema()["$defs"][kind.__name__.lower()]
    required = [field.name for field in attrs.fields(kind) if field.default is attrs.NOTHING]
    assert list(part["properties"]) == names
    assert part["required"] == required


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("data", [None, [], "x", 5, True])
def test_what_is_no_object_is_refused(kind, data):
    """A text alone is no reason."""
    assert list(faults(OF_OBJECTS[kind], data)) == [""]


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_every_field_is_read_strictly(kind, name):
    """An object stands in none of them, and the fault names the field."""
    whole = {
        Waiting: {},
        Evidence: {"passed": True},
        Approval: {"revision": 1},
        Claim: {"owner": "bot", "fence": 1},
    }[kind]
    assert list(faults(OF_OBJECTS[kind], {**whole, name: {}})) == [f".{name}"]


def test_all_faults_are_named_at_once():
    """What is missing, unknown or of another kind."""
    assert faults(evidence, {"passed": 1, "when": "now", "at": "noon"}).keys() == {
        ".passed",
        ".when",
        ".at",
    }
    assert faults(evidence, {}) == {".passed": "missing"}
    assert faults(approval, {"by": "ann"}) == {".revision": "missing"}
    assert faults(evidence, {"passed": "yes"}) == {".passed": '"yes" is neither true nor false'}


def test_null_is_what_is_not_known():
    """Where a field may be missing as null."""
    assert waiting({"reason": "", "until": None, "question": None}) == Waiting()
    assert approval({"revision": 3, "by": None, "at": None}) == Approval(3)


def test_what_could_not_be_read_again_is_not_written():
    """Every such field is named; the core takes any text and time from whoever makes a value."""
    no_zone = Evidence(passed=True, at=AT)
    object.__setattr__(no_zone, "at", AT.replace(tzinfo=None))
    object.__setattr__(no_zone, "summary", 5)
    assert faults(write_fields, no_zone).keys() == {".at", ".summary"}
    far = Waiting(until=AT.replace(tzinfo=timezone(timedelta(hours=1, microseconds=1))))
    assert waiting(write_fields(far)) == far


def test_a_task_or_plan_that_holds_such_a_value_is_refused_with_its_path():
    """As every other field of it."""
    bad = Waiting("x")
    object.__setattr__(bad, "reason", None)
    assert faults(write_task, Task("1", "a", waiting=bad)) == {".waiting.reason": "null is no text"}
    for write in (dump_plan, plan_to_data):
        with pytest.raises(CodecError, match=r"tasks\[0\].waiting.reason: null is no text"):
            write(plan_of([Task("1", "a", waiting=bad)]))
        huge = plan_of([], approved=Approval(10**5000))
        with pytest.raises(CodecError, match=r"approved\.revision: a number of more than 4300"):
            write(huge)

"""Laws of waiting, evidence, claims and approval: what is written is read, the rest is named."""

from datetime import UTC, datetime, timedelta, timezone

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents import any_text, approvals, or_none, times

from todoplan.codec import dump_plan, json_schema, plan_to_data
from todoplan.codec.documents import write_task
from todoplan.codec.engine import (
    KINDS,
    MisfitError,
    write_fields,
)
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Approval, Claim, Evidence, Task, Waiting
from todoplan.errors import CodecError

OBJECTS = (Waiting, Evidence, Approval, Claim)
READERS = {kind: KINDS[kind].read for kind in OBJECTS}
waiting, evidence, approval, _ = READERS.values()
NAMES = [(kind, field.name) for kind in OBJECTS for field in attrs.fields(kind)]
AT = datetime(2026, 1, 1, tzinfo=UTC)


def faults(call, value):
    """
    Return every fault that is named, by its path.
    """
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
    assert repr(READERS[type(value)](data)) == repr(value)
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
    assert list(faults(READERS[kind], data)) == [""]


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_every_field_is_read_strictly(kind, name):
    """An object stands in none of them, and the fault names the field."""
    whole = {
        Waiting: {},
        Evidence: {"passed": True},
        Approval: {"revision": 1},
        Claim: {"owner": "bot", "fence": 1},
    }[kind]
    assert list(faults(READERS[kind], {**whole, name: {}})) == [f".{name}"]


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

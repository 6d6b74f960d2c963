"""Laws of checks: what was damaged is refused, what was only rewritten is not."""

import json

import pytest
from hypothesis import given
from support.documents import plans

from todoplan.codec import (
    dump_journal,
    dump_plan,
    entry_from_data,
    entry_to_data,
    load_journal,
    load_plan,
    plan_to_data,
)
from todoplan.codec.documents import UPCASTERS, entry_from_line, entry_to_line
from todoplan.codec.engine import checksum
from todoplan.core.decide import plan_of
from todoplan.core.events.apply import Entry
from todoplan.core.events.types import StatusChanged, TaskCreated
from todoplan.core.plan.model import Status, Task
from todoplan.errors import CodecError

PLAN = plan_of([Task("1", "Write the report", owner="ann"), Task("2", "Send it", estimate=12.5)])
ENTRIES = (
    Entry(1, (TaskCreated(Task("1", "Write the report", owner="ann")),), actor="ann", cause="x"),
    Entry(2, (StatusChanged("1", Status.PENDING, Status.COMPLETED),), undoes=1),
)


@given(plans())
def test_a_plan_with_a_check_comes_back(plan):
    """With a check a plan document holds the same, and the check."""
    text = dump_plan(plan, check=True)
    assert load_plan(text) == plan
    assert dump_plan(load_plan(text)) == dump_plan(plan)


def documents():
    """Return each kind of document with its reader."""
    return [
        (entry_to_line(ENTRIES[0]), entry_from_line),
        (entry_to_line(ENTRIES[1]), entry_from_line),
        (dump_plan(PLAN, check=True), load_plan),
        (dump_journal(ENTRIES).split("\n", 1)[1], lambda text: load_journal(HEAD + text)),
    ]


HEAD = dump_journal(())


@pytest.mark.parametrize("kind", range(4), ids=["created", "moved", "plan", "journal"])
def test_no_flipped_bit_is_read_as_another_document(kind):
    """Any bit of any document: an error, never other contents."""
    document, read = documents()[kind]
    right = read(document)
    for place in range(len(document)):
        for bit in range(7):
            damaged = bytearray(document.encode())
            damaged[place] ^= 1 << bit
            assert not_other(read, damaged.decode(), right)


def not_other(read, text, right):
    """Say whether a document is refused, or read as what was written."""
    try:
        return read(text) == right
    except CodecError:
        return True


def test_the_error_says_where():
    """The line of the journal, both checks, and what to do."""
    text = dump_journal(ENTRIES).replace("completed", "cancelled")
    with pytest.raises(CodecError, match=r"^this entry \(line 3\) is damaged: .*restore it") as one:
        load_journal(text)
    assert (one.value.data["problem"], one.value.data["line"]) == ("damaged", 3)
    assert one.value.data["said"] != one.value.data["found"]
    with pytest.raises(CodecError, match=r"^this plan is damaged: ") as two:
        load_plan(dump_plan(PLAN, check=True).replace("ann", "bob"))
    assert two.value.data["path"] == "check"


def test_what_was_written_without_a_check_is_read():
    """Documents of earlier times, and lines that other programs append."""
    text = HEAD + "".join(json.dumps(entry_to_data(entry)) + "\n" for entry in ENTRIES)
    assert load_journal(text) == ENTRIES
    assert "check" not in plan_to_data(PLAN)
    assert load_plan(dump_plan(PLAN)) == PLAN


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_document_that_was_only_rewritten_is_whole(indent, backwards):
    """Order of keys, spaces and escapes are not what a check is about."""
    plan = plan_of([Task("1", "Größe 😀 \ud83d", metadata={"b": 1, "a": [1.0, None]})])
    for document, read, right in (
        (dump_plan(plan, check=True), load_plan, plan),
        (entry_to_line(ENTRIES[0]), entry_from_line, ENTRIES[0]),
    ):
        data = json.loads(document)
        if backwards:
            data = dict(reversed(data.items()))
        assert read(json.dumps(data, indent=indent)) == right


@pytest.mark.parametrize("check", [5, None, "", "crc32:xyz", "sha256:00", "CRC32:00000000"])
def test_what_is_no_check_is_refused(check):
    """A check of a kind that this todoplan does not know cannot be passed over."""
    for read, data in (
        (entry_from_data, entry_to_data(ENTRIES[0])),
        (lambda data: load_plan(json.dumps(data)), plan_to_data(PLAN)),
    ):
        with pytest.raises(CodecError, match="no check such as crc32:0a1b2c3d") as caught:
            read({**data, "check": check})
        assert caught.value.data["path"] == "check"


@pytest.mark.parametrize("cause", [{1}, {1: 2, "a": 3}])
def test_data_that_are_no_json_have_no_check(cause):
    """They are refused, and nothing else is raised."""
    with pytest.raises(CodecError, match="now has no JSON"):
        entry_from_data({**entry_to_data(ENTRIES[0]), "cause": cause, "check": "crc32:00000000"})


def test_the_check_of_an_older_entry_is_of_what_was_written():
    """An upcaster sees the entry without it."""
    data = entry_to_data(ENTRIES[0])
    seen = []
    read = entry_from_data(
        {**data, "check": checksum(data)},
        version=0,
        upcasters={**UPCASTERS, 0: lambda old: seen.append(old) or old},
    )
    assert (read, seen) == (ENTRIES[0], [data])
    plan = {**plan_to_data(PLAN), "version": 0}
    old = json.dumps({**plan, "check": checksum(plan)})
    assert load_plan(old, upcasters={**UPCASTERS, 0: dict}) == PLAN

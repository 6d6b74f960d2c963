"""Laws of journal documents: JSON Lines, exact, and an error that names the line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents import entries

from todoplan.codec import VERSION, dump_journal, entry_from_data, entry_to_data, load_journal
from todoplan.core.events.apply import Entry
from todoplan.core.events.types import StatusChanged, TaskDeleted
from todoplan.core.plan.model import Status
from todoplan.errors import CodecError

ENTRY = Entry(2, (StatusChanged("1", Status.PENDING, Status.COMPLETED),), actor="ann", cause="x")
HEAD = dump_journal(())


def refused(text, **options):
    with pytest.raises(CodecError) as caught:
        load_journal(text, **options)
    return caught.value


@given(st.lists(entries, max_size=3).map(tuple))
def test_a_dumped_journal_loads_as_the_same_entries(journal):
    """Entries of every kind survive exactly, one a line behind the head."""
    text = dump_journal(journal)
    # The reprs: a priority in an edit is a priority again, not the word that equals it.
    assert repr(load_journal(text)) == repr(load_journal(text.encode())) == repr(journal)
    assert len(text.splitlines()) == len(journal) + 1
    assert text.endswith("\n")
    assert tuple(map(entry_from_data, map(entry_to_data, journal))) == journal


def test_an_entry_is_written_without_what_has_its_default():
    """Only what was said stands in the line."""
    assert entry_to_data(ENTRY) == {
        "revision": 2,
        "events": [
            {"type": "status_changed", "task_id": "1", "old": "pending", "new": "completed"}
        ],
        "actor": "ann",
        "cause": "x",
    }


def test_empty_lines_are_passed_over():
    """An editor's last line break, or a carriage return, is no entry."""
    text = "\n" + dump_journal([ENTRY, ENTRY]).replace("\n", "\r\n\r\n")
    assert load_journal(text) == (ENTRY, ENTRY)


HEADS = [
    *((text, "truncated", None) for text in ("", "\n \n", b"")),  # a file of no bytes lost its head
    ('{"format":"todoplan/plan","version":1}', "wrong_format", "format"),
    (json.dumps(entry_to_data(ENTRY)), "wrong_format", "format"),
    ('{"format":"todoplan/journal","version":1,"codec":"zip"}\n', "wrong_shape", "codec"),
]


@pytest.mark.parametrize(("text", "problem", "path"), HEADS)
def test_a_journal_begins_with_its_head(text, problem, path):
    """Nothing, a plan, or entries alone are no journal; what this version does not know is told."""
    error = refused(text)
    assert (error.data["problem"], error.data.get("path")) == (problem, path)
    assert refused(dump_journal([ENTRY]), limit=20).data["problem"] == "too_large"


def test_a_line_that_was_cut_is_named():
    """The error of a crash in the middle of writing names line and place."""
    error = refused(dump_journal([ENTRY, ENTRY])[:-9])
    assert (error.data["problem"], error.data["line"]) == ("truncated", 3)
    assert "in line 3" in str(error)


@pytest.mark.parametrize("version", range(1, VERSION + 1))
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{'a': 1}", "not_json"),
        ('{"revision": 1, "revision": 2, "events": []}', "duplicate_key"),
        ("[" * 100_000, "too_deep"),
        ("9" * 5000, "not_json"),
        ("5", "wrong_shape"),
        ('[["revision", 1], ["events", []]]', "wrong_shape"),
    ],
    ids=["quotes", "twice", "deep", "digits", "number", "pairs"],
)
def test_a_line_that_is_wrong_is_named(line, problem, version):
    """Whatever is wrong with a line, of any version, the error has its number."""
    error = refused(f'{{"format":"todoplan/journal","version":{version}}}\n{line}')
    assert (error.data["problem"], error.data["line"]) == (problem, 2)
    assert "line 2" in str(error)


def test_an_entry_that_json_cannot_hold_is_refused():
    """The error names the event and what is wrong in it."""
    with pytest.raises(CodecError) as caught:
        entry_to_data(Entry(1, (TaskDeleted("1"), TaskDeleted(5))))
    (problem,) = caught.value.data["problems"]
    assert (problem.path, problem.note) == ("events[1].task_id", "5 is no text")

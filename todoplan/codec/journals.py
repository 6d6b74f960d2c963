"""
Journals as documents, both ways: JSON Lines, a head and then one entry a line.

Each line that is written here ends in a checksum (`todoplan.codec.checks`); one without is read
as well. A line is whole or nothing: a crash while one was appended leaves a line that is refused.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from todoplan.codec.checks import CHECK, checksum, unchecked
from todoplan.codec.events import read_entry, write_entry
from todoplan.codec.faults import MisfitError, wrong_shape
from todoplan.codec.readers import read_object
from todoplan.codec.text import LIMIT, parse, to_text, to_unicode
from todoplan.codec.versions import JOURNAL, UPCASTERS, VERSION, Upcasters, check_head, upcast
from todoplan.core.events.journal import Entry
from todoplan.core.plan.validation import instance_of

__all__ = [
    "dump_journal",
    "entry_from_data",
    "entry_from_line",
    "entry_to_data",
    "entry_to_line",
    "load_journal",
]

_HEAD = {"format": JOURNAL, "version": VERSION}


def entry_to_data(entry: Entry) -> dict[str, Any]:
    """
    Return the entry as plain JSON values.

    Raises:
        CodecError: it holds what JSON cannot (NaN, a set), or a time without a zone.
    """
    instance_of(entry, Entry, "an Entry of a journal")
    try:
        return write_entry(entry)
    except MisfitError as error:
        raise wrong_shape(error.found, "entry that JSON can hold") from None


def entry_from_data(
    data: Any, *, version: int = VERSION, upcasters: Upcasters = UPCASTERS
) -> Entry:
    """
    Return the entry that `entry_to_data` wrote. `version` is that of the journal it stood in.

    Where the data hold a "check", as lines do, it has to be right.

    Raises:
        CodecError: faults in the data, each with its path, a check that is not that of the data, or
            a newer version.
    """
    return _entry(data, check_head({**_HEAD, "version": version}, JOURNAL), upcasters, {})


def entry_to_line(entry: Entry) -> str:
    """
    Return the entry as one line of JSON that ends in its checksum, without a line break.

    Raises:
        CodecError: as of `entry_to_data`.
    """
    data = entry_to_data(entry)
    return to_text({**data, CHECK: checksum(data)})


def entry_from_line(
    line: str | bytes, *, version: int = VERSION, upcasters: Upcasters = UPCASTERS
) -> Entry:
    """
    Return the entry that `entry_to_line` wrote; a line without a checksum is read as well.

    Raises:
        CodecError: as of `entry_from_data`, and for a line that is no JSON.
    """
    return entry_from_data(parse(to_unicode(line, LIMIT)), version=version, upcasters=upcasters)


def _entry(data: Any, version: int, upcasters: Upcasters, where: dict[str, Any]) -> Entry:
    what = f"entry (line {where['line']})" if where else "entry"
    try:
        # The check is of what was written, hence before an older entry is brought up to date.
        return read_entry(upcast(unchecked(data, what, where), version, upcasters))
    except MisfitError as error:
        raise wrong_shape(error.found, what, version=version, **where) from None


def dump_journal(entries: Iterable[Entry]) -> str:
    """
    Return the entries as JSON Lines. The text ends with a line break, so that a line may be
    appended: `entry_to_line` of an entry, which is in `todoplan.codec.journals`, and a line break.

    Raises:
        CodecError: as of `entry_to_data`.
    """
    return "\n".join([to_text(_HEAD), *map(entry_to_line, entries), ""])


def load_journal(
    text: str | bytes, *, limit: int = LIMIT, upcasters: Upcasters = UPCASTERS
) -> tuple[Entry, ...]:
    """
    Return the entries that `dump_journal` wrote; empty lines are passed over. `limit` is in bytes.

    A journal that was cut between two lines cannot be told from a shorter one.

    Raises:
        CodecError: the first line that is wrong, `data["line"]` from 1, with all faults in it.
    """
    lines = _lines(to_unicode(text, limit))
    line, head = next(lines, (1, ""))
    version = _version(parse(head, line))
    return tuple(
        _entry(parse(entry, line), version, upcasters, {"line": line}) for line, entry in lines
    )


def _version(head: Any) -> int:
    version = check_head(head, JOURNAL)
    try:
        read_object(head, {"format": str, "version": int})
    except MisfitError as error:
        raise wrong_shape(error.found, "head of a journal", version=version, line=1) from None
    return version


def _lines(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines: JSON allows U+2028 in a text, and other writers leave it there.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line

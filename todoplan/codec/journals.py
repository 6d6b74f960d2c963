"""
Journals as documents, in both directions: JSON Lines, with a head and then one entry per line.

Each line written here ends with a checksum (`todoplan.codec.checks`); a line without one is read as
well. An entry that was only partly appended because of a crash is refused.
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
        CodecError: a value cannot be represented in JSON (NaN, a set), or a time has no time zone.
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
    Return the entry that `entry_to_data` wrote. `version` is the version of the journal document.

    If the data have a "check", as lines do, it is verified.

    Raises:
        CodecError: the data have faults, which are listed with their paths; the checksum is wrong;
            or the version is newer than this todoplan.
    """
    return _entry(data, check_head({**_HEAD, "version": version}, JOURNAL), upcasters, {})


def entry_to_line(entry: Entry) -> str:
    """
    Return the entry as one line of JSON that ends with its checksum, without a line break.

    Raises:
        CodecError: the same errors as `entry_to_data`.
    """
    data = entry_to_data(entry)
    return to_text({**data, CHECK: checksum(data)})


def entry_from_line(
    line: str | bytes, *, version: int = VERSION, upcasters: Upcasters = UPCASTERS
) -> Entry:
    """
    Return the entry that `entry_to_line` wrote. A line without a checksum is read as well.

    Raises:
        CodecError: the same errors as `entry_from_data`; or the line is not JSON.
    """
    return entry_from_data(parse(to_unicode(line, LIMIT)), version=version, upcasters=upcasters)


def _entry(data: Any, version: int, upcasters: Upcasters, where: dict[str, Any]) -> Entry:
    what = f"entry (line {where['line']})" if where else "entry"
    try:
        # The checksum covers the data as written, so it is verified before upcasting an older
        # entry.
        return read_entry(upcast(unchecked(data, what, where), version, upcasters))
    except MisfitError as error:
        raise wrong_shape(error.found, what, version=version, **where) from None


def dump_journal(entries: Iterable[Entry]) -> str:
    """
    Return the entries as JSON Lines.

    The text ends with a line break. So an entry can be appended: `entry_to_line` (in
    `todoplan.codec.journals`) of the entry, and a line break.

    Raises:
        CodecError: the same errors as `entry_to_data`.
    """
    return "\n".join([to_text(_HEAD), *map(entry_to_line, entries), ""])


def load_journal(
    text: str | bytes, *, limit: int = LIMIT, upcasters: Upcasters = UPCASTERS
) -> tuple[Entry, ...]:
    """
    Return the entries that `dump_journal` wrote. Empty lines are skipped. `limit` is in bytes.

    A journal that was truncated between two lines cannot be distinguished from a shorter one.

    Raises:
        CodecError: a line is wrong. The error has the first such line, counted from 1, in
            `data["line"]`, and all its faults.
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
    # Not splitlines: JSON allows U+2028 in strings, and other programs write it unescaped.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line

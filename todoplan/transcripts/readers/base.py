"""What a reader is: how it knows its recordings, and how it gets signals out of them."""

import re
from collections.abc import Callable, Iterable, Iterator

import attrs

from todoplan.transcripts.calls import BadLine, Item
from todoplan.transcripts.document import document_records
from todoplan.transcripts.lines import Record, every_line, line_records
from todoplan.transcripts.linking import Linker, Signal
from todoplan.transcripts.probe import Probe
from todoplan.transcripts.sifting import settled, sifted
from todoplan.transcripts.source import Source

__all__ = ["Reader", "each", "ids_under", "records"]


@attrs.frozen
class Reader:
    """
    One dialect: whether a first look at a file shows it, and what the file says, in its order.

    `signals` has the calls of all tools. It may ask the linker which ids are awaited and whether
    other tools are of interest, to pass over lines that hold nothing wanted.
    """

    name: str
    recognises: Callable[[Probe], bool]
    signals: Callable[[Source, Linker], Iterator[Signal]]

    def read(self, source: Source) -> Iterator[Item]:
        """
        Give the items of the recording, each call with its result.
        """
        linker = Linker()
        return settled(linker.link(sifted(self.signals(source, linker))))


def ids_under(field: bytes) -> Callable[[bytes], list[bytes]]:
    """
    Make a function that finds the texts under this key in unparsed JSON, quickly.
    """
    pattern = re.compile(rb'"%b"\s*:\s*"((?:[^"\\]|\\.)*)"' % re.escape(field))
    return pattern.findall


def each(
    found: Iterable[Record | BadLine], of_record: Callable[[Record], Iterable[Signal]]
) -> Iterator[Signal]:
    """
    Give the signals of each record; lines that could not be read pass as they are.
    """
    for record in found:
        if isinstance(record, BadLine):
            yield record
        else:
            yield from of_record(record)


def records(
    source: Source, wanted: Callable[[bytes], bool] = every_line
) -> Iterator[Record | BadLine]:
    """
    Give the JSON objects of the recording, be it lines or a document.

    Lines that are not `wanted` may be left out; a document's objects are all there.
    """
    if source.form == "document":
        return document_records(source)
    return line_records(source, wanted)

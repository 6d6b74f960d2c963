"""
What a dialect's reader is, and how what it met becomes the items of a recording.

A reader turns records into signals: a call was sent, an answer came. The rest is the same for all
dialects, in this order: calls of other tools are set aside, each answer is joined to its call, and
what only an answer tells is applied. So a reader knows one format and nothing about planning.
"""

import re
from collections.abc import Callable, Iterable, Iterator

import attrs

from todoplan.core.plan.model import Status
from todoplan.texts.wording import say
from todoplan.transcripts.calls import BadLine, Item, OtherCall, PlanningCall
from todoplan.transcripts.files.document import document_records
from todoplan.transcripts.files.lines import Record, every_line, line_records
from todoplan.transcripts.files.probe import Probe
from todoplan.transcripts.files.source import Source
from todoplan.transcripts.readers.shared.join import Joiner, Seen, Signal
from todoplan.transcripts.tools import OWN_TOOL, canonical_tool, may_plan

__all__ = ["DialectReader", "each", "filter_answered", "filter_calls", "ids_under", "records"]

# Our refusals are known by how they begin: chat completions have no flag for an error.
_REFUSED = say("problems", "error", problems="").rstrip()
_SHOWN = re.compile(rf"#\d+ \[(?:{'|'.join(Status)})\] |{re.escape(say('replies', 'empty_list'))}")


def filter_calls(signals: Iterable[Signal]) -> Iterator[Signal]:
    """
    Turn calls of other tools into `OtherCall`. A `plan` without arguments stays: it may be ours.
    """
    for signal in signals:
        item = signal.item if isinstance(signal, Seen) else signal
        if isinstance(item, PlanningCall) and not may_plan(item.tool, item.arguments):
            yield OtherCall(item.tool, item.line)
        else:
            yield signal


def filter_answered(items: Iterable[Item]) -> Iterator[Item]:
    """
    Apply what only answers tell: what we refused, and whether a `plan` without arguments is ours.
    """
    for item in items:
        yield _judged_by_answer(item) if isinstance(item, PlanningCall) else item


def _judged_by_answer(call: PlanningCall) -> PlanningCall | OtherCall:
    result = call.result
    text = result.text if result else ""
    # Other products have a tool `plan` too: without arguments, only an answer that looks like our
    # list says whose it was.
    if canonical_tool(call.tool) == OWN_TOOL and not call.arguments and not _SHOWN.match(text):
        return OtherCall(call.tool, call.line)
    if result is None or result.is_error or not text.startswith(_REFUSED):
        return call
    return attrs.evolve(call, result=attrs.evolve(result, is_error=True))


@attrs.frozen
class DialectReader:
    """
    One dialect: whether a first look at a file shows it, and what the file says, in its order.

    `signals` has the calls of all tools. It may ask the joiner which ids are awaited and whether
    other tools are of interest, to pass over lines that hold nothing wanted.
    """

    name: str
    recognises: Callable[[Probe], bool]
    signals: Callable[[Source, Joiner], Iterator[Signal]]

    def read(self, source: Source) -> Iterator[Item]:
        """
        Give the items of the recording, each call with its result.
        """
        # Calls of other tools leave before the join: their answers are passed over, so that each
        # would hold up the queue.
        joiner = Joiner()
        return filter_answered(joiner.join(filter_calls(self.signals(source, joiner))))


def ids_under(field: bytes) -> Callable[[bytes], list[bytes]]:
    """
    Make a function that finds the texts under this key in unparsed JSON, quickly.
    """
    # A search in bytes: `wanted` asks it of nearly every line, so that most need no parsing.
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

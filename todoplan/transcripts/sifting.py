"""Which calls of a recording concern a plan: by the tool, for `plan` by what was said as well."""

import re
from collections.abc import Iterable, Iterator

import attrs

from todoplan.core.plan.model import Status
from todoplan.texts.wording import say
from todoplan.transcripts.calls import Item, OtherCall, PlanningCall
from todoplan.transcripts.linking import Seen, Signal
from todoplan.transcripts.tools import OWN_TOOL, canonical_tool, may_plan

__all__ = ["settled", "sifted"]

_REFUSED = say("problems", "error", problems="").rstrip()
_SHOWN = re.compile(rf"#\d+ \[(?:{'|'.join(Status)})\] |{re.escape(say('replies', 'empty_list'))}")


def sifted(signals: Iterable[Signal]) -> Iterator[Signal]:
    """
    Give the signals with calls that are none of a planning tool as such. A bare `plan` may be one.
    """
    for signal in signals:
        item = signal.item if isinstance(signal, Seen) else signal
        if isinstance(item, PlanningCall) and not may_plan(item.tool, item.arguments):
            yield OtherCall(item.tool, item.line)
        else:
            yield signal


def settled(items: Iterable[Item]) -> Iterator[Item]:
    """
    Give the items with what only answers tell: what we refused, and whether a bare `plan` is ours.
    """
    for item in items:
        yield _settled(item) if isinstance(item, PlanningCall) else item


def _settled(call: PlanningCall) -> PlanningCall | OtherCall:
    result = call.result
    text = result.text if result else ""
    if canonical_tool(call.tool) == OWN_TOOL and not call.arguments and not _SHOWN.match(text):
        return OtherCall(call.tool, call.line)
    if result is None or result.is_error or not text.startswith(_REFUSED):
        return call
    return attrs.evolve(call, result=attrs.evolve(result, is_error=True))

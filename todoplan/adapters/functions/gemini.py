"""The Gemini API: contents consist of parts, and a call need not have an id."""

from todoplan.adapters.functions.wire import GEMINI as _WIRE
from todoplan.lazy import listing

__all__ = [
    "answer",
    "calls_in",
    "make_tools",
    "read_messages",
    "results_of",
    "start_run",
    "with_reminder",
]
__dir__ = listing(__all__)

make_tools, calls_in, results_of = _WIRE.make_tools, _WIRE.calls_in, _WIRE.results_of
answer, start_run = _WIRE.answer, _WIRE.start_run
read_messages, with_reminder = _WIRE.read_messages, _WIRE.with_reminder

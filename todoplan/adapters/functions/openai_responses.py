"""The OpenAI Responses API, in which requests and responses consist of items."""

from todoplan.adapters.functions.wire import OPENAI_RESPONSES as _WIRE
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

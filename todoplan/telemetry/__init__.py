"""
Spans of plans for OpenTelemetry: `pip install 'todoplan[otel]'`, which brings its API alone.

`traced(toolbox)` is that toolbox with somebody looking on: give it wherever a toolbox is given, in
any adapter and any planner. Off unless that is done; where the spans go is the matter of the SDK
that the application sets up. `todoplan replay --otlp` makes the same of a recording.

`spans` is how calls and tasks become spans, `observing` what is told of them, and when.
"""

from todoplan.errors import MissingExtraError

try:
    import opentelemetry.trace  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "otel") from error

from todoplan.lazy import listing
from todoplan.telemetry.observing import traced

__all__ = ["traced"]
__dir__ = listing(__all__)

"""
OpenTelemetry spans for plans: `pip install 'todoplan[otel]'`, which installs only the API.

`traced(toolbox)` returns the toolbox with tracing. Pass it wherever a toolbox is accepted, in any
adapter and any planner. Nothing is traced without it. The SDK that the application configures
decides where spans are sent. `todoplan replay --otlp` writes the same spans for a recording.

`spans` turns calls and tasks into spans; `observing` connects them to a toolbox.
"""

from todoplan.errors import MissingExtraError

try:
    import opentelemetry.trace  # noqa: F401 - imported only to check that it is installed
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "otel") from error

from todoplan.lazy import listing
from todoplan.telemetry.observing import traced

__all__ = ["traced"]
__dir__ = listing(__all__)

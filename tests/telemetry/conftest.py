"""What the tests of spans share: a provider of the SDK that keeps them."""

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Kept:
    """A provider, and the spans that ended, by name."""

    def __init__(self):
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = self.provider.get_tracer("tests")

    def spans(self, name=""):
        """The spans whose name begins so."""
        return [span for span in self._exporter.get_finished_spans() if span.name.startswith(name)]


@pytest.fixture
def kept():
    """A provider that keeps what ends."""
    return Kept()

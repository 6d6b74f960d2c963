"""The adapter that the README walks through, under the conformance suite."""

from tempfile import mkdtemp

import pytest
from support.strands_host import ADAPTER, Strands, shown

from todoplan.testing.adapters import ALL, AdapterSuite, Capability


class TestStrands(AdapterSuite):
    """Strands parses arguments itself, tells of messages, not of events, and keeps UTF-8 files."""

    capabilities = ALL - {
        Capability.RAW_ARGUMENTS,
        Capability.TEXT_ARGUMENTS,
        Capability.BROKEN_TEXTS,
        Capability.EVENTS,
    }

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _sessions(cls, tmp_path_factory):
        cls.folder = tmp_path_factory.mktemp("sessions")

    def host(self, setup):
        return Strands(setup, mkdtemp(dir=self.folder))


def test_the_adapter_is_an_afternoon_long():
    """It takes at most 120 lines."""
    assert 60 < len(ADAPTER.code.splitlines()) <= 120


def test_the_suite_is_subclassed_as_shown():
    """The README leaves out what this file leaves out, in at most ten lines."""
    example = shown("code: strands suite")
    assert example.TestStrands.capabilities == TestStrands.capabilities
    assert len(example.code.splitlines()) <= 10

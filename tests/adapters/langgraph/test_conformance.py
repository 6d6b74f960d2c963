"""LangChain's agent, on LangGraph's graph and checkpointer, passes the conformance suite."""

from tempfile import mkdtemp

import pytest
from hypothesis import settings
from support.conformance_langgraph import AsyncLangGraph, AsyncStored, LangGraph, Stored

from todoplan.testing.adapters import ALL, AdapterSuite, Capability
from todoplan.testing.adapters.checks import Others, Turns

HANDED_ON = ALL - {
    Capability.TEXT_ARGUMENTS,
    Capability.RAW_ARGUMENTS,
    Capability.LONG_NUMBERS,
}


class TestLangGraph(AdapterSuite):
    capabilities = HANDED_ON - {Capability.TASKS, Capability.LIVE_EDITS}

    def host(self, setup):
        return LangGraph(setup)


class TestLangGraphAsync(AdapterSuite):
    reads_as = TestLangGraph
    capabilities = HANDED_ON - {Capability.LIVE_EDITS}

    def host(self, setup):
        return AsyncLangGraph(setup)


class Folder:
    """A folder for each host: plans are in files there."""

    kind = AsyncStored
    capabilities = HANDED_ON - {Capability.RETURNS}  # the store has it

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    def host(self, setup):
        return self.kind(setup, mkdtemp(dir=self.folder))


class TestLangGraphStored(Folder, AdapterSuite):
    reads_as = TestLangGraph
    drawing = settings(max_examples=3, deadline=None)


class TestLangGraphStoredInThreads(Folder, Turns, Others):
    """What may differ where the calls of a turn run in threads."""

    kind = Stored

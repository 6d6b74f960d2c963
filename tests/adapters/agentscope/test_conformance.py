"""AgentScope's agent, with its state saved and loaded, passes the conformance suite."""

from tempfile import mkdtemp

import pytest
from hypothesis import settings
from support.conformance_agentscope import AgentScope, Stored

from todoplan.testing.adapters import ALL, AdapterSuite, Capability


class TestAgentScope(AdapterSuite):
    capabilities = ALL - {
        Capability.RAW_ARGUMENTS,
        Capability.LONG_NUMBERS,
        Capability.DEEP_TEXTS,
        Capability.FINISH,
        Capability.RETURNS,
    }

    def host(self, setup):
        return AgentScope(setup)


class TestAgentScopeStored(TestAgentScope):
    reads_as = TestAgentScope
    drawing = settings(max_examples=3, deadline=None)

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    def host(self, setup):
        return Stored(setup, mkdtemp(dir=self.folder))

"""Pydantic AI's agent passes the conformance suite."""

from tempfile import mkdtemp

import pytest
from support.conformance_pydantic_ai import PydanticAI, Stored, Streamed

from todoplan.testing.adapters import ALL, AdapterSuite, Capability


class TestPydanticAI(AdapterSuite):
    capabilities = ALL - {Capability.LIVE_EDITS}

    def host(self, setup):
        return PydanticAI(setup)


class TestPydanticAIStored(AdapterSuite):
    reads_as = TestPydanticAI
    capabilities = ALL - {Capability.RETURNS}  # the store has it

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    def host(self, setup):
        return Stored(setup, mkdtemp(dir=self.folder))


class TestPydanticAIStreamed(AdapterSuite):
    reads_as = TestPydanticAI
    # What was streamed has been seen, and is kept.
    capabilities = ALL - {Capability.LIVE_EDITS, Capability.FURTHER_TURNS}

    def host(self, setup):
        return Streamed(setup)

"""MCP passes the conformance suite, in this process: a connection for each session."""

from itertools import count

import pytest
from support.conformance_mcp import MCP, Connections
from support.mcp_client import ERAS

from todoplan.testing.adapters import ALL, AdapterSuite, Capability

NO_MODEL = {
    Capability.MODEL,
    Capability.TURNS,
    Capability.REMINDERS,
    Capability.FURTHER_TURNS,
    Capability.FINISH,
    Capability.THOUGHTS,
    Capability.TEXT_ARGUMENTS,
    Capability.RAW_ARGUMENTS,
    Capability.LONG_NUMBERS,
    Capability.RETURNS,
}


class TestMCP(AdapterSuite):
    capabilities = ALL - NO_MODEL

    @pytest.fixture(autouse=True, params=ERAS)
    def _files(self, request, tmp_path):
        self.era, self.files = request.param, (tmp_path / f"{n}.json" for n in count())
        self.connections = Connections()
        yield
        self.connections.close()

    def host(self, setup):
        return MCP(setup, self.era, next(self.files), self.connections)

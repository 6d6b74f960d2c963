"""LlamaIndex passes the conformance suite: an agent that streams, and one in a workflow."""

from support.conformance_llama_index import WARNINGS, LlamaIndex, Workflow

from todoplan.testing.adapters import ALL, AdapterSuite, Capability

pytestmark = WARNINGS
# The framework reads a call's text by json.loads, and catches its ValueErrors only.
CAPABILITIES = ALL - {Capability.DEEP_TEXTS}


class TestLlamaIndex(AdapterSuite):
    capabilities = CAPABILITIES

    def host(self, setup):
        return LlamaIndex(setup)


class TestAgentWorkflow(AdapterSuite):
    reads_as = TestLlamaIndex
    capabilities = CAPABILITIES

    def host(self, setup):
        return Workflow(setup)

"""LlamaIndex passes the conformance suite: an agent that streams, and one in a workflow."""

from support.conformance_llama_index import WARNINGS, LlamaIndex, Workflow

from todoplan.testing.adapters import ALL, AdapterSuite

pytestmark = WARNINGS


class TestLlamaIndex(AdapterSuite):
    capabilities = ALL

    def host(self, setup):
        return LlamaIndex(setup)


class TestAgentWorkflow(AdapterSuite):
    reads_as = TestLlamaIndex
    capabilities = ALL

    def host(self, setup):
        return Workflow(setup)

"""The OpenAI Agents SDK passes the conformance suite, streamed or not; it marks no errors."""

from support.conformance_openai_agents import OpenAIAgents, StreamedOpenAIAgents

from todoplan.testing.adapters import ALL, AdapterSuite, Capability


class TestOpenAIAgents(AdapterSuite):
    capabilities = ALL - {Capability.ERROR_FLAG, Capability.RETURNS}

    def host(self, setup):
        return OpenAIAgents(setup)


class TestOpenAIAgentsStreamed(AdapterSuite):
    reads_as = TestOpenAIAgents
    capabilities = ALL - {Capability.ERROR_FLAG, Capability.RETURNS}

    def host(self, setup):
        return StreamedOpenAIAgents(setup)

"""Microsoft's Agent Framework passes the conformance suite, streamed and not."""

from support.conformance_agent_framework import AgentFramework, StreamedAgentFramework

from todoplan.testing.adapters import ALL, AdapterSuite, Capability

# The framework parses a call's arguments by json.loads, has no mark for a result that is an error,
# and gives a run a copy of the plan, which is not in what the run returns.
CAPABILITIES = ALL - {
    Capability.LONG_NUMBERS,
    Capability.DEEP_TEXTS,
    Capability.TEXT_ARGUMENTS,
    Capability.ERROR_FLAG,
    Capability.LIVE_EDITS,
    Capability.RETURNS,
}


class TestAgentFramework(AdapterSuite):
    capabilities = CAPABILITIES

    def host(self, setup):
        return AgentFramework(setup)


class TestStreamedAgentFramework(AdapterSuite):
    reads_as = TestAgentFramework
    capabilities = CAPABILITIES

    def host(self, setup):
        return StreamedAgentFramework(setup)

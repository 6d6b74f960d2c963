"""AgentScope's agent, with its state saved and loaded, passes the conformance suite."""

from support.conformance_agentscope import AgentScope

from todoplan.testing.adapters import ALL, AdapterSuite, Capability


class TestAgentScope(AdapterSuite):
    capabilities = ALL - {Capability.RAW_ARGUMENTS, Capability.FINISH, Capability.RETURNS}

    def host(self, setup):
        return AgentScope(setup)

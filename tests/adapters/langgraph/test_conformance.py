"""LangChain's agent, on LangGraph's graph and checkpointer, passes the conformance suite."""

from support.conformance_langgraph import AsyncLangGraph, LangGraph

from todoplan.testing.adapters import ALL, AdapterSuite, Capability

HANDED_ON = ALL - {Capability.TEXT_ARGUMENTS, Capability.RAW_ARGUMENTS}


class TestLangGraph(AdapterSuite):
    capabilities = HANDED_ON - {Capability.TASKS}

    def host(self, setup):
        return LangGraph(setup)


class TestLangGraphAsync(AdapterSuite):
    capabilities = HANDED_ON

    def host(self, setup):
        return AsyncLangGraph(setup)

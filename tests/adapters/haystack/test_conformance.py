"""Haystack passes the conformance suite, asynchronous and not."""

from support.conformance_haystack import Haystack, HaystackInThreads

from todoplan.testing.adapters import ALL, AdapterSuite, Capability

# Chat generators parse a call's arguments by json.loads, and a run has a copy of the plan.
CAPABILITIES = ALL - {
    Capability.LONG_NUMBERS,
    Capability.RAW_ARGUMENTS,
    Capability.TEXT_ARGUMENTS,
    Capability.LIVE_EDITS,
}


class TestHaystack(AdapterSuite):
    capabilities = CAPABILITIES

    def host(self, setup):
        return Haystack(setup)


class TestHaystackInThreads(AdapterSuite):
    reads_as = TestHaystack
    capabilities = CAPABILITIES

    def host(self, setup):
        return HaystackInThreads(setup)

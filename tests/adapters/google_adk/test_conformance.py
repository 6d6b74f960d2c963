"""Google ADK passes the conformance suite, streamed and not."""

from support.conformance_google_adk import GoogleADK, StreamedGoogleADK

from todoplan.testing.adapters import ALL, AdapterSuite, Capability

# A model's arguments are a dict in ADK, what a run returns are events, and a run has a copy of the
# session's state.
CAPABILITIES = ALL - {
    Capability.LIVE_EDITS,
    Capability.TEXT_ARGUMENTS,
    Capability.RAW_ARGUMENTS,
    Capability.RETURNS,
}


class TestGoogleADK(AdapterSuite):
    capabilities = CAPABILITIES

    def host(self, setup):
        return GoogleADK(setup)


class TestStreamedGoogleADK(AdapterSuite):
    reads_as = TestGoogleADK
    capabilities = CAPABILITIES

    def host(self, setup):
        return StreamedGoogleADK(setup)

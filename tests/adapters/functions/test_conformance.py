"""Plain function calling passes the conformance suite, in every provider's shapes."""

from support.conformance_functions import CHAT, GEMINI, MESSAGES, RESPONSES, Functions, Runs

from todoplan.testing.adapters import ALL, AdapterSuite, Capability

TEXT_ONLY = ALL - {Capability.ERROR_FLAG}
READ_BY_THE_SDK = ALL - {
    Capability.TEXT_ARGUMENTS,
    Capability.RAW_ARGUMENTS,
    Capability.LONG_NUMBERS,
}


class TestOpenAIChat(AdapterSuite):
    capabilities = TEXT_ONLY

    def host(self, setup):
        return Functions(CHAT, setup)


class TestOpenAIResponses(AdapterSuite):
    capabilities = TEXT_ONLY

    def host(self, setup):
        return Functions(RESPONSES, setup)


class TestAnthropicMessages(AdapterSuite):
    capabilities = READ_BY_THE_SDK

    def host(self, setup):
        return Functions(MESSAGES, setup)


class TestGemini(AdapterSuite):
    capabilities = READ_BY_THE_SDK

    def host(self, setup):
        return Functions(GEMINI, setup)


class TestRun(AdapterSuite):
    reads_as = TestOpenAIChat
    capabilities = TEXT_ONLY

    def host(self, setup):
        return Runs(setup)

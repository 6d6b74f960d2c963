"""Pydantic AI's agent passes the conformance suite."""

from support.conformance_pydantic_ai import PydanticAI, Stored, Streamed

from todoplan.testing.adapters import ALL, AdapterSuite, Capability


class TestPydanticAI(AdapterSuite):
    def host(self, setup):
        return PydanticAI(setup)


class TestPydanticAIStored(AdapterSuite):
    examples = 4

    def host(self, setup):
        return Stored(setup)


class TestPydanticAIStreamed(AdapterSuite):
    examples = 4
    capabilities = ALL - {Capability.FURTHER_TURNS}  # what was streamed has been seen: it is kept

    def host(self, setup):
        return Streamed(setup)

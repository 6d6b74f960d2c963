"""The Claude Agent SDK passes the conformance suite, with a program that plays the script."""

from itertools import count

import pytest
from support.conformance_claude_agent_sdk import ClaudeAgentSDK

from todoplan.testing.adapters import ALL, AdapterSuite, Capability


class TestClaudeAgentSDK(AdapterSuite):
    # The model runs in another program, which keeps what a hook has told. It is sent to the model
    # and not to us: no thoughts, no finish, no text of arguments. It makes calls one by one.
    capabilities = ALL - {
        Capability.MODEL,
        Capability.TURNS,
        Capability.REMINDERS,
        Capability.FURTHER_TURNS,
        Capability.FINISH,
        Capability.THOUGHTS,
        Capability.TEXT_ARGUMENTS,
        Capability.RAW_ARGUMENTS,
        Capability.LONG_NUMBERS,
        Capability.RETURNS,
    }

    @pytest.fixture(autouse=True)
    def _files(self, tmp_path):
        self.files = (tmp_path / f"{number}.json" for number in count())

    def host(self, setup):
        return ClaudeAgentSDK(setup, next(self.files))

"""Strands Agents passes the conformance suite."""

from support.conformance import InFolders
from support.conformance_strands import Strands

from todoplan.testing.adapters import ALL, AdapterSuite, Capability


class TestStrands(InFolders, AdapterSuite):
    # Strands parses the arguments of a call itself, and keeps its sessions as JSON in UTF-8. The
    # host makes an agent anew for each run, so that one that works is not the one that is edited.
    capabilities = ALL - {
        Capability.RAW_ARGUMENTS,
        Capability.TEXT_ARGUMENTS,
        Capability.LONG_NUMBERS,
        Capability.BROKEN_TEXTS,
        Capability.LIVE_EDITS,
        Capability.RETURNS,
    }

    def host(self, setup):
        return Strands(setup, self.new_folder())

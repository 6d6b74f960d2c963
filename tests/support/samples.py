"""Sample calls of each tool set, for tests that hold of any calls."""

from todoplan.dialogue.calls import Call
from todoplan.dialogue.tools import BASIC_TOOLSETS
from todoplan.testing.adapters.host import conversation


def sample_calls(name: str) -> list[Call]:
    """Return the calls of the conversation that the adapters' suite has with a tool set."""
    runs = conversation(BASIC_TOOLSETS[name])
    return [call for run in runs for turn in run for call in turn.calls]

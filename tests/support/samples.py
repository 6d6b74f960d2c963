"""Sample calls of each tool set, for tests that hold of any calls."""

import attrs

from todoplan.dialogue.calls import Call
from todoplan.dialogue.tools import BASIC_TOOLSETS
from todoplan.testing.adapters.host import conversation


def sample_turns(name: str) -> list[tuple[Call, ...]]:
    """Return the turns with calls, of the conversation that the checks have with a tool set."""
    runs = conversation(BASIC_TOOLSETS[name])
    return [turn.calls for run in runs for turn in run if turn.calls]


def sample_calls(name: str) -> list[Call]:
    """Return the calls of the conversation that the checks of adapters have with a tool set."""
    return [call for calls in sample_turns(name) for call in calls]


def published(toolset, call):
    """Return a call with the names that a variant of a tool set publishes: tool and arguments."""
    targets = {
        field.name: field.target for field in BASIC_TOOLSETS[toolset.name].find(call.name).fields
    }
    names = {field.target: field.name for field in toolset.find(call.name).fields}
    arguments = {names[targets[key]]: value for key, value in call.arguments.items()}
    return attrs.evolve(call, name=toolset.shown(call.name), arguments=arguments)

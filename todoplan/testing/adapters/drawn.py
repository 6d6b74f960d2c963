"""Talks as Hypothesis draws them: calls that fit a tool set's schema, and broken ones."""

import json

from hypothesis import strategies as st

from todoplan.dialogue.toolbox import Call
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.testing.adapters.script import ModelTurn
from todoplan.testing.adapters.talks import Run, is_utf8, says
from todoplan.testing.strategies import arguments, broken_arguments

__all__ = ["broken_runs", "talks"]


def talks(toolset: ToolSet) -> st.SearchStrategy[tuple[Run, ...]]:
    """
    Draw one or two runs of up to three turns, of up to three calls each.
    """
    calls = st.lists(arguments(toolset), min_size=1, max_size=3)
    return st.lists(_run(calls), min_size=1, max_size=2).map(tuple)


def broken_runs(toolset: ToolSet, *, raw: bool, whole: bool = False) -> st.SearchStrategy[Run]:
    """
    Draw runs of up to three turns whose calls are broken; `raw` if they may be no object at all,
    `whole` if their texts have to be UTF-8.
    """
    broken = broken_arguments(toolset, raw=raw).map(lambda one: _sent(one.call))
    fitting = broken.filter(
        lambda call: (
            (raw or isinstance(call.arguments, dict))
            and not (whole and not is_utf8(call.arguments))
        )
    )
    return _run(st.lists(fitting | arguments(toolset), min_size=1, max_size=2))


def _sent(call: Call) -> Call:
    """
    Return a call whose arguments are an object, or else the text of what they are.
    """
    given = call.arguments
    sent = given if isinstance(given, dict | str) else json.dumps(given)
    return Call(call.name, sent)


def _run(calls: st.SearchStrategy[list[Call]]) -> st.SearchStrategy[Run]:
    turn = calls.map(lambda made: ModelTurn(tuple(made)))
    return st.lists(turn, max_size=3).map(lambda turns: (*turns, says()))

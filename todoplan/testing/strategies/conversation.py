"""Conversations as guidance reads them: messages of any kind, and talks that could have been."""

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.dialogue.guidance.conversation import Message, ToolResult
from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.testing.strategies.hostile import hostile_texts
from todoplan.testing.strategies.text import few, texts

__all__ = ["conversations", "messages"]

_OTHERS = ("search", "read_file")
_FINISHES = ("", "stop", "end_turn", "tool_calls", "tool_use", "length", "MALFORMED_FUNCTION_CALL")
_WORDS = st.sampled_from(["", "a", "On it.", "Done."])


def _names(toolset: ToolSet) -> SearchStrategy[str]:
    return st.sampled_from((*toolset.tool_names, *_OTHERS))


def messages(toolset: ToolSet = TODOS) -> SearchStrategy[Message]:
    """
    Draw any message, also one that no framework would send.
    """
    names = _names(toolset)
    results = st.builds(ToolResult, names, st.booleans(), st.sampled_from(["", "call_1"]))
    return st.builds(
        Message,
        st.sampled_from(["user", "assistant", "tool", "system"]),
        _WORDS | texts() | hostile_texts(),
        few(names, 2),
        few(results, 2),
        st.integers(0, 1),
        st.sampled_from(_FINISHES),
        st.none() | st.integers(0, 9),
    )


@st.composite
def conversations(
    draw: DrawFn, toolset: ToolSet = TODOS, max_turns: int = 5, *, ended: bool | None = None
) -> tuple[Message, ...]:
    """
    Draw a talk: a user's wish, model turns whose calls are all answered, perhaps a final answer.

    `ended` says whether the final answer is there; reminders may stand among the messages.
    """
    talk = [Message("system", "You help.")] if draw(st.booleans()) else []
    talk.append(Message("user", draw(_WORDS)))
    for turn in range(draw(st.integers(0, max_turns))):
        talk += draw(_turn(toolset, turn))
    if draw(st.booleans()) if ended is None else ended:
        talk.append(Message("assistant", draw(_WORDS), finish=draw(st.sampled_from(["", "stop"]))))
    return tuple(talk)


@st.composite
def _turn(draw: DrawFn, toolset: ToolSet, turn: int) -> list[Message]:
    calls = draw(few(_names(toolset), 3, 1))
    ids = [f"call_{turn}_{place}" for place in range(len(calls))]
    results = [
        Message("tool", "ok", results=(ToolResult(name, draw(st.booleans()), call_id),))
        for name, call_id in zip(calls, ids, strict=True)
    ]
    shows = draw(st.none() | st.integers(0, 9))
    reminder = [] if shows is None else [Message("user", "the plan", shows=shows)]
    return [Message("assistant", draw(_WORDS), calls), *results, *reminder]

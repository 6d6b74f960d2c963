"""
Well-formed tool calls of a model, and conversations to test guidance (reminders) with.

Arguments follow the tool's published schema. Their ids are those of a plan.
"""

from collections.abc import Mapping
from typing import Any

import attrs
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.commands import ClaimTask
from todoplan.core.plan.model import Priority, Status
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import Message, ToolResult
from todoplan.dialogue.intake import DELETED, Field, Kind, read
from todoplan.dialogue.tools import CLAIM, TODOS, Tool, ToolSet
from todoplan.testing.strategies.text import few, titles

_WORDS = [status.value for status in Status]
_LEAF = st.none() | st.booleans() | st.integers(0, 9) | titles()
_SOME_IDS = ("1", "2", "3")
_OF_IDS = (Kind.ID, Kind.REF, Kind.IDS, Kind.REFS, Kind.ID_HINT)
_KINDS: dict[Kind, SearchStrategy[Any]] = {
    Kind.LINE: titles(),
    Kind.TEXT: titles(),
    Kind.STATUS: st.sampled_from(_WORDS),
    Kind.STATUS_OR_DELETED: st.sampled_from([*_WORDS, DELETED]),
    Kind.PRIORITY: st.sampled_from([priority.value for priority in Priority]),
    Kind.MINUTES: st.integers(0, 600) | st.floats(0, 600),
    Kind.DATE: st.dates().map(str),
    Kind.FLAG: st.booleans(),
    Kind.METADATA: st.dictionaries(titles(4), _LEAF, max_size=2),
}


def arguments(toolset: ToolSet, plan: Plan | None = None) -> SearchStrategy[Call]:
    """
    Draw a call of one of the set's tools, with arguments that intake reads without repairs.

    Ids are those of the plan; without a plan, or with an empty one, they are "1" to "3".
    """
    return st.sampled_from(toolset.tools).flatmap(
        lambda tool: arguments_of(tool, plan).map(
            lambda given: Call(toolset.shown(tool.key), given)
        )
    )


def turns(
    toolset: ToolSet, plan: Plan | None = None, max_size: int = 4
) -> SearchStrategy[tuple[Call, ...]]:
    """Draw the parallel calls of one model turn, each with its own call id."""
    drawn = st.lists(arguments(toolset, plan), min_size=1, max_size=max_size)
    return drawn.map(
        lambda calls: tuple(
            attrs.evolve(call, call_id=f"call_{n}") for n, call in enumerate(calls, 1)
        )
    )


@st.composite
def arguments_of(  # noqa: PLR0913 - all but the tool are optional
    draw: DrawFn,
    tool: Tool,
    plan: Plan | None = None,
    must: str = "",
    within: str = "",
    *,
    sparse: bool = False,
) -> dict[str, Any]:
    """
    Draw one tool's arguments. The argument named `must` is present, and is not an empty list.

    If `within` is given, `must` is a list whose entries all have the field `within`. With `sparse`,
    only required arguments are present.
    """
    ids = [task.id for task in plan or ()] or list(_SOME_IDS)
    shown = [field for field in tool.fields if not field.hidden]
    needed = {field.name for field in shown if field.required or field.name == must}
    optional = st.sampled_from([field.name for field in shown]) if shown else st.nothing()
    asked = set() if sparse else draw(st.sets(optional))
    values = {
        field.name: _value(field, ids, within if field.name == must else None) for field in shown
    }
    # Some tools refuse some sets of arguments. So the drawn set is tried first, then the required
    # arguments alone, then the required arguments with each other argument.
    drawn: dict[str, Any] = {}
    for names in (needed | asked, needed, *(needed | {field.name} for field in shown)):
        # Sorted: the order of a set differs between processes, and a failure could not be replayed.
        drawn |= {name: draw(values[name]) for name in sorted(names - drawn.keys())}
        given = {name: drawn[name] for name in sorted(names)}
        if makes_sense(tool, given):
            return given
    return reject()


def makes_sense(tool: Tool, given: Mapping[str, Any]) -> bool:
    """
    Return whether intake reads these arguments without repairs, and the tool can make a request
    from them.
    """
    intake = read(given, tool.fields)
    if intake.problems or intake.repairs:
        return False
    values = {**intake.values, CLAIM: ClaimTask("an agent")} if tool.with_claim else intake.values
    return not isinstance(tool.request(values), Problem)


def _value(field: Field, ids: list[str], within: str | None = None) -> SearchStrategy[Any]:
    """Draw a field's value. A list is not empty if `within` is not `None`."""
    least = int(within is not None)
    if field.kind is Kind.ITEMS:
        return st.lists(_entry(field, ids, within or ""), min_size=least, max_size=3)
    if field.kind is Kind.WAITS:
        return st.dictionaries(st.sampled_from(ids), titles(), max_size=2)
    if field.kind not in _OF_IDS:
        return _KINDS[field.kind]
    one = st.sampled_from(ids).map(int if field.numeric else str)
    if field.kind in (Kind.ID, Kind.REF, Kind.ID_HINT):
        return one
    return st.lists(one, unique=True, min_size=least, max_size=2)


def _entry(field: Field, ids: list[str], within: str) -> SearchStrategy[Any]:
    shown = {inner.name: inner for inner in field.items if not inner.hidden}
    values = {name: _value(inner, ids) for name, inner in shown.items()}
    # If an entry has a single field, only its value is drawn: in the tool set `lean`, entries are
    # titles.
    if len(shown) == 1 and not within:
        return next(iter(values.values()))
    needed = {name for name, inner in shown.items() if inner.required or name == within}
    return st.fixed_dictionaries(
        {name: values[name] for name in shown if name in needed},
        optional={name: values[name] for name in shown if name not in needed},
    )


# Tools that do not plan: a call of one must not count as showing the plan.
_OTHERS = ("search", "read_file")
_ANSWERS = st.sampled_from(["", "a", "On it.", "Done."])


@st.composite
def conversations(
    draw: DrawFn, toolset: ToolSet = TODOS, max_turns: int = 5, *, ended: bool | None = None
) -> tuple[Message, ...]:
    """
    Draw a user's request, model turns whose calls are all answered, and perhaps a final answer.

    `ended` decides whether there is a final answer. Reminders may be among the messages.
    """
    conversation = [Message("system", "You help.")] if draw(st.booleans()) else []
    conversation.append(Message("user", draw(_ANSWERS)))
    for turn in range(draw(st.integers(0, max_turns))):
        conversation += draw(_turn(toolset, turn))
    if draw(st.booleans()) if ended is None else ended:
        conversation.append(
            Message("assistant", draw(_ANSWERS), finish=draw(st.sampled_from(["", "stop"])))
        )
    return tuple(conversation)


@st.composite
def _turn(draw: DrawFn, toolset: ToolSet, turn: int) -> list[Message]:
    calls = draw(few(st.sampled_from((*toolset.tool_names, *_OTHERS)), 3, 1))
    ids = [f"call_{turn}_{place}" for place in range(len(calls))]
    results = [
        Message("tool", "ok", results=(ToolResult(name, draw(st.booleans()), call_id),))
        for name, call_id in zip(calls, ids, strict=True)
    ]
    shows = draw(st.none() | st.integers(0, 9))
    reminder = [] if shows is None else [Message("user", "the plan", shows=shows)]
    return [Message("assistant", draw(_ANSWERS), calls), *results, *reminder]

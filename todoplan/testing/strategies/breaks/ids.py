"""Breaks of ids and edges."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.tools.toolset import Tool
from todoplan.testing.strategies.breaks.breaking import Break, Pair, of_values

__all__ = ["BREAKS"]

_ID = (Kind.ID,)
_LISTS = (Kind.IDS, Kind.REFS)
_WAITS = frozenset({"add_blocked_by", "after"})
# Further than any id that the call itself may create.
_FAR = 100


def _pairs(*pairs: Pair) -> SearchStrategy[Pair]:
    return st.sampled_from(pairs)


def _shown(field: Field, number: int) -> Any:
    return number if field.numeric else str(number)


# sagents#116: ids that stay texts are sorted as texts, 10 before 2.
def _spelled(*formats: str) -> Any:
    def pairs(field: Field, _: Plan) -> SearchStrategy[Pair]:
        return st.sampled_from(formats).map(lambda form: (form.format(3), _shown(field, 3)))

    return pairs


def _listed(*given: Any) -> Any:
    def pairs(field: Field, _: Plan) -> SearchStrategy[Pair]:
        return st.sampled_from(given).map(
            lambda pair: (pair[0], [_shown(field, n) for n in pair[1]])
        )

    return pairs


def _unknown(field: Field, plan: Plan) -> SearchStrategy[Pair]:
    missing = _shown(field, plan.next_id + _FAR)
    return st.just((missing if field.kind is Kind.ID else [missing], None))


def _owned(tool: Tool) -> list[tuple[tuple[Field, ...], Field, Field]]:
    """
    Return where a tool takes an id and that one's blockers: the way there, the two fields.
    """
    ways = (((), tool.fields), *(((field,), field.items) for field in tool.fields))
    return [
        (way, task, ends)
        for way, fields in ways
        for task in fields
        for ends in fields
        if task.kind is Kind.ID and ends.target in _WAITS
    ]


def _waiting(tool: Tool, task_id: str, blocker: str) -> dict[str, Any]:
    way, task, ends = _owned(tool)[0]
    inner = {task.name: _shown(task, int(task_id)), ends.name: [_shown(ends, int(blocker))]}
    return {way[0].name: [inner]} if way else inner


def _itself(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    task_id = draw(st.sampled_from([task.id for task in plan] or ["1"]))
    return _waiting(tool, task_id, task_id), None


def _edges(plan: Plan) -> list[tuple[str, str]]:
    return [(task.id, end) for task in plan for end in task.blocks]


def _cycle(draw: DrawFn, tool: Tool, plan: Plan) -> Pair:
    return _waiting(tool, *draw(st.sampled_from(_edges(plan)))), None


BREAKS: tuple[Break, ...] = (
    of_values(
        "id_number",
        "taken",
        "an id as a whole number, or as its digits",
        _ID,
        lambda field, _: _pairs(*((given, _shown(field, 3)) for given in (3, "3", 3.0))),
    ),
    of_values(
        "id_spelling",
        "repaired",
        "an id with a sign or a word before it",
        _ID,
        _spelled("#{}", "task-{}", "Task #{}", " {} ", "0{}", "{}.0"),
    ),
    of_values(
        "no_id",
        "refused",
        "what is no id",
        _ID,
        # True is an int for Python, and "\uff13" and "\u00b2" are digits for str.isdigit.
        st.sampled_from([True, 3.5, "\uff13", "\u00b2", "x", 0, -3, {}]).map(lambda v: (v, None)),
    ),
    of_values(
        "ids_joined",
        "repaired",
        "several ids in one text",
        _LISTS,
        _listed(("1,2", (1, 2)), ("1 and 2", (1, 2)), ("1 2", (1, 2)), ("3", (3,))),
    ),
    of_values(
        "ids_nested",
        "repaired",
        "ids in lists or objects of their own",
        _LISTS,
        _listed(([[1]], (1,)), ([{"id": 1}, 2], (1, 2)), ({"id": 1}, (1,)), (1, (1,))),
    ),
    of_values(
        "no_ids",
        "refused",
        "a list of what are no ids",
        _LISTS,
        st.sampled_from([[[1, 2]], [{"x": 1}], "1;x", [None], [True]]).map(lambda v: (v, None)),
    ),
    of_values("id_twice", "repaired", "an id twice", _LISTS, _listed(([1, 1], (1,)))),
    # AgentScope drops it silently; Gemini's tracker keeps it, and the task can never be closed.
    of_values(
        "unknown_id", "refused", "an id that no task has", (*_ID, *_LISTS), _unknown, sparse=True
    ),
    Break(
        # AgentScope and pydantic-ai-todo take both this and the next.
        "self_edge",
        "refused",
        "a task that is to wait for itself",
        _itself,
        lambda tool, _: bool(_owned(tool)),
    ),
    Break(
        # Eino checks each edge of a call against the plan before it: two of them make a cycle.
        "cycle",
        "refused",
        "a blocker that is to wait for what it blocks",
        _cycle,
        lambda tool, plan: bool(_owned(tool)) and bool(_edges(plan)),
    ),
)

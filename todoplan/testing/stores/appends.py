"""Appends for the checks: drawn from the history of a plan, or made to add given tasks."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import count

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.commands import ApprovePlan, ClaimTask, CreateTask, RenewClaim
from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.types import TaskCreated
from todoplan.core.plan.model import EMPTY, FrozenDict, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.planner import Planner
from todoplan.stores.memory import MemoryStore
from todoplan.testing.strategies import arguments, hostile_texts, plans, sensible_commands
from todoplan.testing.strategies.text import titles
from todoplan.testing.strategies.values import metadata

# With microseconds, so that a store which keeps only milliseconds fails.
_NOON = datetime(2026, 1, 31, 12, 30, 15, 999_999, tzinfo=UTC)
_TIMES = st.datetimes(
    datetime(2000, 1, 1),  # noqa: DTZ001 - Hypothesis adds the zone
    datetime(2100, 1, 1),  # noqa: DTZ001 - same
    timezones=st.just(UTC),
)
_BOX = Toolbox(tasks(), Policy())  # no rules, so that drawn calls are not refused


@attrs.frozen
class Append:
    """The arguments of an `append`: the expected revision, the entries, and the plan after them."""

    expected: int
    entries: tuple[Entry, ...]
    plan: Plan


def adding(plan: Plan, *entries: Sequence[str], metadata: FrozenDict = EMPTY) -> Append:
    """
    Return an append with one entry for each sequence of subjects, and a task for each subject.
    """
    made, after = [], plan
    for subjects in entries:
        ids = zip(count(after.next_id), subjects, strict=False)
        new = (Task(str(n), each, metadata=metadata, created_at=_NOON) for n, each in ids)
        events = tuple(map(TaskCreated, new))
        after = replay(after, events)
        made.append(Entry(after.revision, events, _NOON, "ann", "CreateTasks"))
    return Append(plan.revision, tuple(made), after)


class _Noting(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.noted: list[Append] = []

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        self.noted.append(Append(expected, tuple(entries), plan))
        return super().append(plan_id, expected, entries, plan)


@st.composite
def appends(draw: DrawFn) -> tuple[Append, ...]:
    """
    Draw the appends of a plan's history.

    The first append has two entries. The others are made by commands, turns of calls, undo and
    restore, with texts and metadata of all kinds.
    """
    store = _Noting()
    planner = Planner(store, "a", toolbox=_BOX, clock=lambda: draw(_TIMES))
    # Every example has an append of two entries, because a store might write them one by one.
    planner.turn([Call("TaskCreate", {"subject": subject}) for subject in ("Dig", "Lay")])
    for _ in range(draw(st.integers(1, 6))):
        draw(_ACTIONS)(draw, planner)
    return tuple(store.noted)


def _attack(draw: DrawFn, planner: Planner) -> None:
    # Keys are attacked too: LangGraph's CVE-2025-8709, -64104 and -67644 used keys, not values.
    text = draw(hostile_texts())
    planner.apply(CreateTask(text, text, owner=text, metadata={**draw(metadata()), text: text}))


def _turn(draw: DrawFn, planner: Planner) -> None:
    calls = st.lists(arguments(_BOX.toolset, planner.plan), min_size=1, max_size=3)
    planner.turn(draw(calls), actor="model")


def _team(draw: DrawFn, planner: Planner) -> None:
    # Among sensible commands, claims, renewals and approvals are rare, and never follow each other.
    planner.apply(ClaimTask(draw(titles()), 60.0), actor="worker")
    for task in planner.plan:
        if task.claim:
            planner.apply(RenewClaim(task.id, task.claim.fence, 900.0), actor="worker")
    planner.apply(ApprovePlan("ann"))


_ACTIONS: SearchStrategy[Callable[[DrawFn, Planner], object]] = st.sampled_from(
    [
        lambda draw, planner: planner.apply(
            draw(sensible_commands(planner.plan)), actor=draw(st.none() | titles())
        ),
        _turn,
        _attack,
        lambda _, planner: planner.undo(actor="ann"),
        lambda draw, planner: planner.restore(draw(plans(max_size=3))),
        _team,
    ]
)

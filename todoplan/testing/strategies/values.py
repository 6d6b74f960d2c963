"""The entries of a plan: todos, tasks, and what their fields hold."""

from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.model import Priority, Status, Task, Todo
from todoplan.testing.strategies.text import any_ids, ids, texts, titles

__all__ = [
    "ACTIVE_FORMS",
    "DESCRIPTIONS",
    "ESTIMATES",
    "OWNERS",
    "PRIORITIES",
    "STATUSES",
    "aware_times",
    "json_values",
    "metadata",
    "tasks",
    "times",
    "todos",
]

STATUSES = st.sampled_from(Status)
PRIORITIES = st.sampled_from([None, None, *Priority])
ACTIVE_FORMS = st.sampled_from([None, None, "doing a", "doing b"])
DESCRIPTIONS = st.sampled_from(["", "why", "why not"])
OWNERS = st.sampled_from([None, None, "ann", "bob"])
ESTIMATES = st.sampled_from([None, None, 0.0, 1.0, 2.5, 30.0])
"""What may be missing is one choice, not two: a counterexample loses it in one step then."""


@cache
def aware_times() -> SearchStrategy[datetime]:
    """
    Draw aware times, in any zone.
    """
    zones = st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours)))
    return st.datetimes(timezones=zones)


@cache
def times() -> SearchStrategy[datetime | None]:
    """
    Draw an aware time, or `None`: not known.
    """
    return st.none() | aware_times()


@cache
def json_values() -> SearchStrategy[Any]:
    """
    Draw small JSON values.
    """
    leaves = st.none() | st.booleans() | st.integers(2, 9) | st.text(max_size=3)
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
        ),
        max_leaves=4,
    )


@cache
def metadata() -> SearchStrategy[dict[str, Any]]:
    """
    Draw metadata with few keys, so that they meet again.
    """
    return st.dictionaries(st.sampled_from(["k", "l", "m"]), json_values(), max_size=3)


@cache
def todos(
    text: SearchStrategy[str] | None = None,
    given_ids: SearchStrategy[str] | None = None,
    status: SearchStrategy[Status | None] | None = None,
) -> SearchStrategy[Todo]:
    """
    Draw lines of a whole-list write, with ids that may be wrong unless you say which are given.

    A status may be missing, unless you say which there are.
    """
    given = st.none() | (any_ids() if given_ids is None else given_ids)
    content = titles() if text is None else text
    said = st.none() | STATUSES if status is None else status
    return st.builds(Todo, content, said, ACTIVE_FORMS, PRIORITIES, given)


_Life = dict[str, Any]
_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_ONCE = st.integers(0, 500_000).map(lambda minutes: _DAY + timedelta(minutes=minutes))
_LATER = st.integers(0, 600).map(lambda minutes: timedelta(minutes=minutes))


def _life(made: datetime, worked: timedelta, status: Status) -> _Life:
    """
    Return the times of a task in a status: each is there when it should be, none before another.
    """
    ended = made + worked
    return {
        "created_at": made,
        "updated_at": ended,
        "started_at": None if status is Status.PENDING else made,
        "completed_at": ended if status is Status.COMPLETED else None,
    }


_LIVES: dict[Status, SearchStrategy[_Life]] = {
    status: st.just({}) | st.builds(_life, _ONCE, _LATER, st.just(status)) for status in Status
}
_META = metadata().map(FrozenDict)
_MORE = DESCRIPTIONS | texts()


@st.composite
def tasks(
    draw: DrawFn,
    text: SearchStrategy[str] | None = None,
    status: SearchStrategy[Status] = STATUSES,
    given_ids: SearchStrategy[str] | None = None,
) -> Task:
    """
    Draw a task without edges: alone it is a plan. Its times fit its status.
    """
    drawn = draw(status)
    return Task(
        draw(ids() if given_ids is None else given_ids),
        draw(titles() if text is None else text),
        draw(_MORE),
        drawn,
        draw(ACTIVE_FORMS),
        draw(PRIORITIES),
        draw(OWNERS),
        estimate=draw(ESTIMATES),
        metadata=draw(_META),
        **draw(_LIVES[drawn]),
    )

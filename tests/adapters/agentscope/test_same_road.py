"""The law of all adapters: the same calls give the same plans, events and replies."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from support.agentscope_agent import Desk

from todoplan.adapters.agentscope import PLAIN, make_tools, plan_of_state
from todoplan.codec import entry_from_data
from todoplan.core.plan.plan import Plan

NOON = datetime(2025, 1, 31, 12, tzinfo=UTC)
IDS = st.sampled_from(["1", "2", "3", "4", "9", 2, "#3"])
WORDS = st.sampled_from(["a", "b", "", "x y"])
STATUSES = st.sampled_from(["pending", "in_progress", "completed", "cancelled", "deleted", "done"])
NEW = st.fixed_dictionaries(
    {"subject": WORDS},
    optional={
        "description": WORDS,
        "blocked_by": st.lists(IDS, max_size=2),
        "priority": st.sampled_from(["high", "low"]),
        "estimate": st.integers(1, 60),
        "metadata": st.dictionaries(WORDS, st.none() | st.integers(), max_size=2),
    },
)
CHANGE = st.fixed_dictionaries(
    {"task_id": IDS},
    optional={
        "status": STATUSES,
        "subject": WORDS,
        "owner": WORDS,
        "add_blocks": st.lists(IDS, max_size=2),
        "add_blocked_by": st.lists(IDS, max_size=2),
        "remove_blocked_by": st.lists(IDS, max_size=2),
        "metadata": st.dictionaries(WORDS, st.none() | st.integers(), max_size=2),
    },
)
CALLS = st.lists(
    st.tuples(st.just("TaskCreate"), NEW)
    | st.tuples(st.just("TaskUpdate"), CHANGE)
    | st.tuples(st.just("TaskGet"), st.fixed_dictionaries({"task_id": IDS}))
    | st.tuples(st.just("TaskList"), st.just({})),
    max_size=8,
)


@given(CALLS, st.booleans())
def test_the_same_calls_give_the_same_plan_events_and_replies(calls, saving):
    """Through the toolkit and a state, also one that is saved and loaded after every call."""
    toolbox, plan = PLAIN.toolbox, Plan()
    desk = Desk(tools=make_tools(clock=lambda: NOON))
    for name, arguments in calls:
        reply = toolbox.call(plan, name, arguments, at=NOON)
        assert desk.call(name, **arguments) == reply.text
        assert (desk.last.state == "error") == reply.is_error
        news = desk.last.metadata.get("todoplan")
        assert (entry_from_data(news).events if news else ()) == reply.events
        plan, desk = reply.plan, desk.saved() if saving else desk
        assert plan_of_state(desk.state) == plan

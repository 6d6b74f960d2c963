"""Laws 2 and 3: events replay to the plan; what is accepted satisfies, what is refused is not."""

from hypothesis import given
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core.commands import Batch, RestorePlan
from todoplan.core.decide import Accepted, Rejected, decide
from todoplan.core.events.apply import apply, replay
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy, inspect


def history(script, policy):
    """Return the events of a script, and its plan."""
    plan, events = Plan(), []
    for command in script:
        answer = decide(plan, command, policy)
        if isinstance(answer, Accepted):
            events += answer.events
            plan = answer.plan
    return events, plan


@given(some.full_plans, some.commands, some.policies(), some.times)
def test_events_replay_to_the_plan_that_decide_returned(plan, command, policy, at):
    """Law 2: replay(events) upon the plan before is the plan after."""
    answer = decide(plan, command, policy, at=at)
    if isinstance(answer, Accepted):
        assert replay(plan, answer.events) == answer.plan
        assert bool(answer.events) or answer.plan is plan


@given(some.scripts, st.data())
def test_replay_of_a_sum_is_replay_upon_replay(script, data):
    """Law 2: replay(a + b) = replay(b) upon replay(a)."""
    events, plan = history(script, Policy())
    cut = data.draw(st.integers(0, len(events)))
    assert replay(replay(Plan(), events[:cut]), events[cut:]) == plan
    assert replay(Plan(), events) == plan


@given(some.scripts, some.policies(), some.policies())
def test_events_replay_under_any_policy(script, one, other):
    """Law 2: `apply` knows no rule: what one policy accepted, nobody refuses later."""
    events, plan = history(script, one)
    once_more = Plan()
    for event in events:
        once_more = apply(once_more, event)
    assert once_more == plan
    assert isinstance(decide(plan, Batch(()), other), Accepted)


steps = some.legal_lists | some.legal_writes | some.moves | some.updates | some.links
restored = some.full_plans.map(lambda plan: RestorePlan(tuple(plan), plan.next_id))


@given(st.lists(steps | restored | some.commands), some.policies())
def test_accepted_plan_satisfies_every_error_rule(script, policy):
    """Law 3: from an empty plan on, whatever is accepted is what the policy asks for."""
    plan = Plan()
    for command in script:
        answer = decide(plan, command, policy)
        if isinstance(answer, Accepted):
            plan = answer.plan
        assert inspect(plan, policy) == ()


@given(some.full_plans, some.commands, some.policies())
def test_refusal_changes_nothing(plan, command, policy):
    """Law 3: after a refusal tasks, order, revision and next id are as they were."""
    before = tuple(plan), plan.revision, plan.next_id, plan.counts, tuple(plan.ready())
    answer = decide(plan, command, policy)
    assert (tuple(plan), plan.revision, plan.next_id, plan.counts, tuple(plan.ready())) == before
    if isinstance(answer, Rejected):
        assert answer.problems
        assert decide(plan, command, policy) == answer


@given(some.full_plans, some.commands, some.policies())
def test_batch_of_one_is_the_command(plan, command, policy):
    """Law 3: a batch is handled in order as one, so one command in it means the same."""
    alone, wrapped = decide(plan, command, Policy()), decide(plan, Batch((command,)), Policy())
    assert alone == wrapped


@given(some.full_plans, st.lists(some.commands, max_size=4).map(tuple))
def test_batch_is_its_commands_in_order(plan, commands):
    """A batch gives the plan that its commands give one after the other, or nothing."""
    together = decide(plan, Batch(commands), Policy())
    apart = [decide(plan, commands[0], Policy())] if commands else []
    for command in commands[1:]:
        if isinstance(apart[-1], Accepted):
            apart.append(decide(apart[-1].plan, command, Policy()))
    if all(isinstance(answer, Accepted) for answer in apart):
        assert together.plan == (apart[-1].plan if apart else plan)
        assert together.events == tuple(event for answer in apart for event in answer.events)
    else:
        assert isinstance(together, Rejected)

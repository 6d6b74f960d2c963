"""Law 19: at most one live claim, growing fences, no change without the current one."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core import commands
from todoplan.core.decide import Accepted, decide
from todoplan.core.events.types import TaskClaimed
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FOUND = settings(max_examples=2_000, database=None, derandomize=True, phases=[Phase.generate])

_IDS, _FENCES = st.sampled_from("123"), st.integers(1, 4)
_LEASES = st.sampled_from([60.0, 120.0, 600.0])
_CLAIMS = st.one_of(
    st.builds(commands.ClaimTask, st.sampled_from(["w1", "w2"]), _LEASES, st.none() | _IDS),
    st.builds(commands.RenewClaim, _IDS, _FENCES, _LEASES),
    st.builds(commands.ReleaseClaim, _IDS, _FENCES),
    st.builds(commands.UpdateTask, _IDS, status=some.statuses, fence=st.none() | _FENCES),
)
# Not by `|`, which would draw from all kinds of commands alike: a seeded fault of claims then took
# more than 4,000 lives to be found.
_STEPS = st.sampled_from([_CLAIMS, _CLAIMS, _CLAIMS, some.commands]).flatmap(lambda kind: kind)
# Of each: what, how many seconds after the last, and whether it is given under the current fences.
LIVES = st.lists(
    st.tuples(_STEPS, st.sampled_from([0, 1, 59, 61, 700]), st.booleans()), max_size=20
)


def live(life, decided):
    """Take three tasks through a life, and assert the law after each step."""
    three = commands.CreateTasks(tuple(map(commands.CreateTask, "abc")))
    plan, at, highest = decided(Plan(), three, NOON, {}).plan, NOON, {}
    for command, seconds, holds in life:
        at += timedelta(seconds=seconds)
        fences = {t.id: t.claim.fence for t in plan if t.claim} if holds else {}
        answer = decided(plan, command, at, fences)
        if not isinstance(answer, Accepted):
            continue
        before, plan = plan, answer.plan
        # An earlier plan that is brought back may bring a task whose claims nobody knows any more.
        restored = isinstance(command, commands.RestorePlan) or not isinstance(command, _KNOWN)
        check_step(before, command, answer, at, fences, highest, restored=restored)
        for task in plan:
            assert task.claims >= (task.claim.fence if task.claim else 0)
            assert task.claim is None or task.status is Status.IN_PROGRESS


_KNOWN = (commands.ClaimTask, commands.RenewClaim, commands.ReleaseClaim, commands.UpdateTask)


def check_step(before, command, answer, at, fences, highest, *, restored):  # noqa: PLR0913, PLR0917 - all that is known of a step
    """Assert what the law says of one command that was accepted."""
    for event in answer.events:
        if isinstance(event, TaskClaimed) and not restored:
            assert event.claim.fence > highest.get(event.task_id, 0)
            highest[event.task_id] = event.claim.fence
    given = {command.task_id: command.fence} if getattr(command, "fence", None) else {}
    known = {**fences, **given}
    for was in before:
        if was.claim is None or was.claim.until <= at or restored:
            continue
        now = answer.plan.get(was.id)
        mine = known.get(was.id) == was.claim.fence
        # One live claim: it is neither given to another, nor is the status changed, without it.
        assert mine or (now is not None and now.status is was.status)
        assert mine or now.claim.fence == was.claim.fence
        if isinstance(command, commands.RenewClaim) and now is not None and now.claim is not None:
            assert now.claim.until >= was.claim.until


def soundly(plan, command, at, fences):
    """Decide as the core does."""
    return decide(plan, command, Policy(), at=at, fences=fences)


@given(LIVES)
def test_a_claim_is_one_and_its_fence_grows(life):
    """Whatever workers, people and time do to three tasks."""
    live(life, soundly)


def _gives_fences_twice(plan, command, at, fences):
    answer = soundly(plan, command, at, fences)
    if not isinstance(answer, Accepted):
        return answer
    events = (
        attrs.evolve(e, claim=attrs.evolve(e.claim, fence=1)) if isinstance(e, TaskClaimed) else e
        for e in answer.events
    )
    return attrs.evolve(answer, events=tuple(events))


def _asks_nobody(plan, command, at, fences):
    return soundly(plan, command, at, {t.id: t.claim.fence for t in plan if t.claim})


def _has_a_clock_of_its_own(plan, command, at, fences):
    return soundly(plan, command, at + timedelta(seconds=90), fences)


def _takes_any_fence(plan, command, at, fences):
    task = plan.get(getattr(command, "task_id", None) or "")
    if getattr(command, "fence", None) and task and task.claim:
        command = attrs.evolve(command, fence=task.claim.fence)
    return soundly(plan, command, at, fences)


FAULTS = [_gives_fences_twice, _asks_nobody, _has_a_clock_of_its_own, _takes_any_fence]


@pytest.mark.slow
@pytest.mark.parametrize("decided", FAULTS, ids=lambda each: each.__name__)
def test_a_seeded_fault_breaks_the_law(decided):
    """Each is found by the lives that the law is tested with."""

    @given(LIVES)
    @FOUND
    def law(life):
        live(life, decided)

    with pytest.raises(AssertionError):
        law()

"""The guide's page about property tests: its machine runs, and its failure is real."""

import re

import attrs
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from support.docs import defined, fenced, page
from support.failures import smallest_failure_of

from todoplan.core import commands
from todoplan.core.decide import plan_of
from todoplan.core.plan.plan import Plan
from todoplan.testing import strategies

SECTION = page("testing")
SHOWN = fenced("testing", "output: machine", "text").rstrip("\n")
RUN = settings(
    max_examples=15,
    stateful_step_count=10,
    database=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
)


def shown():
    """Return the names that the section's code defines."""
    return defined("testing", "machine")


def forgetful():
    """Return the section's machine with a loop that forgets edges."""

    class Forgetful(shown()["LoopMachine"]):
        def carry_out(self, command):
            plan = super().carry_out(command)
            bare = [attrs.evolve(task, blocks=(), blocked_by=()) for task in plan]
            kept = {"revision": plan.revision, "approved": plan.approved}
            return plan_of(bare, next_id=plan.next_id, **kept)

    return Forgetful


def test_the_machine_passes():
    """The machine passes with a right loop, and pytest collects its test case."""
    names = shown()
    run_state_machine_as_test(names["LoopMachine"], settings=RUN)
    assert names["TestLoop"].runTest


def test_the_failure_is_the_one_that_is_shown():
    """The shown step fails with the shown message."""

    @given(st.none())
    @settings(max_examples=1, database=None)
    def body(_):
        first, second = commands.CreateTask("a"), commands.CreateTask("a", blocked_by=("#0",))
        forgetful()().do(commands.CreateTasks((first, second)))

    with pytest.raises(AssertionError) as failure:
        body()
    assert str(failure.value) == SHOWN


@pytest.mark.slow
def test_the_failure_that_is_shown_is_what_is_found():
    """Hypothesis shrinks to the shown tasks and edge, whichever command makes them."""
    failure, text = smallest_failure_of(forgetful, settings(RUN, max_examples=200))
    step, _, told = str(failure).partition("\n")
    assert step.startswith("after CreateTask")
    assert told == SHOWN.partition("\n")[2]
    assert "\n  before:\n" in text


def test_what_is_named_is_there():
    """The strategies that the section names exist, and Hypothesis can draw plans."""
    text = SECTION.rpartition("```")[2]
    assert "`todoplan.testing.strategies` draws" in text
    for name in ("plans", "commands", "policies", "arguments", "conversations", "hostile_texts"):
        assert name in strategies.__all__
        assert name.replace("_", " ") in " ".join(text.split())
    assert "`BREAKS`" in text
    assert strategies.BREAKS
    once = settings(max_examples=1, phases=[Phase.generate], database=None)
    assert isinstance(find(st.from_type(Plan), lambda _: True, settings=once), Plan)


@pytest.mark.slow
def test_the_rule_that_is_shown_holds_and_its_gap_is_found():
    """The shown rule passes; without its line for new tasks it fails with such a report."""
    defined("testing", "rule")["test_urgent_first"]()
    shown_rule = fenced("testing", "code: rule", "python")
    line = "    ids += [task.id for task in change.written() if task.id not in change.before]\n"
    assert line in shown_rule
    gapped = {"__name__": "shown"}
    exec(shown_rule.replace(line, ""), gapped)  # noqa: S102 - our own page
    with pytest.raises(AssertionError) as failure:
        gapped["test_urgent_first"]()
    first, _, more = str(failure.value).partition("\n")
    shown_first, _, shown_more = fenced("testing", "output: rule", "text").rstrip().partition("\n")
    assert first == shown_first
    # The commands depend on the seed, but a task is always completed while an urgent one is open.
    titles = [
        "the commands before it:",
        "the plan before it:",
        "the command:",
        "the plan after it:",
    ]
    for told in (more, shown_more):
        assert [line for line in told.splitlines() if not line.startswith(" ")] == titles
        after = told.partition(titles[-1])[2]
        assert re.search(r"#\d+ \[(pending|in_progress)\] a .*priority='high'", after)
        before = told.partition(titles[1])[2].partition(titles[2])[0]
        done = [set(re.findall(r"(#\d+) \[completed\]", plan)) for plan in (before, after)]
        assert done[1] - done[0]


def test_the_section_is_short():
    """The page has fewer than 115 lines."""
    assert len(SECTION.splitlines()) < 115

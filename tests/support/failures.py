"""
The failure of a state machine that must fail.

Hypothesis shrinks a failure until no single step makes it smaller. Sometimes one task too many
remains. So the smallest failure of several runs is taken.
"""

import pytest
from hypothesis import seed
from hypothesis.stateful import run_state_machine_as_test

_RUNS = 7


def failure_of(machine_class, how):
    """Run a machine that must fail; return the failure, and its text with the notes."""
    with pytest.raises(AssertionError) as failure:
        run_state_machine_as_test(machine_class, settings=how)
    return failure.value, "\n".join([str(failure.value), *failure.value.__notes__])


def smallest_failure_of(make_machine, how):
    """Run machines that must fail; return the failure with the shortest text, and this text."""
    found = [failure_of(seed(number)(make_machine()), how) for number in range(_RUNS)]
    return min(found, key=lambda each: len(each[1]))

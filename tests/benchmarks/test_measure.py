"""Timing: contenders take turns, results are checked, and slow contenders are called once."""

import pytest

from benchmarks.figures import growth, row, rows, spread
from benchmarks.measure import Call, Effort, Taken, measure

pytestmark = pytest.mark.slow

QUICK = Effort(rounds=4, block=1, budget=10**9)


def passing(result):
    """Accept anything."""
    del result
    return True


def test_contenders_take_turns():
    """Each round runs every contender once, in the same order, and tidies after each block."""
    log = []
    calls = {
        name: Call(lambda name=name: log.append(name), passing, tidy=lambda: log.append("-"))
        for name in ("a", "b")
    }
    taken = measure(calls, QUICK)
    assert [len(each.rounds) for each in taken.values()] == [4, 4]
    assert log[-8:] == ["a", "-", "b", "-"] * 2


def test_inputs_are_fresh():
    """With `fresh` no two calls get the same input."""
    seen, numbers = [], iter(range(100_000))
    calls = {"a": Call(seen.append, passing, fresh=lambda: next(numbers), most=3)}
    assert len(measure(calls, QUICK)["a"].rounds) == 4
    assert len(seen) == len(set(seen))


def test_awaited_calls_are_awaited():
    """A coroutine function is run to its end."""
    seen = []

    async def run():
        seen.append(1)
        return 1

    taken = measure({"a": Call(run, lambda result: result == 1, awaited=True)}, QUICK)
    assert len(taken["a"].rounds) == 4
    assert len(seen) >= 5


def test_a_call_that_does_something_else_is_no_figure():
    """A result that `holds` does not accept stops the measurement."""
    with pytest.raises(AssertionError, match="does not do what it is named for: 3"):
        measure({"a": Call(lambda: 3, lambda result: result == 4)}, QUICK)


def test_who_is_too_slow_is_called_once():
    """A slow contender is called once and has a note; one that recurses too deeply has no time."""

    def deep():
        return deep()

    calls = {"a": Call(lambda: 1, passing), "b": Call(deep, passing)}
    taken = measure(calls, Effort(rounds=4, longest=-1))
    assert len(taken["a"].rounds) == 1
    assert taken["a"].note == "one call only"
    assert taken["b"] == Taken((), "RecursionError")


def test_ratios_are_of_the_same_round():
    """A ratio is the median of the rounds' ratios, and not the ratio of the medians."""
    taken = {"floor": Taken((1e3, 10e3, 2e3)), "ours": Taken((2e3, 10e3, 8e3))}
    found = {each["contender"]: each for each in rows("x", 5, taken)}
    assert found["ours"]["ratio"] == 2.0
    assert found["ours"]["ratio_quartiles"] == (1.5, 3.0)
    assert found["ours"]["us"] == 8.0
    assert found["floor"]["ratio"] == 1.0


def test_a_single_call_is_set_against_the_median():
    """A single call is compared with the base's median; without a time there is only the note."""
    found = row(Taken((6e3,), "one call only"), (1e3, 2e3, 3e3))
    assert (found["ratio"], found["note"]) == (3.0, "one call only")
    assert row(Taken((), "RecursionError"), (1.0,)) == {"note": "RecursionError"}
    assert "ratio" not in row(Taken((1.0,)), ())


def test_growth_is_the_exponent_between_the_last_two_sizes():
    """Quadratic growth has the exponent 2; for a single size there is none."""
    assert growth({1: 50.0, 10: 1.0, 100: 100.0}) == pytest.approx(2.0)
    assert growth({10: 1.0}) is None
    assert spread([4.0]) == (4.0, 4.0)

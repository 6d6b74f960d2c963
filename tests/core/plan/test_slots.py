import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core.plan.plan import Layout, bits, number_of, positions


@pytest.mark.parametrize("text", [*some.NO_IDS, "½", "²", "٣", "1_0", "+1", "1\n", "#1"])
def test_what_is_no_id_has_no_number(text):
    """Only digits without leading zeros, in ASCII, spell an id."""
    assert number_of(text) == 0


@given(st.integers(1, 10**18 - 1))
def test_number_of_an_id(number):
    """An id spells its number."""
    assert number_of(str(number)) == number


def test_an_id_has_at_most_18_digits():
    """One digit more, and a text is no id."""
    assert number_of("9" * 18) == 10**18 - 1
    assert number_of("9" * 19) == number_of("1" + "0" * 18) == 0


@pytest.mark.parametrize("length", [1, 17, 1_000_000])
def test_nothing_large_stays_behind(length):
    """Whatever ids a model makes up, less than 1 MB of them is kept."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(100 if length > 100 else 20_000):
            number_of(str(number).zfill(length))
            number_of(f"1{number:0{length}}")
        left = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert left < 1_000_000


@given(st.lists(st.integers(1, 400).map(str), unique=True), st.integers(1, 50))
def test_layout_gives_each_id_a_slot_of_its_own(ids, later):
    """The ids laid out stand at 0, 1, 2, ..., those to come behind them, one after the other."""
    next_id = max(map(int, ids), default=0) + later
    layout = Layout.of(ids, next_id)
    assert [layout.slot(task_id) for task_id in ids] == list(range(len(ids)))
    assert [layout.slot(str(next_id + n)) for n in range(3)] == [len(ids) + n for n in range(3)]
    assert all(layout.slot(text) == -1 for text in some.NO_IDS)


def test_counted_ids_need_no_table():
    """Ids 1 to n in order, with n + 1 to come, are the empty layout."""
    assert Layout.of(["1", "2", "3"], 4) == Layout()
    assert Layout.of([], 1) == Layout()
    assert Layout.of(["1", "2", "3"], 9) != Layout()


@given(st.sets(st.integers(0, 5000)))
def test_positions_are_those_of_the_bits_that_are_set(wanted):
    """Each bit that is set gives its position, in order, whatever word of the number it is in."""
    assert list(positions(sum(1 << slot for slot in wanted))) == sorted(wanted)


@given(st.lists(some.statuses), some.statuses)
def test_bits_are_the_places_of_a_status(statuses, wanted):
    """Each place where it stands is a bit that is set."""
    places = [place for place, status in enumerate(statuses) if status is wanted]
    assert list(positions(bits(statuses, wanted))) == places


def test_wide_gaps_between_bits_are_passed_over():
    """Words without a bit are skipped, at the start and in between."""
    wanted = [0, 1, 1023, 1024, 5000, 5001, 99_999]
    assert list(positions(sum(1 << slot for slot in wanted))) == wanted
    assert [list(positions(1 << place)) for place in (2047, 4096)] == [[2047], [4096]]
    assert list(positions(0)) == []

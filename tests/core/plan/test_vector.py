import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.plan.plan import CHUNK, Vector

writes = st.lists(st.tuples(st.integers(0, 3 * CHUNK), st.integers()), max_size=12)


def build(vector, pairs):
    """Return the vector with these positions set."""
    builder = vector.builder()
    for position, value in pairs:
        builder[position] = value
        assert builder[position] == value
    return builder.freeze()


@given(writes, writes)
def test_vector_is_a_list_with_versions(first, second):
    """Two rounds of writes give what a dict with a default gives, and the first version stays."""
    one = build(Vector(0), first)
    seen = list(one)
    two = build(one, second)
    assert list(one) == seen
    wanted = dict(first) | dict(second)
    assert list(two) == [wanted.get(n, 0) for n in range(max(wanted, default=-1) + 1)]
    assert len(two) == len(list(two))
    assert list(pickle.loads(pickle.dumps(two))) == list(two)  # noqa: S301 - our own bytes


@pytest.mark.parametrize("position", [-1, 3, 10_000])
def test_outside_is_the_fill(position):
    """Before the start and beyond the end stands the fill value, in a builder too."""
    vector = build(Vector(0), [(2, 5)])
    assert vector[position] == 0
    assert vector.builder()[position] == 0


def test_a_write_copies_one_chunk():
    """The versions share every chunk that was not written to."""
    old = build(Vector(0), [(10 * CHUNK - 1, 1)])
    new = build(old, [(3 * CHUNK, 7), (3 * CHUNK + 1, 8)])
    shared = [a is b for a, b in zip(old._chunks, new._chunks, strict=True)]
    assert shared == [number != 3 for number in range(10)]


@given(st.integers(0, 2 * CHUNK), st.lists(st.integers(0, 2 * CHUNK), max_size=3))
def test_items_are_put_behind_the_last(size, counts):
    """Many at once are what they are one by one; the version before keeps its end."""
    one = build(Vector(0), [(place, place) for place in range(size)])
    builder = one.builder()
    for count in counts:
        builder.extend([-1] * count)
    assert list(builder.freeze()) == [*range(size), *[-1] * sum(counts)]
    assert list(one) == [*range(size)]
    assert [len(chunk) for chunk in one.chunks()[:-1]] == [CHUNK] * (len(one.chunks()) - 1)


def test_a_frozen_vector_takes_no_more():
    """Neither a write, nor one beyond its end, nor items behind the last; it stays as it was."""
    vector = build(Vector(0), [(2, 5)])
    for write in (
        lambda: vector.extend([1]),
        *(lambda place=place: vector.__setitem__(place, 1) for place in (0, 2, 3, CHUNK)),
    ):
        with pytest.raises(TypeError, match="frozen"):
            write()
    assert (list(vector), [list(chunk) for chunk in vector.chunks()]) == ([0, 0, 5], [[0, 0, 5]])

"""Laws of a chunk writer: what it gives is what stands there, and nothing is written twice."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.plan.plan import CHUNK, ChunkWriter, Vector

PLACES = st.integers(0, 3 * CHUNK)
writes = st.lists(st.tuples(PLACES, st.none() | st.integers()), max_size=12)


def recording_writer():
    """Return a writer of numbers, and the list of all that it has written."""
    written = []

    def one(item):
        written.append(item)
        return f"<{item}>"

    return ChunkWriter(one, lambda items: [one(item) for item in items], "\n"), written


def build(vector, pairs):
    """Return the vector with these positions set."""
    builder = vector.builder()
    for position, value in pairs:
        builder[position] = value
    return builder.freeze()


def afresh(vector):
    """Return the texts of all items, made anew."""
    return "\n".join(f"<{item}>" for item in vector if item is not None)


def text_of(parts):
    return "\n".join(part.text for part in parts if part.text)


@given(st.lists(writes, min_size=1, max_size=4), st.data())
def test_kept_text_is_never_stale(rounds, data):
    """Whichever versions are looked at, in whatever order: gaps, longer ones, shorter ones."""
    writer, _ = recording_writer()
    versions = [Vector(None)]
    for pairs in rounds:
        versions.append(build(data.draw(st.sampled_from(versions)), pairs))
    for vector in data.draw(st.lists(st.sampled_from(versions), min_size=1, max_size=8)):
        parts = writer.parts(vector)
        assert text_of(parts) == afresh(vector)
        for part, chunk in zip(parts, vector.chunks(), strict=True):
            assert part.items is chunk
            assert part.pieces == ["" if item is None else f"<{item}>" for item in chunk]


def test_only_what_changed_is_written_again():
    """One item of one chunk, and what was added at the end; nothing, if nothing changed."""
    writer, written = recording_writer()
    old = build(Vector(None), [(place, place) for place in range(3 * CHUNK - 2)])
    before = writer.parts(old)
    assert len(written) == len(old)
    assert all(a is b for a, b in zip(before, writer.parts(old), strict=True))
    new = build(old, [(CHUNK + 3, -1), (len(old), -2)])
    written.clear()
    after = writer.parts(new)
    assert written == [-1, -2]
    assert [a is b for a, b in zip(before, after, strict=True)] == [True, False, False]


def test_writers_do_not_share_what_they_keep():
    """Each way of writing has its own texts of one vector."""
    vector = build(Vector(None), [(0, 1)])
    other = ChunkWriter(str, lambda items: [*map(str, items)], ",")
    assert [text_of(one.parts(vector)) for one in (recording_writer()[0], other)] == ["<1>", "1"]


def test_kept_texts_do_not_travel():
    """A pickle is as long after writing as before, and what comes out of it writes the same."""
    writer, _ = recording_writer()
    vector = build(Vector(None), [(0, 1), (CHUNK, 2)])
    before = pickle.dumps(vector)
    writer.parts(vector)
    assert pickle.dumps(vector) == before
    assert text_of(writer.parts(pickle.loads(before))) == "<1>\n<2>"  # noqa: S301 - our own bytes

"""
A vector as text. Each chunk is written once; in a changed chunk only the changed items are written.

A plan is written again after every call, as a document and as a view for the model, while a call
changes one task of a thousand. So the text of every chunk is cached together with the vector.

Law: the cached text of a chunk is the text of its present items. A chunk is never changed in place
(see `todoplan.core.plan.vector`), and items are immutable. So the same object has the same text,
comparing identities is enough, and no cached text is ever stale. All versions of a vector share the
cache. For each chunk it holds the text that was written last, and it is freed with the last
version.
"""

from collections.abc import Callable, Sequence
from itertools import compress, count
from operator import is_not
from typing import Generic, NamedTuple, TypeVar

from todoplan.core.plan.vector import Vector

__all__ = ["ChunkText", "ChunkWriter"]

T = TypeVar("T")


class ChunkText(NamedTuple, Generic[T]):
    """
    A chunk as text.

    `pieces` has the text of each position, "" for a gap; `text` is all the pieces joined.
    """

    items: Sequence[T | None]
    pieces: list[str]
    text: str


class ChunkWriter(Generic[T]):
    """
    A way to write items as text. An item's text depends on nothing else, and is never empty.

    `one` writes one item, `many` writes several at once with the same result; `joint` separates
    them.
    """

    __slots__ = ("_joint", "_many", "_one")

    def __init__(
        self, one: Callable[[T], str], many: Callable[[Sequence[T]], list[str]], joint: str
    ) -> None:
        self._one = one
        self._many = many
        self._joint = joint

    def parts(self, vector: Vector[T | None]) -> list[ChunkText[T]]:
        """
        Return a frozen vector as text, chunk by chunk. Exceptions from `one` and `many` propagate.
        """
        kept: dict[int, ChunkText[T]] = vector.notes.setdefault(self, {})
        parts = []
        for number, chunk in enumerate(vector.chunks()):
            part = kept.get(number)
            if part is None or part.items is not chunk:
                pieces = self._brought_up(chunk, part) if part else self._pieces(chunk)
                part = kept[number] = ChunkText(
                    chunk, pieces, self._joint.join(filter(None, pieces))
                )
            parts.append(part)
        return parts

    def _brought_up(self, chunk: Sequence[T | None], last: ChunkText[T]) -> list[str]:
        # `last` may belong to any version, older or newer; slicing copies, so its pieces stay
        # intact. Items are compared by identity: comparing 128 tasks field by field would cost more
        # than writing them.
        pieces = last.pieces[: len(chunk)]
        for place in compress(count(), map(is_not, chunk, last.items)):
            item = chunk[place]
            pieces[place] = "" if item is None else self._one(item)
        if len(chunk) > len(pieces):
            pieces += self._pieces(chunk[len(pieces) :])
        return pieces

    def _pieces(self, chunk: Sequence[T | None]) -> list[str]:
        present = [item for item in chunk if item is not None]
        if len(present) == len(chunk):
            return self._many(present)
        return ["" if item is None else self._one(item) for item in chunk]

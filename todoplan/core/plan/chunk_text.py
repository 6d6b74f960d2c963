"""
A vector as text: each chunk is written once, and in a changed one only the items that changed.

A plan is written anew after every call, as a document and as a view for the model, while a call
changes one task of a thousand. So the text of every chunk is kept, beside the chunks.

Law: what is kept is the text of the very items that stand there. A chunk is never changed in place
(see `todoplan.core.plan.vector`), and items are immutable: the same object means the same text, so
that comparing identities is enough and no kept text is ever stale. It is shared by the versions of
a vector, each chunk's last reader wins, and it goes when the last version goes.
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
    A chunk as text. `pieces` has a text for each place, "" for a gap; `text` is all of them joined.
    """

    items: Sequence[T | None]
    pieces: list[str]
    text: str


class ChunkWriter(Generic[T]):
    """
    A way to write items down, each made of nothing but itself and never empty.

    `one` writes an item, `many` several at once with the same result; `joint` stands between them.
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
        Return a frozen vector as text, chunk by chunk. What `one` and `many` raise is passed on.
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
        # `last` may be of any version, older or newer; the slice copies, so that its pieces stay.
        # By identity: comparing 128 tasks field by field would cost more than writing them.
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

"""
A persistent vector: chunks of a fixed size, copied on write. Old versions stay readable.

Theory. Items are stored in lists of `CHUNK` items each, and a vector is a list of these chunks.
Versions share the chunks in which they do not differ. One write copies one chunk and the list of
chunks: n / CHUNK pointers, which at 100,000 items costs less than one more level of a tree. A
builder records which chunks it has copied (`_owned`), so that a batch of writes copies each chunk
only once.

Law: a chunk that was ever part of a frozen vector is never changed in place. Hence the same chunk
means the same items. A cache of data about chunks (`todoplan.core.plan.chunk_text`) needs only to
compare identities; it needs no notice of changes.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Generic, NoReturn, TypeVar

__all__ = ["CHUNK", "Vector"]

T = TypeVar("T")

_BITS = 7  # chunks of 128: smaller ones make the list of chunks long, larger ones each copy
CHUNK = 1 << _BITS
_MASK = CHUNK - 1


# In prototypes, copying a dict took 20 times as long as the whole change at 10,000 tasks. A
# rerooting map is as fast, but reading an old version writes to it, which is unsafe with threads.
# Maps in C save only a microsecond.
class Vector(Generic[T]):
    """
    Items by position. Positions beyond the end have the `fill` value.

    A vector is immutable, except one returned by `builder` until `freeze` is called on it. `notes`
    is a cache for other modules to store data about the chunks (see
    `todoplan.core.plan.chunk_text`); all versions share it.
    """

    __slots__ = ("_chunks", "_owned", "fill", "notes", "size")

    def __init__(
        self,
        fill: T,
        chunks: list[list[T]] | None = None,
        size: int = 0,
        notes: dict[Any, Any] | None = None,
    ) -> None:
        self.fill = fill
        self.size = size
        self.notes = {} if notes is None else notes
        self._chunks = chunks or []
        # None if frozen. In a builder, the set of the chunks that it has copied.
        self._owned: set[int] | None = None

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, position: int) -> T:
        if 0 <= position < self.size:
            return self._chunks[position >> _BITS][position & _MASK]
        return self.fill

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self._chunks)

    def __reduce__(self) -> tuple[type["Vector[T]"], tuple[T, list[list[T]], int]]:
        # The notes are left out: they are a cache, which is filled again.
        return Vector, (self.fill, self._chunks, self.size)

    def chunks(self) -> Sequence[Sequence[T]]:
        """Return the chunks: `CHUNK` items each, the last one possibly fewer."""
        return self._chunks

    def builder(self) -> "Vector[T]":
        """Return a writable vector with these items; if this one is writable, return it."""
        if self._owned is not None:
            return self
        open_one = Vector(self.fill, self._chunks.copy(), self.size, self.notes)
        open_one._owned = set()
        return open_one

    def freeze(self) -> "Vector[T]":
        """Make the vector immutable and return it."""
        self._owned = None
        return self

    def __setitem__(self, position: int, value: T) -> None:
        owned = self._owned if self._owned is not None else self._refuse()
        if position >= self.size:
            self._grow(position + 1)
        number = position >> _BITS
        chunk = self._chunks[number] if number in owned else self._own(number)
        chunk[position & _MASK] = value

    def _refuse(self) -> NoReturn:
        msg = "a frozen vector cannot change; write to its builder"
        raise TypeError(msg)

    def _own(self, number: int) -> list[T]:
        owned = self._owned if self._owned is not None else self._refuse()
        if number not in owned:
            self._chunks[number] = self._chunks[number].copy()
            owned.add(number)
        return self._chunks[number]

    def _grow(self, size: int) -> None:
        first, last = self.size >> _BITS, (size - 1) >> _BITS
        if first < len(self._chunks):
            chunk = self._own(first)
            chunk.extend([self.fill] * (min(size - (first << _BITS), CHUNK) - len(chunk)))
        # One blank chunk is shared by all positions in between: a write to it copies it first.
        blank = [self.fill] * CHUNK
        while len(self._chunks) < last:
            self._chunks.append(blank)
        if len(self._chunks) == last:
            self._chunks.append(blank[: size - (last << _BITS)])
        self.size = size

    def extend(self, items: Sequence[T]) -> None:
        """Append the items, chunk by chunk."""
        if self._owned is None:
            self._refuse()
        taken = 0
        while taken < len(items):
            number = self.size >> _BITS
            if number == len(self._chunks):
                self._chunks.append([])
            chunk = self._own(number)
            part = items[taken : taken + CHUNK - len(chunk)]
            chunk.extend(part)
            taken += len(part)
            self.size += len(part)

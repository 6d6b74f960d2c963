"""
A persistent vector: chunks of a fixed size, copied on write, old versions stay readable.

Law: a frozen chunk is never changed. A vector shares its chunks with the versions before and after
it; while it is open it copies a chunk the first time it writes to it. One write to n items costs
one chunk and n / CHUNK pointers.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Generic, TypeVar

__all__ = ["CHUNK", "Vector"]

T = TypeVar("T")

_BITS = 7
CHUNK = 1 << _BITS
_MASK = CHUNK - 1


class Vector(Generic[T]):
    """
    Items by position. Beyond its end it holds the `fill` value.

    It is immutable, but for one that `builder` has just given, until `freeze` closes it.
    """

    __slots__ = ("_chunks", "_owned", "fill", "size")

    def __init__(self, fill: T, chunks: list[list[T]] | None = None, size: int = 0) -> None:
        self.fill = fill
        self.size = size
        self._chunks = chunks or []
        self._owned: set[int] | None = None

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, position: int) -> T:
        if 0 <= position < self.size:
            return self._chunks[position >> _BITS][position & _MASK]
        return self.fill

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self._chunks)

    def builder(self) -> "Vector[T]":
        """
        Return one that starts from these items and can be written to; itself, if it can already.
        """
        if self._owned is not None:
            return self
        open_one = Vector(self.fill, self._chunks.copy(), self.size)
        open_one._owned = set()
        return open_one

    def freeze(self) -> "Vector[T]":
        """
        Take no more writes.
        """
        self._owned = None
        return self

    def __setitem__(self, position: int, value: T) -> None:
        if position >= self.size:
            self._grow(position + 1)
        number = position >> _BITS
        if self._owned is None or number not in self._owned:
            self._own(number)
        self._chunks[number][position & _MASK] = value

    def _own(self, number: int) -> list[T]:
        if self._owned is None:
            msg = "a frozen vector cannot change; write to its builder"
            raise TypeError(msg)
        if number not in self._owned:
            self._chunks[number] = self._chunks[number].copy()
            self._owned.add(number)
        return self._chunks[number]

    def _grow(self, size: int) -> None:
        for number in range(self.size >> _BITS, (size - 1 >> _BITS) + 1):
            if number == len(self._chunks):
                self._chunks.append([])
            here = min(size - (number << _BITS), CHUNK)
            chunk = self._own(number)
            chunk.extend([self.fill] * (here - len(chunk)))
        self.size = size

    def extend(self, items: Sequence[T]) -> None:
        """
        Put the items behind the last, chunk by chunk.
        """
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

"""
A persistent vector: chunks of a fixed size, copied on write, old versions stay readable.

Law: a frozen chunk is never changed. A `Vector` shares its chunks with the versions before and
after it; a `Builder` copies a chunk the first time it writes to it and gives everything away when
it is frozen. One write to n items costs one chunk and n / CHUNK pointers.
"""

from collections.abc import Iterator
from typing import Generic, TypeVar

__all__ = ["CHUNK", "Builder", "Vector"]

T = TypeVar("T")

_BITS = 7
CHUNK = 1 << _BITS
_MASK = CHUNK - 1


class Vector(Generic[T]):
    """
    Items by position, immutable. Beyond its end it holds the `fill` value.
    """

    __slots__ = ("_chunks", "fill", "size")

    def __init__(self, fill: T, chunks: list[list[T]] | None = None, size: int = 0) -> None:
        self.fill = fill
        self.size = size
        self._chunks = chunks or []

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, position: int) -> T:
        if 0 <= position < self.size:
            return self._chunks[position >> _BITS][position & _MASK]
        return self.fill

    def __iter__(self) -> Iterator[T]:
        for chunk in self._chunks:
            yield from chunk

    def builder(self) -> "Builder[T]":
        """
        Return a builder that starts from these items.
        """
        return Builder(self.fill, self._chunks.copy(), self.size)


class Builder(Generic[T]):
    """
    A vector under construction.
    """

    __slots__ = ("_chunks", "_fill", "_owned", "size")

    def __init__(self, fill: T, chunks: list[list[T]], size: int) -> None:
        self._fill = fill
        self._chunks = chunks
        self._owned: set[int] = set()
        self.size = size

    def __getitem__(self, position: int) -> T:
        if 0 <= position < self.size:
            return self._chunks[position >> _BITS][position & _MASK]
        return self._fill

    def __setitem__(self, position: int, value: T) -> None:
        while position >= self.size:
            self._append()
        self._writable(position >> _BITS)[position & _MASK] = value

    def _append(self) -> None:
        number = self.size >> _BITS
        if number == len(self._chunks):
            self._chunks.append([])
            self._owned.add(number)
        self._writable(number).append(self._fill)
        self.size += 1

    def _writable(self, number: int) -> list[T]:
        if number not in self._owned:
            self._chunks[number] = self._chunks[number].copy()
            self._owned.add(number)
        return self._chunks[number]

    def freeze(self) -> Vector[T]:
        """
        Return the items as a vector. The builder must not be used afterwards.
        """
        return Vector(self._fill, self._chunks, self.size)

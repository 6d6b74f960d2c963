"""Where tasks stand: from an id to a position, and sets of positions with a quick first member."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import attrs

from todoplan.core.vector import CHUNK

__all__ = ["LARGEST_GIVEN", "Layout", "SlotSet", "number_of"]

_LONGEST_ID = 18
LARGEST_GIVEN = 10**15
"""The highest id or next id that may come from outside: it leaves room to count on."""


@lru_cache(maxsize=16_384)
def number_of(task_id: str) -> int:
    """
    Return the number that an id spells, or 0 for what is no id ("007", "x", "½").
    """
    if len(task_id) > _LONGEST_ID or not (task_id.isascii() and task_id.isdecimal()):
        return 0
    return int(task_id) if task_id[0] != "0" else 0


@attrs.frozen
class Layout:
    """
    The position of every id, shared between versions of a plan.

    Ids from `first` on stand in the order of their numbers, from `base` on, so that adding a task
    changes nothing here. `placed` holds those whose order a whole-list write has changed.
    """

    placed: dict[str, int] = attrs.Factory(dict)
    base: int = 0
    first: int = 1

    def slot(self, task_id: str) -> int:
        """
        Return the position where this id stands or would stand; -1 if it has none.
        """
        if self.placed:
            slot = self.placed.get(task_id)
            if slot is not None:
                return slot
        number = number_of(task_id)
        return self.base + number - self.first if number >= self.first else -1

    @classmethod
    def of(cls, task_ids: Iterable[str], next_id: int) -> "Layout":
        """
        Lay these ids out one after the other; ids from `next_id` on follow them.
        """
        placed = {task_id: slot for slot, task_id in enumerate(task_ids)}
        counted = next_id == len(placed) + 1
        if counted and all(task_id == str(slot + 1) for task_id, slot in placed.items()):
            return cls()
        return cls(placed, len(placed), next_id)


class SlotSet:
    """
    A set of positions as one bit each: a word a chunk, and one bit a word that is not empty.
    """

    __slots__ = ("_summary", "_words")

    def __init__(self) -> None:
        self._words: list[int] = []
        self._summary = 0

    def copy(self) -> "SlotSet":
        """
        Return a set of its own with the same members.
        """
        twin = SlotSet()
        twin._words = self._words.copy()
        twin._summary = self._summary
        return twin

    def set(self, slot: int, *, member: bool) -> None:
        """
        Put the position in, or take it out.
        """
        number, bit = slot // CHUNK, 1 << (slot % CHUNK)
        if number >= len(self._words):
            self._words.extend([0] * (number + 1 - len(self._words)))
        word = self._words[number] | bit if member else self._words[number] & ~bit
        self._words[number] = word
        here = 1 << number
        self._summary = self._summary | here if word else self._summary & ~here

    def __len__(self) -> int:
        return sum(map(int.bit_count, self._words))

    def __iter__(self) -> Iterator[int]:
        for number in _bits(self._summary):
            yield from (number * CHUNK + offset for offset in _bits(self._words[number]))


def _bits(word: int) -> Iterator[int]:
    while word:
        lowest = word & -word
        yield lowest.bit_length() - 1
        word ^= lowest

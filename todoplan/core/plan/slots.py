"""Where tasks stand: from an id to a position, and sets of positions as the bits of a number."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import attrs

from todoplan.core.plan.validation import as_id

__all__ = ["LARGEST_GIVEN", "Layout", "number_of", "positions"]

_LONGEST_ID = 18
_WORD_BITS = 1024
_WORD = (1 << _WORD_BITS) - 1
LARGEST_GIVEN = 10**15
"""The highest id or next id that may come from outside: it leaves room to count on."""


@lru_cache(maxsize=16_384)
def number_of(task_id: str) -> int:
    """
    Return the number that an id spells, or 0 for what is no id ("007", "x", "½").

    Raises:
        PlanError: it is no text; all that looks a task up by its id ends here.
    """
    as_id(task_id)
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


def positions(bits: int) -> Iterator[int]:
    """
    Yield the positions of the bits that are set, lowest first.
    """
    base = 0
    while bits:
        word = bits & _WORD
        if not word:
            blank = ((bits & -bits).bit_length() - 1) // _WORD_BITS * _WORD_BITS
            bits >>= blank
            base += blank
            continue
        while word:
            lowest = word & -word
            yield base + lowest.bit_length() - 1
            word ^= lowest
        bits >>= _WORD_BITS
        base += _WORD_BITS

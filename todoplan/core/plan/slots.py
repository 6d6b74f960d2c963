"""
Where tasks stand: from an id to a slot, and sets of slots as the bits of a number.

Theory. An id is a number that is never used twice, so a task's slot can be worked out from its id
and needs no table: id 1 stands in slot 0, id 2 in slot 1. A deleted task leaves its slot empty,
since closing the gap would move every task behind it; the plan is packed when gaps outweigh tasks
(`Draft.freeze`). Only where a whole-list write has put tasks in another order are their slots
written down, in `placed`, and ids to come are counted on from there.

A set of slots is a whole number with bit n for slot n (why: see `todoplan.core.plan.draft`).
"""

from collections.abc import Iterable, Iterator, Sequence

import attrs

from todoplan.core.plan.validation import as_id

__all__ = ["LARGEST_GIVEN", "Layout", "bits", "number_of", "positions"]

_LONGEST_ID = 18  # digits: a number that fits 64 bits in whatever reads a document
_WORD_BITS = 1024
_WORD = (1 << _WORD_BITS) - 1
_KEPT = 4096

LARGEST_GIVEN = 10**15
"""The highest id or next id that may come from outside: it leaves room to count on."""

_numbers: dict[str, int] = {}


def number_of(task_id: str) -> int:
    """
    Return the number that an id spells, or 0 for what is no id ("007", "x", "½").

    Raises:
        PlanError: it is no text; all that looks a task up by its id ends here.
    """
    # Asked several times for each task of a call, hence kept; but only for the few ids that most
    # plans have. A cache of whatever was asked for once held 382 MB of ids that a model made up.
    try:
        return _numbers[task_id]
    except (KeyError, TypeError):
        # What has no hash is no text, and as_id says so.
        as_id(task_id)
    # ASCII, since full-width digits are decimal as well: one task would have two ids.
    if len(task_id) > _LONGEST_ID or not (task_id.isascii() and task_id.isdecimal()):
        return 0
    if task_id[0] == "0":
        return 0
    number = int(task_id)
    if number <= _KEPT:
        # A plain text as key: one of a subclass would be kept alive, and hash as it likes.
        _numbers[str(number)] = number
    return number


@attrs.frozen
class Layout:
    """
    The slot of every id, shared between versions of a plan.

    Ids from `first` on stand in the order of their numbers, from `base` on, so that adding a task
    changes nothing here. `placed` holds those whose order a whole-list write has changed.
    """

    # Versions share this dict: after `of` nothing writes to it.
    placed: dict[str, int] = attrs.Factory(dict)
    base: int = 0
    first: int = 1

    def slot(self, task_id: str) -> int:
        """
        Return the slot where this id stands or would stand; -1 if it has none.
        """
        if self.placed:
            slot = self.placed.get(task_id)
            if slot is not None:
                return slot
        # The way of `number_of` to an id that is kept, without the call: ten times a command.
        try:
            number = _numbers[task_id]
        except (KeyError, TypeError):
            number = number_of(task_id)
        # -1 reads as the fill of every vector, so an unknown id needs no branch in any caller.
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


def bits(items: Sequence[object], wanted: object) -> int:
    """
    Return the set of the places where this very object stands.
    """
    # Read from binary digits at once: `|= 1 << place` would copy the number for every bit.
    digits = "".join(["1" if item is wanted else "0" for item in reversed(items)])
    return int(digits or "0", 2)


def positions(slots: int) -> Iterator[int]:
    """
    Yield the positions of the bits that are set, lowest first.
    """
    # Word by word: taking the lowest bit off a number of 100,000 bits copies all of it each time.
    base = 0
    while slots:
        word = slots & _WORD
        if not word:
            blank = ((slots & -slots).bit_length() - 1) // _WORD_BITS * _WORD_BITS
            slots >>= blank
            base += blank
            continue
        while word:
            lowest = word & -word
            yield base + lowest.bit_length() - 1
            word ^= lowest
        slots >>= _WORD_BITS
        base += _WORD_BITS

"""
The positions of tasks: a slot for each id, and sets of slots as the bits of an integer.

Theory. An id is a number that is never used twice, so a task's slot can be computed from its id
without a table: id 1 is in slot 0, id 2 in slot 1. A deleted task leaves its slot empty, because
closing the gap would move every later task; the plan is packed when the gaps outnumber the tasks
(`Draft.freeze`). Only when a whole-list write has changed the order of tasks are their slots
stored, in `placed`. The slots of later ids are counted on from the end of these.

A set of slots is an integer in which bit n stands for slot n (the reasons are in
`todoplan.core.plan.derived`).
"""

from collections.abc import Iterable, Iterator, Sequence

import attrs

from todoplan.core.plan.validation import as_id

__all__ = ["LARGEST_GIVEN", "Layout", "bits", "number_of", "positions"]

_LONGEST_ID = 18  # digits: such a number fits into a 64-bit integer, whatever reads a document
_WORD_BITS = 1024
_WORD = (1 << _WORD_BITS) - 1
_KEPT = 4096

LARGEST_GIVEN = 10**15
"""The highest id or next id that is accepted from outside. It leaves room for new ids."""

_numbers: dict[str, int] = {}


def number_of(task_id: str) -> int:
    """
    Return the number that an id spells, or 0 for a text that is not an id ("007", "x", "½").

    Raises:
        PlanError: the value is not a string. Every lookup of a task by id makes this check.
    """
    # Results are cached, because each call asks several times for each task. Only the low ids that
    # most plans have are cached: a cache of every argument once held 382 MB of ids that a model
    # made up.
    try:
        return _numbers[task_id]
    except (KeyError, TypeError):
        # An unhashable value is not a string; as_id raises the error.
        as_id(task_id)
    # ASCII only: full-width digits are decimal too, and would give one task two ids.
    if len(task_id) > _LONGEST_ID or not (task_id.isascii() and task_id.isdecimal()):
        return 0
    if task_id[0] == "0":
        return 0
    number = int(task_id)
    if number <= _KEPT:
        # The key is a plain str: one of a subclass would be kept alive, and could define its own
        # hash.
        _numbers[str(number)] = number
    return number


@attrs.frozen
class Layout:
    """
    The slot of every id, shared between versions of a plan.

    Ids from `first` on have consecutive slots from `base` on, so adding a task does not change the
    layout. `placed` holds the slots of the ids whose order a whole-list write has changed.
    """

    # Versions share this dict: nothing writes to it after `of`.
    placed: dict[str, int] = attrs.Factory(dict)
    base: int = 0
    first: int = 1

    def slot(self, task_id: str) -> int:
        """Return the slot that this id has or would have; -1 if it has none."""
        if self.placed:
            slot = self.placed.get(task_id)
            if slot is not None:
                return slot
        # The cache of `number_of`, read without the call: this runs ten times for each command.
        try:
            number = _numbers[task_id]
        except (KeyError, TypeError):
            number = number_of(task_id)
        # Every vector returns its fill value for -1, so no caller needs a branch for an unknown id.
        return self.base + number - self.first if number >= self.first else -1

    @classmethod
    def of(cls, task_ids: Iterable[str], next_id: int) -> "Layout":
        """
        Return a layout with these ids in consecutive slots, followed by the ids from `next_id` on.
        """
        placed = {task_id: slot for slot, task_id in enumerate(task_ids)}
        counted = next_id == len(placed) + 1
        if counted and all(task_id == str(slot + 1) for task_id, slot in placed.items()):
            return cls()
        return cls(placed, len(placed), next_id)


def bits(items: Sequence[object], wanted: object) -> int:
    """Return the set of positions at which `items` contains this very object, as an integer."""
    # Parsed from binary digits in one step: `|= 1 << place` would copy the integer for every bit.
    digits = "".join(["1" if item is wanted else "0" for item in reversed(items)])
    return int(digits or "0", 2)


def positions(slots: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, lowest first."""
    # Word by word: clearing the lowest bit of an integer of 100,000 bits copies all of it each
    # time.
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

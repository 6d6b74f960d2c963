"""
The least that Python must do: JSON arguments in, checks, a frozen task, counters, a journal, text.

A mutable plan. No transition rules, no dependencies but where the operation is about them, no
locking: what a real core adds to this is what the ratios show.
"""

from benchmarks.floors.chunks import ChunkedFloor
from benchmarks.floors.graphs import Graphs
from benchmarks.floors.items import Items
from benchmarks.floors.lists import Lists
from benchmarks.floors.statuses import flipping

__all__ = ["ChunkedFloor", "Floor", "flipping"]


class Floor(Items, Lists, Graphs):
    """
    A dict of frozen tasks, changed in place, with a journal.
    """

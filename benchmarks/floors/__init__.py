"""
The floor: the least work that Python needs for JSON arguments, checks, a frozen task, counters, a
journal and a reply.

The plan is mutable. There are no transition rules, no locks, and dependencies only in the
operations about them. The ratios show what a real core adds to this.
"""

from benchmarks.floors.chunks import ChunkedFloor
from benchmarks.floors.graphs import Graphs
from benchmarks.floors.items import Items
from benchmarks.floors.lists import Lists
from benchmarks.floors.statuses import flipping, flipping_lean

__all__ = ["ChunkedFloor", "Floor", "flipping", "flipping_lean"]


class Floor(Items, Lists, Graphs):
    """A dict of frozen tasks, changed in place, with a journal."""

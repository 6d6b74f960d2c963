"""
Arguments as models break them, each way with what is to come of it.

Read `breaking` first (what a break is), then `catalogue` (all of them, and the strategy that draws
one); `texts`, `lists`, `keys`, `values` and `ids` hold the ways, by what they break.
"""

from todoplan.testing.strategies.breaks.catalogue import BREAKS, broken_arguments

__all__ = ["BREAKS", "broken_arguments"]

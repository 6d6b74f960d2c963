"""
Property tests for plan behaviour: Hypothesis strategies, a machine to drive, two suites.

`todoplan.testing.strategies` draws plans, commands, tool arguments (also broken ones) and more;
`PlanMachine` and `ToolMachine` compare your agent loop, rules or tool set with todoplan's own
`decide`, step by step; `todoplan.testing.adapters` proves an adapter, `todoplan.testing.stores` a
store. Nothing of it is loaded before it is asked for.

Inside, read `strategies` first, for everything else draws from them, then `machine`, then the two
suites, which share only `assertions`; `failures` is what a failed check of an adapter says.
`registering` is what Hypothesis loads by itself.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from todoplan.errors import MissingExtraError
from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.testing import strategies
    from todoplan.testing.machine import PlanMachine, ToolMachine

__all__ = ["PlanMachine", "ToolMachine", "strategies"]
__dir__ = listing(__all__)

# Looked for, not imported: Hypothesis may be in the middle of its own import, and load this
# package by its entry point.
if find_spec(_NEEDED := "hypothesis") is None:
    raise MissingExtraError.of(_NEEDED, "testing")

if not TYPE_CHECKING:  # a type checker that saw it would let every misspelled name pass
    __getattr__ = loader(
        __name__, {"strategies": "strategies", "machine": ("PlanMachine", "ToolMachine")}
    )

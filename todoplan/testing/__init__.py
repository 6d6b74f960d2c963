"""
Property tests for plan behaviour: Hypothesis strategies, state machines, and two test suites.

`todoplan.testing.strategies` draws plans, commands, tool arguments (also broken ones) and more.
`find_counterexample` finds a change on which a rule of your own and your law disagree. The law is a
second function, which you write: it says whether a change is right. `PlanMachine` and `ToolMachine`
compare your agent loop, rules or tool set with todoplan's own `decide`, step by step.
`todoplan.testing.adapters` tests an adapter, `todoplan.testing.stores` tests a store. Names and
modules are loaded when they are first used.

To read the code, start with `strategies`, on which everything else is built, then `machine` and
`counterexamples`, then the two suites. They share `assertions`, and `failures`, which adds the law
of a failed check to its message. `registering` is the part that Hypothesis loads by itself.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from todoplan.errors import MissingExtraError
from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.testing import strategies
    from todoplan.testing.counterexamples import find_counterexample
    from todoplan.testing.machine import PlanMachine, RuleNeverFiredWarning, ToolMachine

__all__ = [
    "PlanMachine",
    "RuleNeverFiredWarning",
    "ToolMachine",
    "find_counterexample",
    "strategies",
]
__dir__ = listing(__all__)

# Searched for, not imported: Hypothesis may be in the middle of its own import when it loads this
# package through the entry point.
if find_spec(_NEEDED := "hypothesis") is None:
    raise MissingExtraError.of(_NEEDED, "testing")

if not TYPE_CHECKING:  # a type checker that saw it would let every misspelled name pass
    __getattr__ = loader(
        __name__,
        {
            "counterexamples": ("find_counterexample",),
            "machine": ("PlanMachine", "RuleNeverFiredWarning", "ToolMachine"),
            "strategies": "strategies",
        },
    )

"""
Property tests for plan behaviour: Hypothesis strategies, a machine to drive, two suites.

`todoplan.testing.strategies` draws plans, commands, tool arguments (also broken ones) and more;
`PlanMachine` and `ToolMachine` hold your rules, tool set or agent loop to a naive model of the
plan; `todoplan.testing.adapters` proves an adapter, `todoplan.testing.stores` a store. Nothing of
it is loaded before it is asked for.

Inside, read `strategies` first, for everything else draws from them, then `machine`, then the two
suites, which share only `assertions`. `registering` is what Hypothesis loads by itself.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from todoplan.errors import MissingExtraError

if TYPE_CHECKING:
    from todoplan.testing import strategies
    from todoplan.testing.machine import PlanMachine, ToolMachine

__all__ = ["PlanMachine", "ToolMachine", "strategies"]

if find_spec(_NEEDED := "hypothesis") is None:
    raise MissingExtraError.of(_NEEDED, "testing")

if not TYPE_CHECKING:  # a type checker that saw it would let every misspelled name pass

    def __getattr__(name: str) -> Any:
        if name == "strategies":
            return import_module("todoplan.testing.strategies")
        if name in __all__:
            return getattr(import_module("todoplan.testing.machine"), name)
        msg = f"module 'todoplan.testing' has no attribute {name!r}"
        raise AttributeError(msg)

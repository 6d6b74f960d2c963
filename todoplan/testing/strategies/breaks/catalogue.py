"""
Arguments as models break them: a catalogue, one entry a way, each with what is to come of it.

A break starts from well-formed arguments. What is `taken`, `repaired` or `guessed` reads as those
do, the last two with a note in the reply; where the container was `guessed`, the call is refused if
a task would go that it does not name (law 17). What is `refused` changes nothing. `ruled`: nothing
is wrong with the arguments, a rule of the policy says what becomes of them.
"""

from typing import Any

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import Call
from todoplan.dialogue.tools.toolset import Tool, ToolSet
from todoplan.errors import PlanError
from todoplan.testing.strategies.breaks import ids, keys, lists, texts, values
from todoplan.testing.strategies.breaks.breaking import Break, Expected

__all__ = ["BREAKS", "Break", "BrokenCall", "Expected", "broken_arguments"]

# In each of them, the issues named beside a break say where it was seen.
_MODULES = (texts, lists, keys, values, ids)
_ALL = (each for module in _MODULES for each in module.BREAKS)
BREAKS: dict[str, Break] = {each.name: each for each in _ALL}
"""Every way of breaking arguments, by its name."""


@attrs.frozen
class BrokenCall:
    """
    A call as it is sent, in which way it is broken, and the well-formed arguments that it means.

    `meant` is `None` where the call is to be refused.
    """

    call: Call
    broken: Break
    meant: dict[str, Any] | None


def broken_arguments(
    toolset: ToolSet, *names: str, plan: Plan | None = None, raw: bool = True
) -> SearchStrategy[BrokenCall]:
    """
    Draw calls that are broken in the named ways, in any if none is named.

    `raw=False` leaves out what only a text can be: for frameworks that parse arguments themselves.

    Raises:
        PlanError: there is no such break, or none that fits a tool of the set and the plan.
    """
    unknown = sorted(set(names) - set(BREAKS))
    if unknown:
        msg = f"no break is called {', '.join(unknown)}; there are {', '.join(BREAKS)}"
        raise PlanError(msg, unknown=unknown)
    stand = plan or Plan()
    fitting = [pair for pair in _pairs(toolset, stand, names) if raw or not pair[0].raw]
    if not fitting:
        msg = f"{toolset.name} has no tool that can be called so; name other breaks, or give a plan"
        raise PlanError(msg, names=names)
    return st.sampled_from(fitting).flatmap(lambda pair: _broken(*pair, toolset, stand))


def _pairs(toolset: ToolSet, plan: Plan, names: tuple[str, ...]) -> list[tuple[Break, Tool]]:
    chosen = [BREAKS[name] for name in names or BREAKS]
    return [(each, tool) for each in chosen for tool in toolset.tools if each.fits(tool, plan)]


@st.composite
def _broken(draw: DrawFn, broken: Break, tool: Tool, toolset: ToolSet, plan: Plan) -> BrokenCall:
    sent, meant = broken.make(draw, tool, plan)
    call = Call(toolset.shown(tool.key), sent)
    return BrokenCall(call, broken, None if broken.expected == "refused" else meant)

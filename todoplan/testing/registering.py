"""
Register the strategies with Hypothesis, so that `st.from_type(Plan)` and the like work.

Hypothesis calls `register` when it is imported, through the entry point `hypothesis`; importing
`todoplan.testing.strategies` also calls it. `register` imports only the core's classes; a strategy
is built when its type is first drawn. Hypothesis may be in the middle of its own import, so it is
imported as late as possible.
"""

from importlib import import_module
from typing import get_args

from todoplan.core.commands import Command
from todoplan.core.events.types import Event
from todoplan.core.plan.model import Approval, Claim, Evidence, Task, Todo, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Limits, Policy

_VALUES = (Plan, Task, Todo, Waiting, Claim, Evidence, Approval, Policy, Limits)
TYPES: tuple[type, ...] = (*_VALUES, *get_args(Command), *get_args(Event))
"""The registered types. `strategies.command.BY_TYPE` has a strategy for each."""


def register() -> None:
    """Register a strategy for each of todoplan's types. A second call has no further effect."""
    from hypothesis import strategies as st  # noqa: PLC0415 - see above

    # Importing the strategies at the top would build them in every run of Hypothesis, even in
    # projects that only have todoplan installed.
    home = "todoplan.testing.strategies.command"
    for type_ in TYPES:
        st.register_type_strategy(type_, lambda drawn: import_module(home).BY_TYPE[drawn])

"""
Hypothesis strategies for plans, commands, events, tool calls and conversations.

    from todoplan.testing import strategies as some

    @given(some.plans(shape="diamond"), some.arguments(TODOS))
    def test_it(plan, call): ...

Importing this module also registers the strategies, so that `st.from_type(Plan)` works. If todoplan
is installed, Hypothesis registers them by itself. Values shrink to simple ones: a plan to few tasks
without edges, a text to "a", a command to a plain creation.

`kinds={FieldKind.METADATA: ...}` of `plans` and `tasks` replaces the strategy for all fields of one
kind.

To read the code, start with `text`, then `values` (fields of tasks, tasks, plans, policies),
`command` (commands and events, independent of a plan or sensible for one, and scripts of them),
`near` (commands near a rule of the user's own), `calls` (what a model sends) and `breaks` (broken
calls).
"""

from todoplan.core.plan.model import FieldKind
from todoplan.lazy import listing
from todoplan.testing.registering import register
from todoplan.testing.strategies.breaks import BREAKS, broken_arguments
from todoplan.testing.strategies.calls import arguments, conversations, turns
from todoplan.testing.strategies.command import (
    commands,
    events,
    histories,
    scripts,
    sensible_commands,
)
from todoplan.testing.strategies.near import commands_near
from todoplan.testing.strategies.text import hostile_texts, texts
from todoplan.testing.strategies.values import plans, policies, tasks, todos

__all__ = [
    "BREAKS",
    "FieldKind",
    "arguments",
    "broken_arguments",
    "commands",
    "commands_near",
    "conversations",
    "events",
    "histories",
    "hostile_texts",
    "plans",
    "policies",
    "scripts",
    "sensible_commands",
    "tasks",
    "texts",
    "todos",
    "turns",
]
__dir__ = listing(__all__)

register()

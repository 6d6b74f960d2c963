"""
Hypothesis strategies for everything that goes into a plan, out of it, and around it.

    from todoplan.testing import strategies as some

    @given(some.plans(shape="diamond"), some.arguments(TODOS))
    def test_it(plan, call): ...

Importing this also registers them, so that `st.from_type(Plan)` works; where todoplan is installed
Hypothesis does that by itself. They shrink to little: a plan to few tasks without edges, a text to
"a", a command to a plain creation.

Inside, read `text`, then `values` (what a task's fields hold, tasks, plans, policies), `command`
(commands and events of no plan in particular) and `script` (those that make sense for a plan),
`hands` (lists as their writer last saw them), `calls` (what a model sends). `breaking`, `spots` and
`breaks` with its catalogue spoil such calls.
"""

from todoplan.testing.registering import register
from todoplan.testing.strategies.breaks import BREAKS, Break, BrokenCall, broken_arguments
from todoplan.testing.strategies.calls import (
    arguments,
    arguments_of,
    conversations,
    messages,
    turns,
)
from todoplan.testing.strategies.command import (
    batches,
    commands,
    creations,
    deletions,
    events,
    lists,
    restores,
    updates,
    writes,
)
from todoplan.testing.strategies.hands import Rewrite, rewrites
from todoplan.testing.strategies.script import histories, scripts, sensible_commands
from todoplan.testing.strategies.text import HOSTILE, hostile_texts, ids, texts, titles
from todoplan.testing.strategies.values import (
    SHAPES,
    Shape,
    field_values,
    json_values,
    limits,
    metadata,
    plans,
    policies,
    tasks,
    times,
    todos,
)

__all__ = [
    "BREAKS",
    "HOSTILE",
    "SHAPES",
    "Break",
    "BrokenCall",
    "Rewrite",
    "Shape",
    "arguments",
    "arguments_of",
    "batches",
    "broken_arguments",
    "commands",
    "conversations",
    "creations",
    "deletions",
    "events",
    "field_values",
    "histories",
    "hostile_texts",
    "ids",
    "json_values",
    "limits",
    "lists",
    "messages",
    "metadata",
    "plans",
    "policies",
    "register",
    "restores",
    "rewrites",
    "scripts",
    "sensible_commands",
    "tasks",
    "texts",
    "times",
    "titles",
    "todos",
    "turns",
    "updates",
    "writes",
]

register()

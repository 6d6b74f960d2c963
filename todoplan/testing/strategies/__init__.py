"""
Hypothesis strategies for everything that goes into a plan, out of it, and around it.

    from todoplan.testing import strategies as some

    @given(some.plans(shape="diamond"), some.arguments(TODOS))
    def test_it(plan, call): ...

Importing this also registers them, so that `st.from_type(Plan)` works; where todoplan is installed
Hypothesis does that by itself. They shrink to little: a plan to few tasks without edges, a text to
"a", a command to a plain creation.
"""

from todoplan.testing.registering import register
from todoplan.testing.strategies.breaks import BREAKS, Break, BrokenCall, broken_arguments
from todoplan.testing.strategies.calls import arguments, arguments_of, turns
from todoplan.testing.strategies.command import (
    batches,
    commands,
    creations,
    deletions,
    lists,
    restores,
    updates,
    writes,
)
from todoplan.testing.strategies.conversation import conversations, messages
from todoplan.testing.strategies.event import events, histories
from todoplan.testing.strategies.hostile import HOSTILE, hostile_texts
from todoplan.testing.strategies.policy import limits, policies
from todoplan.testing.strategies.script import scripts, sensible_commands
from todoplan.testing.strategies.shapes import SHAPES, Shape, plans
from todoplan.testing.strategies.text import ids, texts, titles
from todoplan.testing.strategies.values import json_values, metadata, tasks, times, todos

__all__ = [
    "BREAKS",
    "HOSTILE",
    "SHAPES",
    "Break",
    "BrokenCall",
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

"""
Hypothesis strategies for everything that goes into a plan, out of it, and around it.

    from todoplan.testing import strategies as some

    @given(some.plans(shape="diamond"), some.arguments(TODOS))
    def test_it(plan, call): ...

Importing this also registers them, so that `st.from_type(Plan)` works; where todoplan is installed
Hypothesis does that by itself. They shrink to little: a plan to few tasks without edges, a text to
"a", a command to a plain creation.

`kinds={FieldKind.METADATA: ...}` of `plans` and `tasks` has fields of one kind hold what you draw.

Inside, read `text`, then `values` (what a task's fields hold, tasks, plans, policies), `command`
(commands and events of no plan in particular), `sensible` (commands that make sense for a plan, and
scripts of them), `calls` (what a model sends) and `breaks` (such calls, broken).
"""

from todoplan.core.plan.model import FieldKind
from todoplan.lazy import listing
from todoplan.testing.registering import register
from todoplan.testing.strategies.breaks import BREAKS, broken_arguments
from todoplan.testing.strategies.calls import arguments, conversations, turns
from todoplan.testing.strategies.command import commands, events
from todoplan.testing.strategies.sensible import histories, scripts, sensible_commands
from todoplan.testing.strategies.text import hostile_texts, texts
from todoplan.testing.strategies.values import plans, policies, tasks, todos

__all__ = [
    "BREAKS",
    "FieldKind",
    "arguments",
    "broken_arguments",
    "commands",
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

"""
Hypothesis strategies for everything that goes into a plan, out of it, and around it.

    from todoplan.testing import strategies as some

    @given(some.plans(shape="diamond"), some.arguments(TODOS))
    def test_it(plan, call): ...

Importing this also registers them, so that `st.from_type(Plan)` works; where todoplan is installed
Hypothesis does that by itself. They shrink to little: a plan to few tasks without edges, a text to
"a", a command to a plain creation.

`kinds={FieldKind.METADATA: ...}` of `plans` and `tasks` has fields of one kind hold what you draw.

Inside, read `text`, then `values` (what a task's fields hold, tasks, policies), `shapes` (plans),
`command` and `teamwork` (commands and events of no plan in particular), `sensible` (commands that
make sense for a plan), `lines` (whole lists that do) and `script` (such in order), `hands` (what
several do to one plan), `calls` (what a model sends). `breaks` spoils such calls.
"""

from todoplan.core.plan.model import FieldKind
from todoplan.lazy import listing
from todoplan.testing.registering import register
from todoplan.testing.strategies.breaks import BREAKS, broken_arguments
from todoplan.testing.strategies.calls import arguments, conversations, turns
from todoplan.testing.strategies.command import commands, events
from todoplan.testing.strategies.script import histories, scripts
from todoplan.testing.strategies.sensible import sensible_commands
from todoplan.testing.strategies.shapes import plans
from todoplan.testing.strategies.text import hostile_texts, texts
from todoplan.testing.strategies.values import policies, tasks, todos

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

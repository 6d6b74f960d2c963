"""
Plans for interfaces that speak AG-UI: `pip install 'todoplan[ag-ui]'`.

`show_plan` sends a planner's plan as events: first a snapshot, then a delta for every change.
`make_snapshot` and `make_delta` return single events, for an agent that sends by itself.

AG-UI only displays plans. Tool calls and reminders belong to the adapter of the framework that runs
the model.
"""

from todoplan.errors import MissingExtraError

try:
    import ag_ui.core  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "ag-ui") from error

from todoplan.adapters.ag_ui.events import make_delta, make_snapshot, show_plan
from todoplan.lazy import listing

__all__ = ["make_delta", "make_snapshot", "show_plan"]
__dir__ = listing(__all__)

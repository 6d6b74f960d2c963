"""
Plans for any ACP client (Zed, JetBrains, Neovim, Emacs): `pip install 'todoplan[acp]'`.

`show_plan` sends a planner's plan to the client of a session, and sends it again after every
change. `make_update` returns the same update as plain JSON, for an agent with its own transport.

Read `updates` first: it has the format of a plan in the protocol. `showing` decides when to send.

ACP only displays plans. Tool calls and reminders belong to the adapter of the framework that runs
the model.
"""

from todoplan.errors import MissingExtraError

try:
    import acp  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "acp") from error

from todoplan.adapters.acp.showing import show_plan
from todoplan.adapters.acp.updates import make_update
from todoplan.lazy import listing

__all__ = ["make_update", "show_plan"]
__dir__ = listing(__all__)

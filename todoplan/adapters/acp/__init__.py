"""
Plans for any ACP client (Zed, JetBrains, Neovim, Emacs): `pip install 'todoplan[acp]'`.

`show_plan` sends a planner's plan to the client of a session, and again after every change.
`make_update` is what it sends, as plain JSON, for an agent with a wire of its own.

Read `updates` first: a plan as the protocol writes it; `showing` is when it is sent.

ACP shows plans and does nothing else with them: what the model calls, and reminders, are the matter
of the adapter of the framework that runs it.
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

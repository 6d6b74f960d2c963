"""
Plans for any MCP client, over stdio or streamable HTTP: `pip install 'todoplan[mcp]'`.

- `make_server(toolbox, store=...)` returns a server for the plans in a store.
- `serve_stdio` and `http_server` run such a server, as `todoplan mcp` does.
- `make_app` returns the ASGI application, for your own HTTP host.
- `make_tools` and `result_of` add the plan tools to an MCP server that has other tools too.

All of them work with mcp 1.x and 2.x.

`server` has the request handlers, the sessions and the subscriptions, and runs a server over stdio.
`serving` runs a server over HTTP, with access checks and limits before a request reaches mcp.
`hooks` has the sessions of a coding agent that calls both the tools and the hooks.

An MCP server cannot remind a model or ask it to go on, and does not know which calls belong to one
turn. So without hooks there is no guidance, and parallel calls are carried out in the order of
their arrival.
"""

from typing import TYPE_CHECKING

from todoplan.errors import MissingExtraError
from todoplan.lazy import listing, loader

try:
    import mcp  # noqa: F401 - to check that it is installed
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "mcp") from error

if TYPE_CHECKING:
    from todoplan.adapters.mcp.server import (
        make_server,
        make_tools,
        plan_uri,
        result_of,
        serve_stdio,
    )
    from todoplan.adapters.mcp.serving import Limits, http_server, make_app
    from todoplan.web import Access, listen_at

__all__ = [
    "Access",
    "Limits",
    "http_server",
    "listen_at",
    "make_app",
    "make_server",
    "make_tools",
    "plan_uri",
    "result_of",
    "serve_stdio",
]
__dir__ = listing(__all__)

if not TYPE_CHECKING:  # a server over stdio does not import the modules for HTTP
    __getattr__ = loader(
        __name__,
        {
            "server": ("make_server", "make_tools", "plan_uri", "result_of", "serve_stdio"),
            "serving": ("Access", "Limits", "http_server", "listen_at", "make_app"),
        },
    )

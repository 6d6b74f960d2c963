"""
Plans for any MCP client, over stdio or streamable HTTP: `pip install 'todoplan[mcp]'`.

`make_server(toolbox, store=...)` makes a server of the plans in a store; `serve_stdio` and
`http_server` run it, as `todoplan mcp` does. `make_app` returns the ASGI application for a host of
your own, `make_tools` and `result_of` serve an MCP server that has other tools too. One code for
mcp 1.x and 2.x.

Read `server` first: what is asked and answered, whose call it is, and who is told of changes.
`serving` runs a server; what comes over HTTP passes a guard and limits before it reaches mcp.

MCP has no way to remind a model, to ask for one more turn, or to see the calls of a turn together:
there is no guidance here, and parallel calls are carried out in the order in which they arrive.
"""

from todoplan.errors import MissingExtraError

try:
    import mcp  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "mcp") from error

from todoplan.adapters.mcp.server import make_server, make_tools, plan_uri, result_of
from todoplan.adapters.mcp.serving import Limits, http_server, make_app, serve_stdio
from todoplan.lazy import listing
from todoplan.web.access import Access
from todoplan.web.serving import listen_at

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

"""
Plans for any MCP client, over stdio or streamable HTTP: `pip install 'todoplan[mcp]'`.

`make_server` makes a server of a planner for each plan id; `serve_stdio` and `http_server` run it,
as `todoplan mcp` does. `make_app` returns the ASGI application for a host of your own, `make_tools`
and `result_of` serve an MCP server that has other tools too. One file for mcp 1.x and 2.x.

MCP has no way to remind a model, to ask for one more turn, or to see the calls of a turn together:
there is no guidance here, and parallel calls are carried out in the order in which they arrive.
"""

from todoplan.errors import MissingExtraError

try:
    import mcp  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "mcp") from error

from todoplan.adapters.mcp.access import Access
from todoplan.adapters.mcp.server import make_server
from todoplan.adapters.mcp.serving import http_server, listen_at, make_app, serve_stdio
from todoplan.adapters.mcp.shapes import make_tools, plan_uri, result_of

__all__ = [
    "Access",
    "http_server",
    "listen_at",
    "make_app",
    "make_server",
    "make_tools",
    "plan_uri",
    "result_of",
    "serve_stdio",
]

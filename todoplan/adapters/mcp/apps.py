"""
The board as a page in the client's own window: MCP Apps (SEP-1865), version 2026-01-26.

A client that says it shows such pages is told with every tool which one draws its results, and
finds the page among the resources. Whoever does not say so is told nothing of it; what tools answer
is the same for all. The page reads the plan as a resource and acts on nothing: a call that it made
would be the model's own for the server, in the journal and in what counts as seen (law 15).
"""

from collections.abc import Iterable
from typing import Any

from mcp import types

from todoplan.adapters.mcp.shapes import plan_uri
from todoplan.board.bundle import app_page

__all__ = [
    "EXTENSION",
    "MIME_TYPE",
    "app_contents",
    "app_resource",
    "app_uri",
    "shows_apps",
    "with_app",
]

EXTENSION = "io.modelcontextprotocol/ui"
"""What a client has among the extensions of its capabilities if it shows pages."""

MIME_TYPE = "text/html;profile=mcp-app"
"""Of the pages that such a client shows."""

# No `csp`: a client holds a page that names no addresses to its strictest policy.
_LOOK = {"ui": {"prefersBorder": True}}


def shows_apps(context: Any) -> bool:
    """
    Say whether the client of a request shows pages.
    """
    session = context.session
    # Since protocol 2026-07-28 a client may say what it can do and not who it is: only mcp 2.x
    # knows of that.
    said = getattr(session, "client_capabilities", None) or getattr(
        session.client_params, "capabilities", None
    )
    # mcp 1.x keeps the extensions as they came: any JSON.
    found: Any = getattr(said, "extensions", None)
    for key in (EXTENSION, "mimeTypes"):
        found = found.get(key) if isinstance(found, dict) else None
    return isinstance(found, list) and MIME_TYPE in found


def app_uri(plan_id: str) -> str:
    """
    Return the address of a plan's page; one of its own for each plan, since clients keep pages.
    """
    return f"ui://todoplan/board/{plan_id}"


def with_app(tools: Iterable[types.Tool], plan_id: str) -> list[types.Tool]:
    """
    Return definitions that say which page draws their results. It stands beside what a model reads.
    """
    # To models alone: a client refuses the call of a tool that its page makes.
    meta = {"ui": {"resourceUri": app_uri(plan_id), "visibility": ["model"]}}
    return [tool.model_copy(update={"meta": meta}) for tool in tools]


def app_resource(plan_id: str) -> types.Resource:
    """
    Return a plan's page as it stands in the list of resources.
    """
    return types.Resource.model_validate({**_named(plan_id), "name": f"board of {plan_id}"})


def app_contents(plan_id: str, version: str) -> types.ReadResourceResult:
    """
    Return a plan's page as the contents of its resource; `version` is ours.
    """
    content = {**_named(plan_id), "text": app_page(plan_uri(plan_id), version)}
    return types.ReadResourceResult.model_validate({"contents": [content]})


def _named(plan_id: str) -> dict[str, Any]:
    return {"uri": app_uri(plan_id), "mimeType": MIME_TYPE, "_meta": _LOOK}

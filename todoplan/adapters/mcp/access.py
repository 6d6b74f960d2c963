"""
The guard before the MCP server: who may talk to it, about which plan, and how much may be sent.

mcp's session manager checks neither Host nor Origin unless it is asked to, 1.30 included;
CVE-2025-66416 is about such a default. So `todoplan.web` checks them, on every version of mcp.
"""

import attrs
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from todoplan.adapters.mcp.sessions import Limits
from todoplan.adapters.mcp.shapes import PLAN_ID
from todoplan.web.access import Access, refused
from todoplan.web.bodies import read_body, sent_again

__all__ = ["Access", "Guard"]


@attrs.frozen(eq=False)
class Guard:
    """
    An ASGI application before another one: what passes has been checked, and its body read.
    """

    app: ASGIApp
    access: Access
    limits: Limits = Limits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """
        Refuse the request, or hand it on.
        """
        headers = Headers(scope=scope)
        refusal = self.access.refusal(headers) or _no_plan(scope)
        if refusal is None:
            body = await read_body(
                headers, receive, self.limits.body_bytes, self.limits.body_seconds
            )
            if isinstance(body, bytes):
                await self.app(scope, sent_again(body, receive), send)
                return
            refusal = body
        await refusal(scope, receive, send)


def _no_plan(scope: Scope) -> Response | None:
    plan_id = scope["path_params"].get("plan_id", "plan")
    if PLAN_ID.fullmatch(plan_id):
        return None
    return refused(404, "a plan's id is 1 to 64 letters, digits, - and _")

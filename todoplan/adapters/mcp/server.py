"""The server: what a client asks, answered by planners. The same for mcp 1.x and 2.x."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared import exceptions

from todoplan.adapters.mcp.apps import (
    EXTENSION,
    app_contents,
    app_resource,
    app_uri,
    shows_apps,
    with_app,
)
from todoplan.adapters.mcp.shapes import (
    contents_of,
    failed,
    make_tools,
    resources_of,
    result_of,
)
from todoplan.adapters.mcp.subscriptions import Topic
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.toolbox import Toolbox
from todoplan.errors import TodoplanError
from todoplan.planner import AnyStore, AsyncPlanner
from todoplan.planner.verifying.verifier import Verify
from todoplan.stores.memory import MemoryStore

__all__ = ["Handlers", "make_server"]

_MOST_PLANS = 1_000
_Handler = Callable[[Any, Any], Awaitable[Any]]
"""Answers one request: `(context, params) -> result`, as mcp 2.x has it."""


def make_server(  # noqa: PLR0913 - settings of every adapter
    toolbox: Toolbox | None = None,
    *,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    plan_id: str = "plan",
    structured: bool = True,
    board: bool = True,
) -> Any:
    """
    Return a low-level MCP server of the plans in a store; without one they end with the server.

    Requests are about the plan `plan_id`; over HTTP, a path that ends in another id is about that
    plan. `verify` looks whether a task is done (see `AsyncPlanner`). `structured` says whether
    results come as data too, beside the text; `board`, whether clients that show pages (MCP Apps)
    are offered the board.

    Raises:
        PlanError: the id could not stand in an address; or toolbox, store or verifier are none.
    """
    kept = MemoryStore() if store is None else store

    def planner(plan_id: str) -> AsyncPlanner:
        return AsyncPlanner(kept, plan_id, toolbox=toolbox, clock=clock, verify=verify)

    handlers = Handlers(planner, plan_id, structured=structured, board=board)
    prompt = handlers.topic(plan_id).planner.toolbox.toolset.system_prompt()
    server: Any = _Server("todoplan", version=_version(), instructions=prompt)
    server.offers_board = board
    register = getattr(server, "add_request_handler", None) or server.add_by_type
    for method, (params, handler) in handlers.by_method().items():
        register(method, params, handler)
    return server


def _version() -> str:
    with suppress(PackageNotFoundError):
        return version("todoplan")
    return "0"


# Low-level, because intake has to see all arguments and the model every error: the high-level
# servers of mcp ignore arguments that are not in the schema, fastmcp 4 rejects them, and mcp 2.x
# masks the texts of exceptions.
class _Server(Server):
    offers_board = True

    def get_capabilities(self, *args: Any, **kwargs: Any) -> types.ServerCapabilities:
        """
        Say that resources can be subscribed to, and that a page is there: mcp 1.x never does.
        """
        capabilities: Any = super().get_capabilities(*args, **kwargs)
        capabilities.resources.subscribe = True
        if self.offers_board:
            capabilities.extensions = {EXTENSION: {}}
        return capabilities  # type: ignore[no-any-return]  # as above

    def add_by_type(self, method: str, _: type, handler: _Handler) -> None:
        """
        Register a handler as mcp 1.x wants it: by the request's type, the context taken from aside.
        """

        async def handle(request: Any) -> types.ServerResult:
            return types.ServerResult(await handler(self.request_context, request.params))

        self.request_handlers[_REQUESTS[method]] = handle


_REQUESTS: dict[str, Any] = {
    "tools/list": types.ListToolsRequest,
    "tools/call": types.CallToolRequest,
    "resources/list": types.ListResourcesRequest,
    "resources/read": types.ReadResourceRequest,
    "resources/subscribe": types.SubscribeRequest,
    "resources/unsubscribe": types.UnsubscribeRequest,
}


class Handlers:
    """
    Answers requests. The plan of a request is known by its path, never by its arguments.
    """

    def __init__(
        self,
        planner: Callable[[str], AsyncPlanner],
        plan_id: str,
        *,
        structured: bool,
        board: bool = False,
    ) -> None:
        self._planner = planner
        self._plan_id = plan_id
        self._structured = structured
        self._board = board
        self._topics: dict[str, Topic] = {}

    def topic(self, plan_id: str) -> Topic:
        """
        Return the topic of a plan, opened when first asked for.

        A client may name any number of plans. Beyond a thousand, the one that was not asked for in
        the longest time, and that nobody follows, is forgotten: a topic holds nothing but who does.
        """
        found = self._topics.pop(plan_id, None) or Topic(plan_id, self._planner(plan_id))
        self._topics[plan_id] = found
        if len(self._topics) > _MOST_PLANS:
            # Whoever has just asked for this one may be about to subscribe to it.
            others = (each for each in self._topics.values() if each is not found)
            idle = next((each.plan_id for each in others if not each.is_followed), "")
            self._topics.pop(idle, None)
        return found

    def by_method(self) -> dict[str, tuple[type, _Handler]]:
        """
        Return what answers each method, with the type of its params.
        """
        named: dict[str, tuple[str, _Handler]] = {
            "tools/list": ("PaginatedRequestParams", self._list_tools),
            "tools/call": ("CallToolRequestParams", self._call_tool),
            "resources/list": ("PaginatedRequestParams", self._list_resources),
            "resources/read": ("ReadResourceRequestParams", self._read_resource),
            "resources/subscribe": ("SubscribeRequestParams", self._subscribe),
            "resources/unsubscribe": ("UnsubscribeRequestParams", self._unsubscribe),
            "subscriptions/listen": ("SubscriptionsListenRequestParams", self.listen),
        }
        return {
            method: (getattr(types, params), handler)
            for method, (params, handler) in named.items()
            if hasattr(types, params)
        }

    def _asked(self, context: Any) -> Topic:
        # Over stdio there is no HTTP request: one process serves one plan.
        path = getattr(context.request, "path_params", {})
        return self.topic(path.get("plan_id", self._plan_id))

    async def _list_tools(self, context: Any, _: Any) -> types.ListToolsResult:
        topic = self._asked(context)
        tools = make_tools(topic.planner.toolbox, structured=self._structured)
        if self._board and shows_apps(context):
            tools = with_app(tools, topic.plan_id)
        return types.ListToolsResult(tools=tools)

    async def _call_tool(self, context: Any, params: Any) -> types.CallToolResult:
        topic = self._asked(context)
        planner, name = topic.clients.hand(context)
        try:
            reply = await planner.call(params.name, params.arguments, actor=name)
        # A result, not a protocol error: it is the model that has to read it.
        except TodoplanError as error:
            return failed(error)
        return result_of(reply, topic.plan_id, structured=self._structured)

    async def _list_resources(self, context: Any, _: Any) -> types.ListResourcesResult:
        plan_id = self._asked(context).plan_id
        found = resources_of(plan_id)
        if self._board and shows_apps(context):
            found.resources.append(app_resource(plan_id))
        return found

    async def _read_resource(self, context: Any, params: Any) -> types.ReadResourceResult:
        # To whoever names it: a gateway may fetch pages over a connection of its own.
        if self._board and str(params.uri) == app_uri(self._asked(context).plan_id):
            return app_contents(self._asked(context).plan_id, _version())
        topic = self._named(context, params)
        try:
            return contents_of(await topic.planner.plan(), topic.plan_id)
        except TodoplanError as error:
            raise _protocol_error(types.INTERNAL_ERROR, str(error)) from error

    async def _subscribe(self, context: Any, params: Any) -> types.EmptyResult:
        self._named(context, params).connections.add(context.session)
        return types.EmptyResult()

    async def _unsubscribe(self, context: Any, params: Any) -> types.EmptyResult:
        self._named(context, params).connections.remove(context.session)
        return types.EmptyResult()

    def listen(self, context: Any, params: Any) -> Awaitable[Any]:
        """
        Keep a request open, and tell it when its plan changes (mcp 2.x).
        """
        return self._asked(context).listen(context, params)

    def _named(self, context: Any, params: Any) -> Topic:
        """
        Return the topic of the request if it is about that one's plan.
        """
        topic = self._asked(context)
        if str(params.uri) != topic.uri:
            msg = f"no such resource; there is {topic.uri}"
            raise _protocol_error(types.INVALID_PARAMS, msg)
        return topic


def _protocol_error(code: int, message: str) -> Exception:
    data = types.ErrorData(code=code, message=message)
    modern: Any = getattr(exceptions, "MCPError", None)
    return modern.from_error_data(data) if modern else exceptions.McpError(data)

"""
The server: what a client asks about plans, and who it is; the same for mcp 1.x and 2.x.

A connection is a session (law 15): it has listed what its own calls have listed, and nobody keeps
its record, so that who connects anew has listed nothing. Its journal entries bear the name that the
client gave itself, which is no more than a label: two windows of one program have the same. Since
protocol 2026-07-28 there are no connections, and a client's name is all that tells its requests
from others': two windows of one name are one session there.

The board is a page in the client's own window: MCP Apps (SEP-1865), version 2026-01-26. A client
that says it shows such pages is told with every tool which one draws its results, and finds the
page among the resources; no other client is told of it. The page reads the plan as a resource and
acts on nothing: a call that it made would be the model's own for the server.

Every type of the protocol is built from what stands on the wire, which mcp 1.x and 2.x read alike.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import anyio
import attrs
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared import exceptions
from pydantic import AnyUrl

from todoplan.board.bundle import app_page
from todoplan.codec import dump_plan
from todoplan.core.events.touched import ids_of
from todoplan.core.events.types import TasksReordered
from todoplan.core.plan.plan import Counts
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.errors import PlanError, TodoplanError
from todoplan.planner import AnyStore, AsyncPlanner
from todoplan.planner.session import AsyncSession
from todoplan.planner.verifying.verifier import Verify
from todoplan.stores.memory import MemoryStore

_MOST = 1_000  # plans and clients: mcp 1.x does not say that one is gone, nor do all unsubscribe
_LONGEST_NAME = 40
_PATIENCE = 1.0  # seconds: who does not read is forgotten, and would hold up the call that tells
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)
_NO_CONNECTIONS = "2026-07-28"
_ADDED_BY_GEMINI = "wait_for_previous"  # to the schema of each tool, and it is sent on
_Handler = Callable[[Any, Any], Awaitable[Any]]
"""Answers one request: `(context, params) -> result`, as mcp 2.x has it."""

EXTENSION = "io.modelcontextprotocol/ui"
"""What a client has among the extensions of its capabilities if it shows pages."""

APP_TYPE = "text/html;profile=mcp-app"
"""The MIME type of the pages that such a client shows."""

PLAN_TYPE = "application/json"
"""The MIME type of a plan as a resource: the document that `todoplan.codec` reads."""

# No more than a file name may safely hold, should a store make one of it: agentscope#1249 and
# CVE-2026-3954 are paths that came in as names.
PLAN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What a plan may be called: its id stands in addresses."""

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_COUNTS = dict.fromkeys(Counts._fields, _COUNT)
_DATA = {
    "text": _TEXT,  # because some clients show a model nothing else where there is data
    "plan": _TEXT,
    "revision": _COUNT,
    "counts": {"type": "object", "properties": _COUNTS, "required": [*_COUNTS]},
    "changed": {"type": "array", "items": _TEXT},
}
OUTPUT_SCHEMA: dict[str, Any] = {"type": "object", "properties": _DATA, "required": [*_DATA]}
"""What a call says as data: `changed` are the ids of tasks that it touched."""


def plan_uri(plan_id: str) -> str:
    """
    Return the address of a plan as a resource.

    Raises:
        PlanError: the id could not stand in an address.
    """
    if not PLAN_ID.fullmatch(plan_id):
        msg = f"{plan_id!r} is no plan id: it has 1 to 64 letters, digits, - and _"
        raise PlanError(msg, plan_id=plan_id)
    return f"todoplan://plan/{plan_id}"


def app_uri(plan_id: str) -> str:
    """Return the address of a plan's page; each plan has its own, since clients keep pages."""
    return f"ui://todoplan/board/{plan_id}"


def make_tools(tools: Toolbox | ToolSet, *, structured: bool = False) -> list[types.Tool]:
    """Return the definitions for `tools/list`; `structured` declares the output's schema too."""
    toolset = tools.toolset if isinstance(tools, Toolbox) else tools
    made = []
    for definition, tool in zip(toolset.definitions(), toolset.tools, strict=True):
        wire = {
            "name": definition.name,
            "description": definition.description,
            "inputSchema": definition.schema,
            "annotations": {
                "readOnlyHint": definition.read_only,
                "destructiveHint": not (definition.read_only or tool.adds_only),
                # Law 8: the same list written twice changes nothing the second time.
                "idempotentHint": definition.read_only or tool.whole_list,
                "openWorldHint": False,
            },
            # Claude Code defers tools of servers, and their schemas, unless they ask for this.
            "_meta": {"anthropic/alwaysLoad": True},
            **({"outputSchema": OUTPUT_SCHEMA} if structured else {}),
        }
        made.append(types.Tool.model_validate(wire))
    return made


def result_of(reply: Reply, plan_id: str, *, structured: bool = False) -> types.CallToolResult:
    """Return what a call is answered with. An error is a result too: the model has to read it."""
    # Where a schema is declared MCP wants data of every success, but of no error.
    if reply.is_error or not structured:
        return _result(reply.text, isError=reply.is_error)
    # An order names every task of the plan, and none of them is another one than before.
    events = [event for event in reply.events if not isinstance(event, TasksReordered)]
    data = {
        "text": reply.text,
        "plan": plan_id,
        "revision": reply.plan.revision,
        "counts": reply.plan.counts._asdict(),
        "changed": [*dict.fromkeys(task_id for event in events for task_id in ids_of(event))],
    }
    return _result(reply.text, isError=False, structuredContent=data)


def _result(text: str, **fields: Any) -> types.CallToolResult:
    content = [{"type": "text", "text": text}]
    return types.CallToolResult.model_validate({"content": content, **fields})


def shows_apps(context: Any) -> bool:
    """Say whether the client of a request shows pages."""
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
    return isinstance(found, list) and APP_TYPE in found


def modern_subscriptions() -> Any:
    """Return the module with which mcp 2.x serves `subscriptions/listen`; `None` on mcp 1.x."""
    with suppress(ModuleNotFoundError):
        return import_module("mcp.server.subscriptions")
    return None


class Topic:
    """
    One plan, the sessions of the clients that call, and those who want to know of its changes.

    A client of the handshake subscribes with its connection; since protocol 2026-07-28 it keeps a
    request open, which mcp 2.x serves. A client knows one of the two ways, so none is told twice.
    mcp 2.x makes a session object for each request. What the client said of itself in the handshake
    is one object for the whole connection in both versions: that tells connections apart.
    """

    def __init__(self, plan_id: str, planner: AsyncPlanner) -> None:
        self.plan_id, self.planner = plan_id, planner
        self.uri = plan_uri(plan_id)
        self._subscribed: dict[int, Any] = {}
        self._sessions: dict[int | str | None, tuple[Any, AsyncSession]] = {}
        self._open_requests = 0
        self._modern = modern_subscriptions()
        self._bus = self._modern and self._modern.InMemorySubscriptionBus()
        self._listen = self._modern and self._modern.ListenHandler(self._bus)
        planner.subscribe(self._changed)

    def session(self, context: Any) -> AsyncSession:
        """
        Return the session of a request's client. It answers the calls of its client one after the
        other, in the order of their arrival: hosts send those of one turn at once.
        """
        said = context.session.client_params
        name = said and _name(said)
        # Versions are ISO dates, which compare as text; a context of mcp 1.x has none.
        connects = getattr(context, "protocol_version", "") < _NO_CONNECTIONS
        key = id(said) if said and connects else name
        # It is kept beside its session: its number could be another's once it is gone.
        found = self._sessions.pop(key, None) or (said, AsyncSession(self.planner, actor=name))
        self._sessions[key] = found
        _forget(self._sessions)
        return found[1]

    def subscribe(self, session: Any) -> None:
        """Tell this connection of changes. Of more than 1,000 the oldest is forgotten."""
        self._subscribed[id(session.client_params)] = session
        _forget(self._subscribed)

    def unsubscribe(self, session: Any) -> None:
        """Tell this connection no more."""
        self._subscribed.pop(id(session.client_params), None)

    async def listen(self, context: Any, params: Any) -> Any:
        """Keep a request open and tell it of changes, until its client closes it (mcp 2.x)."""
        self._open_requests += 1
        try:
            return await self._listen(context, params)
        finally:
            self._open_requests -= 1

    @property
    def is_followed(self) -> bool:
        """Whether somebody wants to know of changes."""
        return bool(self._subscribed or self._open_requests)

    async def _changed(self, *_: Any) -> None:
        async with anyio.create_task_group() as group:
            # A copy: others subscribe while these are told, and who does not hear is removed.
            for key, session in tuple(self._subscribed.items()):
                group.start_soon(self._tell, key, session)
        if self._modern:
            await self._bus.publish(self._modern.ResourceUpdated(uri=self.uri))

    async def _tell(self, key: int, session: Any) -> None:
        with suppress(*_CLOSED), anyio.move_on_after(_PATIENCE):
            await session.send_resource_updated(AnyUrl(self.uri))
            return
        self._subscribed.pop(key, None)


def _name(said: Any) -> str | None:
    # mcp 2.x has names in snake_case, 1.x those of the wire.
    info = getattr(said, "client_info", None) or said.clientInfo
    # Models of others read it in their replies: one short line, without control characters.
    return "".join(filter(str.isprintable, info.name))[:_LONGEST_NAME].strip() or None


def _forget(found: dict[Any, Any]) -> None:
    for longest_away in list(found)[:-_MOST]:
        del found[longest_away]


@attrs.define
class Handlers:
    """Answers requests. The plan of a request is known by its path, never by its arguments."""

    _planner: Callable[[str], AsyncPlanner]
    _plan_id: str
    _structured: bool | None = None
    _board: bool = False
    _topics: dict[str, Topic] = attrs.field(factory=dict, init=False)

    def topic(self, plan_id: str) -> Topic:
        """
        Return the topic of a plan, opened when first asked for.

        A client may name any number of plans. Beyond a thousand, the one that was not asked for in
        the longest time, and that nobody follows, is forgotten, with the sessions of its clients.
        """
        found = self._topics.pop(plan_id, None) or Topic(plan_id, self._planner(plan_id))
        self._topics[plan_id] = found
        if len(self._topics) > _MOST:
            # Whoever has just asked for this one may be about to subscribe to it.
            others = (each for each in self._topics.values() if each is not found)
            idle = next((each.plan_id for each in others if not each.is_followed), "")
            self._topics.pop(idle, None)
        return found

    def by_method(self) -> dict[str, tuple[str, _Handler]]:
        """Return what answers each method, with the name of its request in `mcp.types`."""
        found: dict[str, tuple[str, _Handler]] = {
            "tools/list": ("ListTools", self._list_tools),
            "tools/call": ("CallTool", self._call_tool),
            "resources/list": ("ListResources", self._list_resources),
            "resources/read": ("ReadResource", self._read_resource),
            "resources/subscribe": ("Subscribe", self._subscribe),
            "resources/unsubscribe": ("Unsubscribe", self._unsubscribe),
            "subscriptions/listen": ("SubscriptionsListen", self.listen),
        }
        return {method: one for method, one in found.items() if hasattr(types, f"{one[0]}Request")}

    def _asked(self, context: Any) -> Topic:
        # Over stdio there is no HTTP request: one process serves one plan.
        path = getattr(context.request, "path_params", {})
        return self.topic(path.get("plan_id", self._plan_id))

    def _shows_board(self, context: Any) -> bool:
        return self._board and shows_apps(context)

    def _sends_data(self, context: Any) -> bool:
        return self._shows_board(context) if self._structured is None else self._structured

    async def _list_tools(self, context: Any, _: Any) -> types.ListToolsResult:
        topic = self._asked(context)
        tools = make_tools(topic.planner.toolbox, structured=self._sends_data(context))
        if self._shows_board(context):
            for meta in (tool.meta for tool in tools if tool.meta is not None):
                # To models alone: a client refuses the call of a tool that its page makes.
                meta["ui"] = {"resourceUri": app_uri(topic.plan_id), "visibility": ["model"]}
        return types.ListToolsResult(tools=tools)

    async def _call_tool(self, context: Any, params: Any) -> types.CallToolResult:
        topic, given = self._asked(context), params.arguments
        if given and _ADDED_BY_GEMINI in given:
            given = {key: value for key, value in given.items() if key != _ADDED_BY_GEMINI}
        try:
            # No call is ever made again under its id: none is kept.
            turn = await topic.session(context).answer([Call(params.name, given)], None)
        # A result, not a protocol error: it is the model that has to read it.
        except TodoplanError as error:
            return _result(str(error), isError=True)
        return result_of(turn.replies[0], topic.plan_id, structured=self._sends_data(context))

    async def _list_resources(self, context: Any, _: Any) -> types.ListResourcesResult:
        topic = self._asked(context)
        found = [{"uri": topic.uri, "name": topic.plan_id, "mimeType": PLAN_TYPE}]
        if self._shows_board(context):
            found.append({**_page(topic.plan_id), "name": f"board of {topic.plan_id}"})
        return types.ListResourcesResult.model_validate({"resources": found})

    async def _read_resource(self, context: Any, params: Any) -> types.ReadResourceResult:
        plan_id = self._asked(context).plan_id
        # To whoever names it: a gateway may fetch pages over a connection of its own.
        if self._board and str(params.uri) == app_uri(plan_id):
            content = {**_page(plan_id), "text": app_page(plan_uri(plan_id), _version())}
        else:
            topic = self._named(context, params)
            try:
                text = dump_plan(await topic.planner.plan())
            except TodoplanError as error:
                raise _protocol_error(types.INTERNAL_ERROR, str(error)) from error
            content = {"uri": topic.uri, "mimeType": PLAN_TYPE, "text": text}
        return types.ReadResourceResult.model_validate({"contents": [content]})

    async def _subscribe(self, context: Any, params: Any) -> types.EmptyResult:
        self._named(context, params).subscribe(context.session)
        return types.EmptyResult()

    async def _unsubscribe(self, context: Any, params: Any) -> types.EmptyResult:
        self._named(context, params).unsubscribe(context.session)
        return types.EmptyResult()

    def listen(self, context: Any, params: Any) -> Awaitable[Any]:
        """Keep a request open, and tell it when its plan changes (mcp 2.x)."""
        return self._asked(context).listen(context, params)

    def _named(self, context: Any, params: Any) -> Topic:
        """Return the topic of the request if it is about that one's plan."""
        topic = self._asked(context)
        if str(params.uri) != topic.uri:
            msg = f"no such resource; there is {topic.uri}"
            raise _protocol_error(types.INVALID_PARAMS, msg)
        return topic


def _page(plan_id: str) -> dict[str, Any]:
    # No `csp`: a client holds a page that names no addresses to its strictest policy.
    look = {"ui": {"prefersBorder": True}}
    return {"uri": app_uri(plan_id), "mimeType": APP_TYPE, "_meta": look}


def _protocol_error(code: int, message: str) -> Exception:
    data = types.ErrorData(code=code, message=message)
    modern: Any = getattr(exceptions, "MCPError", None)
    return modern.from_error_data(data) if modern else exceptions.McpError(data)


def _instructions(toolset: ToolSet) -> str:
    # Many hosts show this text long before they show the tools, so it has to stand alone.
    try:
        return toolset.text("instructions") or toolset.system_prompt()
    except KeyError:  # a set of fewer tools than the text names
        return toolset.system_prompt()


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

    def add(self, method: str, name: str, handler: _Handler) -> None:
        """Register a handler: by method and params on mcp 2.x, by the request's type on 1.x."""
        modern: Any = getattr(self, "add_request_handler", None)
        if modern:
            params = "Paginated" if method.endswith("/list") else name
            modern(method, getattr(types, f"{params}RequestParams"), handler)
            return

        async def handle(request: Any) -> types.ServerResult:
            return types.ServerResult(await handler(self.request_context, request.params))

        self.request_handlers[getattr(types, f"{name}Request")] = handle


def make_server(  # noqa: PLR0913 - what a server is made of
    toolbox: Toolbox | None = None,
    *,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    plan_id: str = "plan",
    structured: bool | None = None,
    board: bool = True,
) -> Any:
    """
    Return a low-level MCP server of the plans in a store; without one they end with the server.

    Requests are about the plan `plan_id`; over HTTP, a path that ends in another id is about that
    plan. `verify` looks whether a task is done (see `AsyncPlanner`). `structured` says whether
    results come as data too, beside the text: by default only to clients that show the board, since
    others show a model the data instead of the text. `board` says whether clients that show pages
    (MCP Apps) are offered the board.

    Raises:
        PlanError: the id could not stand in an address; or toolbox, store or verifier are none.
    """
    kept = MemoryStore() if store is None else store
    given: Any = {"toolbox": toolbox, "clock": clock, "verify": verify}
    handlers = Handlers(lambda name: AsyncPlanner(kept, name, **given), plan_id, structured, board)
    server = _Server(
        "todoplan",
        version=_version(),
        instructions=_instructions(handlers.topic(plan_id).planner.toolbox.toolset),
    )
    server.offers_board = board
    for method, (name, handler) in handlers.by_method().items():
        server.add(method, name, handler)
    return server

"""
The MCP server for mcp 1.x and 2.x: request handlers, sessions and subscriptions, and stdio.

Each connection is a session: it has listed only the tasks that its own calls have listed (law 15 of
the guide `architecture`). Sessions are not stored, so a client that connects again has listed no
tasks. The actor in a session's journal entries is the name that the client reports. This name is
only a label: two windows of one program have the same name. Protocol 2026-07-28 has no connections,
so clients are distinguished only by their names, and two windows with the same name share a
session.

The board is a page inside the client's window: MCP Apps (SEP-1865), version 2026-01-26. If a client
declares that it shows such pages, the definition of each tool names the page that shows its
results, and the page is one of the resources. Other clients do not see the page. The page reads the
plan as a resource and makes no calls, because the server could not distinguish them from the
model's calls.

All protocol types are built from JSON data, which mcp 1.x and 2.x parse in the same way.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import IO, Any, TextIO

import anyio
import attrs
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared import exceptions
from pydantic import AnyUrl

from todoplan.codec import dump_plan
from todoplan.core.events.types import TasksReordered
from todoplan.core.plan.plan import Counts
from todoplan.dialogue.calls import Call, Clock, Reply, utc_now
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import ToolSet
from todoplan.errors import PlanError, TodoplanError
from todoplan.planner import AnyStore, AsyncPlanner
from todoplan.planner.session import AsyncSession
from todoplan.planner.steps import remember
from todoplan.planner.verifying import Verify
from todoplan.render.outline import to_text
from todoplan.stores.memory import MemoryStore
from todoplan.texts import say, wording

# The largest number of plans with clients. mcp 1.x does not report that a client is gone, and some
# clients never unsubscribe.
_MOST = 1_000
_LONGEST_NAME = 40
# Seconds to notify a client. A client that does not read is dropped, because it delays the caller.
_PATIENCE = 1.0
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)
_NO_CONNECTIONS = "2026-07-28"
_Handler = Callable[[Any, Any], Awaitable[Any]]
"""A request handler `(context, params) -> result`, with the signature of mcp 2.x."""

ADDED_BY_GEMINI = "wait_for_previous"
"""An argument that Gemini CLI adds to each tool's schema, and sends."""

EXTENSION = "io.modelcontextprotocol/ui"
"""The capability extension of clients that show pages."""

APP_TYPE = "text/html;profile=mcp-app"
"""The MIME type of these pages."""

PLAN_TYPE = "application/json"
"""The MIME type of a plan as a resource: the document that `todoplan.codec` reads."""

# All of these characters are safe in a file name, because a store may use the id as a file name. In
# agentscope#1249 and CVE-2026-3954, paths were passed as names.
PLAN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The pattern of plan ids, which are parts of addresses."""

PROMPTS = ("plan", "resume", "review")
"""The names of the prompts. Clients offer the prompts to a person as commands."""

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_COUNTS = dict.fromkeys(Counts._fields, _COUNT)
_DATA = {
    "text": _TEXT,  # some clients show the model only the structured data if there is any
    "plan": _TEXT,
    "revision": _COUNT,
    "counts": {"type": "object", "properties": _COUNTS, "required": [*_COUNTS]},
    "changed": {"type": "array", "items": _TEXT},
}
OUTPUT_SCHEMA: dict[str, Any] = {"type": "object", "properties": _DATA, "required": [*_DATA]}
"""The JSON Schema of structured results. `changed` are the ids of the tasks that were changed."""


def plan_uri(plan_id: str) -> str:
    """
    Return the address of a plan as a resource.

    Raises:
        PlanError: the id does not match `PLAN_ID`.
    """
    if not PLAN_ID.fullmatch(plan_id):
        msg = f"{plan_id!r} is no plan id: it has 1 to 64 letters, digits, - and _"
        raise PlanError(msg, plan_id=plan_id)
    return f"todoplan://plan/{plan_id}"


def app_uri(plan_id: str) -> str:
    """
    Return the address of a plan's page. Each plan has a page of its own, because clients cache
    pages.
    """
    return f"ui://todoplan/board/{plan_id}"


def make_tools(
    tools: Toolbox | ToolSet, *, structured: bool = False, lenient: bool = False
) -> list[types.Tool]:
    """
    Return the definitions for `tools/list`, with the output schema if `structured` is true.

    With `lenient`, the schemas require only types. So hosts that check arguments against the schema
    (Gemini CLI, Qwen Code) do not refuse synonyms of keys and values, which todoplan repairs.
    """
    toolset = tools.toolset if isinstance(tools, Toolbox) else tools
    made = []
    for definition, tool in zip(toolset.definitions(), toolset.tools, strict=True):
        wire = {
            "name": definition.name,
            "description": definition.description,
            "inputSchema": loosened(definition.schema) if lenient else definition.schema,
            "annotations": {
                "readOnlyHint": definition.read_only,
                "destructiveHint": not (definition.read_only or tool.adds_only),
                # Law 8: writing the same list a second time changes nothing.
                "idempotentHint": definition.read_only or tool.whole_list,
                "openWorldHint": False,
            },
            # Claude Code defers loading a server's tools and schemas unless this is set.
            "_meta": {"anthropic/alwaysLoad": True},
            **({"outputSchema": OUTPUT_SCHEMA} if structured else {}),
        }
        made.append(types.Tool.model_validate(wire))
    return made


def loosened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return a schema that only requires types. A field's allowed words are listed in its description.

    Types are kept, because the APIs of some models refuse a parameter without a type.
    """
    loose = dict(schema)
    for demand in ("required", "additionalProperties"):
        loose.pop(demand, None)
    if words := loose.pop("enum", None):
        loose["description"] = " ".join(
            [*filter(None, [loose.get("description")]), ", ".join(words)]
        )
    if "properties" in loose:
        loose["properties"] = {name: loosened(part) for name, part in loose["properties"].items()}
    if "items" in loose:
        loose["items"] = loosened(loose["items"])
    return loose


def call_of(params: Any, call_id: str = "") -> Call:
    """Return the call that the parameters of `tools/call` name."""
    given = params.arguments
    if given and ADDED_BY_GEMINI in given:
        given = {key: value for key, value in given.items() if key != ADDED_BY_GEMINI}
    return Call(params.name, given, call_id)


def result_of(
    reply: Reply | str, plan_id: str, *, structured: bool = False
) -> types.CallToolResult:
    """
    Return the result of a call, from a reply of the toolbox or from the message of another error.

    An error is a result too, and not a protocol error, because the model has to read it.
    """
    if isinstance(reply, str):
        return _result(reply, isError=True)
    # With an output schema, MCP requires structured data in every success, but not in errors.
    if reply.is_error or not structured:
        return _result(reply.text, isError=reply.is_error)
    # A reordering names every task of the plan, but changes none of them.
    events = [event for event in reply.events if not isinstance(event, TasksReordered)]
    data = {
        "text": reply.text,
        "plan": plan_id,
        "revision": reply.plan.revision,
        "counts": reply.plan.counts._asdict(),
        "changed": [*dict.fromkeys(task_id for event in events for task_id in event.task_ids)],
    }
    return _result(reply.text, isError=False, structuredContent=data)


def _result(text: str, **fields: Any) -> types.CallToolResult:
    content = [{"type": "text", "text": text}]
    return types.CallToolResult.model_validate({"content": content, **fields})


def shows_apps(context: Any) -> bool:
    """Return whether the client that sent a request shows pages (MCP Apps)."""
    session = context.session
    # Since protocol 2026-07-28 a client may declare its capabilities without its name. Only mcp
    # 2.x supports that.
    capabilities = getattr(session, "client_capabilities", None) or getattr(
        session.client_params, "capabilities", None
    )
    # mcp 1.x does not validate the extensions, so they may be any JSON.
    value: Any = getattr(capabilities, "extensions", None)
    for key in (EXTENSION, "mimeTypes"):
        value = value.get(key) if isinstance(value, dict) else None
    return isinstance(value, list) and APP_TYPE in value


class Topic:
    """
    One plan with the sessions of its clients and the subscribers to its changes.

    A client with a connection subscribes that connection. Since protocol 2026-07-28, a client keeps
    a request open instead, which mcp 2.x serves. A client uses only one of the two ways, so no
    client is notified twice. A connection is identified by the client's parameters from the
    handshake. In both versions of mcp, these parameters are one object for the whole connection,
    whereas mcp 2.x makes a new session object for each request.
    """

    def __init__(self, plan_id: str, planner: AsyncPlanner, actor: str | None = None) -> None:
        self.plan_id, self.planner, self._actor = plan_id, planner, actor
        self.uri = plan_uri(plan_id)
        self._subscribed: dict[int, Any] = {}
        self._sessions: dict[int | str | None, tuple[Any, AsyncSession]] = {}
        self._open_requests = 0
        self._modern: Any = None  # the module of mcp 2.x for `subscriptions/listen`
        with suppress(ModuleNotFoundError):
            self._modern = import_module("mcp.server.subscriptions")
        self._bus = self._modern and self._modern.InMemorySubscriptionBus()
        self._listen = self._modern and self._modern.ListenHandler(self._bus)
        planner.subscribe(self._changed)

    def session(self, context: Any) -> AsyncSession:
        """
        Return the session of the client that sent a request.

        A session answers the calls of its client one after the other, in the order of their
        arrival, because hosts send the calls of one turn at the same time.
        """
        client, name = context.session.client_params, None
        if client:
            # mcp 2.x uses snake_case attributes, 1.x the names of the wire format.
            info = getattr(client, "client_info", None) or client.clientInfo
            # Other clients' models read the name in replies, so it must be one short line without
            # control characters.
            name = "".join(filter(str.isprintable, info.name))[:_LONGEST_NAME].strip() or None
        # Protocol versions are ISO dates, so they can be compared as text. mcp 1.x has no version
        # in the context.
        connects = getattr(context, "protocol_version", "") < _NO_CONNECTIONS
        key = id(client) if client and connects else name
        # `client` is stored with its session, so that no other object can get the same id().
        actor = self._actor or name
        entry = self._sessions.pop(key, None) or (client, AsyncSession(self.planner, actor=actor))
        remember(self._sessions, key, entry)
        return entry[1]

    def subscribe(self, session: Any) -> None:
        """Notify this connection of changes. Beyond 1,000 subscribers the oldest is dropped."""
        remember(self._subscribed, id(session.client_params), session)

    def unsubscribe(self, session: Any) -> None:
        """Stop notifying this connection of changes."""
        self._subscribed.pop(id(session.client_params), None)

    async def listen(self, context: Any, params: Any) -> Any:
        """Keep a request open and report changes on it until the client closes it (mcp 2.x)."""
        self._open_requests += 1
        try:
            return await self._listen(context, params)
        finally:
            self._open_requests -= 1

    @property
    def is_followed(self) -> bool:
        """Whether the plan has subscribers or open `listen` requests."""
        return bool(self._subscribed or self._open_requests)

    async def _changed(self, *_: Any) -> None:
        async with anyio.create_task_group() as group:
            # Iterate over a copy: clients may subscribe meanwhile, and unresponsive ones are
            # removed.
            for key, session in tuple(self._subscribed.items()):
                group.start_soon(self._tell, key, session)
        if self._modern:
            await self._bus.publish(self._modern.ResourceUpdated(uri=self.uri))

    async def _tell(self, key: int, session: Any) -> None:
        with suppress(*_CLOSED), anyio.move_on_after(_PATIENCE):
            await session.send_resource_updated(AnyUrl(self.uri))
            return
        self._subscribed.pop(key, None)


@attrs.define
class Handlers:
    """The request handlers of a server. The path of an HTTP request names its plan."""

    _planner: Callable[[str], AsyncPlanner]
    _plan_id: str
    _structured: bool | None = None
    _board: bool = False
    _lenient: bool = False
    _actor: str | None = None
    _topics: dict[str, Topic] = attrs.field(factory=dict, init=False)

    def topic(self, plan_id: str) -> Topic:
        """
        Return the topic of a plan, creating it at the first request.

        A client may name any number of plans. Beyond 1,000, the least recently used topic without
        subscribers is dropped, with the sessions of its clients.
        """
        current = self._topics.pop(plan_id, None)
        current = current or Topic(plan_id, self._planner(plan_id), self._actor)
        self._topics[plan_id] = current
        if len(self._topics) > _MOST:
            # The current topic is kept, because its client may be about to subscribe.
            others = (topic for topic in self._topics.values() if topic is not current)
            idle = next((topic.plan_id for topic in others if not topic.is_followed), "")
            self._topics.pop(idle, None)
        return current

    def _asked(self, context: Any) -> Topic:
        # Over stdio there is no HTTP request, and the process serves one plan.
        path = getattr(context.request, "path_params", {})
        return self.topic(path.get("plan_id", self._plan_id))

    def _shows_board(self, context: Any) -> bool:
        return self._board and shows_apps(context)

    def _sends_data(self, context: Any) -> bool:
        return self._shows_board(context) if self._structured is None else self._structured

    async def list_tools(self, context: Any, _: Any) -> types.ListToolsResult:
        """Return the definitions of the tools."""
        topic = self._asked(context)
        data = self._sends_data(context)
        tools = make_tools(topic.planner.toolbox, structured=data, lenient=self._lenient)
        if self._shows_board(context):
            for meta in (tool.meta for tool in tools if tool.meta is not None):
                # Only models see the tools, so a client refuses tool calls by the page.
                meta["ui"] = {"resourceUri": app_uri(topic.plan_id), "visibility": ["model"]}
        return types.ListToolsResult(tools=tools)

    async def call_tool(self, context: Any, params: Any) -> types.CallToolResult:
        """Answer a call of a tool."""
        topic = self._asked(context)
        try:
            # MCP has no retries with the same call id, so the replies are not kept for retries.
            turn = await topic.session(context).answer([call_of(params)], None)
        except TodoplanError as error:
            return result_of(str(error), topic.plan_id)
        return result_of(turn.replies[0], topic.plan_id, structured=self._sends_data(context))

    async def list_prompts(self, _: Any, __: Any) -> types.ListPromptsResult:
        """Return the names and descriptions of the prompts."""
        goal = {"name": "goal", "description": "what is to be done", "required": True}
        prompts = [
            {"name": name, "description": wording("prompts", f"{name}.about")}
            | ({"arguments": [goal]} if name == "plan" else {})
            for name in PROMPTS
        ]
        return types.ListPromptsResult.model_validate({"prompts": prompts})

    async def get_prompt(self, context: Any, params: Any) -> types.GetPromptResult:
        """Return the text of a prompt; some prompts contain the plan."""
        topic, name = self._asked(context), params.name
        if name not in PROMPTS:
            msg = f"no such prompt; there are {', '.join(PROMPTS)}"
            raise _protocol_error(types.INVALID_PARAMS, msg)
        goal = (params.arguments or {}).get("goal", "")
        plan = "" if name == "plan" else to_text(await topic.planner.plan())
        text = say("prompts", name, goal=goal, plan=plan)
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return types.GetPromptResult.model_validate({"messages": [message]})

    async def list_resources(self, context: Any, _: Any) -> types.ListResourcesResult:
        """Return the addresses of the plan and, for clients that show pages, of the board."""
        topic = self._asked(context)
        resources = [{"uri": topic.uri, "name": topic.plan_id, "mimeType": PLAN_TYPE}]
        if self._shows_board(context):
            resources.append({**_page(topic.plan_id), "name": f"board of {topic.plan_id}"})
        return types.ListResourcesResult.model_validate({"resources": resources})

    async def read_resource(self, context: Any, params: Any) -> types.ReadResourceResult:
        """Return the plan or the board."""
        plan_id = self._asked(context).plan_id
        # Served to every client, because a gateway may fetch pages over a separate connection.
        if self._board and str(params.uri) == app_uri(plan_id):
            from todoplan.board.bundle import app_page  # noqa: PLC0415 - few clients ask for it

            content = {**_page(plan_id), "text": app_page(plan_uri(plan_id), _version())}
        else:
            topic = self._named(context, params)
            try:
                text = dump_plan(await topic.planner.plan())
            except TodoplanError as error:
                raise _protocol_error(types.INTERNAL_ERROR, str(error)) from error
            content = {"uri": topic.uri, "mimeType": PLAN_TYPE, "text": text}
        return types.ReadResourceResult.model_validate({"contents": [content]})

    async def subscribe(self, context: Any, params: Any) -> types.EmptyResult:
        """Notify the connection of changes. Beyond 1,000 subscribers the oldest is dropped."""
        self._named(context, params).subscribe(context.session)
        return types.EmptyResult()

    async def unsubscribe(self, context: Any, params: Any) -> types.EmptyResult:
        """Stop notifying the connection of changes."""
        self._named(context, params).unsubscribe(context.session)
        return types.EmptyResult()

    def listen(self, context: Any, params: Any) -> Awaitable[Any]:
        """Keep a request open and report changes of its plan on it (mcp 2.x)."""
        return self._asked(context).listen(context, params)

    def _named(self, context: Any, params: Any) -> Topic:
        """Return the topic of the request, or raise if the request names another resource."""
        topic = self._asked(context)
        if str(params.uri) != topic.uri:
            msg = f"no such resource; there is {topic.uri}"
            raise _protocol_error(types.INVALID_PARAMS, msg)
        return topic


def _page(plan_id: str) -> dict[str, Any]:
    # The page has no `csp`, so a client applies its strictest content security policy.
    look = {"ui": {"prefersBorder": True}}
    return {"uri": app_uri(plan_id), "mimeType": APP_TYPE, "_meta": look}


def _protocol_error(code: int, message: str) -> Exception:
    data = types.ErrorData(code=code, message=message)
    modern: Any = getattr(exceptions, "MCPError", None)
    return modern.from_error_data(data) if modern else exceptions.McpError(data)


def instructions_of(toolset: ToolSet) -> str:
    """Return the instructions of a server. Many hosts show them long before the tools."""
    try:
        return toolset.text("instructions") or toolset.system_prompt()
    except KeyError:  # the tool set lacks a tool that the text names
        return toolset.system_prompt()


def _version() -> str:
    with suppress(PackageNotFoundError):
        return version("todoplan")
    return "0"


# Todoplan repairs arguments, and the model must read every error. So the low-level server is used:
# the high-level servers of mcp ignore arguments that are not in the schema, fastmcp 4 rejects them,
# and mcp 2.x masks the texts of exceptions.
class _Server(Server):
    offers_board = True

    def get_capabilities(self, *args: Any, **kwargs: Any) -> types.ServerCapabilities:
        """Declare subscriptions and the page as capabilities, which mcp 1.x does not."""
        capabilities: Any = super().get_capabilities(*args, **kwargs)
        if capabilities.resources:
            capabilities.resources.subscribe = True
        if self.offers_board:
            capabilities.extensions = {EXTENSION: {}}
        return capabilities  # type: ignore[no-any-return]  # as above

    def add(self, method: str, name: str, handler: _Handler) -> None:
        """Register a handler: by method and parameters on mcp 2.x, by request type on 1.x."""
        modern: Any = getattr(self, "add_request_handler", None)
        if modern:
            params = "Paginated" if method.endswith("/list") else name
            modern(method, getattr(types, f"{params}RequestParams"), handler)
            return

        async def handle(request: Any) -> types.ServerResult:
            return types.ServerResult(await handler(self.request_context, request.params))

        self.request_handlers[getattr(types, f"{name}Request")] = handle


def tool_server(
    toolset: ToolSet, call: _Handler, instructions: str, *, lenient: bool = False
) -> Any:
    """
    Return a low-level MCP server with only the tools, for an adapter that answers their calls.

    `call` is the handler of `tools/call`. `instructions` may be "". `lenient` publishes schemas
    that require only types (see `make_server`).
    """

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=make_tools(toolset, lenient=lenient))

    server = _Server("todoplan", version=_version(), instructions=instructions or None)
    server.offers_board = False
    server.add("tools/list", "ListTools", list_tools)
    server.add("tools/call", "CallTool", call)
    return server


def make_server(  # noqa: PLR0913 - what a server is made of
    toolbox: Toolbox | None = None,
    *,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    plan_id: str = "plan",
    structured: bool | None = None,
    board: bool = True,
    lenient: bool = False,
    actor: str | None = None,
) -> Any:
    """
    Return a low-level MCP server for the plans in a store.

    `toolbox` has the tools and their policy. Without a `store`, plans are kept in memory until the
    server ends. `plan_id` is the plan that requests are about; over HTTP, a path that ends in
    another id selects that plan. `clock` returns the current time with its time zone, and `verify`
    checks whether a task is done (see `AsyncPlanner`). `actor` is the author of all calls in the
    journal, by default the name that the client gives itself.

    `structured` decides whether a result has structured data beside its text. By default, results
    have it only for clients that show the board, because some other clients show the model the data
    and not the text. `board` offers the board, a page with the plan, to clients that show pages
    (MCP Apps). `lenient` publishes schemas without required fields and without lists of allowed
    words, for hosts that check arguments themselves.

    Raises:
        PlanError: the plan id does not match `PLAN_ID`; or the toolbox, the store or the verifier
            has the wrong type.
    """
    kept = MemoryStore() if store is None else store
    given: Any = {"toolbox": toolbox, "clock": clock, "verify": verify}
    handlers = Handlers(
        lambda name: AsyncPlanner(kept, name, **given), plan_id, structured, board, lenient, actor
    )
    server = _Server(
        "todoplan",
        version=_version(),
        instructions=instructions_of(handlers.topic(plan_id).planner.toolbox.toolset),
    )
    server.offers_board = board
    for method, request, handler in (
        ("tools/list", "ListTools", handlers.list_tools),
        ("tools/call", "CallTool", handlers.call_tool),
        ("prompts/list", "ListPrompts", handlers.list_prompts),
        ("prompts/get", "GetPrompt", handlers.get_prompt),
        ("resources/list", "ListResources", handlers.list_resources),
        ("resources/read", "ReadResource", handlers.read_resource),
        ("resources/subscribe", "Subscribe", handlers.subscribe),
        ("resources/unsubscribe", "Unsubscribe", handlers.unsubscribe),
        ("subscriptions/listen", "SubscriptionsListen", handlers.listen),
    ):
        if hasattr(types, f"{request}Request"):  # mcp 1.x has no "subscriptions/listen"
            server.add(method, request, handler)
    return server


async def serve_stdio(server: Any) -> None:
    """Serve one client over stdin and stdout until it closes stdin."""
    with _again(sys.stdin, "r") as stdin, _again(sys.stdout, "w") as stdout:
        async with stdio_server(anyio.wrap_file(stdin), anyio.wrap_file(stdout)) as (read, write):
            await server.run(read, write, server.create_initialization_options())


def _again(stream: TextIO, mode: str) -> IO[str]:
    """Return a duplicate of a stream, because mcp 1.x closes the stream that it uses."""
    return os.fdopen(os.dup(stream.fileno()), mode, encoding="utf-8", errors="replace")

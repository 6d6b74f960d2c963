"""
The board as an ASGI application: its requests and responses.

    GET  /                            the page
    GET  /static/...                  its scripts and styles
    GET  /api/board                   what this board allows: who may write, which plan
    GET  /api/plans                   all plans, sent again after each change (events)
    GET  /api/plan?plan=ID            one plan: a snapshot, then each change (events)
    GET  /api/history?plan=ID&before= older rows of its timeline
    GET  /api/insight?plan=ID         critical path, drift, tasks that can never start
    POST /api/act?plan=ID             an action of a person

The id of an event is the plan's revision. A page that was disconnected sends the last id that it
received (`Last-Event-ID`) and receives the changes since then.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from todoplan.board.acting import carry_out
from todoplan.board.feeds import Feed
from todoplan.board.messages import MOST_ROWS, insight, last_rows, summary_of
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import DEFAULT
from todoplan.errors import CodecError, MissingExtraError, PlanError, TodoplanError
from todoplan.planner import AnyStore, AsyncPlanner

try:
    from sse_starlette import EventSourceResponse
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import FileResponse, JSONResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "board") from error

from todoplan.board.guard import Guard
from todoplan.web.access import Access, refused
from todoplan.web.bodies import read_body

__all__ = ["STATIC", "Board", "make_board"]

STATIC = Path(__file__).with_name("static")
"""The directory of the page's files."""

Person = str | Callable[[Request], str]

_MOST_PLANS = 1_000
_BODY = 64 * 1024  # bytes: one field of one task
_BODY_SECONDS = 30.0
_LONGEST_NAME = 40
_DAMAGED = {"gap", "newer_format", "rolled_back"}  # problems of one plan, not of the whole store
_LIST_PAUSE = 1.0  # seconds between two reads of the list of plans


def make_board(  # noqa: PLR0913 - independent settings, all with a default
    store: AnyStore,
    *,
    plan_id: str | None = None,
    policy: Policy = DEFAULT,
    person: Person = "person",
    access: Access | None = None,
    write: bool | None = None,
) -> Starlette:
    """
    Return the ASGI application that shows the plans of a store, or only the plan `plan_id`.

    A person's actions are checked against `policy` and recorded under the name `person`. If
    `person` is a text, the page may send another name that the reader has entered. If it is a
    function, it takes the request and returns the name, for instance from a login session. `access`
    decides which requests are allowed; by default only those from this machine. `write` allows
    changes; by default they are allowed only if `access` is limited to this machine.

    Raises:
        PlanError: `store` is not a store.
    """
    passed = access or Access()
    board = Board(store, plan_id, policy, person, write=passed.is_local if write is None else write)
    routes = [
        Route("/", board.page),
        Mount("/static", StaticFiles(directory=STATIC)),
        Route("/api/board", board.about),
        Route("/api/plans", board.plans),
        Route("/api/plan", board.events),
        Route("/api/history", board.history),
        Route("/api/insight", board.insight),
        Route("/api/act", board.act, methods=["POST"]),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, access=passed)],
        exception_handlers={TodoplanError: _told},
    )


async def _told(_: Request, error: Exception) -> Response:
    # An unreachable store is nobody's mistake (503). A request that cannot be valid is the page's
    # (400).
    return JSONResponse({"told": str(error)}, 400 if isinstance(error, PlanError) else 503)


class Board:
    """Answers requests about the plans of a store."""

    def __init__(
        self, store: AnyStore, only: str | None, policy: Policy, person: Person, *, write: bool
    ) -> None:
        self._store: Any = store
        self._only = only
        self._policy = policy
        self._person = person
        self._write = write
        self._feeds: dict[str, Feed] = {}
        # An invalid store or id fails here and not at the first request.
        AsyncPlanner(store, only or "")

    def _feed(self, plan_id: str) -> Feed:
        feed = self._feeds.pop(plan_id, None) or Feed(plan_id, AsyncPlanner(self._store, plan_id))
        self._feeds[plan_id] = feed
        for longest_away in list(self._feeds)[:-_MOST_PLANS]:
            del self._feeds[longest_away]
        return feed

    async def _asked_for(self, request: Request) -> Feed | None:
        """Return the feed of the plan that a request names, or `None` if there is no such plan."""
        plan_id = request.query_params.get("plan", self._only)
        if plan_id is None or (self._only is not None and plan_id != self._only):
            return None
        # Feeds are created only for plans that exist: a client can send any number of names.
        if (
            plan_id not in self._feeds
            and plan_id != self._only
            and plan_id not in await self._ids()
        ):
            return None
        return self._feed(plan_id)

    async def _ids(self) -> tuple[str, ...]:
        if self._only is not None:
            return (self._only,)
        list_ids = getattr(self._store, "plan_ids", None)
        if list_ids is None:
            return ()
        found = await asyncio.to_thread(list_ids)
        return tuple(sorted(found if isinstance(found, tuple) else await found))

    async def page(self, _: Request) -> Response:
        """Respond with the page."""
        return FileResponse(STATIC / "index.html")

    async def about(self, _: Request) -> Response:
        """Respond with what this board allows."""
        own = isinstance(self._person, str)
        return JSONResponse(
            {
                "write": self._write,
                "plan": self._only,
                "person": self._person if own else None,
                "named": own,
            }
        )

    async def plans(self, _: Request) -> Response:
        """Stream the list of plans, and send it again whenever it changes."""
        return EventSourceResponse(self._lists(), ping=15)

    async def _lists(self) -> AsyncGenerator[dict[str, str], None]:
        sent: Any = None
        while True:
            try:
                found = [await self._summary(each) for each in (await self._ids())[:_MOST_PLANS]]
            except TodoplanError as error:
                yield {"event": "trouble", "data": json.dumps({"told": str(error)})}
                return
            if found != sent:
                yield {"event": "plans", "data": json.dumps({"plans": found})}
                sent = found
            await asyncio.sleep(_LIST_PAUSE)

    async def _summary(self, plan_id: str) -> dict[str, Any]:
        try:
            return summary_of(plan_id, await self._feed(plan_id).planner.plan())
        except TodoplanError as error:
            # One damaged plan must not hide the others. An unreachable store cannot show any plan.
            if not isinstance(error, CodecError) and error.data.get("problem") not in _DAMAGED:
                raise
            return {"plan": plan_id, "trouble": str(error)}

    async def events(self, request: Request) -> Response:
        """Stream a plan and its changes."""
        feed = await self._asked_for(request)
        if feed is None:
            return _no_plan()
        last = request.headers.get("last-event-id", "")
        known = int(last) if last.isdecimal() and len(last) < len("9" * 19) else None
        return EventSourceResponse(self._events(feed, known), ping=15)

    async def _events(self, feed: Feed, known: int | None) -> AsyncGenerator[dict[str, str], None]:
        messages = feed.messages(known)
        try:
            async for name, data in messages:
                message = {"event": name, "data": json.dumps(data)}
                yield message if name == "trouble" else {**message, "id": str(data["revision"])}
        except TodoplanError as error:
            yield {"event": "trouble", "data": json.dumps({"told": str(error)})}
        finally:
            await messages.aclose()

    async def history(self, request: Request) -> Response:
        """Respond with the rows of the timeline before a revision, oldest first."""
        feed = await self._asked_for(request)
        if feed is None:
            return _no_plan()
        before = request.query_params.get("before", "")
        if not before.isdecimal():
            return refused(400, "say before which revision: before=120")
        revision = int(before[:18])
        journal = [each for each in await feed.planner.history() if each.revision < revision]
        rows = last_rows(journal, await feed.planner.plan())
        return JSONResponse({"rows": rows, "earlier": len(journal) > MOST_ROWS})

    async def insight(self, request: Request) -> Response:
        """Respond with the results that need a walk over the whole plan."""
        feed = await self._asked_for(request)
        if feed is None:
            return _no_plan()
        plan = await feed.planner.plan()
        journal = await feed.planner.history() if plan.approved else ()
        return JSONResponse(await asyncio.to_thread(insight, plan, journal))

    async def act(self, request: Request) -> Response:
        """Carry out an action of a person."""
        if not self._write:
            return refused(403, "this board is for reading: nothing can be changed on it")
        # A form on another site cannot send this type without a CORS preflight request.
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return refused(415, "send JSON, and say so: Content-Type: application/json")
        body = await read_body(request.headers, request.receive, _BODY, _BODY_SECONDS)
        if isinstance(body, Response):
            return body
        feed = await self._asked_for(request)
        if feed is None:
            return _no_plan()
        wish = _parsed(body)
        done = await carry_out(feed.planner, self._policy, wish, self._name(request, wish))
        return JSONResponse(done, 200 if done["accepted"] else 409)

    def _name(self, request: Request, wish: dict[str, Any]) -> str:
        if not isinstance(self._person, str):
            return self._person(request)
        # Models read the name in their replies: one short line, without control characters.
        said = str(wish.get("name") or "")
        return "".join(filter(str.isprintable, said)).strip()[:_LONGEST_NAME] or self._person


def _no_plan() -> Response:
    return refused(404, "there is no such plan here")


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        wish = json.loads(body)
    except (ValueError, RecursionError):
        wish = None
    if not isinstance(wish, dict):
        msg = 'a page sends one JSON object, such as {"do": "status", "task": "3", ...}'
        raise PlanError(msg)
    return wish

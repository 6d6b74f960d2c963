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
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from todoplan.board.messages import MOST_ROWS, change, insight, last_rows, snapshot, summary_of
from todoplan.core.commands import (
    AnswerTask,
    ApprovePlan,
    Command,
    CreateTask,
    DeleteTask,
    MoveTask,
    ReleaseClaim,
    StartNext,
    UpdateTask,
)
from todoplan.core.decide import Decision, Rejected
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import TASK_FIELDS, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem, explain
from todoplan.core.rules import DEFAULT, Change, Policy, Rule
from todoplan.errors import CodecError, MissingExtraError, PlanError, TodoplanError
from todoplan.planner import AnyStore, AsyncPlanner
from todoplan.render.outline import event_phrases
from todoplan.stores.base import follow, plan_after
from todoplan.typed import INPUTS, value_of_text

try:
    from sse_starlette import EventSourceResponse
    from starlette.applications import Starlette
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import FileResponse, JSONResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "board") from error

from todoplan.web import Access, read_body, refused

# -------- guard --------
# Middleware that checks every request of the board and sets the security headers of responses.
#
# The page and its scripts contain no data. They are served without the token, and the page asks
# the person for it. All data of plans is below `/api/`, which requires the token.


API = "/api/"

# Only our own files may be scripts and styles; Chromium refuses to parse any text as markup.
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The content security policy of the page."""

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Revalidated on each load, by ETag: a cached page of an older version may not understand the
    # messages of a newer server.
    "cache-control": "no-cache",
}
_OURS = {"same-origin", "none"}


@attrs.frozen(eq=False)
class Guard:
    """ASGI middleware around the board."""

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it to the application."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        left_open = False

        async def sending(message: Message) -> None:
            nonlocal left_open
            left_open = message.get("more_body", message["type"] == "http.response.start")
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        refusal = self.access.stranger(headers)
        if refusal is None and API in scope["path"]:
            refusal = self.access.unauthorised(headers)
            # A page from another port of this machine has the same host name, so the checks above
            # let it pass. In this header, the browser says whether the board's own page has sent
            # the request.
            if headers.get("sec-fetch-site", "none") not in _OURS:
                refusal = refused(403, "only the board's own page may ask this")
        await (refusal or self.app)(scope, receive, sending)
        if left_open:
            # If the server stops in the middle of a stream, uvicorn would log an error for it. So
            # the stream is ended here.
            await send({"type": "http.response.body", "body": b"", "more_body": False})


# -------- feeds --------
# The state of one plan for all pages that show it: the store is read once for all of them.
#
# For each reader (a page), the feed keeps the plan that was last sent to it. Plans share unchanged
# parts, so this is cheap. A slow reader receives one difference to the current plan, so no messages
# queue up for it. The store is not read while there are no readers.


_KEPT = 1_000  # entries; a reader that missed more does not receive the oldest rows
_PAUSE = 0.05  # seconds between two messages: at most twenty per second

StreamMessage = tuple[str, dict[str, Any]]


class Feed:
    """The state of one plan, kept up to date while there are readers."""

    def __init__(self, plan_id: str, planner: AsyncPlanner) -> None:
        self.plan_id = plan_id
        self.planner = planner
        self._plan = Plan()
        self._recent: deque[Entry] = deque(maxlen=_KEPT)
        self._readers = 0
        self._following: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._failure: TodoplanError | None = None
        self._beginning = asyncio.Lock()

    async def messages(self, known: int | None = None) -> AsyncGenerator[StreamMessage, None]:
        """
        Yield (name, data) messages for one reader.

        `known` is the revision that the reader already has, or `None` if it has none. If the store
        can no longer be read, the last message is named "trouble".

        Raises:
            TodoplanError: the store cannot be read at all.
        """
        self._readers += 1
        try:
            await self._begin()
            seen = None if known is None else await self._known_at(known)
            if seen is None:
                seen = self._plan
                journal = await self.planner.history()
                yield "snapshot", snapshot(self.plan_id, seen, _up_to(seen.revision, journal))
            while True:
                news, now = self._news, self._plan
                if now.revision != seen.revision:
                    behind = [entry for entry in self._recent if entry.revision > seen.revision]
                    yield "change", change(seen, now, behind)
                    seen = now
                    await asyncio.sleep(_PAUSE)
                elif self._failure is not None:
                    yield "trouble", {"message": str(self._failure)}
                    return
                else:
                    await news.wait()
        finally:
            self._readers -= 1
            if not self._readers and self._following is not None:
                self._following.cancel()
                self._following = None

    async def _begin(self) -> None:
        # Locked: a second reader must not see a plan that is still being loaded.
        async with self._beginning:
            if self._following is not None:
                return
            self._failure = None
            self._plan = await self.planner.plan()
            self._recent.clear()
            self._following = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        entries = self.planner.watch(self._plan.revision)
        try:
            while True:
                entry = await anext(entries)
                self._plan = plan_after(self._plan, entry)
                self._recent.append(entry)
                self._tell()
        except TodoplanError as error:
            self._failure = error
            self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _known_at(self, revision: int) -> Plan | None:
        """
        Return the plan at a revision that a page has, or `None` if the journal does not contain it.

        The journal does not contain it if it was truncated, or if an older copy of the store was
        restored.
        """
        if revision == self._plan.revision:
            return self._plan
        journal = await self.planner.history()
        try:
            # In a thread: to replay a long journal takes a while, and other readers must not wait.
            plan = await asyncio.to_thread(follow, Plan(), _up_to(revision, journal))
        except CodecError:
            return None
        if plan.revision != revision or revision > self._plan.revision:
            return None
        if not self._recent or self._recent[0].revision > revision:
            now = _up_to(self._plan.revision, journal)
            self._recent = deque(now, maxlen=_KEPT)
        return plan


def _up_to(revision: int, journal: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return tuple(entry for entry in journal if entry.revision <= revision)


# -------- wishes --------
# A wish is the JSON object that the page sends for one action of a person. It becomes one command.
#
# The command changes only what the person has changed: one field, one move. The rest of the page
# may be out of date when the wish arrives, so it must not be written (law 15).


FIELDS = {
    name: INPUTS[field.kind].control
    for name, field in TASK_FIELDS.items()
    if field.editable and field.kind in INPUTS and name in attrs.fields_dict(UpdateTask)
}
"""The fields of a task that a page edits one at a time, with their controls."""


def command_of(wish: Mapping[str, Any], actor: str) -> Command:
    """
    Return the command for a wish.

    Raises:
        PlanError: the wish is unknown, or a part of it is missing or invalid.
    """
    kind = wish.get("do")
    make = KINDS.get(kind) if isinstance(kind, str) else None
    if make is None:
        msg = f"a page asks for one of {', '.join(KINDS)}; this asks for {kind!r}"
        raise PlanError(msg, seen=kind)
    try:
        return make(wish, actor)
    except KeyError as error:
        msg = f"{kind} needs {error}; send it too"
        raise PlanError(msg, seen=sorted(wish)) from None


def _edit(wish: Mapping[str, Any], _: str) -> Command:
    field, value = wish["field"], wish["value"]
    if field not in FIELDS:
        msg = f"a page edits one of {', '.join(FIELDS)}; this is about {field!r}"
        raise PlanError(msg, seen=field)
    # A page sends numbers as numbers, and everything else as a text.
    read = value_of_text(TASK_FIELDS[field], value) if isinstance(value, str) else value
    changes: dict[str, Any] = {field: read}
    return UpdateTask(wish["task"], **changes)


KINDS: dict[str, Callable[[Mapping[str, Any], str], Command]] = {
    "add": lambda wish, _: CreateTask(wish["subject"], parent=wish.get("parent")),
    "edit": _edit,
    "status": lambda wish, _: UpdateTask(wish["task"], status=wish["status"]),
    "start next": lambda *_: StartNext(),
    "move": lambda wish, _: MoveTask(
        wish["task"], before=wish.get("before"), after=wish.get("after")
    ),
    "place": lambda wish, _: UpdateTask(wish["task"], parent=wish["parent"]),
    "link": lambda wish, _: UpdateTask(wish["task"], add_blocked_by=(wish["blocker"],)),
    "unlink": lambda wish, _: UpdateTask(wish["task"], remove_blocked_by=(wish["blocker"],)),
    "wait": lambda wish, _: UpdateTask(
        wish["task"], waiting=Waiting(wish["reason"], question=wish.get("question") or None)
    ),
    "resume": lambda wish, _: UpdateTask(wish["task"], waiting=None),
    "answer": lambda wish, _: AnswerTask(wish["task"], wish["answer"]),
    "release": lambda wish, _: ReleaseClaim(wish["task"], wish["fence"]),
    "remove": lambda wish, _: DeleteTask(wish["task"], children=wish.get("children", "refuse")),
    "approve": lambda _, actor: ApprovePlan(actor),
}
"""Functions that return the command for a wish, by its "do" word. `carry_out` handles "undo"."""


# -------- acting --------
# A person changes a plan, with the same commands as everyone else, and under a policy.
#
# The page sends the revision that it showed. Changes that others made since then are not silently
# undone (law 15). An edit of a field that someone else has changed is accepted with a warning. A
# change of status, a removal or an approval is refused if the task or the plan differs from what
# was shown; the person is asked to look again. The warning and the refusal are results of rules,
# which are checked together with the command, on the current plan.


_COMPARED: dict[str, Callable[[Task], object]] = {
    "status": lambda task: (task.status, task.waiting),
    "remove": lambda task: task,
}
"""The part of the task that must be as the page showed it, by the "do" word of the wish."""


async def carry_out(
    planner: AsyncPlanner, policy: Policy, wish: Mapping[str, Any], actor: str
) -> dict[str, Any]:
    """
    Carry out a person's wish, and return a result for people to read.

    The result is `{"accepted", "message", "warnings"}`. If the wish was accepted, it also has
    `"before"` and `"revision"`: the plan's revisions before and after this change.

    Raises:
        PlanError: the wish is malformed.
    """
    base = wish.get("base")
    if base is not None and (type(base) is not int or base < 0):
        msg = f"base is the revision that the page shows, a whole number; this is {base!r}"
        raise PlanError(msg, seen=base)
    if wish.get("do") == "undo":
        before = await planner.plan()
        return _outcome(await planner.undo(actor=actor, seen=base), before)
    command = command_of(wish, actor)
    if base is not None:
        plan, behind = await planner.look(base)
        shown = plan if behind is None else behind.plan
        policy = _with_comparison(policy, wish, shown, base)
    return _outcome(await planner.apply(command, actor=actor, policy=policy))


def _outcome(decision: Decision, before: Plan | None = None) -> dict[str, Any]:
    if isinstance(decision, Rejected):
        return {"accepted": False, "message": decision.text, "warnings": []}
    if before is not None and before.revision + len(decision.events) != decision.plan.revision:
        before = None  # someone else changed the plan in between
    phrases = event_phrases(decision.events, decision.plan, before) or ("nothing to change",)
    return {
        "accepted": True,
        "message": "; ".join(phrases),
        "before": decision.plan.revision - len(decision.events),
        "revision": decision.plan.revision,
        "warnings": [explain(warning) for warning in decision.warnings],
    }


def _with_comparison(policy: Policy, wish: Mapping[str, Any], shown: Plan, base: int) -> Policy:
    """Return the policy; if needed, with a rule that compares the plan with the shown plan."""
    kind, task_id = wish["do"], wish.get("task")
    was = shown.get(task_id) if isinstance(task_id, str) else None
    # If the journal was cut, the plan that the page showed cannot be computed. Then the wish is
    # refused if the plan has changed at all.
    is_known = shown.revision == base

    def unchanged_plan(change: Change) -> Iterator[Problem]:
        if change.before.revision != base:
            yield Problem("moved_on", seen=str(base), legal=str(change.before.revision))

    if kind == "approve" or (kind in _COMPARED and not is_known):
        return policy.adding(Rule("board_moved_on", unchanged_plan))
    if was is None or not is_known or kind not in {"edit", *_COMPARED}:
        return policy

    def unchanged_task(change: Change) -> Iterator[Problem]:
        task = change.before[was.id]
        if kind == "edit":
            value = getattr(task, wish["field"])
            if value != getattr(was, wish["field"]):
                yield Problem("changed_beside", (was.id,), seen="" if value is None else str(value))
        elif _COMPARED[kind](task) != _COMPARED[kind](was):
            yield Problem("changed_unseen", (was.id,), seen=task.status.replace("_", " "))

    rule = Rule("board_seen", unchanged_task)
    return policy.adding(rule, "warn") if kind == "edit" else policy.adding(rule)


STATIC = Path(__file__).with_name("static")
"""The directory of the page's files."""

Person = str | Callable[[Request], str]

_MOST_PLANS = 1_000
_BODY = 64 * 1024  # bytes: one field of one task
_BODY_SECONDS = 30.0
_LONGEST_NAME = 40
_LONGEST_REVISION = 19  # digits
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

    A person's actions are checked against `policy`, and recorded under the name `person`. If
    `person` is a text, the page may send another name, which the person has entered there. If
    `person` is a function, it takes the request and returns the name, for example from a login
    session. `access` decides which requests are allowed; by default only those to this machine's
    own names. `write` allows changes; by default, changes are allowed if `access` is limited to
    this machine.

    Raises:
        PlanError: `store` is not a store.
    """

    async def failed(_: Request, error: Exception) -> Response:
        # 503: the store cannot be reached; the request may be valid. 400: the request is invalid.
        return JSONResponse({"message": str(error)}, 400 if isinstance(error, PlanError) else 503)

    AsyncPlanner(store, plan_id or "")  # an invalid store or id fails here, not at a request
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
        exception_handlers={TodoplanError: failed},
    )


@attrs.define(eq=False)
class Board:
    """Answers requests about the plans of a store."""

    _store: Any
    _only: str | None
    _policy: Policy
    _person: Person
    _write: bool = attrs.field(alias="write", kw_only=True)
    _feeds: dict[str, Feed] = attrs.field(factory=dict, init=False)

    def _feed(self, plan_id: str) -> Feed:
        feed = self._feeds.pop(plan_id, None) or Feed(plan_id, AsyncPlanner(self._store, plan_id))
        self._feeds[plan_id] = feed
        for longest_away in list(self._feeds)[:-_MOST_PLANS]:
            del self._feeds[longest_away]
        return feed

    async def _asked_for(self, request: Request) -> Feed:
        """
        Return the feed of the plan that a request names.

        Raises:
            HTTPException: there is no such plan.
        """
        plan_id = request.query_params.get("plan", self._only)
        # Feeds are created only for plans that exist: a client can send any number of names.
        if (
            plan_id is not None
            and self._only in {None, plan_id}
            and (plan_id in self._feeds or plan_id in await self._ids())
        ):
            return self._feed(plan_id)
        raise HTTPException(404, "there is no such plan here\n")

    async def _ids(self) -> tuple[str, ...]:
        if self._only is not None:
            return (self._only,)
        list_ids = getattr(self._store, "plan_ids", None)
        if list_ids is None:
            return ()
        ids = await asyncio.to_thread(list_ids)
        return tuple(sorted(ids if isinstance(ids, tuple) else await ids))

    async def page(self, _: Request) -> Response:
        """Respond with the page."""
        return FileResponse(STATIC / "index.html")

    async def about(self, _: Request) -> Response:
        """Respond with what this board allows."""
        name = self._person if isinstance(self._person, str) else None
        named = name is not None
        about = {"write": self._write, "plan": self._only, "person": name, "named": named}
        return JSONResponse({**about, "fields": FIELDS})

    async def plans(self, _: Request) -> Response:
        """Stream the list of plans, and send it again whenever it changes."""

        async def stream() -> AsyncGenerator[dict[str, str], None]:
            sent: Any = None
            while True:
                try:
                    ids = (await self._ids())[:_MOST_PLANS]
                    summaries = [await self._summary(plan_id) for plan_id in ids]
                except TodoplanError as error:
                    yield {"event": "trouble", "data": json.dumps({"message": str(error)})}
                    return
                if summaries != sent:
                    yield {"event": "plans", "data": json.dumps({"plans": summaries})}
                    sent = summaries
                await asyncio.sleep(_LIST_PAUSE)

        return EventSourceResponse(stream(), ping=15)

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
        last = request.headers.get("last-event-id", "")
        # Longer numbers are no revisions, and `int` raises an error for more than 4,300 digits.
        known = int(last) if last.isdecimal() and len(last) < _LONGEST_REVISION else None
        messages = feed.messages(known)

        async def stream() -> AsyncGenerator[dict[str, str], None]:
            try:
                async for name, data in messages:
                    message = {"event": name, "data": json.dumps(data)}
                    yield message if name == "trouble" else {**message, "id": str(data["revision"])}
            except TodoplanError as error:
                yield {"event": "trouble", "data": json.dumps({"message": str(error)})}
            finally:
                await messages.aclose()

        return EventSourceResponse(stream(), ping=15)

    async def history(self, request: Request) -> Response:
        """Respond with the rows of the timeline before a revision, oldest first."""
        feed = await self._asked_for(request)
        before = request.query_params.get("before", "")
        if not before.isdecimal():
            return refused(400, "say before which revision: before=120")
        revision = int(before[: _LONGEST_REVISION - 1])
        journal = [entry for entry in await feed.planner.history() if entry.revision < revision]
        rows = last_rows(journal, await feed.planner.plan())
        return JSONResponse({"rows": rows, "earlier": len(journal) > MOST_ROWS})

    async def insight(self, request: Request) -> Response:
        """Respond with the results that need a walk over the whole plan."""
        feed = await self._asked_for(request)
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
        try:
            wish = json.loads(body)
        except (ValueError, RecursionError):
            wish = None
        if not isinstance(wish, dict):
            msg = 'a page sends one JSON object, such as {"do": "status", "task": "3", ...}'
            raise PlanError(msg)
        if isinstance(self._person, str):
            # Models read the name in their replies: one short line, without control characters.
            sent = "".join(filter(str.isprintable, str(wish.get("name") or "")))
            actor = sent.strip()[:_LONGEST_NAME] or self._person
        else:
            actor = self._person(request)
        done = await carry_out(feed.planner, self._policy, wish, actor)
        return JSONResponse(done, 200 if done["accepted"] else 409)

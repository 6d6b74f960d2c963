"""What clients may take of a server: sessions that end, heads and bodies that come in time."""

import asyncio
import json
import socket
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

import anyio
import pytest
from support.mcp_client import over_http
from support.mcp_scripts import CREATE, INITIALIZE
from support.mcp_server import http_process, server_of

from todoplan.adapters.mcp import Access, Limits, http_server, listen_at
from todoplan.adapters.mcp.serving import Guard, Sessions, make_app
from todoplan.stores.memory import MemoryStore

PATIENCE = 60
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A server that has little patience, and room for few."""
    file = tmp_path_factory.mktemp("limits") / "plans.json"
    limits = {"sessions": 3, "idle_seconds": 1.0, "head_seconds": 0.5, "body_seconds": 0.5}
    with http_process(file, **limits) as url:
        yield url


def asked(url, body, session=None, method="POST"):
    """Send one request, and return its status and the session that the answer names."""
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname, address.port, timeout=PATIENCE)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **({"mcp-session-id": session} if session else {}),
    }
    try:
        connection.request(method, address.path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("mcp-session-id")
    finally:
        connection.close()


def status_of(url, body, session=None, method="POST"):
    return asked(url, body, session, method)[0]


def until(holds):
    """Wait until something holds, or fail."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never held"
        time.sleep(0.05)


def opened(url):
    """Open a session as soon as there is room."""
    found = []

    def opens():
        status, session = asked(url, INITIALIZE)
        found.append(session)
        return status == 200

    until(opens)
    return found[-1]


@pytest.mark.slow
def test_sessions_are_bounded_and_make_room_when_they_end(url):
    """503 if there is no room; a client ends its session, an idle one ends by itself."""
    until(lambda: status_of(url, INITIALIZE) == 503)
    for _ in range(5):
        session = opened(url)
        assert status_of(url, None, session, "DELETE") == 200
        assert status_of(url, PING, session) == 404
    for _ in range(9):  # mcp makes a session for whatever comes without: it must take no room
        assert status_of(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) in {400, 503}
    session = opened(url)
    assert status_of(url, PING, session) == 200
    until(lambda: time.sleep(1.3) or status_of(url, PING, session) == 404)


def closed_after(url, *sent):
    """Send bytes, one after the other, and return what came until the server hung up."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout=PATIENCE) as one:
        for data in sent:
            one.sendall(data)
            time.sleep(0.05)
        found = b""
        while data := one.recv(9999):
            found += data
        return found


@pytest.mark.parametrize("sent", [(), (b"POST /mcp HT",), (b"POST /mcp HTTP/1.1\r\n", b"Host: l")])
def test_who_sends_no_head_in_time_is_hung_up_on(url, sent):
    """Connections without a request are held for some seconds only."""
    assert closed_after(url, *sent) == b""


def test_who_sends_no_head_after_an_answer_is_hung_up_on(url):
    """The same for the next request on a connection."""
    ended = b"GET /elsewhere HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert closed_after(url, ended, b"POST /mcp HT").startswith(b"HTTP/1.1 404")


def test_who_sends_no_body_in_time_is_refused(url):
    """408, and the connection is free for others."""
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
    answer = closed_after(url, head)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"the body did not come in 0.5 seconds" in answer


@pytest.mark.slow
def test_a_session_with_an_open_stream_is_in_use(url):
    """A client that listens hears what others do, however long nothing happens."""
    plan = "todoplan://plan/followed"

    async def play():
        async with over_http(f"{url}/followed") as client, client.subscribed(plan):
            await anyio.sleep(2.5)
            await client.call(*CREATE)
            return await client.update()

    until(lambda: status_of(url, INITIALIZE) != 503)
    assert asyncio.run(play()) == plan


def test_limits_have_defaults_that_people_do_not_meet():
    """An application of one's own has them too."""
    app = make_app(server_of(MemoryStore()))
    assert app.routes[0].app.limits == Limits()
    assert Guard(None, Access()).limits.body_bytes == 1024 * 1024


def test_a_head_that_comes_in_pieces_has_the_same_time():
    """Every piece does not begin to wait anew."""

    async def run():
        listener, _ = listen_at("127.0.0.1", 0)
        with listener:
            limits = Limits(head_seconds=0.3)
            server = http_server(server_of(MemoryStore()), limits=limits)
            running = asyncio.create_task(server.serve(sockets=[listener]))
            read, write = await asyncio.open_connection(*listener.getsockname())
            for piece in (b"POST", b" /mcp ", b"HTTP/1.1"):
                write.write(piece)
                await asyncio.sleep(0.02)
            found = await asyncio.wait_for(read.read(), PATIENCE)
            write.close()
            server.should_exit = True
            await running
        return found

    assert asyncio.run(run()) == b""


class Manager:
    """As mcp's: answers an opening request with a session, and notes what it is asked."""

    def __init__(self, status=200, seconds=0):
        self.status, self.seconds = status, seconds
        self.asked, self._server_instances = [], {}

    async def handle_request(self, scope, receive, send):
        self.asked.append((scope["method"], dict(scope["headers"]).get(b"mcp-session-id")))
        if scope["method"] == "DELETE":
            await receive()
            raise anyio.ClosedResourceError
        number = len(self._server_instances)
        self._server_instances[f"s{number}"] = number
        await anyio.sleep(self.seconds if len(self.asked) > 1 else 0)
        headers = [(b"mcp-session-id", f"s{number}".encode())]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})


OPENS, FIRST, ENDS = ("POST", None), ("POST", b"s0"), ("DELETE", b"s0")


SCENES = {
    "a full house is 503 before anything is opened, and a session that is there is answered": (
        Manager(),
        Limits(sessions=1),
        (["", "", "s0"], 0),
        ([200, 503, 200], [OPENS, FIRST], ["s0", "s1"]),
    ),
    "mcp 1.27 keeps a session for every request that came without one": (
        Manager(400),
        Limits(),
        (["", ""], 0),
        ([400, 400], [OPENS, ENDS] * 2, []),
    ),
    "a session that nobody uses is ended as its client would have ended it": (
        Manager(),
        Limits(idle_seconds=0.01),
        ([""], 0.2),
        ([200], [OPENS, ENDS], []),
    ),
    "and no other session is": (
        Manager(),
        Limits(idle_seconds=2),
        ([""], 0.6),
        ([200], [OPENS], ["s0"]),
    ),
    "a session that is answering is not idle, however long the answer takes": (
        Manager(seconds=0.3),
        Limits(idle_seconds=0.02),
        (["", "s0"], 0),
        ([200, 200], [OPENS, FIRST], ["s0", "s1"]),
    ),
}


@pytest.mark.parametrize(("manager", "limits", "sent", "found"), SCENES.values(), ids=SCENES)
def test_requests_are_counted_in_front_of_mcp(manager, limits, sent, found):
    """One after the other: what is answered, what mcp is asked, and which sessions it keeps."""
    (requests, then), told, sessions = sent, [], Sessions(manager, limits)

    async def send(message):
        if message["type"] == "http.response.start":
            told.append(message["status"])

    async def run():
        async with anyio.create_task_group() as group:
            group.start_soon(sessions.end_idle)
            for session in requests:
                headers = [(b"mcp-session-id", session.encode())] if session else []
                await sessions({"type": "http", "method": "POST", "headers": headers}, None, send)
            await anyio.sleep(then)
            group.cancel_scope.cancel()

    asyncio.run(run())
    assert (told, manager.asked, [*manager._server_instances]) == found


def test_one_too_many_that_came_in_beside_others_is_ended():
    """Two open at once where there is room for one: one of them is left, on any mcp."""
    manager = Manager()
    sessions = Sessions(manager, Limits(sessions=1))

    async def send(message):
        """Nobody reads it."""

    async def run():
        scope = {"type": "http", "method": "POST", "headers": []}
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(sessions, scope, None, send)

    asyncio.run(run())
    assert [method for method, _ in manager.asked] == ["POST", "POST", "DELETE"]
    assert len(manager._server_instances) == 1

"""What clients may take of a server: sessions that end, heads and bodies that come in time."""

import asyncio
import json
import socket
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
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


def test_sessions_are_bounded_and_idle_ones_end(url):
    """One more than there is room for is refused with 503; unused ones end, and make room."""
    until(lambda: status_of(url, INITIALIZE) == 503)
    opened = []

    def opens():
        status, session = asked(url, INITIALIZE)
        opened.append(session)
        return status == 200

    until(opens)
    assert status_of(url, PING, opened[-1]) == 200
    until(lambda: status_of(url, PING, opened[-1]) == 200 and time.sleep(2) is None)
    assert status_of(url, PING, opened[-1]) == 404


def test_a_session_that_its_client_ends_makes_room_at_once(url):
    """As many as one likes, one after the other."""
    until(lambda: status_of(url, INITIALIZE) == 503)
    session = None

    def opens():
        nonlocal session
        status, session = asked(url, INITIALIZE)
        return status == 200

    for _ in range(5):
        until(opens)
        assert status_of(url, None, session, "DELETE") == 200
        assert status_of(url, PING, session) == 404


def test_a_request_that_opens_no_session_leaves_none(url):
    """Mcp makes one for whatever comes without: a refused request takes no room."""
    for _ in range(9):
        assert status_of(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) in {400, 503}
    until(lambda: status_of(url, INITIALIZE) == 200)


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


class Manager:
    """As mcp's: answers an opening request with a session, and notes what it is asked."""

    def __init__(self, status=200):
        self.status = status
        self.asked, self._server_instances = [], {}

    async def handle_request(self, scope, receive, send):
        self.asked.append((scope["method"], dict(scope["headers"]).get(b"mcp-session-id")))
        if scope["method"] == "DELETE":
            await receive()
            raise anyio.ClosedResourceError
        number = len(self._server_instances)
        self._server_instances[f"s{number}"] = number
        await self.beside()
        headers = [(b"mcp-session-id", f"s{number}".encode())]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})

    async def beside(self):
        await anyio.lowlevel.checkpoint()


def test_one_too_many_that_came_in_beside_others_is_ended():
    """Two open at once where there is room for one: one of them is left, on any mcp."""
    manager, sent = Manager(), []
    sessions = Sessions(manager, Limits(sessions=1))

    async def send(message):
        sent.append(message)

    async def run():
        scope = {"type": "http", "method": "POST", "headers": []}
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(sessions, scope, None, send)

    asyncio.run(run())
    assert [method for method, _ in manager.asked] == ["POST", "POST", "DELETE"]
    assert len(sessions._sessions) == len(manager._server_instances) == 1


def requested(manager, limits, *known, then=0):
    """Ask a manager behind its limits, one request after the other; return what was answered."""
    sent, sessions = [], Sessions(manager, limits)

    async def send(message):
        sent.append(message.get("status"))

    async def run():
        async with anyio.create_task_group() as group:
            group.start_soon(sessions.end_idle)
            for session in known:
                headers = [(b"mcp-session-id", session)] if session else []
                await sessions({"type": "http", "method": "POST", "headers": headers}, None, send)
            await anyio.sleep(then)
            group.cancel_scope.cancel()

    asyncio.run(run())
    return sent


def test_a_full_house_is_503_before_anything_is_opened():
    """The request does not reach mcp; those of a session that is there do."""
    manager = Manager()
    assert [*filter(None, requested(manager, Limits(sessions=1), b"", b"", b"s0"))] == [
        200,
        503,
        200,
    ]
    assert [method for method, _ in manager.asked] == ["POST", "POST"]


def test_a_refused_opening_is_forgotten_by_mcp_too():
    """Mcp 1.27 keeps a session for every request that came without one."""
    manager = Manager(400)
    assert requested(manager, Limits(), b"", b"") == [400, 400]
    assert manager._server_instances == {}


def test_what_is_not_used_is_ended_in_time():
    """A session that nobody uses is ended as its client would have ended it."""
    manager = Manager()
    requested(manager, Limits(idle_seconds=0.01), b"", then=0.2)
    assert ("DELETE", b"s0") in manager.asked
    assert manager._server_instances == {}
    idle = Manager()
    requested(idle, Limits(idle_seconds=100), b"")
    assert idle._server_instances == {"s0": 0}


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


def test_a_session_that_is_answering_is_not_idle():
    """However long the answer takes."""

    class Slow(Manager):
        async def beside(self):
            await anyio.sleep(0.3 if len(self.asked) == 2 else 0)

    manager = Slow()
    requested(manager, Limits(idle_seconds=0.02), b"", b"s0")
    assert manager.asked[:2] == [("POST", None), ("POST", b"s0")]
    assert ("DELETE", b"s0") not in manager.asked

"""The HTTP guard: what does not pass, and that nothing comes of it."""

import asyncio
import json
import socket
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from starlette.datastructures import Headers
from support.mcp_client import over_http
from support.mcp_scripts import INITIALIZE
from support.mcp_server import LIMIT, http_process

from todoplan.adapters.mcp import Access, Limits
from todoplan.adapters.mcp.serving import Guard
from todoplan.errors import TodoplanError
from todoplan.stores.file import FileStore

TOKEN = "open-sesame-1234"  # noqa: S105 - of a server that lives for a test
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "TaskCreate", "arguments": {"subject": "Dig"}},
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A file that is served over HTTP to whoever has the token."""
    file = tmp_path_factory.mktemp("guarded") / "plans.json"
    with http_process(file, token=TOKEN) as url:
        yield file, url


def post(url, body=CALL, path="/mcp", **headers):
    """Send one request as a browser or a script would, and give status and body."""
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname, address.port, timeout=30)
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {TOKEN}",
        **{name.replace("_", "-"): value for name, value in headers.items() if value is not None},
    }
    try:
        sent_body = body if isinstance(body, str | bytes) else json.dumps(body)
        connection.request("POST", path, sent_body, sent)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


FOREIGN = [
    ({"Host": "evil.example"}, 421),
    ({"Host": "evil.example:80"}, 421),
    ({"Host": "127.0.0.1.evil.example"}, 421),
    ({"Host": "localhost@evil.example"}, 421),
    ({"Host": "localhost:1:2"}, 421),
    ({"Host": ""}, 421),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "https://localhost.evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "file://localhost"}, 403),
    ({"Origin": ""}, 403),
    ({"Authorization": ""}, 401),
    ({"Authorization": f"Bearer {TOKEN}x"}, 401),
    ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
    ({"Authorization": "Bearer "}, 401),
    ({"Authorization": "Bearer caf\xe9"}, 401),
    ({"Authorization": f"Basic {TOKEN}"}, 401),
    ({"Authorization": TOKEN}, 401),
]


@pytest.mark.parametrize(("headers", "status"), FOREIGN)
def test_a_foreign_request_is_refused_and_nothing_is_written(guarded, headers, status):
    """A Host or Origin from elsewhere, or a wrong token: 4xx, before the protocol is reached."""
    file, url = guarded
    assert post(url, **headers)[0] == status
    assert post(url, INITIALIZE, **headers)[0] == status
    assert not file.exists()


def test_own_names_pass(guarded):
    """Every way to name this machine reaches the protocol, with or without an Origin of it."""
    _, url = guarded
    port = urlsplit(url).port
    for host in ("127.0.0.1", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        for origin in (None, f"http://{host}", "https://localhost"):
            assert post(url, INITIALIZE, Host=host, Origin=origin)[0] == 200


@pytest.mark.parametrize(("path", "status"), [("/mcp/a.b", 404), (f"/mcp/{'a' * 65}", 404)])
def test_a_plan_is_named_by_letters_and_digits(guarded, path, status):
    """A path that is no plan's id is not found, and says what an id is."""
    found, text = post(guarded[1], path=path)
    assert (found, "1 to 64 letters" in text) == (status, True)
    assert post(guarded[1], path="/mcp/a/../b")[0] == 404
    assert post(guarded[1], path="/elsewhere")[0] == 404


def test_a_body_that_is_too_large_is_refused(guarded):
    """413 for one that says so, before it is read, and for one that turns out so."""
    file, url = guarded
    large = {**CALL, "params": {"name": "TaskCreate", "arguments": {"subject": "x" * LIMIT}}}
    assert post(url, large)[0] == 413
    assert _status_of_chunks(url, [b"x" * LIMIT, b"xx"]) == 413
    assert (
        _status_of_chunks(url, [json.dumps(INITIALIZE).encode()[at::3] for at in range(3)]) == 400
    )
    body = json.dumps(INITIALIZE).encode()
    assert _status_of_chunks(url, [body[:9], body[9:]]) == 200
    assert not file.exists()


@pytest.fixture(scope="module")
def roomy(tmp_path_factory):
    """A server that takes bodies of 1 MiB, as is the default."""
    with http_process(tmp_path_factory.mktemp("roomy") / "plans.json", body_bytes=1 << 20) as url:
        yield url


@pytest.mark.parametrize(
    "body",
    [
        "[" * 500_000,
        '{"a":' * 100_000,
        '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + "[" * 200 + "]" * 200 + "}",
        '["\\"]", ' + "[" * 200,
        ("[" * 100_000).encode("utf-16"),
        '["unclosed' + "[" * 200,
    ],
)
def test_nested_bodies_are_refused_before_they_are_parsed(roomy, body):
    """However deep: 400, and the server goes on; `mcp` answered some of them with 500."""
    url = roomy
    status, text = post(url, body)
    assert status == 400
    assert "Traceback" not in text
    assert post(url, INITIALIZE)[0] == 200


def test_brackets_in_texts_are_not_nested(guarded):
    """A text may hold any number of them, and a list any number of objects."""
    _, url = guarded
    texts = ["[{" * 300, '\\"[[' * 100, *([{"content": "x"}] * 120)]
    more = {"capabilities": {"experimental": {"texts": {"all": texts}}}}
    body = {**INITIALIZE, "params": {**INITIALIZE["params"], **more}}
    assert post(url, body)[0] == 200


def _status_of_chunks(url, chunks):
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: bearer {TOKEN}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        )
        connection.sendall(head.encode())
        for chunk in (*chunks, b""):
            connection.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        with connection.makefile("rb") as answer:
            return int(answer.readline().split()[1])


@pytest.mark.slow
def test_with_the_token_the_client_works(tmp_path, era):
    """The real client passes with the bearer token."""
    file = tmp_path / "plans.json"

    async def play(url):
        async with over_http(f"{url}/own", era, Authorization=f"Bearer {TOKEN}") as client:
            return await client.call("TaskCreate", {"subject": "Dig"})

    with http_process(file, token=TOKEN) as url:
        assert asyncio.run(play(url))["isError"] is False
    assert len(FileStore(file).load("own")) == 1


def test_off_loopback_a_token_is_needed():
    """An address that others can reach is an error without a token, and says what to do."""
    for host in ("0.0.0.0", "192.168.1.7", "::", "plans.example.org", ""):  # noqa: S104 - refused
        with pytest.raises(TodoplanError, match="set TODOPLAN_MCP_TOKEN"):
            Access.at(host)
        with pytest.raises(TodoplanError, match=r"or bind 127\.0\.0\.1"):
            Access.at(host, "")
        assert Access.at(host, TOKEN).token == TOKEN
    for host in ("127.0.0.1", "127.1.2.3", "localhost", "::1"):
        assert Access.at(host).token is None


@pytest.mark.parametrize(
    ("bound", "name", "host"),
    [
        ("fd00::7", "Plans.example.org", "[fd00::7]:80"),
        ("fd00::7", "Plans.example.org", "plans.example.org"),
        ("localhost", "plan.example:8443", "plan.example"),
        ("localhost", " plan.example\n", "plan.example:80"),
        ("localhost", "[FD00::7]:80", "[fd00::7]"),
    ],
)
def test_further_names_are_known(bound, name, host):
    """At any port, however they were given, and beside the address that the server is bound to."""
    access, sent = Access.at(bound, TOKEN, (name,)), {"authorization": f"Bearer {TOKEN}"}
    for known in (host, "localhost"):
        assert access.refusal(Headers({"host": known, **sent})) is None
    assert Access.at("localhost", TOKEN).refusal(Headers({"host": host, **sent})).status_code == 421


@pytest.mark.parametrize(
    "name", ["https://plan.example", "plan.example/mcp", "*.example", "", "a b", "fd00::7"]
)
def test_a_name_that_no_request_could_bring_is_an_error(name):
    """A URL, a pattern or nothing: said at once, with what to write, and not at each request."""
    with pytest.raises(TodoplanError, match="is no host; write it without scheme and path"):
        Access.at("localhost", names=(name,))


def test_a_token_is_taken_as_it_was_meant():
    """A file's last newline is no part of it, letters beyond ASCII are, and blanks are no token."""
    for token in ("open", "s\xe9same \u65e5"):
        access = Access.at("0.0.0.0", f" {token}\r\n")  # noqa: S104 - nothing is bound
        sent = {b"host": b"localhost", b"authorization": f"Bearer {token}".encode()}
        assert access.refusal(Headers(raw=[*sent.items()])) is None
        assert access.token == Access(token=f"{token}\n").token == token
        assert access.refusal(Headers(raw=[(b"host", b"localhost")])).status_code == 401
        assert token not in repr(access)  # which a log line or an error may print
    with pytest.raises(TodoplanError, match="a token is needed"):
        Access.at("0.0.0.0", " \n")  # noqa: S104 - refused


def test_a_header_that_stands_twice_is_refused():
    """Two Hosts, Origins or tokens are one too many: what is checked may not be what is used."""
    good = [(b"host", b"localhost"), (b"authorization", f"Bearer {TOKEN}".encode())]
    access = Access(token=TOKEN)
    assert access.refusal(Headers(raw=good)) is None
    origins = [(b"origin", b"http://localhost")] * 2
    for twice, status in ((good[:1], 421), (good[1:], 401), (origins, 403)):
        assert access.refusal(Headers(raw=[*good, *twice])).status_code == status


def test_what_follows_the_body_goes_through():
    """The application reads the body once, and after that what comes: that the client has gone."""
    coming = [
        {"type": "http.request", "body": b"a", "more_body": True},
        {"type": "http.request", "body": b"b"},
        {"type": "http.disconnect"},
    ]
    read = []

    async def app(scope, receive, send):
        read.extend([await receive(), await receive()])

    async def receive():
        return coming.pop(0)

    scope = {"type": "http", "headers": [(b"host", b"localhost")], "path_params": {}}
    asyncio.run(Guard(app, Access())(scope, receive, None))
    assert [message.get("body") for message in read] == [b"ab", None]


@pytest.mark.parametrize(
    ("headers", "path", "chunks", "status"),
    [
        ({}, {}, [b"12345"], 200),
        ({}, {"plan_id": "a_B-9"}, [b"123", b"45"], 200),
        ({"content-length": "6"}, {}, [], 413),
        ({"content-length": "9" * 5000}, {}, [], 413),
        ({"content-length": "10"}, {}, [], 413),
        ({"content-length": "0" * 5000 + "5"}, {}, [b"12345"], 200),
        ({"content-length": "much"}, {}, [b"123", b"456"], 413),
        ({}, {}, [b"123456"], 413),
        ({}, {}, [b'["a', b"\0"], 400),
        ({}, {"plan_id": "../a"}, [], 404),
        ({"origin": "http://evil.example"}, {}, [], 403),
    ],
)
def test_only_what_passes_reaches_the_application(headers, path, chunks, status):
    """What is refused is answered by the guard; a body is read no further than the limit."""
    sent = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive():
        body = chunks.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(chunks)}

    async def send(message):
        sent.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "headers": [(b"host", b"localhost"), *raw], "path_params": path}
    asyncio.run(Guard(app, Access(), Limits(body_bytes=5))(scope, receive, send))
    assert sent[0]["status"] == status

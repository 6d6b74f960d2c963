"""Requests to an ASGI application, without a server: whole answers, and streams of events."""

import asyncio
import json
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx

PATIENCE = 60


def request(app, method, path, **more):
    """Return the answer to one request; `headers`, `json` and `content` as in httpx."""

    async def ask():
        transport = httpx.ASGITransport(app)
        address = more.pop("address", "http://127.0.0.1:1")
        async with httpx.AsyncClient(transport=transport, base_url=address) as client:
            return await client.request(method, path, **more)

    return asyncio.run(ask())


@asynccontextmanager
async def events(app, path, **headers):
    """
    Yield a function that returns the next event of a stream: its name, id and data. The client
    hangs up at the end.
    """
    parts = urlsplit(path)
    named = {"host": "127.0.0.1:1", **{name.replace("_", "-"): v for name, v in headers.items()}}
    scope = {
        "type": "http",
        "method": "GET",
        "path": parts.path,
        "query_string": parts.query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
    }
    gone, sent = asyncio.Event(), asyncio.Queue()

    async def receive():
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        for block in message.get("body", b"").decode().split("\r\n\r\n"):
            if "data: " in block:
                await sent.put(dict(line.split(": ", 1) for line in block.splitlines()))

    async def next_event():
        found = await asyncio.wait_for(sent.get(), PATIENCE)
        return found["event"], found.get("id"), json.loads(found["data"])

    serving = asyncio.create_task(app(scope, receive, send))
    try:
        yield next_event
    finally:
        gone.set()
        await asyncio.wait_for(serving, PATIENCE)

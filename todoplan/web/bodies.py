"""The bodies of requests: read whole before anybody else does, so that they have an end."""

import re

import anyio
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive

from todoplan.web.access import refused

__all__ = ["DEEPEST", "is_too_deep", "read_body", "sent_again"]

DEEPEST = 100
"""Levels of nested JSON that a body may have."""

# A string goes whole: the brackets in it open nothing.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


async def read_body(
    headers: Headers, receive: Receive, limit: int, seconds: float
) -> bytes | Response:
    """
    Return the whole body; or the answer to one that is too large, or does not come.
    """
    body, too_large = bytearray(), _is_over(headers.get("content-length", ""), limit)
    more = not too_large
    # mcp reads a body as well, but only when it holds a place for the request, and without an end.
    with anyio.move_on_after(seconds):
        while more:
            # A client that hangs up ends the body too; mcp refuses the incomplete JSON.
            message = await receive()
            body += message.get("body", b"")
            too_large = len(body) > limit
            more = message.get("more_body", False) and not too_large
    if too_large:
        return refused(413, f"the body has over {limit} bytes")
    return refused(408, f"the body did not come in {seconds:g} seconds") if more else bytes(body)


def is_too_deep(body: bytes) -> bool:
    """
    Say whether JSON is nested more than `DEEPEST` deep, without parsing it: the parsers that come
    later are recursive. What holds a zero byte is no JSON in UTF-8, and counts as too deep.
    """
    if b"\0" in body:  # UTF-16, in which a quotation mark is half of many characters
        return True
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return False
    depth = 0
    for token in _TOKEN.finditer(body):
        first = body[token.start()]
        if first in b"[{":
            depth += 1
            if depth > DEEPEST:
                return True
        elif first in b"]}":
            depth -= 1
    return False


def _is_over(declared: str, limit: int) -> bool:
    # By their length first: `int` raises over more than 4,300 digits.
    digits, most = declared.lstrip("0"), str(limit)
    return declared.isdecimal() and (len(digits), digits) > (len(most), most)


def sent_again(body: bytes, receive: Receive) -> Receive:
    """
    Return a channel that gives a body that was read once more, and then what follows it.
    """
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message

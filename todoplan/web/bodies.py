"""Request bodies: read completely, with a limit on size and time, before any parser sees them."""

import re

import anyio
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive

from todoplan.web.access import refused

__all__ = ["DEEPEST", "is_too_deep", "read_body", "sent_again"]

DEEPEST = 100
"""The maximum depth of nested JSON in a body."""

# A string is one token, so that brackets inside it are not counted.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


async def read_body(
    headers: Headers, receive: Receive, limit: int, seconds: float
) -> bytes | Response:
    """
    Return the whole body, or the response that refuses it.

    A body is refused if it has more than `limit` bytes or does not arrive within `seconds`.
    """
    body, too_large = bytearray(), _is_over(headers.get("content-length", ""), limit)
    more = not too_large
    # mcp also reads the body, but only after it has reserved a slot for the request, and without a
    # deadline.
    with anyio.move_on_after(seconds):
        while more:
            # A disconnect also ends the body; mcp refuses the incomplete JSON.
            message = await receive()
            body += message.get("body", b"")
            too_large = len(body) > limit
            more = message.get("more_body", False) and not too_large
    if too_large:
        return refused(413, f"the body has over {limit} bytes")
    return refused(408, f"the body did not come in {seconds:g} seconds") if more else bytes(body)


def is_too_deep(body: bytes) -> bool:
    """
    Return whether JSON is nested more than `DEEPEST` levels deep, without parsing it.

    The parsers that run later are recursive. A body with a zero byte is not JSON in UTF-8 and
    counts as too deep.
    """
    if b"\0" in body:  # UTF-16: the byte of a quotation mark is also half of many other characters
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
    # Compare lengths first: `int` raises an error for more than 4,300 digits.
    digits, most = declared.lstrip("0"), str(limit)
    return declared.isdecimal() and (len(digits), digits) > (len(most), most)


def sent_again(body: bytes, receive: Receive) -> Receive:
    """
    Return a receive channel that replays a body that was already read, then continues with
    `receive`.
    """
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message

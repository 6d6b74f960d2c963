"""What the MCP server and the board share: who may ask, and which bodies no parser may see."""

import asyncio

import httpx
import pytest
from starlette.responses import PlainTextResponse

from todoplan.errors import TodoplanError
from todoplan.web import DEEPEST, Access, is_too_deep, listen_at, server_of

MANY = DEEPEST + 1


def test_only_loopback_is_local():
    """A name of another machine, or one that a proxy is known by, is not."""
    assert Access().is_local
    assert Access.at("::1").is_local
    assert Access.at("127.0.0.2").is_local
    assert not Access.at("127.0.0.1", names=["plan.example"]).is_local
    assert not Access.at("192.0.2.7", "secret").is_local


def test_a_server_for_other_machines_also_answers_to_the_names_of_its_own():
    """Whoever opens the page on the machine of the server types localhost."""
    local = Access().hosts
    assert Access.at("192.0.2.7", "secret", ["plan.example"]).hosts == (
        *local,
        "192.0.2.7",
        "plan.example",
    )


def test_the_message_names_the_variable_of_its_server():
    """Each server has its own place for the token."""
    with pytest.raises(TodoplanError, match="set TODOPLAN_BOARD_TOKEN to"):
        Access.at("0.0.0.0", variable="TODOPLAN_BOARD_TOKEN")  # noqa: S104 - it is refused


@pytest.mark.parametrize(
    ("body", "too_deep"),
    [
        (b"[" * MANY, True),
        (b"[" * MANY + b"]" * MANY, True),
        (b'{"a":' * MANY, True),
        (b'[{"a":' * MANY, True),
        (rb'["\"]", ' + b"[" * DEEPEST, True),
        (b"[]" * MANY + b"[" * MANY, True),
        (b"\0", True),
        ('["a"]'.encode("utf-16"), True),  # its texts and brackets cannot be told apart by bytes
        (b"", False),
        (b'{"a": [1, "b"]}', False),
        (b"[" * DEEPEST + b"]" * DEEPEST, False),
        (b"[" + b"{}, " * MANY + b"{}]", False),
        (b'["' + b"[{" * MANY + b'"]', False),
        (rb'["' + rb"\"[[" * MANY + rb'"]', False),
        (b'["unclosed' + b"[" * MANY, False),
    ],
)
def test_the_depth_of_a_body_counts_and_not_the_number_of_its_brackets(body, too_deep):
    """Lists and objects count alike; brackets within a text are text."""
    assert is_too_deep(body) is too_deep


def test_no_answer_names_the_software_of_the_server():
    """Whoever looks for a server with a known fault learns nothing."""
    listener, url = listen_at("127.0.0.1", 0, "/")
    server = server_of(PlainTextResponse("here"))

    async def headers():
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        async with httpx.AsyncClient() as client:
            answer = await client.get(url)
        server.should_exit = True
        await serving
        return answer.headers

    assert set(asyncio.run(headers())) == {"date", "content-length", "content-type"}

"""MCP Apps: the board as a page for clients that show pages, and nothing for the others."""

import asyncio
import json
from types import SimpleNamespace

import pytest
from support.mcp_client import MODERN, ProtocolError, connected
from support.mcp_scripts import played
from support.mcp_server import server_of
from support.samples import sample_calls

from todoplan.adapters.mcp import plan_uri
from todoplan.adapters.mcp.server import APP_TYPE, EXTENSION, app_uri, shows_apps
from todoplan.dialogue.tools import BASIC_TOOLSETS
from todoplan.stores.memory import MemoryStore

SHOWS = {EXTENSION: {"mimeTypes": [APP_TYPE]}}


async def seen(era, extensions, toolset="tasks", **options):
    """Return all that a client is told: tools, resources, what calls are answered with."""
    server = server_of(MemoryStore(), toolset, plan_id="garden", **options)
    async with connected(server, era, extensions) as client:
        script = [(call.name, call.arguments) for call in sample_calls(toolset)]
        answers = await played(client, [*script, ("forget", {})])
        return await client.tools(), await client.resources(), answers


@pytest.mark.parametrize("toolset", BASIC_TOOLSETS)
def test_clients_that_show_no_pages_are_told_nothing_of_them(toolset, era):
    """Tools, resources and answers are those of a server without a page, to the byte."""
    plain = asyncio.run(seen(era, None, toolset, board=False))
    told = json.dumps(asyncio.run(seen(era, None, toolset)))
    assert told == json.dumps(plain)
    assert "ui://" not in told


@pytest.mark.parametrize("toolset", BASIC_TOOLSETS)
def test_clients_that_show_pages_are_told_of_the_board(toolset, era):
    """Every tool names the page, the list of resources has it; answers come as data too."""
    tools, resources, answers = asyncio.run(seen(era, SHOWS, toolset))
    plain = asyncio.run(seen(era, None, toolset, structured=True))
    ui = {"resourceUri": "ui://todoplan/board/garden", "visibility": ["model"]}
    assert [tool["_meta"].pop("ui") for tool in tools] == [ui for _ in tools]
    page = resources.pop()
    assert (tools, resources, answers) == plain
    assert page == {
        "uri": "ui://todoplan/board/garden",
        "name": "board of garden",
        "mimeType": "text/html;profile=mcp-app",
        "_meta": {"ui": {"prefersBorder": True}},
    }


@pytest.mark.parametrize("extensions", [SHOWS, None])
def test_the_page_is_one_file_that_loads_nothing(extensions, era):
    """Whoever names it gets it: a document that asks for its own plan, and for no other address."""

    async def read():
        server = server_of(MemoryStore(), plan_id="garden")
        async with connected(server, era, extensions) as client:
            with pytest.raises(ProtocolError, match="there is todoplan://plan/garden"):
                await client.read(app_uri("other"))
            return await client.read(app_uri("garden"))

    (content,) = asyncio.run(read())
    assert (content["uri"], content["mimeType"]) == ("ui://todoplan/board/garden", APP_TYPE)
    assert content["_meta"] == {"ui": {"prefersBorder": True}}
    page = content["text"]
    assert page.startswith("<!DOCTYPE html>")
    assert f'data-plan="{plan_uri("garden")}"' in page
    assert "default-src 'none'" in page
    assert "trusted-types 'none'" in page
    assert not any(mark in page for mark in (" src=", "<link", "@import", "url(http", "import("))


def test_a_server_may_keep_the_board_to_itself(era):
    """Without it a client that shows pages is told what every other one is told."""

    async def read():
        async with connected(server_of(MemoryStore(), board=False), era, SHOWS) as client:
            with pytest.raises(ProtocolError, match="no such resource"):
                await client.read(app_uri("plan"))

    assert asyncio.run(seen(era, SHOWS, board=False)) == asyncio.run(seen(era, None))
    asyncio.run(read())


@pytest.mark.parametrize(
    "extensions",
    [
        {},
        {EXTENSION: {}},
        {EXTENSION: {"mimeTypes": ["text/html"]}},
        {EXTENSION: {"mimeTypes": APP_TYPE}},
        {"io.modelcontextprotocol/other": SHOWS[EXTENSION]},
    ],
)
def test_only_who_shows_this_kind_of_page_is_told(extensions, era):
    """Another extension, another kind of page or a broken list is not it."""
    assert asyncio.run(seen(era, extensions)) == asyncio.run(seen(era, None))


@pytest.mark.parametrize("extensions", [None, "all", [EXTENSION], {EXTENSION: True}])
def test_capabilities_of_any_shape_are_read(extensions):
    """Mcp 1.x checks no extension; a client may have said nothing of itself at all."""
    said = SimpleNamespace(capabilities=SimpleNamespace(extensions=extensions))
    for params in (said, None):
        assert not shows_apps(SimpleNamespace(session=SimpleNamespace(client_params=params)))


def test_the_server_says_that_it_has_a_page(era):
    """Among its extensions; a handshake of mcp 2.x has no place for them."""

    async def capabilities(**options):
        server = server_of(MemoryStore(), **options)
        async with connected(server, era) as client:
            session = client.session
            found = getattr(session, "server_capabilities", None)
            return getattr(found or session.get_server_capabilities(), "extensions", None)

    left_out = MODERN and era == "legacy"
    assert asyncio.run(capabilities()) == (None if left_out else {EXTENSION: {}})
    assert not asyncio.run(capabilities(board=False))


@pytest.mark.skipif(not MODERN, reason="mcp 1.x knows nothing of pages")
def test_names_are_those_of_mcp_itself():
    """What mcp 2.x calls the extension and its pages is what they are called here."""
    from mcp.server import apps  # noqa: PLC0415 - mcp 2.x has it

    assert (EXTENSION, APP_TYPE) == (apps.EXTENSION_ID, apps.APP_MIME_TYPE)

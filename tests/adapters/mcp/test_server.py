"""The server, asked by the real client in this process."""

import asyncio
from importlib.metadata import PackageNotFoundError

import pytest
from support.mcp_client import ProtocolError, connected
from support.mcp_scripts import CREATE, SCRIPT, expected, notified, played, said
from support.mcp_server import server_of
from support.tokens import tokens

from todoplan.adapters.mcp import make_server, plan_uri, result_of
from todoplan.adapters.mcp import server as module
from todoplan.codec import load_plan
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TOOLSETS, WRITE_TODOS
from todoplan.errors import PlanError, StoreError
from todoplan.stores.memory import MemoryStore


def test_results_come_as_data_too(era):
    """A success tells text, revision, counts and the tasks that it touched; an error nothing."""
    script = SCRIPT

    async def play(*, structured):
        server = server_of(MemoryStore(), structured=structured)
        async with connected(server, era) as client:
            return await played(client, script)

    results = asyncio.run(play(structured=True))
    replies, _ = expected("tasks", script)
    shown = [result_of(reply, "plan", structured=True) for reply in replies]
    for result, wanted in zip(results, shown, strict=True):
        assert result.get("structuredContent") == wanted.model_dump(by_alias=True).get(
            "structuredContent"
        )
    changed = [result.get("structuredContent", {}).get("changed") for result in results]
    assert changed == [["1"], ["2", "3"], ["1"], None, None, ["2", "3"], ["3"], [], []]
    for text_only in (None, False):
        plain = asyncio.run(play(structured=text_only))
        assert [said(result) for result in plain] == [said(result) for result in results]
        assert not any("structuredContent" in result for result in plain)


@pytest.mark.parametrize("toolset", [*TOOLSETS.values(), WRITE_TODOS], ids=repr)
def test_instructions_stand_alone(toolset):
    """Many hosts show nothing else at first: each tool by name, when to plan, in 60 tokens."""
    mine = toolset.renamed(**{name: f"my_{name}" for name in toolset.tool_names})
    text, renamed = (
        make_server(Toolbox(each)).create_initialization_options().instructions
        for each in (toolset, mine)
    )
    assert all(f"`{name}`" in text for name in toolset.tool_names)
    assert all(f"`my_{name}`" in renamed for name in toolset.tool_names)
    assert "for work of three or more steps" in text.lower()
    assert tokens(text) <= 60


def test_a_handler_is_registered_with_the_type_of_its_parameters(monkeypatch):
    """On mcp 2.x a method is named with the parameters that mcp is to read for it."""
    registered = {}

    def add(self, method, params, handler):
        registered[method] = params.__name__

    monkeypatch.setattr(module._Server, "add_request_handler", add, raising=False)
    make_server()
    assert registered["tools/list"] == registered["resources/list"] == "PaginatedRequestParams"
    assert registered["tools/call"] == "CallToolRequestParams"
    assert registered["resources/read"] == "ReadResourceRequestParams"


def test_the_plan_is_a_resource(era):
    """It is listed, and its contents are the plan's document; no other plan can be read."""
    store = MemoryStore()

    async def play():
        async with connected(server_of(store, plan_id="garden"), era) as client:
            await client.call(*CREATE)
            (listed,), (content,) = await client.resources(), await client.read(plan_uri("garden"))
            with pytest.raises(ProtocolError, match="there is todoplan://plan/garden"):
                await client.read(plan_uri("other"))
            return listed, content

    listed, content = asyncio.run(play())
    assert listed["uri"] == content["uri"] == "todoplan://plan/garden"
    assert (listed["name"], listed["mimeType"]) == ("garden", content["mimeType"])
    assert load_plan(content["text"]) == store.load("garden")


def test_the_client_is_told_what_there_is(era):
    """Instructions are the tool set's, and resources can be subscribed to."""

    async def play():
        async with connected(server_of(MemoryStore()), era) as client:
            if hasattr(client.session, "server_capabilities"):
                found = client.session.server_capabilities.resources.subscribe
                return found, client.session.instructions
            return client.session.get_server_capabilities().resources.subscribe, None

    prompt = TOOLSETS["tasks"].text("instructions")
    subscribe, instructions = asyncio.run(play())
    assert subscribe is True
    assert instructions in {prompt, None}
    assert server_of(MemoryStore()).instructions == prompt


@pytest.mark.parametrize("plan_id", ["", "../plan", "a b", "a" * 65, "a\n"])
def test_an_id_that_cannot_stand_in_an_address_is_an_error(plan_id):
    """A plan's id is letters, digits, - and _, and the error says so."""
    with pytest.raises(PlanError, match="1 to 64 letters, digits, - and _"):
        server_of(MemoryStore(), plan_id=plan_id)


def test_a_package_without_metadata_has_a_version(monkeypatch):
    """A server that runs from bare sources does not fail for want of a version."""

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(module, "version", missing)
    assert server_of(MemoryStore()).version == "0"


class Broken(MemoryStore):
    """A store whose file is gone bad."""

    def load(self, plan_id):
        msg = "the file is corrupt"
        raise StoreError(msg)


def test_a_store_that_fails_is_told_to_the_client(era):
    """A call gets an error result with the reason, a resource a protocol error with it."""

    async def play():
        async with connected(server_of(Broken()), era) as client:
            with pytest.raises(ProtocolError, match="the file is corrupt"):
                await client.read(plan_uri("plan"))
            return await client.call(*CREATE)

    assert said(asyncio.run(play())) == ("the file is corrupt", True)


def test_each_change_is_told_once(era):
    """However often it subscribed, a client hears of each accepted command once, no more."""

    async def play():
        async with connected(server_of(MemoryStore()), era) as client:
            heard = await notified(client, plan_uri("plan"))
            await client.call(*CREATE)
            return heard, client.updates(), client.frames

    uri = plan_uri("plan")
    assert asyncio.run(play()) == (([uri, uri], 0, 2), 0, 2)


def test_a_person_is_offered_prompts(era):
    """To begin a plan, to go on with it, and to compare it with what is done."""

    async def ask():
        async with connected(server_of(MemoryStore(), "todos"), era) as client:
            todos = [{"content": "Dig", "status": "in_progress"}]
            await client.call("write_todos", {"todos": todos})
            offered = await client.prompts()
            with pytest.raises(ProtocolError, match="no such prompt; there are plan, resume"):
                await client.prompt("sing")
            begin = await client.prompt("plan", goal="Do the garden.")
            return offered, begin, await client.prompt("resume"), await client.prompt("review")

    offered, *given = asyncio.run(ask())
    assert [each["name"] for each in offered] == ["plan", "resume", "review"]
    assert all(each["description"] for each in offered)
    begin, resume, review = (messages[0]["content"]["text"] for messages in given)
    assert begin.endswith("Do the garden.")
    assert resume.endswith("0/1 completed, 1 in progress\n[~] 1 Dig")
    assert "Dig" in review


def test_an_actor_takes_the_place_of_the_client_s_name(era):
    """For a server that one program starts for itself."""
    store = MemoryStore()

    async def ask():
        async with connected(make_server(store=store, actor="bot"), era) as client:
            await client.call("write_todos", {"todos": [{"content": "Dig", "status": "pending"}]})

    asyncio.run(ask())
    assert [entry.actor for entry in store.entries("plan")] == ["bot"]

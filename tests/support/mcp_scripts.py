"""A script of calls of the tool set `tasks`, and the replies of the toolbox itself."""

from support.mcp_server import NOW

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TOOLSETS

SCRIPT = [
    ("TaskCreate", {"subject": "Dig"}),
    ("TaskCreate", {"tasks": [{"subject": "Plant"}, {"subject": "Water", "blockedBy": "#0"}]}),
    ("TaskUpdate", {"taskId": "#1", "status": "completed"}),
    ("TaskUpdate", {"taskId": "9", "status": "nonsense"}),
    ("TaskUpdate", {"taskId": "2", "addBlockedBy": ["3"]}),
    ("TaskUpdate", {"taskId": "2", "removeBlocks": ["3"], "subject": "Plant <b>bulbs</b>"}),
    ("TaskUpdate", {"taskId": "3", "status": "deleted"}),
    ("TaskGet", {"taskId": "2"}),
    ("TaskList", {}),
]
CREATE = ("TaskCreate", {"subject": "Dig"})
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


def expected(toolset, script, toolbox=None):
    """Return the replies and the plan of a script, from the toolbox itself."""
    toolbox, plan, replies = toolbox or Toolbox(TOOLSETS[toolset]), Plan(), []
    for name, arguments in script:
        replies.append(toolbox.call(plan, name, arguments, at=NOW))
        plan = replies[-1].plan
    return replies, plan


def said(result):
    """Return the text of a result and whether it is an error."""
    (content,) = result["content"]
    return content["text"], result["isError"]


async def played(client, script):
    """Make the calls of a script one after the other, and give the results."""
    return [await client.call(name, arguments) for name, arguments in script]


async def notified(client, uri):
    """
    Change a plan twice. Return the addresses of both notifications, the number of unread ones, and
    the number of messages that brought notifications.

    On one connection, a notification arrives before the answer.
    """
    async with client.subscribed(uri, times=3):
        await client.call(*CREATE)
        await client.call("TaskList")
        await client.call("TaskUpdate", {"taskId": "9"})
        await client.call(*CREATE)
        named = [await client.update(), await client.update()]
        await client.call("TaskList")
        return named, client.updates(), client.frames

"""
The shapes of MCP: tools, results and plans as the protocol has them.

Every type is built from what stands on the wire, which mcp 1.x and 2.x read alike.
"""

import re
from collections.abc import Iterator
from typing import Any

from mcp import types

from todoplan.codec import dump_plan
from todoplan.core.events.touched import ids_of
from todoplan.core.events.types import Event, TasksReordered
from todoplan.core.plan.plan import Counts, Plan
from todoplan.dialogue.toolbox import Reply, Toolbox
from todoplan.dialogue.tools.toolset import Definition, ToolSet
from todoplan.errors import PlanError

__all__ = [
    "MIME_TYPE",
    "OUTPUT_SCHEMA",
    "PLAN_ID",
    "contents_of",
    "failed",
    "make_tools",
    "plan_uri",
    "resources_of",
    "result_of",
]

MIME_TYPE = "application/json"
"""Of a plan as a resource: the document that `todoplan.codec` reads."""

# No more than a file name may safely hold, should a store make one of it: agentscope#1249 and
# CVE-2026-3954 are paths that came in as names.
PLAN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What a plan may be called: its id stands in addresses."""

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_COUNTS = dict.fromkeys(Counts._fields, _COUNT)

OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": _TEXT,
        "plan": _TEXT,
        "revision": _COUNT,
        "counts": {"type": "object", "properties": _COUNTS, "required": [*_COUNTS]},
        "changed": {"type": "array", "items": _TEXT},
    },
    "required": ["text", "plan", "revision", "counts", "changed"],
}
"""
What a successful call says beside its text: `changed` are the ids of tasks that it touched.

The text stands here too, because some clients show a model nothing else where this is given.
"""


def plan_uri(plan_id: str) -> str:
    """
    Return the address of a plan as a resource.

    Raises:
        PlanError: the id could not stand in an address.
    """
    if not PLAN_ID.fullmatch(plan_id):
        msg = f"{plan_id!r} is no plan id: it has 1 to 64 letters, digits, - and _"
        raise PlanError(msg, plan_id=plan_id)
    return f"todoplan://plan/{plan_id}"


def make_tools(tools: Toolbox | ToolSet, *, structured: bool = True) -> list[types.Tool]:
    """
    Return the definitions for `tools/list`; `structured` declares the output's schema too.
    """
    toolset = tools.toolset if isinstance(tools, Toolbox) else tools
    output = {"outputSchema": OUTPUT_SCHEMA} if structured else {}
    return [
        types.Tool.model_validate({**_tool(toolset, definition), **output})
        for definition in toolset.definitions()
    ]


def _tool(toolset: ToolSet, definition: Definition) -> dict[str, Any]:
    tool = toolset.find(definition.name)
    harmless = definition.read_only or (tool is not None and tool.adds_only)
    return {
        "name": definition.name,
        "description": definition.description,
        "inputSchema": definition.schema,
        "annotations": {
            "readOnlyHint": definition.read_only,
            "destructiveHint": not harmless,
            # Law 8: the same list written twice changes nothing the second time.
            "idempotentHint": definition.read_only or (tool is not None and tool.whole_list),
            "openWorldHint": False,
        },
    }


def result_of(reply: Reply, plan_id: str, *, structured: bool = True) -> types.CallToolResult:
    """
    Return what a call is answered with. An error is a result too: the model has to read it.
    """
    # Where a schema is declared MCP wants data of every success, but of no error.
    if reply.is_error or not structured:
        return _result(reply.text, isError=reply.is_error)
    plan = reply.plan
    data = {
        "text": reply.text,
        "plan": plan_id,
        "revision": plan.revision,
        "counts": plan.counts._asdict(),
        "changed": list(dict.fromkeys(_changed(reply.events))),
    }
    return _result(reply.text, isError=False, structuredContent=data)


def failed(error: Exception) -> types.CallToolResult:
    """
    Return the result of a call that could not be carried out: the plan cannot be read or written.
    """
    return _result(str(error), isError=True)


def _result(text: str, **fields: Any) -> types.CallToolResult:
    content = [{"type": "text", "text": text}]
    return types.CallToolResult.model_validate({"content": content, **fields})


def _changed(events: tuple[Event, ...]) -> Iterator[str]:
    for event in events:
        # It names every task of the plan, and none of them is another one than before.
        if not isinstance(event, TasksReordered):
            yield from ids_of(event)


def resources_of(plan_id: str) -> types.ListResourcesResult:
    """
    Return the list of resources: the one plan.
    """
    resource = {"uri": plan_uri(plan_id), "name": plan_id, "mimeType": MIME_TYPE}
    return types.ListResourcesResult.model_validate({"resources": [resource]})


def contents_of(plan: Plan, plan_id: str) -> types.ReadResourceResult:
    """
    Return a plan as the contents of its resource.
    """
    content = {"uri": plan_uri(plan_id), "mimeType": MIME_TYPE, "text": dump_plan(plan)}
    return types.ReadResourceResult.model_validate({"contents": [content]})

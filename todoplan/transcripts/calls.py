"""
The items that a reader yields: planning calls with results, bad lines, and other events.

Also the names of the known planning tools, and the reader of lists that are written as text.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from todoplan.core.events.apply import Entry
from todoplan.dialogue.tools import TOOLSETS, Tool

MAIN_LANE = "main"


@attrs.frozen
class CallResult:
    """
    A tool's answer to a call.

    `data` is the structured answer if the recording has one (Claude Code's `toolUseResult`,
    OpenHands' observation), otherwise it is empty.
    """

    text: str
    is_error: bool = False
    data: Mapping[str, Any] = attrs.Factory(dict)


@attrs.frozen
class PlanningCall:
    """
    One call of a planning tool, as the model sent it.

    `arguments` are as recorded: a mapping, or a text that is not valid JSON. `lane` names the plan
    that the call acts on, and `actor` the caller. Calls with the same `turn` were sent in one
    message. `line` is the number of the line, or in a single JSON document that of the message; it
    counts from 1. `result` is `None` if the recording has no answer.
    """

    tool: str
    arguments: Mapping[str, Any] | str
    line: int
    lane: str = MAIN_LANE
    actor: str = MAIN_LANE
    turn: str = ""
    call_id: str = ""
    at: datetime | None = None
    result: CallResult | None = None

    @property
    def answer(self) -> CallResult:
        """The result, or an empty one."""
        return self.result or CallResult("")


@attrs.frozen
class BadLine:
    """
    A part of a recording that could not be read, with the reason in one line.

    Reading continues after it. `unfinished` marks the last line of a file that is still being
    written, and `too_long` a line over the limit, which was skipped. Neither is an error.
    """

    line: int
    reason: str
    unfinished: bool = False
    too_long: bool = False


@attrs.frozen
class Compaction:
    """The conversation was summarised here. This does not change the plan."""

    line: int
    lane: str = MAIN_LANE
    at: datetime | None = None


@attrs.frozen
class PersonSpoke:
    """The person wrote a message here, so the agent had been waiting for them."""

    line: int
    lane: str = MAIN_LANE
    at: datetime | None = None


@attrs.frozen
class ShownPlan:
    """
    A state of the plan that the recording shows outside of any call.

    Examples are Claude Code's reminders of its tasks (`task_reminder`), and the `todos` at the end
    of a LangGraph state.
    """

    line: int
    result: CallResult
    lane: str = MAIN_LANE
    at: datetime | None = None


@attrs.frozen
class RecordedEntry:
    """An entry of one of todoplan's own journals. Its lane is the name of the plan."""

    line: int
    entry: Entry
    lane: str = MAIN_LANE


@attrs.frozen
class OtherCall:
    """
    A call of a tool that is not a known planning tool.

    If a recording has no planning call, the output names the first of these tools. So only a few of
    these calls are yielded, and none after the first planning call.
    """

    tool: str
    line: int


Item = PlanningCall | RecordedEntry | BadLine | Compaction | PersonSpoke | ShownPlan | OtherCall


# -------- tools --------
# The closed set of planning tool names, and the functions that recognise them in recordings.


OWN_TOOL = "plan"
"""The tool of our tool set `lean`. Other products use the name too; `may_plan` tells them apart."""


def _by_id_tools(*, team: bool) -> dict[str, Tool]:
    # All sets accept both spellings of keys, so the first set with a tool is enough.
    return {
        tool.key: tool
        for toolset in reversed(TOOLSETS.values())
        if toolset.by_id and toolset.team is team
        for tool in toolset.tools
    }


TEAM_TOOLS = _by_id_tools(team=True)
"""The tools of our tool sets for a team, which name tasks by id and can claim them."""

BY_ID_TOOLS = TEAM_TOOLS | _by_id_tools(team=False)
"""
The tools of our tool sets that name tasks by id. All agents of a session share their plan.

A tool that exists with and without a team is the one without.
"""

_OUR_TOOLS = dict.fromkeys(tool.key for toolset in TOOLSETS.values() for tool in toolset.tools)
_SEEN_TOOLS = (  # tools of other products; some of our own tools have the same names
    "TodoWrite",
    "TodoRead",  # removed from Claude Code (claude-code#7079), but not from OpenCode
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "update_plan",  # Codex
    "write_todos",  # LangChain, DeepAgents, DeerFlow, Gemini, pydantic-ai-todo
    "read_todos",  # pydantic-ai-todo
    "todo_write",  # Qwen, Grok, Goose; Cursor, with an argument `merge`
    "todo_read",
    "todo_list",  # Hermes
    "task_tracker",  # OpenHands
    "SetTodoList",  # Kimi
    "todos",  # Crush
    "manage_todo_list",  # VS Code
    "update_todo_list",  # Roo
    "task_progress",  # Cline: an argument of its other tools
)

PLANNING_TOOLS = tuple(dict.fromkeys((*_SEEN_TOOLS, *_OUR_TOOLS)))
"""The names of all known planning tools."""


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


_KNOWN = {_bare(name): name for name in PLANNING_TOOLS}
# Claude Code's TodoWrite, OpenCode's todowrite and Qwen's todo_write take the same list.
_KNOWN["todowrite"], _KNOWN["todoread"] = "TodoWrite", "TodoRead"

# Hosts put a server's name in front of the tools of MCP: "mcp_plan_write_todos" (VS Code, Gemini
# CLI), "plan_write_todos" (OpenCode), "plan-write_todos" (Copilot CLI). A prefix without "mcp_" is
# only accepted before names of our own tools, because other products have names that end like
# those of planning tools.
_OURS = "|".join(name for name in _OUR_TOOLS if name != OWN_TOOL)
_OF_SERVER = re.compile(rf".+[-_]({_OURS})|(?:plan_|todoplan_|.+-)({OWN_TOOL})")
_COMMON = "todos"  # `list_todos` of another server is no planning tool
_MOST_PARTS = 20
# Greedy, so that the last separator counts if there are several (`mcp__server__tool`).
_PREFIX = re.compile(r"^.*(?:__|[./:])")
_NAMES = tuple(name.encode() for name in _KNOWN if name != OWN_TOOL)
# Each name contains one of these, so three searches are enough to skip most lines.
_STEMS = (b"todo", b"task", b"plan")
# "plan" is also a key in many lines. As a tool's name it is a value, or a function called in a
# script.
_OWN_NAME = re.compile(rb"plan\\*[\"'](?!\s*\\*:)|\.\s*plan(?:\s|\\[nrt])*\(")
_OWN_KEYS = frozenset(
    field.name
    for tools in (BY_ID_TOOLS, TEAM_TOOLS)
    for field in tools[OWN_TOOL].fields
    if not field.hidden
)
_OWN_KEY = re.compile(rf"[\"'](?:{'|'.join(sorted(_OWN_KEYS))})\\*[\"']\s*:")


def canonical_tool(name: str) -> str | None:
    """
    Return the name in `PLANNING_TOOLS` for a tool's name, or `None` if it is no planning tool.

    Case, underscores and a namespace before `__`, `.`, `/` or `:` are ignored, so
    `mcp__x__write_todos` and `Unity.WriteTodos` are both `write_todos`. The three spellings of
    `TodoWrite` are the same tool. Our own tools may have the name of an MCP server before `_` or
    `-`.
    """
    plain = _PREFIX.sub("", name)
    if known := _KNOWN.get(_bare(plain)):
        return known
    if plain.startswith("mcp_"):
        # The end of the server's name is ambiguous.
        parts = plain.split("_")[2 : 2 + _MOST_PARTS]
        names = ("_".join(parts[place:]) for place in range(len(parts)))
        own = (_KNOWN.get(_bare(one)) for one in names if one != _COMMON)
        return next(filter(None, own), None)
    served = _OF_SERVER.fullmatch(plain)
    return served and (served[1] or served[2])


def may_plan(tool: str, arguments: Mapping[str, Any] | str) -> bool:
    """
    Return whether a call of this tool with these arguments may be a planning call.

    A call of `plan` must have an argument of the tool set `lean`, or no arguments at all, because
    other products have a tool `plan` too.
    """
    name = canonical_tool(tool)
    if name != OWN_TOOL or not arguments:
        return name is not None
    if isinstance(arguments, str):
        # A text is invalid JSON, perhaps truncated. One of our keys in it is enough.
        return _OWN_KEY.search(arguments) is not None
    return not _OWN_KEYS.isdisjoint(arguments)


def mentions_tool(raw: bytes) -> bool:
    """
    Return whether a planning tool's name may occur in these bytes.

    Readers use this fast check to skip lines without parsing them. True may be wrong, but false is
    always right.
    """
    lower = raw.lower()
    if not any(stem in lower for stem in _STEMS):
        return False
    bare = lower.replace(b"_", b"")
    return any(name in bare for name in _NAMES) or _OWN_NAME.search(lower) is not None


# -------- checklists --------
# Lists that are written as text.


_MARKS = {
    " ": "pending",
    **dict.fromkeys("xX", "completed"),
    # Antigravity writes "[/]", and SpecStory a lightning sign.
    **dict.fromkeys("-~*/\u26a1", "in_progress"),
}
CHECK = re.compile(
    r"\s*(?:[-*+]|\d{1,4}[.)])?\s*"
    rf"\[(?P<mark>[{re.escape(''.join(_MARKS))}]|[a-z][a-z_ -]{{2,}})\]\s+(?P<text>\S.*)"
)
"""A line of a checklist. The mark in the brackets is a character or the name of a status."""


def checklist(text: str) -> list[dict[str, str]] | None:
    """
    Return the items of a list that is written as text, or `None` if a line is not an item.

    Roo and Cline write "- [x] A", Roo "[-] A" for tasks in progress, Droid "1. [in_progress] A".
    Goose has headings between the items, which are skipped.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    matches = [CHECK.fullmatch(line) for line in lines]
    if not matches or not all(matches):
        return None
    return [
        {"content": one["text"].rstrip(), "status": _MARKS.get(one["mark"], one["mark"])}
        for one in matches
        if one
    ]

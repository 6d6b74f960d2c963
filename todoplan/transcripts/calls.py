"""What a reader yields: planning calls with their results, and what could not be read."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from todoplan.core.events.journal import Entry
from todoplan.dialogue.tools.lean import LEAN

MAIN_LANE = "main"


@attrs.frozen
class CallResult:
    """
    What the tool answered.

    `data` is the structured answer where the recorder kept one (Claude Code's `toolUseResult`,
    OpenHands' observation), else `None`.
    """

    text: str
    is_error: bool = False
    data: Mapping[str, Any] | None = None


@attrs.frozen
class PlanningCall:
    """
    One call of a planning tool, as the model sent it.

    `arguments` are as recorded: a mapping, or the text that should have been JSON. `lane` names the
    plan that the call acts on, `actor` who called; calls with the same `turn` were sent in one
    message. `line` counts from 1: the physical line, or the message's number in a document.
    `result` is `None` where the recording holds no answer.
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


@attrs.frozen
class BadLine:
    """
    Something that could not be read, with the reason in one line; the rest was read all the same.

    `unfinished` marks the last line of a file that is still being written: no fault, but a note.
    """

    line: int
    reason: str
    unfinished: bool = False


@attrs.frozen
class Compaction:
    """
    The conversation was summarised here; the plan goes on.
    """

    line: int
    lane: str = MAIN_LANE
    at: datetime | None = None


@attrs.frozen
class PersonSpoke:
    """
    The person wrote a message here: what came before waited for them, what follows is theirs.
    """

    line: int
    lane: str = MAIN_LANE
    at: datetime | None = None


@attrs.frozen
class ShownPlan:
    """
    The recording shows beside any call how a plan stood.

    Claude Code reminds of its tasks so (`task_reminder`); a LangGraph state ends with its `todos`.
    """

    line: int
    result: CallResult
    lane: str = MAIN_LANE
    at: datetime | None = None


@attrs.frozen
class RecordedEntry:
    """
    An entry of a journal of ours, of the plan that is the lane.
    """

    line: int
    entry: Entry
    lane: str = MAIN_LANE


@attrs.frozen
class OtherCall:
    """
    A call of a tool that is no planning tool known here.

    Readers give only the first few tools, until there is a planning call.
    """

    tool: str
    line: int


Item = PlanningCall | RecordedEntry | BadLine | Compaction | PersonSpoke | ShownPlan | OtherCall


# -------- tools --------
# The closed set of planning tool names that recordings are searched for, and how to know them.


OWN_TOOL = "plan"
"""The tool of our set `lean`. Others name a tool so too: its calls are told by their arguments."""

PLANNING_TOOLS = (
    "TodoWrite",
    "TodoRead",  # gone from Claude Code (claude-code#7079); OpenCode's `todoread` is not
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "update_plan",  # Codex
    "write_todos",  # LangChain, DeepAgents, DeerFlow, Gemini, pydantic-ai-todo
    "read_todos",  # pydantic-ai-todo
    "todo_write",  # Qwen, Grok, Goose; with `merge` Cursor
    "todo_read",
    "todo_list",  # Hermes
    "task_tracker",  # OpenHands
    "SetTodoList",  # Kimi
    "todos",  # Crush
    "manage_todo_list",  # VS Code
    "update_todo_list",  # Roo
    "task_progress",  # Cline: an argument of its other tools
    OWN_TOOL,
)


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


_KNOWN = {_bare(name): name for name in PLANNING_TOOLS}
# Claude Code's TodoWrite, OpenCode's todowrite and Qwen's todo_write take the same list.
_KNOWN["todowrite"], _KNOWN["todoread"] = "TodoWrite", "TodoRead"

# Greedy: of several namespaces (`mcp__server__tool`) the last separator counts.
_PREFIX = re.compile(r"^.*(?:__|[./:])")
_NAMES = tuple(name.encode() for name in _KNOWN if name != OWN_TOOL)
# Each name holds one of these: three searches settle a line that is about something else.
_STEMS = (b"todo", b"task", b"plan")
# "plan" is also a key of many lines: as a name it is a value, or called in a script.
_OWN_NAME = re.compile(rb"plan\\*[\"'](?!\s*\\*:)|\.\s*plan(?:\s|\\[nrt])*\(")
_OWN_KEYS = frozenset(field.name for field in LEAN.tools[0].fields if not field.hidden)
_OWN_KEY = re.compile(rf"[\"'](?:{'|'.join(sorted(_OWN_KEYS))})\\*[\"']\s*:")


def canonical_tool(name: str) -> str | None:
    """
    Give the name in `PLANNING_TOOLS` that this one stands for, or `None`.

    Case, underscores and a namespace before `__`, `.`, `/` or `:` make no difference, so
    `mcp__x__write_todos` and `Unity.WriteTodos` are both `write_todos`; the three spellings of
    `TodoWrite` are one.
    """
    return _KNOWN.get(_bare(_PREFIX.sub("", name)))


def is_planning_tool(name: str) -> bool:
    """
    Whether calls of this tool change or read a plan; of `plan` only some, see `may_plan`.
    """
    return canonical_tool(name) is not None


def may_plan(tool: str, arguments: Mapping[str, Any] | str) -> bool:
    """
    Whether this is a planning call: one of `plan` has an argument of `lean`, or none at all.
    """
    name = canonical_tool(tool)
    if name != OWN_TOOL or not arguments:
        return name is not None
    if isinstance(arguments, str):
        # A text here is JSON that broke, perhaps cut: one of our keys in it is enough.
        return _OWN_KEY.search(arguments) is not None
    return not _OWN_KEYS.isdisjoint(arguments)


def mentions_tool(raw: bytes) -> bool:
    """
    Whether a planning tool's name may occur in these bytes: cheap, and never wrong about "no".
    """
    lower = raw.lower()
    if not any(stem in lower for stem in _STEMS):
        return False
    bare = lower.replace(b"_", b"")
    return any(name in bare for name in _NAMES) or _OWN_NAME.search(lower) is not None

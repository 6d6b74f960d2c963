"""
Sessions of coding agents, a section for each product.

For some products, a function reads each record and yields its signals (calls, answers and other
events). For the others, whose records are chat messages in another form, a function converts each
record to messages, and `conversation` reads these.
"""

import html
import re
import sqlite3
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from itertools import chain, count
from typing import Any

import attrs

from todoplan.transcripts.calls import (
    CHECK,
    MAIN_LANE,
    BadLine,
    CallResult,
    Compaction,
    OtherCall,
    PersonSpoke,
    PlanningCall,
    ShownPlan,
    canonical_tool,
    mentions_tool,
)
from todoplan.transcripts.files import (
    NotJsonError,
    Probe,
    Record,
    Source,
    blocks,
    no_progress,
    parse_json,
    text_lines,
    tool_calls,
)
from todoplan.transcripts.readers.base import (
    DONE,
    Answered,
    Fields,
    Joiner,
    Message,
    Reply,
    Seen,
    Signal,
    arguments_of,
    awaiting,
    by_record,
    call_of,
    content_text,
    conversation,
    data_of,
    dialect,
    each,
    id_of,
    ids_under,
    is_said,
    mapping,
    mappings,
    message_of,
    parse_time,
    record_dialect,
    records,
    result_of,
    string,
    turn_of,
    use_of,
    with_keys,
    writers_lane,
)


def _ticked(tasks: Iterable[tuple[bool, Any]]) -> Fields:
    """
    Return tasks, given as `(completed, text)`, as the arguments of a whole-list call.

    The list is a checklist. So the replay knows that it has no mark for tasks in progress.
    """
    rows = [f"- [{'x' if done else ' '}] {' '.join(str(text).split())}" for done, text in tasks]
    return {"todos": "\n".join(rows) if rows else []}


# -------- claude_code --------
# Claude Code session logs, and the lines that its SDK streams: one content block per line.
#
# A message is spread over several lines with one `message.id`, so parallel calls are lines of one
# turn. Subagents write to the same file: on `isSidechain` lines (1.x) or inside `progress` lines
# (2.1). A todo list belongs to its writer; Task tools act on one table for the session.

_REMEMBERED = 4096
_UNKNOWN = "sidechain"


class Sidechains:
    """
    Finds the lane of each line: the main agent's or a subagent's. Claude Code calls the lines of
    subagents a sidechain. A line without an agent's id has the lane of its parent line.

    Only the lanes of the latest few thousand lines are kept. A subagent is identified by its id, by
    the call that started it, or by its first line.
    """

    def __init__(self) -> None:
        self._lanes: OrderedDict[str, str] = OrderedDict()

    def lane(self, fields: Fields) -> str:
        """Return the lane of the agent that wrote this line."""
        if fields.get("type") == "progress":
            return _agent(mapping(fields.get("data")).get("agentId")) or _UNKNOWN
        if fields.get("isSidechain") is not True:
            return _agent(fields.get("parent_tool_use_id")) or MAIN_LANE
        if lane := _agent(fields.get("agentId")):
            return lane
        own, parent = id_of(fields.get("uuid")), id_of(fields.get("parentUuid"))
        lane = self._lanes.get(parent, _UNKNOWN)
        # In 1.x a subagent has no id. It is named by the first line of its chain, which has no
        # parent.
        if own and not parent:
            lane = f"{_UNKNOWN}-{own[:8]}"
        self._lanes[own] = lane
        if len(self._lanes) > _REMEMBERED:
            self._lanes.popitem(last=False)
        return lane


def _agent(value: Any) -> str:
    name = id_of(value)
    return f"agent-{name}" if name else ""


_uses_answered = ids_under(b"tool_use_id")
# Claude Code writes no blank after a colon, but a copy by json.dumps has one.
_SPOKEN = (b'"role":"user"', b'"role": "user"')
_ASIDE = (b'"isSidechain":true', b'"isSidechain": true')
_NOT_OF_A_PERSON = ("isMeta", "isCompactSummary", "isSidechain", "isSynthetic")


@by_record
def _is_claude_code(record: Fields) -> bool:
    kind = string(record.get("type"))
    if "parts" in mapping(record.get("message")) or "systemPayload" in record:
        return False  # Qwen Code has the same envelope around Gemini's messages
    if kind in {"assistant", "user"}:
        return "message" in record
    if kind == "summary":  # may be the first line, about another session
        return "leafUuid" in record
    return "sessionId" in record and "uuid" in record and bool(kind)


@dialect("claude-code", _is_claude_code)
def claude_code(source: Source, joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a session of Claude Code."""

    def wanted(raw: bytes) -> bool:
        # Most bytes of a session are file contents. A recording of 100 MB is read in seconds
        # because only relevant lines are parsed. Sidechain lines are relevant, because they show
        # to which subagent later lines belong.
        return (
            mentions_tool(raw)
            or b"compact_boundary" in raw
            or b"task_reminder" in raw
            # Answers of tools have the role user too.
            or (b'"tool_result"' not in raw and any(mark in raw for mark in _SPOKEN))
            or any(mark in raw for mark in _ASIDE)
            or joiner.awaits(_uses_answered(raw))
            or (joiner.wants_other_tools and b'"tool_use"' in raw)
        )

    sidechains = Sidechains()
    for record in records(source, wanted):
        if isinstance(record, BadLine):
            yield record
            continue
        fields = record.value
        lane, at = sidechains.lane(fields), fields.get("timestamp")
        # A resumed session has copies of earlier lines, with the same uuid.
        once = id_of(fields.get("uuid"))
        attachment = mapping(fields.get("attachment"))
        if fields.get("subtype") == "compact_boundary":
            yield Seen(Compaction(record.line, lane, parse_time(at)), once=once)
        elif attachment.get("type") == "task_reminder":
            # The attachment lists the table as the program sees it: in one recording a task was
            # completed without a recorded call. An empty list means that the tools were not used
            # yet.
            if tasks := attachment.get("content"):
                shown = CallResult("", data=data_of({"tasks": tasks}))
                yield ShownPlan(record.line, shown, at=parse_time(at))
        elif _is_of_person(fields):
            yield Seen(PersonSpoke(record.line, lane, parse_time(at)), once=once)
        elif fields.get("type") == "progress":  # 2.1: a subagent's message, two levels deeper
            inner = mapping(mapping(fields.get("data")).get("message"))
            line = Record(record.line, {**inner, "timestamp": inner.get("timestamp") or at})
            yield from _claude_code_message(line, lane, lane)
        else:
            actor = id_of(fields.get("agentName")) if lane == MAIN_LANE else lane
            yield from _claude_code_message(record, lane, actor or MAIN_LANE)


def _is_of_person(fields: Fields) -> bool:
    """Return whether a person wrote this line, and not a tool, an agent or the program."""
    marked = any(fields.get(key) is True for key in _NOT_OF_A_PERSON)
    if fields.get("type") != "user" or marked or fields.get("parent_tool_use_id"):
        return False
    content = mapping(fields.get("message")).get("content")
    if any(block.get("type") == "tool_result" for block in mappings(content)):
        return False
    return bool(content_text(content).strip()) and is_said(content)


def _claude_code_message(record: Record, lane: str, actor: str) -> Iterator[Signal]:
    fields, message = record.value, mapping(record.value.get("message"))
    blocks = mappings(message.get("content"))
    results = sum(block.get("type") == "tool_result" for block in blocks)
    for number, block in enumerate(blocks):
        if block.get("type") == "tool_use":
            message_id = id_of(message.get("id"), fields.get("requestId"))
            call = call_of(record, block, fields.get("timestamp"), turn=message_id, actor=actor)
            call = attrs.evolve(call, lane=writers_lane(call.tool, lane))
            # Without an id, copies are detected by the line and the position of the block in it.
            line_id = id_of(fields.get("uuid"))
            once = call.call_id or (line_id and f"{line_id}#{number}")
            yield Seen(call, call.call_id, once)
        elif block.get("type") == "tool_result":
            # `toolUseResult` belongs to the line and not to the block. If the line has several
            # answers, it cannot be assigned to one.
            beside = fields.get("toolUseResult", fields.get("tool_use_result"))
            data = mapping(beside if results == 1 else None)
            # Some refusals have no flag; "Task not found" has `success: false`.
            refused = block.get("is_error") is True or data.get("success") is False
            result = result_of(block.get("content"), failed=refused, data=data)
            yield Answered(id_of(block.get("tool_use_id")), result)


# -------- codex --------
# Codex rollouts (session logs), in which `update_plan` is a function call, or is called by the
# script of an `exec` call. Also the output of `codex exec --json`, which shows only the list that
# `update_plan` writes.

_ENVELOPES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
# In old rollouts, these have no envelope.
_BARE = {"function_call", "function_call_output", "custom_tool_call"}
_calls_answered = ids_under(b"call_id")
_CALLING = re.compile(rb'"(?:function|custom_tool|mcp_tool)_call"')
_PROMPTS = (b'"user_message"', b'"UserMessage"', b'"turn.started"')
# Codex has no flag for refusals. Every answer of `update_plan` except this one is a refusal.
_TERSE, _TERSE_DONE = "update_plan", "Plan updated"
# Codex has no flag for failed scripts either. A successful script answers "Script completed".
_FAILED_SCRIPT = ("Script failed", "Script error", "Script terminated")


@by_record
def _is_codex(record: Fields) -> bool:
    kind = string(record.get("type"))
    if kind.startswith(("thread.started", "item.")):
        return "thread_id" in record or "item" in record
    return (kind in _ENVELOPES and "payload" in record) or (kind in _BARE and "call_id" in record)


@dialect("codex", _is_codex)
def codex(source: Source, joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a rollout of Codex."""

    def wanted(raw: bytes) -> bool:
        return (
            mentions_tool(raw)
            or b'"compacted"' in raw
            or any(mark in raw for mark in _PROMPTS)
            or (b"_output" in raw and joiner.awaits(_calls_answered(raw)))
            or (joiner.wants_other_tools and _CALLING.search(raw) is not None)
        )

    # The ids of the `update_plan` calls. If the answer to one has a text that does not begin with
    # `_TERSE_DONE`, the call was refused.
    terse: set[str] = set()
    for record in records(source, wanted):
        if isinstance(record, BadLine):
            yield record
            continue
        fields, at = record.value, record.value.get("timestamp")
        payload = mapping(fields["payload"]) if "payload" in fields else fields
        call_id, output = id_of(payload.get("call_id")), payload.get("output")
        item = mapping(payload.get("item"))
        if fields.get("type") == "compacted":
            yield Compaction(record.line, at=parse_time(at))
        match payload.get("type"), item.get("type"):
            # A `message` of role user also carries the environment's text.
            case ("user_message" | "turn.started", _) | ("item_completed", "UserMessage"):
                yield PersonSpoke(record.line, at=parse_time(at))
            case "item.started", "mcp_tool_call":
                yield Seen(call_of(record, item), id_of(item.get("id")))
            # The output of an MCP call has no flag for refusals, but this line before the output
            # has one.
            case ("item.completed", "mcp_tool_call") | ("item_completed", "McpToolCall"):
                content = mapping(item.get("result")).get("content", item.get("error"))
                result = result_of(content, failed=item.get("status") == "failed")
                yield Answered(id_of(item.get("id")), result)
            case "item.started" | "item.updated", "todo_list":
                listed = mappings(item.get("items"))
                todos = _ticked((one.get("completed") is True, one.get("text")) for one in listed)
                yield call_of(record, {"name": _TERSE, "arguments": todos}, result=DONE)
            case "function_call", _:
                call = call_of(record, payload, at)
                terse |= {call_id} if canonical_tool(call.tool) == _TERSE else set()
                yield _in_script(call, 0)
            case "custom_tool_call", _:  # code mode (0.14x): tools are called from a script
                script = string(payload.get("input"))
                for number, (name, arguments) in enumerate(tool_calls(script)):
                    called = {"name": name, "arguments": arguments, "call_id": call_id}
                    yield _in_script(call_of(record, called, at), number)
            case "function_call_output", _:
                # Older versions wrap the text in JSON once more.
                wrapped = mapping(arguments_of(output) if isinstance(output, str) else output)
                text = content_text(wrapped.get("output", wrapped.get("content", output)))
                unsaid = call_id in terse and bool(text) and not text.startswith(_TERSE_DONE)
                refused = unsaid or wrapped.get("success") is False
                yield Answered(call_id, CallResult(text, refused))
            case "custom_tool_call_output", _:
                text = content_text(output)
                yield Answered(call_id, CallResult(text, text.startswith(_FAILED_SCRIPT)))


def _in_script(call: PlanningCall, number: int) -> Seen:
    # The calls of one script share its id, so the number distinguishes them.
    return Seen(call, call.call_id, call.call_id and f"{call.call_id}#{number}")


# -------- copilot --------
# Copilot CLI. Its own plan is a table of a SQL database that the model fills.
#
# The statements are executed here on a database in memory if their answers show success. The
# content of the table afterwards is treated as a write of the whole list. A recording is not
# trusted: only reading and writing tables is allowed, for a limited number of steps.

# The argument with the statements, until they are executed.
_STATEMENTS = "sql"
# Self-joins may run nearly for ever. SQLite calls the progress handler every 1,000 steps.
_MOST_STEPS = 1_000_000
# zeroblob() and replace() make huge values in short queries. A query of 20,000 characters made
# 600 MB of such values.
_MOST_BYTES = 1_000_000
_MOST_PAGES = 4096  # 16 MB, as a page has 4 kB
_LONGEST_QUERY = 20_000
# Not allowed are ATTACH and PRAGMA, which can reach files and the schema, and CREATE, DROP, and
# recursive queries.
_ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_UPDATE,
    sqlite3.SQLITE_DELETE,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_TRANSACTION,
}
_TABLES = """
CREATE TABLE todos (id TEXT PRIMARY KEY, title TEXT, description TEXT,
                    status TEXT DEFAULT 'pending', created_at TEXT, updated_at TEXT);
CREATE TABLE todo_deps (todo_id TEXT, depends_on TEXT, PRIMARY KEY (todo_id, depends_on));
"""


_RECOGNISED = ("assistant.message", "session.start")


@dialect(
    "copilot", by_record(lambda record: record.get("type") in _RECOGNISED and "data" in record)
)
def copilot(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a session of Copilot CLI."""
    # In autocommit mode. Otherwise Python would open a transaction around those of the model.
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        # Done before the authorizer is set, which forbids creating tables.
        database.executescript(_TABLES)
        database.execute(f"PRAGMA max_page_count = {_MOST_PAGES}")
        # SQL can make text that is not UTF-8: CAST(x'ff' AS TEXT).
        database.text_factory = lambda raw: raw.decode(errors="replace")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
        database.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_QUERY)
        database.set_authorizer(
            lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
        )
        # The calls are joined with their answers here, because the answers show which statements
        # were executed.
        for item in Joiner().join(each(records(source), _copilot_record)):
            if not isinstance(item, PlanningCall) or _STATEMENTS not in mapping(item.arguments):
                yield item
            elif item.result:
                yield _executed(database, item, refused=item.result.is_error)


def _copilot_record(record: Record) -> Iterator[Signal]:
    fields, data = record.value, mapping(record.value.get("data"))
    at = parse_time(fields.get("timestamp"))
    match fields.get("type"):
        case "user.message" if is_said(data.get("content")):
            yield PersonSpoke(record.line, at=at)
        # `hook.start` lines repeat the same calls.
        case "assistant.message":
            for request in mappings(data.get("toolRequests")):
                call = call_of(record, request, at, turn=data.get("messageId"))
                query = mapping(call.arguments).get("query")
                # The tool works on any table. Only queries that name this table are about the plan.
                if call.tool == "sql" and isinstance(query, str) and "todos" in query:
                    call = attrs.evolve(call, tool="todo_write", arguments={_STATEMENTS: query})
                yield awaiting(call)
        case "tool.execution_complete":
            error = mapping(data.get("error")).get("message")
            content = mapping(data.get("result")).get("content", error)
            result = result_of(content, failed=data.get("success") is False)
            yield Answered(id_of(data.get("toolCallId")), result)


def _executed(database: sqlite3.Connection, call: PlanningCall, *, refused: bool) -> PlanningCall:
    """
    Execute the SQL statements of a call, unless it was refused.

    Return the call as a write of the whole list (the table afterwards), or as a read.
    """
    before = _rows(database)
    if not refused:
        steps = iter(range(_MOST_STEPS // 1000))
        database.set_progress_handler(lambda: next(steps, None) is None, 1000)
        # The statements up to the first one that fails are executed. The recorded database may have
        # had other columns.
        with suppress(sqlite3.Error, ValueError):
            database.executescript(mapping(call.arguments)[_STATEMENTS])
    after = _rows(database)
    # A query without changes is a read. Its text output is not needed.
    if after == before and not refused:
        return attrs.evolve(call, tool="todo_read", arguments={})
    return attrs.evolve(call, arguments={"todos": after})


def _rows(database: sqlite3.Connection) -> list[dict[str, str]]:
    # The limit of steps for recorded queries must not stop our own query.
    database.set_progress_handler(None, 0)
    rows = database.execute("SELECT id, title, status FROM todos ORDER BY rowid")
    return [
        {"id": str(one), "content": str(title or one), "status": str(status)}
        for one, title, status in rows
    ]


# -------- entire --------
# The compact transcripts of Entire, which records the sessions of several agents: one message per
# line, and each call contains its result.


@record_dialect(
    "entire",
    with_keys("v agent ts"),
    lambda raw, joiner: mentions_tool(raw) or (joiner.wants_other_tools and b'"tool_use"' in raw),
)
def entire(record: Record) -> Iterator[Signal]:
    """Yield the signals of a message in a transcript of Entire."""
    message = record.value
    for block in mappings(message.get("content")):
        if block.get("type") == "tool_use":
            call = call_of(record, block, message.get("ts"), turn=message.get("id"))
            result = block.get("result")
            if isinstance(result, dict):  # some calls have none
                failed = result.get("status") == "error"
                call = attrs.evolve(call, result=result_of(result.get("output"), failed=failed))
            # No key is needed, because the call already has its result.
            yield Seen(call, once=call.call_id)


# -------- opencode --------
# OpenCode session exports. A part of a message has the call and its result; ids may repeat.
# `run --format json` prints the parts alone.


@by_record
def _is_opencode(record: Fields) -> bool:
    if "sessionID" in record:
        return isinstance(record.get("part"), dict)
    return isinstance(record.get("info"), dict) and isinstance(record.get("parts"), list)


@record_dialect("opencode", _is_opencode)
def opencode(record: Record) -> Iterator[Signal]:
    """Yield the signals of a message in a session of OpenCode."""
    info = mapping(record.value.get("info"))
    created = parse_time(mapping(info.get("time")).get("created"))
    if info.get("role") == "user":
        yield PersonSpoke(record.line, at=created)
    for part in mappings(record.value.get("parts", [record.value.get("part")])):
        state = mapping(part.get("state"))
        at = parse_time(mapping(state.get("time")).get("start")) or created
        if part.get("type") == "compaction":
            yield Compaction(record.line, at=at)
        elif part.get("type") == "tool":
            # The metadata's `todos` is the list after the call. It takes precedence in a replay.
            data, failed = state.get("metadata"), state.get("status") == "error"
            result = result_of(state.get("error" if failed else "output"), failed=failed, data=data)
            is_answered = failed or state.get("status") == "completed"
            # The id is not used to find repeated calls, because the recorder Entire masks all ids
            # in its copies.
            yield call_of(
                record,
                {"name": part.get("tool"), "input": state.get("input"), "id": part.get("callID")},
                at,
                turn=id_of(info.get("id"), part.get("messageID")),
                result=result if is_answered else None,
            )


# -------- vscode --------
# Copilot in VS Code, as "Export Chat" writes it: a list of requests with their responses.
#
# A request may have a call twice. `toolCallRounds` has the calls as the model sent them, with their
# results. The parts of the response have the calls as the window shows them, and some calls are
# only in these parts.

_DENIED = 0
_INVOKED = {"toolInvocation", "toolInvocationSerialized"}


@record_dialect(
    "vscode",
    by_record(lambda record: "requestId" in record and isinstance(record.get("response"), list)),
)
def vscode(record: Record) -> Iterator[Signal]:
    """Yield the signals of a request to Copilot in VS Code, and of the response to it."""
    if "message" in record.value:
        yield PersonSpoke(record.line, at=parse_time(record.value.get("timestamp")))
    sent = list(_vscode_sent(record))
    # Older exports have no rounds, and some calls are not in any round.
    if not any(canonical_tool(one.tool) for one in sent):
        shown = list(_vscode_shown(record))
        sent = shown if not sent or any(canonical_tool(one.tool) for one in shown) else sent
    for call in sent:
        yield Seen(call, once=call.call_id)


def _vscode_sent(record: Record) -> Iterator[PlanningCall]:
    metadata = mapping(mapping(record.value.get("result")).get("metadata"))
    results = mapping(metadata.get("toolCallResults"))
    asked = parse_time(record.value.get("timestamp"))
    for number, one in enumerate(mappings(metadata.get("toolCallRounds"))):
        for call in mappings(one.get("toolCalls")):
            result = results.get(id_of(call.get("id")))
            yield call_of(
                record,
                {**call, "name": _own_name(call.get("name"))},
                parse_time(one.get("timestamp")) or asked,
                turn=id_of(one.get("id"), f"#{record.line}.{number}"),
                result=None if result is None else result_of(mapping(result).get("content")),
            )


def _vscode_shown(record: Record) -> Iterator[PlanningCall]:
    for number, part in enumerate(mappings(record.value.get("response"))):
        if part.get("kind") in _INVOKED:
            shown = mapping(part.get("toolSpecificData"))
            call = {
                "name": _own_name(part.get("toolId")),
                "arguments": {"todoList": shown["todoList"]}
                if "todoList" in shown
                else shown.get("rawInput"),
                "id": part.get("toolCallId"),
            }
            # The person may have declined the call. Then it was not carried out.
            answer = part.get("isConfirmed")
            refused = answer is False or mapping(answer).get("type") == _DENIED
            yield call_of(
                record,
                call,
                record.value.get("timestamp"),
                turn=f"#{record.line}.{number}",
                result=CallResult("", refused),
            )


def _own_name(value: Any) -> str:
    """Return the name of a tool. For a planning tool `mcp_<server>_<tool>`, return its own name."""
    tool = string(value)
    return (canonical_tool(tool) if tool.startswith("mcp_") else None) or tool


# -------- openhands --------
# OpenHands: events in lines or in a list, and Markdown logs with a heading per call and result.

_STEP = re.compile(r"^### \[\d+\] [A-Z]", re.MULTILINE)
_HEADING = re.compile(
    r"### \[\d+\] TOOL (?P<what>CALL|RESULT)\s+\W\s+(?P<tool>\S+)"
    r"(?P<error>\s+\[ERROR\])?(?:\s+\W\s+(?P<at>.*))?"
)


def _is_openhands(probe: Probe) -> bool:
    return _STEP.search(probe.text) is not None or any(
        string(record.get("kind")).endswith("Event") and "source" in record
        for record in probe.records
    )


@dialect("openhands", _is_openhands)
def openhands(source: Source, joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a session of OpenHands."""

    def wanted(raw: bytes) -> bool:
        if b'"MessageEvent"' in raw or mentions_tool(raw):
            return True
        return joiner.wants_other_tools and b'"ActionEvent"' in raw

    if source.form == "text":
        return _openhands_log(source)
    return each(records(source, wanted), _openhands_event)


def _openhands_log(source: Source) -> Iterator[Signal]:
    """Yield the log's calls and results. A result is for the oldest planning call without one."""

    def is_wanted(label: str) -> bool:
        heading = _HEADING.match(label)
        # If there is no plan, the names of other tools are reported. Their results are never used.
        return heading is not None and (
            heading["what"] == "CALL" or canonical_tool(heading["tool"]) is not None
        )

    # Headings have no ids, so the nth result of a planning tool belongs to its nth call.
    sent = answered = 0
    labels = blocks(source, lambda line: line if line.startswith("### [") else None, is_wanted)
    for block in labels:
        if isinstance(block, BadLine):
            yield block
            continue
        heading = _HEADING.match(block.label)
        if heading and not canonical_tool(heading["tool"]):
            yield OtherCall(heading["tool"], block.line)
        elif heading and heading["what"] == "CALL":
            sent += 1
            record = Record(block.line, {"name": heading["tool"], "arguments": block.text})
            yield Seen(call_of(record, record.value, heading["at"]), f" {sent}")
        elif heading and answered < sent:
            answered += 1
            data = mapping(arguments_of(block.text))
            failed = bool(heading["error"]) or data.get("is_error") is True
            content = data.get("content") if data else block.text
            result = result_of(content, failed=failed, data=data)
            yield Answered(f" {answered}", result)


def _openhands_event(record: Record) -> Iterator[Signal]:
    fields, at = record.value, record.value.get("timestamp")
    key = id_of(fields.get("tool_call_id"))
    match fields.get("kind"):
        case "MessageEvent" if fields.get("source") == "user":
            yield PersonSpoke(record.line, at=parse_time(at))
        case "ActionEvent":
            # The arguments as the model sent them. If they are missing, the action that OpenHands
            # made of them.
            sent = mapping(fields.get("tool_call")).get("arguments", fields.get("action"))
            call = {"name": fields.get("tool_name"), "arguments": sent, "id": key}
            yield awaiting(call_of(record, call, at, turn=fields.get("llm_response_id")))
        case "ObservationEvent":
            observation = mapping(fields.get("observation"))
            failed, content = observation.get("is_error") is True, observation.get("content")
            yield Answered(key, result_of(content, failed=failed, data=observation))
        # The answer to a refused call is an event of another kind, without an observation.
        case _ if "error" in fields:
            yield Answered(key, result_of(fields["error"], failed=True))


# -------- gemini --------
# Gemini CLI: session files, lists of API contents, and the Markdown of `/chat share`. Unity's
# assistant has the same tool, and two export formats in Markdown.
#
# In Gemini's API, ids are optional: responses are matched to calls by id if there is one, else by
# name in order.

# Ids are `<tool>-<epoch ms>-<hex>`. In `/chat share`, they are the only source of times.
_STAMP = re.compile(r"[-_](\d{13})[-_]")
_MOST_PAIRED = 64


class _Pairs:
    """Matches responses to calls. Only the latest few calls without a response are kept."""

    def __init__(self) -> None:
        self._open: deque[tuple[str, str]] = deque(maxlen=_MOST_PAIRED)
        self._numbers = count(1)

    def sent(self, call: Fields, line: int, turn: str, at: Any = None) -> Iterator[Signal]:
        """
        Yield the signal of a call `{name, args, id?}`. Without `at`, the time is taken from the id,
        if the id contains it.
        """
        call_id = id_of(call.get("id"))
        stamp = _STAMP.search(call_id)
        at = at or (parse_time(int(stamp[1])) if stamp else None)
        sent = call_of(Record(line, call), call, at, turn=turn)
        # Our own keys begin with a blank. `answered` matches only these by name.
        key = call_id or f" {next(self._numbers)}"
        self._open.append((key, sent.tool))
        yield Seen(sent, key)

    def answered(self, response: Fields) -> Iterator[Answered]:
        """
        Yield the answer in a response `{name, response, id?}`.

        The answer belongs to the call with the same id, or else to the oldest call of the same tool
        that has no id.
        """
        call_id, tool = id_of(response.get("id")), response.get("name")
        names = (key for key, name in self._open if name == tool and key[0] == " ")
        key = call_id if call_id in dict(self._open) else next(names, "")
        if key:
            self._open = deque((one for one in self._open if one[0] != key), _MOST_PAIRED)
            yield Answered(key, _response_result(response.get("response")))


def _response_result(response: Any) -> CallResult:
    """Return the result in a response object `{output}` or `{error}`."""
    fields = mapping(response)
    error = fields.get("error")
    text = content_text(fields.get("output") if error is None else error)
    data = data_of(fields.get("data"))
    text = text.removeprefix("<untrusted_context>\n").removesuffix("\n</untrusted_context>")
    return CallResult(text or content_text(response), error is not None, data)


# Gemini CLI labels a fenced block as command or response. Unity's older format has a `<details>`
# element for each call. In it are the arguments and the result or an error, each after a bold line.
# The newer format has a bold line that names the tool, followed by the arguments only.
_COMMAND, _RESPONSE, _OTHER = "**Tool Command**", "**Tool Response**", ""
# The name is a whole word, the quantifiers are possessive, and the arguments have no parentheses
# inside. Otherwise the time is quadratic in the length of a line.
_SUMMARY = re.compile(r"<summary>.*?(?<![\w.])(?P<tool>[\w.]++)\s*+\([^()]*+\)\s*</summary>")
_TURN = re.compile(r"^\W{0,8}## \W{0,8}(?:USER|MODEL|User|Assistant)\b")
_BOLD = re.compile(r"^\*\*(?P<words>[^*]+)\*\*\s*$")
_TOOL_CALL = re.compile(r"^\*\*Tool call: (?P<tool>[\w.]+)\*\*\s*$")
# The bold words are in the language of Unity's editor, which may be any of these.
_FAILED = frozenset({"Error", "エラー", "오류", "에러", "错误", "錯誤", "Erreur", "Fehler"})
_SHARED = re.compile(
    r"^\W{0,8}## (?:USER|MODEL)\W*$"
    r"|\*\*Tool (?:Command|Response)\*\*:|^<summary>.*\w\.WriteTodos\b|^\*\*Tool call: Unity\.",
    re.MULTILINE,
)


@attrs.define
class _SharedChat:
    """
    The position in a log: the current turn (Gemini CLI), or the current call (Unity).

    `tool` is the tool of Unity's current call, and `number` the number of this call. `key` is the
    key of this call once its arguments were read, or "" in Unity's newer format, which has no
    results (`has_result`). `failed` is true after the heading of an error.
    """

    pairs: _Pairs = attrs.field(factory=_Pairs)
    turn: int = 0
    tool: str = _OTHER
    key: str = ""
    number: int = 0
    has_result: bool = True
    failed: bool = False

    def signals(self, source: Source) -> Iterator[Signal]:
        """Yield the log's calls, and their responses if there are any."""
        for block in blocks(source, self._label, lambda label: label != _OTHER):
            if isinstance(block, BadLine):
                yield block
            elif block.label in {_COMMAND, _RESPONSE}:
                try:
                    fields = mapping(parse_json(block.text))
                except NotJsonError as error:
                    yield BadLine(block.line, f"a tool's block that is not JSON: {error}")
                    continue
                if block.label == _COMMAND:
                    yield from self.pairs.sent(fields, block.line, f"turn-{self.turn}")
                else:
                    yield from self.pairs.answered(fields)
            elif self.key:
                refused = self.failed or block.text.startswith(("Error", "Invalid"))
                yield Answered(self.key, CallResult(block.text, refused))
            else:
                # A section of Unity has everything that the model did until the person's next
                # message. Its calls were sent one after the other, so each call is a turn.
                record = Record(block.line, {"name": block.label, "arguments": block.text})
                self.key = f" u{self.number}" if self.has_result else ""
                yield Seen(call_of(record, record.value, turn=f"call-{self.number}"), self.key)

    def _label(self, line: str) -> str | None:
        if _TURN.match(line):
            self.turn += 1
        elif heading := _SUMMARY.match(line) or _TOOL_CALL.match(line):
            self.number += 1
            self.key, self.tool, self.failed = "", heading["tool"], False
            self.has_result = heading.re is _SUMMARY
            if not self.has_result:
                return self.tool
        elif "</details>" in line:
            self.tool = _OTHER
        for label in (_COMMAND, _RESPONSE):
            if label in line:
                return label
        bold = _BOLD.match(line)
        if not bold:
            return None
        # In the newer format, bold lines are the model's thoughts, and the text after them is not
        # an answer.
        if not self.has_result:
            return _OTHER
        self.failed = bold["words"].strip() in _FAILED
        return self.tool


def _gemini_message(record: Fields) -> Fields:
    """
    Return the message in a line of Qwen Code: `{type, timestamp, message: {role, parts}}`.

    Return any other line unchanged.
    """
    message = mapping(record.get("message"))
    return {"timestamp": record.get("timestamp"), **message} if "parts" in message else record


def _is_gemini(probe: Probe) -> bool:
    return _SHARED.search(probe.text) is not None or any(
        record.get("type") == "gemini"
        or record.get("role") == "model"
        or ("projectHash" in record and "sessionId" in record)
        for record in map(_gemini_message, probe.records)
    )


@dialect("gemini", _is_gemini)
def gemini(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a recording of Gemini CLI, Qwen Code or Unity's assistant."""
    if source.form == "text":
        yield from _SharedChat().signals(source)
        return
    pairs = _Pairs()
    for record in records(source):
        if isinstance(record, BadLine):
            yield record
            continue
        fields = _gemini_message(record.value)
        parts, at = mappings(fields.get("parts")), parse_time(fields.get("timestamp"))
        content = fields.get("content", fields.get("parts"))
        # A tool's response has the role user too, but only a person writes text.
        is_text = isinstance(content, str) or any("text" in part for part in mappings(content))
        if "user" in (fields.get("type"), fields.get("role")) and is_text and is_said(content):
            yield PersonSpoke(record.line, at=at)
        for call in mappings(fields.get("toolCalls")):
            responses = [
                mapping(one.get("functionResponse")) for one in mappings(call.get("result"))
            ]
            planning = call_of(
                record,
                call,
                parse_time(call.get("timestamp")) or at,
                turn=fields.get("id"),
                result=_response_result(responses[0].get("response")) if responses else None,
            )
            # The call already has its result, so no key is needed.
            yield Seen(planning, once=planning.call_id)
        for part in parts:  # in the spelling of JSON or of Python
            if sent := mapping(part.get("functionCall", part.get("function_call"))):
                yield from pairs.sent(sent, record.line, turn_of(record.line), at)
            if response := mapping(part.get("functionResponse", part.get("function_response"))):
                yield from pairs.answered(response)


# -------- cursor --------
# Cursor's agent transcripts: Anthropic's messages without ids and times, mostly without answers.


@dialect(
    "cursor",
    by_record(lambda record: "role" in record and "content" in mapping(record.get("message"))),
)
def cursor(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a transcript of Cursor."""

    def messages(record: Record) -> tuple[Message]:
        # A message inside this one has the content. The role is beside it.
        return (message_of(record.line, {**record.value, **mapping(record.value.get("message"))}),)

    return conversation(records(source), messages, unanswered=DONE)


# -------- cline --------
# `ui_messages.json` of Cline, and of Roo. Roo writes its list as a message about a tool.


@by_record
def _is_cline(record: Fields) -> bool:
    kind = string(record.get("type"))
    return "ts" in record and kind in {"say", "ask"} and kind in record


@record_dialect("cline", _is_cline)
def cline(record: Record) -> Iterator[Signal]:
    """Yield the signals of a message in the user interface of Cline or Roo."""
    fields = record.value
    kind, text = fields.get(string(fields.get("type"))), string(fields.get("text"))
    at, tool, arguments = parse_time(fields.get("ts")), "", mapping(None)
    if fields.get("partial") is True:  # an incomplete message, which is written again later
        return
    if kind == "user_feedback":
        yield PersonSpoke(record.line, at=at)
    elif kind == "user_edit_todos":
        yield ShownPlan(record.line, CallResult("", data=data_of(arguments_of(text))), at=at)
    elif kind == "task_progress":
        tool, arguments = "task_progress", {"todos": text}
    elif kind == "tool":
        arguments = mapping(arguments_of(text))
        tool = string(arguments.get("tool"))
    if tool:
        yield call_of(record, {"name": tool, "input": arguments}, at, result=DONE)


# -------- atif --------
# Trajectories of Harbor and Terminal-Bench (ATIF 1.0 to 1.7): a step has calls and their results.

_SOURCES = {"agent": "assistant", "user": "user", "system": "system"}


@attrs.define
class _Trajectory:
    """
    The lane of the latest step.

    `subagents` is the number of subagents so far, or `None` for the main agent's own steps. The ids
    of each subagent's steps begin again at 1.
    """

    subagents: int | None = None
    lane: str = MAIN_LANE

    def messages(self, record: Record) -> Iterator[Message]:
        step = record.value
        if self.subagents is not None and step.get("step_id") == 1:
            self.subagents += 1
        aside = self.subagents is not None or mapping(step.get("extra")).get("is_sidechain") is True
        self.lane = f"agent-{self.subagents or 'sidechain'}" if aside else MAIN_LANE
        # A continued trajectory begins with copies of earlier steps.
        if step.get("is_copied_context") is True:
            return
        recorded = mappings(mapping(step.get("observation")).get("results"))
        replies = []
        for one in recorded:
            # In recordings of Claude Code, the exact answer is beside the result or beside its
            # step.
            extra = mapping(one.get("extra") or (step.get("extra") if len(recorded) == 1 else None))
            exact = mapping(extra.get("tool_result_metadata"))
            content = mapping(exact.get("raw_tool_result")).get("content", one.get("content"))
            failed, data = exact.get("is_error") is True, exact.get("tool_use_result")
            result = result_of(content, failed=failed, data=data)
            replies.append(Reply(id_of(one.get("source_call_id")), "", result))
        message = message_of(
            record.line,
            {
                "role": "system" if aside else _SOURCES.get(string(step.get("source"))),
                "content": content_text(step.get("message")),
                "tool_calls": step.get("tool_calls"),
                "timestamp": step.get("timestamp"),
            },
        )
        yield attrs.evolve(message, replies=tuple(replies))

    def signals(self, source: Source) -> Iterator[Signal]:
        for signal in conversation(records(source), self.messages):
            if isinstance(signal, Seen) and isinstance(call := signal.item, PlanningCall):
                lane = writers_lane(call.tool, self.lane)
                call = attrs.evolve(call, lane=lane, actor=self.lane)
                # Some converters repeat a call in the step of its result.
                once = call.call_id and f"{self.lane} {call.call_id} {call.arguments}"
                yield attrs.evolve(signal, item=call, once=once)
            else:
                yield signal


@dialect(
    "atif",
    by_record(lambda record: "step_id" in record and string(record.get("source")) in _SOURCES),
)
def atif(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a trajectory, and of its subagents' trajectories."""
    yield from _Trajectory().signals(source)
    if source.form == "document":
        # The steps of subagents are in a list next to the steps, so the file is read twice. The
        # second reading is not reported as progress.
        aside = attrs.evolve(
            source, prefix="subagent_trajectories.item.steps.item", on_bytes=no_progress
        )
        signals = _Trajectory(0).signals(aside)
        yield from (one for one in signals if not isinstance(one, BadLine))


# -------- kiro --------
# Kiro CLI (formerly Amazon Q): its sessions in lines, and the history that `/chat save` writes.

_EVENTS = {"Prompt", "AssistantMessage", "ToolResults"}
_ANSWERS = {"Response", "ToolUse"}
_KIRO_STATE, _KIRO_ID = "TODO LIST STATE: ", "\n\n ID: "


@by_record
def _is_kiro(record: Fields) -> bool:
    if string(record.get("kind")) in _EVENTS:
        return "data" in record and "version" in record
    return "user" in record and not _ANSWERS.isdisjoint(mapping(record.get("assistant")))


def _kiro_messages(record: Record) -> Iterator[Message]:
    fields = record.value
    if "assistant" in fields:  # of a history: the results of earlier calls, and then an answer
        user, answer = mapping(fields.get("user")), mapping(fields["assistant"])
        content, sent = mapping(user.get("content")), mapping(answer.get("ToolUse"))
        uses = mappings(sent.get("tool_uses"))
        recorded = mappings(mapping(content.get("ToolUseResults")).get("tool_use_results"))
        is_prompt, at = "Prompt" in content, parse_time(user.get("timestamp"))
    else:
        sent = mapping(fields.get("data"))
        blocks = mappings(sent.get("content"))
        uses, recorded = (
            tuple(mapping(one.get("data")) for one in blocks if one.get("kind") == kind)
            for kind in ("toolUse", "toolResult")
        )
        is_prompt = fields.get("kind") == "Prompt"
        at = parse_time(mapping(sent.get("meta")).get("timestamp"))
    if is_prompt:
        yield Message(record.line, at=at, by_person=True)
    replies = []
    for one in recorded:
        # A block of a result is `{"kind", "data"}`, or has the kind as its key.
        parts = mappings(one.get("content"))
        texts = [part.get("data", next(iter(part.values()), None)) for part in parts]
        failed = string(one.get("status")).lower() == "error"
        call_id = id_of(one.get("toolUseId"), one.get("tool_use_id"))
        replies.append(Reply(call_id, "", result_of(texts, failed=failed)))
    message_id = id_of(sent.get("message_id"))
    yield Message(record.line, message_id, tuple(map(use_of, uses)), tuple(replies), at)


@attrs.frozen
class _KiroTask:
    id: str
    text: str
    is_done: bool


def _kiro_tasks(listed: Any) -> list[_KiroTask]:
    # Old versions send texts without ids.
    rows = [
        one if isinstance(one, dict) else {"task_description": one}
        for one in (listed if isinstance(listed, list) else ())
    ]
    return [
        _KiroTask(
            str(one.get("id", number)),
            str(one.get("task_description", "")),
            one.get("completed") is True,
        )
        for number, one in enumerate(rows, 1)
    ]


def _kiro_ids(listed: Any) -> set[str]:
    return {str(one) for one in listed} if isinstance(listed, list) else set()


@attrs.define
class _KiroList:
    """The tasks of the current list."""

    tasks: list[_KiroTask] = attrs.Factory(list)

    def write(self, call: PlanningCall) -> PlanningCall:
        """Return the call as a write of the whole list, or as a read."""
        sent, refused = mapping(call.arguments), call.answer.is_error
        if sent.get("command") in ("load", "lookup"):
            return attrs.evolve(call, tool="todo_read", arguments={})
        match None if refused else sent.get("command"):
            case "create":
                self.tasks = _kiro_tasks(sent.get("tasks"))
            case "complete":
                done = _kiro_ids(sent.get("completed_task_ids"))
                self.tasks = [
                    attrs.evolve(one, is_done=one.is_done or one.id in done) for one in self.tasks
                ]
            case "remove":
                gone = _kiro_ids(sent.get("remove_task_ids"))
                self.tasks = [one for one in self.tasks if one.id not in gone]
        if not refused:
            # The answer shows the list after the call. New versions empty the list once all tasks
            # are done, so completing and removing are also carried out here. Old versions name
            # tasks by index, keep tasks that are done, and put a few words around the list.
            text = call.answer.text
            is_old = text.startswith(_KIRO_STATE)
            shown = text.removeprefix(_KIRO_STATE).partition(_KIRO_ID)[0]
            tasks = _kiro_tasks(mapping(arguments_of(shown)).get("tasks"))
            self.tasks = tasks if tasks or is_old else self.tasks
        todos = _ticked((one.is_done, one.text) for one in self.tasks)
        return attrs.evolve(call, tool="todo_write", arguments=todos)


@dialect("kiro", _is_kiro)
def kiro(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a session of Kiro CLI."""
    listed = _KiroList()
    # The calls are joined with their answers here, because the answers show the list.
    for item in Joiner().join(conversation(records(source), _kiro_messages)):
        match item:
            case PlanningCall("todo_list"):
                yield listed.write(item)
            case _:
                yield item


# -------- antigravity --------
# Antigravity's transcripts: one step per line. The plan is a checklist in the file `task.md`.

_EDITS = {"write_to_file", "replace_file_content", "multi_replace_file_content"}
_TASK_FILE = re.compile(r"(?:^|[\\/])task\.md$")


@dialect("antigravity", with_keys("step_index type source"))
def antigravity(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a transcript of Antigravity."""
    return each(records(source), _TaskFile().step)


def _decoded(value: Any) -> Any:
    """Return an argument of a call. In `transcript.jsonl`, arguments are encoded as JSON texts."""
    try:
        return parse_json(value) if string(value).startswith(('"', "[{")) else value
    except NotJsonError:
        return value


@attrs.define
class _TaskFile:
    """The text of `task.md` after the edits so far."""

    text: str = ""

    def step(self, record: Record) -> Iterator[Signal]:
        at = parse_time(record.value.get("created_at"))
        if record.value.get("type") == "USER_INPUT":
            yield PersonSpoke(record.line, at=at)
        for call in mappings(record.value.get("tool_calls")):
            tool = string(call.get("name")).rpartition(":")[2]
            sent = {key: _decoded(value) for key, value in mapping(call.get("args")).items()}
            if tool in _EDITS and _TASK_FILE.search(string(sent.get("TargetFile"))):
                if not self._edit(sent):
                    reason = "an edit of task.md whose old text is not there; it was skipped"
                    yield BadLine(record.line, reason)
                    continue
                rows = [line for line in self.text.splitlines() if CHECK.fullmatch(line)]
                tool, sent = "update_todo_list", {"todos": "\n".join(rows) if rows else []}
            yield call_of(record, {"name": tool, "input": sent}, at, result=DONE)

    def _edit(self, sent: Fields) -> bool:
        """Apply an edit to the text. Return whether the text to be replaced was found."""
        if "CodeContent" in sent:
            self.text = string(sent["CodeContent"])
            return True
        edited = self.text
        for chunk in mappings(sent.get("ReplacementChunks")) or (sent,):
            old, new = string(chunk.get("TargetContent")), string(chunk.get("ReplacementContent"))
            if not old or old not in edited:
                return False
            edited = edited.replace(
                old, new, -1 if chunk.get("AllowMultiple") in (True, "true") else 1
            )
        self.text = edited
        return True


# -------- specstory --------
# Markdown of SpecStory, for sessions of Cursor, Claude Code and others. A list is shown as a
# checklist.

_NAMED = re.compile(
    r'<tool-use\b[^>]*\bdata-tool-name="(?P<new>[\w.-]+)"'
    r"|(?:<details><summary>)?Tool use: \*\*(?P<old>[\w.-]+)\*\*"
)
_SPEAKER = re.compile(r"_\*\*(User|Agent|Assistant)\b(.*)\*\*_")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?Z")
_TOOL_ENDS = ("</details></tool-use>", "</tool-use>")
_ENDS = ("</details>", *_TOOL_ENDS, "---")
_END = (0, _ENDS[-1])
_FENCE = re.compile(r"`{3,}")
_PRIORITY = re.compile(r"(\] )(?:\U0001f525|\U0001f321|\u2744)\ufe0f? ")


@dialect("specstory", lambda probe: "<!-- Generated by SpecStory" in probe.text)
def specstory(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a Markdown file of SpecStory."""
    tool, begun, rows, fence, at = "", 0, list[str](), "", None
    for entry in chain(text_lines(source), [_END]):
        if isinstance(entry, BadLine):
            yield entry
            continue
        number, line = entry
        mark = _FENCE.match(line)
        if (fence or mark) and entry is not _END:
            # Old versions use fences of three backticks even around texts that contain such fences.
            closes = line.rstrip() == fence or (fence == "```" and line.startswith(_TOOL_ENDS))
            fence = "" if closes else fence or (mark[0] if mark else "")
            continue
        speaker, named = _SPEAKER.fullmatch(line.rstrip()), _NAMED.match(line)
        if rows and (speaker or named or line.startswith(_ENDS)):
            arguments = {"todos": "\n".join(rows)}
            yield PlanningCall(tool, arguments, begun, turn=f"#{begun}", at=at, result=DONE)
            rows = []
        if speaker:
            tool, moment = "", _MOMENT.search(speaker[2])
            at = parse_time(moment[0]) if moment and speaker[1] != "User" else None
            if speaker[1] == "User":
                yield PersonSpoke(number, at=parse_time(moment[0]) if moment else None)
        elif named:
            tool, begun = named["new"] or named["old"], number
            # Reported even if it is a planning tool, because the arguments of Task tools are not
            # exported.
            yield OtherCall(tool, number)
        elif line.startswith(_ENDS):
            tool = ""
        elif CHECK.fullmatch(line) and canonical_tool(tool):
            # Claude Code's items have an emoji for the priority before the text.
            rows.append(_PRIORITY.sub(r"\1", html.unescape(line)))

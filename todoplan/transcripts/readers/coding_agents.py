"""
Sessions of coding agents: Cursor, Cline, Kiro, Antigravity, SpecStory, and ATIF trajectories.

Most of them are chat messages in another form: a function converts a record to messages, which
`conversation` reads. Kiro names tasks by number, and Antigravity edits a Markdown file; the reader
follows both, and yields writes of the whole list.
"""

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from todoplan.transcripts.calls import (
    CHECK,
    MAIN_LANE,
    BadLine,
    CallResult,
    OtherCall,
    PersonSpoke,
    PlanningCall,
    ShownPlan,
    is_planning_tool,
)
from todoplan.transcripts.files import (
    NotJsonError,
    Probe,
    Record,
    Source,
    no_progress,
    parse_json,
    text_lines,
)
from todoplan.transcripts.readers.base import (
    Answered,
    DialectReader,
    Joiner,
    Seen,
    Signal,
    arguments_of,
    content_text,
    conversation,
    data_of,
    each,
    mapping,
    mappings,
    parse_time,
    records,
    string,
    turn_of,
    writers_lane,
)

Fields = Mapping[str, Any]
_DONE = CallResult("")  # for calls whose answers are not recorded


def _chat(source: Source, messages_of: Callable[[Fields], Sequence[Fields]]) -> Iterator[Signal]:
    """Yield the signals of the chat messages that a function makes of each record."""

    def found() -> Iterator[Record | BadLine]:
        for record in records(source):
            if isinstance(record, BadLine):
                yield record
            else:
                yield from (Record(record.line, one) for one in messages_of(record.value))

    return conversation(found())


def _any(is_ours: Callable[[Fields], bool]) -> Callable[[Probe], bool]:
    return lambda probe: any(map(is_ours, probe.records))


# -------- cursor --------
# Cursor's agent transcripts: Anthropic's messages without ids and times, mostly without answers.


def _is_cursor(record: Fields) -> bool:
    return "role" in record and "content" in mapping(record.get("message"))


def _cursor_signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    for signal in _chat(source, lambda line: [{**line, **mapping(line.get("message"))}]):
        if isinstance(signal, Seen) and isinstance(signal.item, PlanningCall):
            yield attrs.evolve(signal, item=attrs.evolve(signal.item, result=_DONE))
        else:
            yield signal


CURSOR = DialectReader("cursor", _any(_is_cursor), _cursor_signals)

# -------- cline --------
# `ui_messages.json` of Cline, and of Roo, which shows its list as a tool's question.


def _is_cline(record: Fields) -> bool:
    kind = string(record.get("type"))
    return "ts" in record and kind in {"say", "ask"} and kind in record


def _cline_message(record: Record) -> Iterator[Signal]:
    fields = record.value
    kind, text = fields.get(string(fields.get("type"))), string(fields.get("text"))
    at, tool, arguments = parse_time(fields.get("ts")), "", mapping(None)
    if fields.get("partial") is True:  # an earlier state of a message that is repeated
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
        turn = turn_of(record.line)
        yield PlanningCall(tool, arguments, record.line, turn=turn, at=at, result=_DONE)


CLINE = DialectReader(
    "cline", _any(_is_cline), lambda source, _: each(records(source), _cline_message)
)

# -------- atif --------
# Trajectories of Harbor and Terminal-Bench (ATIF 1.0 to 1.7): a step has calls and their results.

_SOURCES = {"agent": "assistant", "user": "user", "system": "system"}


def _is_atif(record: Fields) -> bool:
    return "step_id" in record and string(record.get("source")) in _SOURCES


@attrs.define
class _Trajectory:
    """The lane of the latest step: subagents have their own steps, whose ids begin again at 1."""

    subagents: int | None = None
    lane: str = MAIN_LANE

    def messages(self, step: Fields) -> Sequence[Fields]:
        if self.subagents is not None and step.get("step_id") == 1:
            self.subagents += 1
        aside = self.subagents is not None or mapping(step.get("extra")).get("is_sidechain") is True
        self.lane = f"agent-{self.subagents or 'sidechain'}" if aside else MAIN_LANE
        # A continued trajectory begins with copies of earlier steps.
        if step.get("is_copied_context") is True:
            return []
        source = string(step.get("source"))
        results = [
            {
                "type": "tool_result",
                "tool_use_id": one.get("source_call_id"),
                "content": one.get("content"),
            }
            for one in mappings(mapping(step.get("observation")).get("results"))
        ]
        calls = [
            {
                "id": one.get("tool_call_id"),
                "name": one.get("function_name"),
                "args": one.get("arguments"),
            }
            for one in mappings(step.get("tool_calls"))
        ]
        text = {"type": "text", "text": content_text(step.get("message"))}
        return [
            {
                "role": "system" if aside else _SOURCES.get(source),
                "timestamp": step.get("timestamp"),
                "tool_calls": calls,
                "content": [text, *results],
            }
        ]

    def signals(self, source: Source) -> Iterator[Signal]:
        for signal in _chat(source, self.messages):
            if not (isinstance(signal, Seen) and isinstance(signal.item, PlanningCall)):
                yield signal
                continue
            call = signal.item
            lane = writers_lane(call.tool, self.lane)
            call = attrs.evolve(call, lane=lane, actor=self.lane)
            # Some converters repeat a call in the step of its result.
            once = call.call_id and f"{self.lane} {call.call_id} {call.arguments}"
            yield attrs.evolve(signal, item=call, once=once)


def _atif_signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    yield from _Trajectory().signals(source)
    if source.form == "document":
        # They stand beside the steps. The second reading is not reported.
        aside = attrs.evolve(
            source, prefix="subagent_trajectories.item.steps.item", on_bytes=no_progress
        )
        found = _Trajectory(0).signals(aside)
        yield from (one for one in found if not isinstance(one, BadLine))


ATIF = DialectReader("atif", _any(_is_atif), _atif_signals)

# -------- kiro --------
# Kiro CLI (formerly Amazon Q): its sessions in lines, and the history that `/chat save` writes.

_EVENTS = {"Prompt", "AssistantMessage", "ToolResults"}
_ANSWERS = {"Response", "ToolUse"}
_MOST_WAITING = 256  # an interrupted session leaves calls without an answer


def _is_kiro(record: Fields) -> bool:
    if string(record.get("kind")) in _EVENTS:
        return "data" in record and "version" in record
    return "user" in record and not _ANSWERS.isdisjoint(mapping(record.get("assistant")))


def _kiro_messages(record: Fields) -> Sequence[Fields]:
    data = mapping(record.get("data"))
    blocks = mappings(data.get("content"))
    uses = [mapping(one.get("data")) for one in blocks if one.get("kind") == "toolUse"]
    results = [mapping(one.get("data")) for one in blocks if one.get("kind") == "toolResult"]
    is_prompt, message_id = record.get("kind") == "Prompt", data.get("message_id")
    at = mapping(data.get("meta")).get("timestamp")
    if "assistant" in record:
        user = mapping(record.get("user"))
        content, answer = mapping(user.get("content")), mapping(record["assistant"])
        told = mapping(content.get("ToolUseResults")).get("tool_use_results")
        uses = list(mappings(mapping(answer.get("ToolUse")).get("tool_uses")))
        results, is_prompt, at = list(mappings(told)), "Prompt" in content, user.get("timestamp")
        message_id = mapping(answer.get("ToolUse")).get("message_id")
    calls = [
        {
            "id": one.get("toolUseId", one.get("id")),
            "name": one.get("name"),
            "args": one.get("input", one.get("args")),
        }
        for one in uses
    ]
    answers = [
        {
            "type": "tool_result",
            "tool_use_id": one.get("toolUseId", one.get("tool_use_id")),
            # A block of a result is `{"kind", "data"}`, or has the kind as its key.
            "content": [
                part.get("data", next(iter(part.values()), None))
                for part in mappings(one.get("content"))
            ],
            "is_error": string(one.get("status")).lower() == "error",
        }
        for one in results
    ]
    said = [{"role": "user", "content": "", "timestamp": at}] if is_prompt else []
    message = {"id": message_id, "role": "assistant", "content": answers, "tool_calls": calls}
    return [*said, {**message, "timestamp": at}]


@attrs.frozen
class _KiroTask:
    id: str
    text: str
    is_done: bool


def _kiro_tasks(listed: Any, first: int = 1) -> list[_KiroTask]:
    # Old versions send texts without ids.
    rows = [
        one if isinstance(one, dict) else {"task_description": one}
        for one in (listed if isinstance(listed, list) else ())
    ]
    return [
        _KiroTask(
            str(one.get("id", number)),
            " ".join(str(one.get("task_description", "")).split()),
            one.get("completed") is True,
        )
        for number, one in enumerate(rows, first)
    ]


@attrs.define
class _KiroList:
    """The tasks of the current list."""

    tasks: list[_KiroTask] = attrs.Factory(list)

    def write(self, call: PlanningCall, result: CallResult | None) -> PlanningCall:
        """Return the call as a write of the whole list, or as a read."""
        sent = mapping(call.arguments)
        if sent.get("command") in ("load", "lookup"):
            return attrs.evolve(call, tool="todo_read", arguments={}, result=result)
        if result is None or not result.is_error:
            self._carry_out(sent)
            # The answer shows the list. It is empty once all tasks are done.
            shown = mapping(arguments_of(result.text)).get("tasks") if result else None
            self.tasks = _kiro_tasks(shown) or self.tasks
        rows = [f"- [{'x' if one.is_done else ' '}] {one.text}" for one in self.tasks]
        todos = {"todos": "\n".join(rows) if rows else []}
        return attrs.evolve(call, tool="todo_write", arguments=todos, result=result)

    def _carry_out(self, sent: Fields) -> None:
        match sent.get("command"):
            case "create":
                self.tasks = _kiro_tasks(sent.get("tasks"))
            case "add":
                self.tasks += _kiro_tasks(sent.get("new_tasks"), len(self.tasks) + 1)
            case "complete":
                done = self._named(sent.get("completed_task_ids"), sent.get("completed_indices"))
                for place in done:
                    self.tasks[place] = attrs.evolve(self.tasks[place], is_done=True)
            case "remove":
                gone = self._named(sent.get("remove_task_ids"), sent.get("remove_indices"))
                self.tasks = [one for place, one in enumerate(self.tasks) if place not in gone]

    def _named(self, ids: Any, indices: Any) -> set[int]:
        """Return the places of tasks that are named by id, or by index in old versions."""
        known = {str(one) for one in ids} if isinstance(ids, list) else set()
        places = indices if isinstance(indices, list) else ()
        return {
            place for place, task in enumerate(self.tasks) if task.id in known or place in places
        }


def _kiro_signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    listed, waiting = _KiroList(), dict[str, PlanningCall]()
    for signal in _chat(source, _kiro_messages):
        match signal:
            case Seen(PlanningCall("todo_list") as call, key):
                waiting[key] = call
            case Answered(key, result) if key in waiting:
                yield listed.write(waiting.pop(key), result)
            case _:
                yield signal
        if len(waiting) > _MOST_WAITING:
            yield listed.write(waiting.pop(next(iter(waiting))), None)
    yield from (listed.write(call, None) for call in waiting.values())


KIRO = DialectReader("kiro", _any(_is_kiro), _kiro_signals)

# -------- antigravity --------
# Antigravity's transcripts: one step per line. The plan is a checklist in the file `task.md`.

_EDITS = {"write_to_file", "replace_file_content", "multi_replace_file_content"}
_TASK_FILE = re.compile(r"(?:^|[\\/])task\.md$")


def _is_antigravity(record: Fields) -> bool:
    return "step_index" in record and "type" in record and "source" in record


def _decoded(value: Any) -> Any:
    """Return an argument of `transcript.jsonl`, which has them as JSON; a full transcript not."""
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
            turn = turn_of(record.line)
            yield PlanningCall(tool, sent, record.line, turn=turn, at=at, result=_DONE)

    def _edit(self, sent: Fields) -> bool:
        """Edit the text, and return whether the text to replace was found."""
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


ANTIGRAVITY = DialectReader(
    "antigravity",
    _any(_is_antigravity),
    lambda source, _: each(records(source), _TaskFile().step),
)

# -------- specstory --------
# SpecStory's Markdown of sessions of Cursor, Claude Code and others. A list is shown as checklist.

_NAMED = re.compile(
    r'<tool-use\b[^>]*\bdata-tool-name="(?P<new>[\w.-]+)"'
    r"|(?:<details><summary>)?Tool use: \*\*(?P<old>[\w.-]+)\*\*"
)
_SPEAKER = re.compile(r"_\*\*(User|Agent|Assistant)\b(.*)\*\*_")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?Z")
_ENDS = ("</details>", "</tool-use>", "---")
_FENCE = re.compile(r"`{3,}")
_PRIORITY = re.compile(r"(\] )(?:\U0001f525|\U0001f321|\u2744)\ufe0f? ")


def _is_specstory(probe: Probe) -> bool:
    return "<!-- Generated by SpecStory" in probe.text


def _specstory_signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    tool, begun, rows, fence, at = "", 0, list[str](), "", None
    for found in text_lines(source):
        if isinstance(found, BadLine):
            yield found
            continue
        number, line = found
        if fence:
            fence = "" if line.rstrip() == fence else fence
            continue
        if mark := _FENCE.match(line):
            fence = mark[0]
            continue
        speaker, named = _SPEAKER.fullmatch(line.rstrip()), _NAMED.match(line)
        if rows and (speaker or named or line.startswith(_ENDS)):
            arguments = {"todos": "\n".join(rows)}
            yield PlanningCall(tool, arguments, begun, turn=f"#{begun}", at=at, result=_DONE)
            rows = []
        if speaker:
            tool, moment = "", _MOMENT.search(speaker[2])
            at = parse_time(moment[0]) if moment and speaker[1] != "User" else None
            if speaker[1] == "User":
                yield PersonSpoke(number, at=parse_time(moment[0]) if moment else None)
        elif named:
            tool, begun = named["new"] or named["old"], number
            if not is_planning_tool(tool):
                yield OtherCall(tool, number)
        elif line.startswith(_ENDS):
            tool = ""
        elif CHECK.fullmatch(line) and is_planning_tool(tool):
            # Claude Code's items have a priority, as a sign before the text.
            rows.append(_PRIORITY.sub(r"\1", html.unescape(line)))
    if rows:
        arguments = {"todos": "\n".join(rows)}
        yield PlanningCall(tool, arguments, begun, turn=f"#{begun}", at=at, result=_DONE)


SPECSTORY = DialectReader("specstory", _is_specstory, _specstory_signals)

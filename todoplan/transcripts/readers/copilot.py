"""
Copilot CLI. It has no planning tool: its plan is a table of a SQL database that the model fills.

The statements are executed here on a database in memory if their answers show success. The content
of the table afterwards is treated as a write of the whole list. A recording is not trusted: only
reading and writing tables is allowed, for a limited number of steps.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import attrs

from todoplan.transcripts.calls import CallResult, OtherCall, PersonSpoke, PlanningCall
from todoplan.transcripts.files import Probe, Record, Source
from todoplan.transcripts.readers.base import (
    DialectReader,
    Joiner,
    Signal,
    arguments_of,
    content_text,
    each,
    id_of,
    mapping,
    mappings,
    parse_time,
    records,
    string,
    turn_of,
)

_SQL, _WRITE = "sql", "todo_write"
# An interrupted session leaves calls without an answer.
_MOST_WAITING = 256
# Self-joins may run nearly for ever. SQLite calls the progress handler every 1,000 steps.
_MOST_STEPS = 1_000_000
# zeroblob() and replace() make huge values in short queries.
_MOST_BYTES = 1_000_000
# A query of 20,000 characters made 600 MB of such values. This limit is 16 MB in pages of 4 kB.
_MOST_PAGES = 4096
# Splitting a query full of semicolons into statements takes time quadratic in its length.
_LONGEST_QUERY = 20_000
# Neither ATTACH nor PRAGMA, which reach files and the schema, nor CREATE and DROP, nor recursion.
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


def _database() -> sqlite3.Connection:
    # Autocommit, or Python would open its own transactions around those of the model.
    database = sqlite3.connect(":memory:", isolation_level=None)
    # Done before the authorizer is set, which forbids creating tables.
    database.executescript(_TABLES)
    database.execute(f"PRAGMA max_page_count = {_MOST_PAGES}")
    # SQL can make text that is not UTF-8: CAST(x'ff' AS TEXT).
    database.text_factory = lambda raw: raw.decode(errors="replace")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    database.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
    )
    return database


@attrs.define
class _Session:
    """The database, and the calls that have no answer yet."""

    database: sqlite3.Connection
    waiting: dict[str, PlanningCall] = attrs.Factory(dict)

    def of_record(self, record: Record) -> Iterator[Signal]:
        fields, data = record.value, mapping(record.value.get("data"))
        at = parse_time(fields.get("timestamp"))
        match fields.get("type"):
            case "user.message":
                yield PersonSpoke(record.line, at=at)
            # `hook.start` lines repeat the same calls.
            case "assistant.message":
                for request in mappings(data.get("toolRequests")):
                    yield from self._asked(record, data, request, at)
            case "tool.execution_complete":
                yield from self._answered(data)

    def _asked(
        self, record: Record, data: Mapping[str, Any], request: Mapping[str, Any], at: Any
    ) -> Iterator[Signal]:
        name, call_id = string(request.get("name")), id_of(request.get("toolCallId"))
        arguments = arguments_of(request.get("arguments"))
        query = arguments.get("query") if isinstance(arguments, Mapping) else None
        # The tool works on any table. Only queries that name this table are about the plan.
        if name != _SQL or not isinstance(query, str) or "todos" not in query:
            yield OtherCall(name, record.line)
        elif len(self.waiting) < _MOST_WAITING:
            turn = turn_of(record.line, data.get("messageId"))
            self.waiting[call_id] = PlanningCall(
                name, query, record.line, turn=turn, call_id=call_id, at=at
            )

    def _answered(self, data: Mapping[str, Any]) -> Iterator[PlanningCall]:
        call = self.waiting.pop(id_of(data.get("toolCallId")), None)
        if call is None:
            return
        text = content_text(mapping(data.get("result")).get("content"))
        refused = data.get("success") is False
        before = self._rows()
        if not refused:
            self._run(str(call.arguments))
        after = self._rows()
        # A query without changes is a read. Its text output is not needed.
        tool = _WRITE if refused or after != before else "todo_read"
        arguments = {"todos": after} if tool == _WRITE else {}
        yield attrs.evolve(call, tool=tool, arguments=arguments, result=CallResult(text, refused))

    def _run(self, query: str) -> None:
        if len(query) > _LONGEST_QUERY:
            return
        steps = iter(range(_MOST_STEPS // 1000))
        self.database.set_progress_handler(lambda: next(steps, None) is None, 1000)
        try:
            # Statements are executed one by one as far as possible: the columns may differ.
            for statement in _statements(query):
                self.database.execute(statement).fetchmany(1)
        except (sqlite3.Error, ValueError):
            return

    def _rows(self) -> list[dict[str, str]]:
        # The limit of steps for recorded queries must not stop our own query.
        self.database.set_progress_handler(None, 0)
        found = self.database.execute("SELECT id, title, status FROM todos ORDER BY rowid")
        return [
            {"id": str(one), "content": str(title or one), "status": str(status)}
            for one, title, status in found
        ]


def _statements(query: str) -> Iterator[str]:
    start = 0
    for end, mark in enumerate(query, 1):
        if mark == ";" and sqlite3.complete_statement(query[start:end]):
            yield query[start:end]
            start = end
    yield query[start:]


def _recognises(probe: Probe) -> bool:
    return any(
        record.get("type") in {"assistant.message", "session.start"} and "data" in record
        for record in probe.records
        if isinstance(record.get("type"), str)
    )


def _signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    with closing(_database()) as database:
        session = _Session(database)
        yield from each(records(source), session.of_record)


READER = DialectReader("copilot", _recognises, _signals)

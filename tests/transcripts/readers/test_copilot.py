"""Copilot CLI's plan in a SQL table."""

import pytest
from support.recorded import lines_file

from todoplan.transcripts.calls import OtherCall, PersonSpoke, PlanningCall
from todoplan.transcripts.reading import read

INSERT = "INSERT INTO todos (id, title, status) VALUES ('a', 'Sow', 'pending');"


ENDLESS = (
    "INSERT INTO todos WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
    " SELECT x, x, x, x, x, x FROM n"
)
TEN = f"(VALUES {', '.join(['(1)'] * 10)})"
COUNT = "UPDATE todos SET title = (SELECT count(*) FROM {})"
LONG, SHORT = (COUNT.format(", ".join([TEN] * tables)) for tables in (7, 4))
BLOBS = ", ".join(["(random(), zeroblob(900000))"] * 20)
LARGE = f"INSERT INTO todos (id, title) VALUES {BLOBS}"  # noqa: S608 - text of a recording


def session(folder, *queries, tool="sql", answered=True):
    records = [{"type": "user.message", "data": {}}]
    for number, query in enumerate(queries):
        call = {"toolCallId": f"c{number}", "name": tool, "arguments": {"query": query}}
        records.append({"type": "assistant.message", "data": {"toolRequests": [call]}})
        success = not query.endswith("-- refused")
        told = {"toolCallId": f"c{number}", "success": success, "result": {"content": "ok"}}
        records += [{"type": "tool.execution_complete", "data": told}] * answered
    return lines_file(folder, *records)


def calls(path):
    return [
        (one.tool, [(row["content"], row["status"]) for row in one.arguments.get("todos", [])])
        for one in read(path, "copilot")
        if isinstance(one, PlanningCall)
    ]


def test_what_stands_in_the_table_is_the_list(tmp_path):
    """After each call; a query that looks is a read; one that was refused changes nothing."""
    path = session(
        tmp_path,
        INSERT,
        "DELETE FROM todos -- refused",
        "SELECT * FROM todos",
        "UPDATE todos SET status = 'done', updated_at = datetime('now') WHERE id = 'a'",
        "INSERT OR REPLACE INTO todos (id, title) VALUES ('a', 'It''s; sown')",
        "DELETE FROM todos",
    )
    assert calls(path) == [
        ("todo_write", [("Sow", "pending")]),
        ("todo_write", [("Sow", "pending")]),
        ("todo_read", []),
        ("todo_write", [("Sow", "done")]),
        ("todo_write", [("It's; sown", "pending")]),
        ("todo_write", []),
    ]


@pytest.mark.parametrize(
    "query",
    [
        "ATTACH DATABASE 'evil.db' AS todos; CREATE TABLE todos.x (y)",
        "PRAGMA writable_schema = 1; -- todos",
        "DROP TABLE todos",
        ENDLESS,
        LONG,
        LARGE,
        "not SQL about todos",
        "UPDATE todos SET title = 'Long'; -- ".ljust(30_000, "x"),
    ],
)
def test_a_recording_cannot_do_harm(tmp_path, monkeypatch, query):
    """No file is written, nothing is endless or huge, the table stays; what follows is read."""
    monkeypatch.chdir(tmp_path)
    found = calls(session(tmp_path, INSERT, query, "UPDATE todos SET status = 'done'"))
    assert found[1] == ("todo_read", [])
    assert found[2] == ("todo_write", [("Sow", "done")])
    assert not (tmp_path / "evil.db").exists()


def test_a_query_of_some_thousand_steps_is_carried_out(tmp_path):
    """Only what is nearly endless is stopped."""
    assert calls(session(tmp_path, INSERT, SHORT))[1] == ("todo_write", [("10000", "pending")])


def test_text_that_is_no_utf8_is_read_with_the_bad_bytes_replaced(tmp_path):
    """SQL can make such text of any bytes."""
    path = session(tmp_path, INSERT, "UPDATE todos SET title = CAST(x'61ff' AS TEXT)")
    assert calls(path)[1] == ("todo_write", [("a\ufffd", "pending")])


def test_other_calls_and_calls_without_an_answer_are_no_planning(tmp_path):
    """SQL about other tables, other tools, a session that was interrupted."""
    others = [type(one) for one in read(session(tmp_path, "SELECT 1"), "copilot")]
    assert others == [PersonSpoke, OtherCall]
    assert calls(session(tmp_path, INSERT, tool="bash")) == []
    assert calls(session(tmp_path, INSERT, answered=False)) == []
    assert calls(session(tmp_path, *[INSERT] * 300, answered=False)) == []
    stray = {"type": "tool.execution_complete", "data": {"toolCallId": "x"}}
    assert calls(lines_file(tmp_path, stray)) == []

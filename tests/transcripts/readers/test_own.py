"""Journals of ours are recordings too."""

import json
from datetime import UTC, datetime

import pytest

from todoplan import Plan, Todo, decide
from todoplan.codec import dump_journal
from todoplan.core.commands import UpdateTask, WriteTodos
from todoplan.core.events.apply import Entry
from todoplan.core.rules import Policy
from todoplan.stores.file import FileStore
from todoplan.transcripts.replay import replay_file

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
WRITE = WriteTodos((Todo("Sow"), Todo("Reap")))


def entries():
    """Two entries: a list, and a task that goes from pending to completed."""
    plan, made = Plan(), []
    for command, cause in ((WRITE, "write_todos"), (UpdateTask("1", status="completed"), "")):
        done = decide(plan, command, Policy(), at=NOON)
        plan = done.plan
        made.append(Entry(plan.revision, done.events, NOON, actor="ann", cause=cause))
    return plan, made


def stored(folder):
    """The file of a store with two plans."""
    plan, made = entries()
    store = FileStore(folder / "plans.json")
    for name in ("a", "b"):
        assert store.append(name, 0, made, plan)
    return folder / "plans.json"


def journal(folder):
    """A journal as JSON Lines."""
    path = folder / "journal.jsonl"
    path.write_text(dump_journal(entries()[1]), encoding="utf-8")
    return path


@pytest.mark.parametrize(("made", "lanes"), [(stored, ["a", "b"]), (journal, ["main"])])
def test_a_journal_replays_to_its_plan(tmp_path, made, lanes):
    """Each plan is a lane, each entry a step on the line where it stands, judged as calls are."""
    path = made(tmp_path)
    replay = replay_file(path)
    steps = list(replay.steps())
    lines = path.read_text(encoding="utf-8").split("\n")
    assert replay.dialect == "todoplan"
    assert [lane.name for lane in replay.lanes] == lanes
    assert {lane.plan for lane in replay.lanes} == {entries()[0]}
    assert all('"events"' in lines[step.line - 1] for step in steps)
    expected = [("ann", "write_todos", NOON), ("ann", "entry", NOON)]
    assert [(step.actor, step.tool, step.at) for step in steps[:2]] == expected
    codes = {finding.code for finding in replay.findings}
    assert codes == {"linear_status", "ended_unfinished"}


def test_entries_that_make_no_sense_are_told(tmp_path):
    """A journal that was mended by hand: the rest is read."""
    head, first, second = dump_journal(entries()[1]).splitlines()
    path = tmp_path / "journal.jsonl"
    path.write_text(f'{head}\n{{oops\n{{"revision": 1}}\n{first}\n{second}', encoding="utf-8")
    replay = replay_file(path)
    assert [step.line for step in replay.steps()] == [4, 5]
    assert [one.line for one in replay.findings if one.code == "bad_line"] == [2, 3]
    path.write_text(f"{head}\n{second}\n", encoding="utf-8")
    replay = replay_file(path)
    assert [step.outcome for step in replay.steps()] == ["unreadable"]
    assert "does not lead to revision 3" in replay.findings[0].text


@pytest.mark.parametrize("plans", [{"a": 5}, {"a": [7]}, []])
def test_a_store_that_makes_no_sense_has_bad_lines(tmp_path, plans):
    """Never an exception."""
    path = tmp_path / "plans.json"
    path.write_text(json.dumps({"format": "todoplan/plans", "version": 1, "plans": plans}))
    assert list(replay_file(path).steps()) == []
    path.write_text('{"format":"todoplan/plans",\n"plans"')
    replay = replay_file(path)
    assert list(replay.steps()) == []
    assert replay.bad_lines == 1

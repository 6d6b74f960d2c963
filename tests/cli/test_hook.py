"""`todoplan hook`: an event of a coding agent is handed to its server, in the host's own shape."""

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from todoplan.cli import hook

REMINDER = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "hi"}}
HOSTS = ("CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_SESSION_ID", "COPILOT_CLI", "COPILOT_PLUGIN_ROOT")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of sockets of this test alone, and no host around it."""
    for name in (*HOSTS, hook.OFF):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hook, "FOLDER", "h")
    return tmp_path / "h"


@contextmanager
def server(answer, process=None):
    """A server that gives this answer to everything; yields what it was asked."""
    asked, is_up = [], threading.Event()

    async def serve():
        async def handle(reader, writer):
            asked.append(json.loads(await reader.readline()))
            writer.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())
            writer.close()

        at = await asyncio.start_unix_server(handle, hook.socket_of(process or os.getppid()))
        is_up.set()
        await asyncio.to_thread(is_over.wait)
        at.close()

    is_over = threading.Event()
    hook.ours()
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert is_up.wait(60)
    try:
        yield asked
    finally:
        is_over.set()
        thread.join()


@pytest.fixture
def run(monkeypatch, capsys):
    """Hand in an event, or a word, and return what is printed."""

    def begin(event=None, *words):
        data = event if isinstance(event, bytes) else json.dumps(event).encode()
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        hook.run([*words])
        return capsys.readouterr().out

    return begin


def event(name, **more):
    """An event of a host."""
    return {"hook_event_name": name, "session_id": "s1", **more}


@pytest.mark.parametrize(
    ("given", "environment", "printed"),
    [
        (event("UserPromptSubmit"), {"CLAUDECODE": "1"}, REMINDER),
        (
            event("Stop"),
            {"CLAUDECODE": "1"},
            {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "hi"}},
        ),
        (event("Stop", turn_id="t"), {}, {"decision": "block", "reason": "hi"}),
        (event("Stop", turn_id="t"), {"CLAUDECODE": "1"}, {"decision": "block", "reason": "hi"}),
        (
            event("BeforeAgent"),
            {},
            {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "hi"}},
        ),
        (event("AfterAgent"), {}, {"decision": "block", "reason": "hi"}),
        (event("UserPromptSubmit"), {"COPILOT_CLI": "1"}, {"additionalContext": "hi"}),
        (
            {"hookEventName": "userPromptSubmitted", "sessionId": "s1"},
            {"COPILOT_PLUGIN_ROOT": "/x"},
            {"additionalContext": "hi"},
        ),
        (
            {"hookEventName": "agentStop"},
            {"COPILOT_CLI": "1"},
            {"decision": "block", "reason": "hi"},
        ),
    ],
)
def test_each_host_gets_its_own_shape(run, monkeypatch, given, environment, printed):
    """And no key that it does not know: Codex would ignore the answer without a word."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with server(REMINDER):
        assert json.loads(run(given)) == printed


def test_the_server_reads_the_names_of_claude_code(run):
    """Whatever the host calls its events and fields."""
    with server({}) as asked:
        assert run({"hookEventName": "agentStop", "sessionId": "s1"}) == ""
        assert run(event("AfterAgent", prompt_response="Done.")) == ""
    first, second = asked
    assert (first["hook_event_name"], first["session_id"]) == ("Stop", "s1")
    assert (second["hook_event_name"], second["last_assistant_message"]) == ("Stop", "Done.")


def test_the_last_answer_is_read_from_the_recording_of_copilot_cli(run, tmp_path, monkeypatch):
    """Its hook does not say it: a question to the person would be sent back."""
    answers = ["Dug.", "Shall I go on?"]
    events = [{"type": "assistant.message", "data": {"content": each}} for each in answers]
    helped = {"agentId": "a1", "type": "assistant.message", "data": {"content": "Oiled."}}
    lines = ['cut"}', *map(json.dumps, [*events, helped, {"type": "assistant.turn_end"}])]
    (tmp_path / "events.jsonl").write_text("\n".join(lines))
    asked_anew = [*events, {"type": "user.message"}, {"type": "assistant.message"}, {"role": 3}]
    (tmp_path / "other.jsonl").write_text("\n".join(map(json.dumps, asked_anew)))
    calling = {"content": "I dig.", "toolRequests": [{"name": "dig"}]}
    calls = {"type": "assistant.message", "data": calling}  # its answer is not written yet
    (tmp_path / "calls.jsonl").write_text("\n".join(map(json.dumps, [*events, calls])))
    (tmp_path / "empty.jsonl").touch()
    monkeypatch.setattr(hook, "_SECONDS_BETWEEN", 0)
    with server({}) as asked:
        for name in ("events", "other", "calls", "empty", "missing"):
            run({"hookEventName": "agentStop", "transcriptPath": f"{tmp_path}/{name}.jsonl"})
    assert [each["last_assistant_message"] for each in asked] == [
        "Shall I go on?", None, None, None, None
    ]  # fmt: skip


def log(folder):
    """The lines of the log."""
    return (folder / "hook.log").read_text().splitlines()


def test_without_a_server_nothing_is_said(run, folder):
    """A host whose server has not started, or ended."""
    assert run(event("Stop")) == ""
    assert not (folder / "hook.log").exists()


@pytest.mark.parametrize("answer", [b"", b"nonsense\n", b"[]\n", b'{"hookSpecificOutput": 1}\n'])
def test_no_answer_breaks_a_conversation(run, answer):
    """Whatever comes from the socket, nothing is printed."""
    with server(answer):
        assert run(event("Stop")) == ""


@pytest.mark.parametrize("given", [b"", b"{", b"3", b"\xff"])
def test_no_input_breaks_a_conversation(run, folder, given):
    """It is a line in the log."""
    assert run(given) == ""
    (line,) = log(folder)
    assert "Error" in line


def test_the_log_is_bounded(run, folder, monkeypatch):
    """It begins anew when it is full."""
    monkeypatch.setattr(hook, "_LOG_BYTES", 100)
    for _ in range(5):
        run(b"{")
    assert len(log(folder)) < 3


def test_what_ended_agents_left_behind_is_removed(folder, monkeypatch):
    """An agent may kill its servers, and then nobody removes their sockets."""
    hook.ours()
    alive, ended = f"{os.getpid()}.sock", "4194305.sock"  # more than a process id can be
    for name in (alive, ended, f"{ended}.off", "hook.log"):
        (folder / name).touch()
    hook.tidy()
    assert {path.name for path in folder.iterdir()} == {alive, "hook.log"}

    def foreign(*_):
        raise PermissionError

    monkeypatch.setattr(os, "kill", foreign)
    hook.tidy()
    assert (folder / alive).exists()


def test_copilot_cli_is_told_at_its_first_prompt(run, monkeypatch):
    """Its server is still starting then; other events and hosts find none at once."""
    found = []
    monkeypatch.setattr(hook, "_SECONDS_BETWEEN", 0)
    monkeypatch.setattr(hook, "_socket_path", lambda: found.pop(0))
    with server(REMINDER):
        there = hook.socket_of(os.getppid())
        found[:] = [None, there]
        assert run(event("UserPromptSubmit")) == ""
        assert found == [there]
        monkeypatch.setenv("COPILOT_CLI", "1")
        found[:] = [None, there]
        assert run(event("SessionStart")) == ""
        assert found == [there]
        found[:] = [None, None, None, there]
        assert json.loads(run(event("UserPromptSubmit"))) == {"additionalContext": "hi"}
    found[:] = [None] * (1 + hook._LOOKS_AT_START)
    assert run(event("UserPromptSubmit")) == ""
    assert found == []


def test_a_folder_of_somebody_else_is_not_trusted(run, folder):
    """Others could answer there."""
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(PermissionError):
        hook.ours()
    assert run(event("Stop")) == ""
    assert [*folder.iterdir()] == []


def test_a_person_switches_reminders_off(run, monkeypatch):
    """For this agent by a word, for all by the environment; the plan is shown all the same."""
    with server({**REMINDER, "text": "0/1 completed"}) as asked:
        assert "are off" in run(None, "show", "off")
        assert run(event("UserPromptSubmit")) == ""
        assert run(None, "show") == "0/1 completed\n"
        for _ in range(2):
            assert "are on" in run(None, "on")
        assert json.loads(run(event("UserPromptSubmit"))) == REMINDER
        monkeypatch.setenv(hook.OFF, "off")
        assert run(event("UserPromptSubmit")) == ""
    assert [each["hook_event_name"] for each in asked] == ["Show", "UserPromptSubmit"]


def test_a_person_is_told_that_there_is_no_server(run):
    """Instead of an empty answer."""
    assert run(None, "show") == "No planning server is running in this session.\n"


def test_the_agent_may_be_behind_shells(run, monkeypatch):
    """Its process is an ancestor, or named by the environment, which may hold nonsense."""
    with server(REMINDER, process=1):
        monkeypatch.setenv("CLAUDE_PID", "nonsense")
        assert hook._socket_path() in {hook.socket_of(1), None}
        monkeypatch.setenv("CLAUDE_PID", "1")
        assert json.loads(run(event("UserPromptSubmit"))) == REMINDER


def test_without_proc_the_parent_is_asked(monkeypatch):
    """As on systems other than Linux."""

    def missing(*_):
        raise FileNotFoundError

    monkeypatch.setattr(hook, "_ANCESTORS", 1)
    assert [*hook._ancestors()] == [os.getppid()]
    monkeypatch.setattr(hook, "_ANCESTORS", 5)
    monkeypatch.setattr("builtins.open", missing)
    assert [*hook._ancestors()] == [os.getppid()]


def test_a_process_answers_at_once_and_imports_no_library(folder):
    """An agent waits for it at every prompt. Its exit code is 0, whatever happens."""
    line = [sys.executable, "-X", "importtime", "-m", "todoplan", "hook"]
    done = subprocess.run(line, input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    imported = {row.rpartition(b"|")[2].strip().decode() for row in done.stderr.splitlines()}
    assert not imported & {
        "attrs",
        "cattrs",
        "typer",
        "rich",
        "asyncio",
        "sqlite3",
        "todoplan.core",
    }


def test_it_is_listed_among_the_commands(invoke, monkeypatch):
    """With its help; what the plugin calls takes a shorter way."""
    asked = []
    monkeypatch.setattr("todoplan.cli.servers.run", asked.append)
    assert invoke("hook", "show").exit_code == invoke("hook").exit_code == 0
    assert asked == [["show"], []]


def test_a_log_that_cannot_be_written_is_no_error(run, monkeypatch):
    """Nothing is left to be said."""
    monkeypatch.setattr(hook, "FOLDER", "missing/h")
    assert run(b"{") == ""

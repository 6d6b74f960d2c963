"""
`todoplan hook`: passes an event of a coding agent (the host) to the MCP server that it has started.

The server (`todoplan mcp --hooks`) has the plan, the session and the guidance. It answers at a Unix
socket that is named after the process id of the agent. The agent has started both the server and
the hook, so the hook finds the socket by the ids of its own parent processes. This module needs
only the standard library, so a hook takes little longer than starting Python.

A hook must never break a conversation. After any error it prints nothing, exits with code 0, and
writes a line to a log beside the socket.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

FOLDER = f"/tmp/todoplan-{os.getuid() if hasattr(os, 'getuid') else 0}"  # noqa: S108 - see `ours`
"""
The folder of the sockets. It depends on no environment variable, because hosts give hooks and
servers different environments.
"""

OFF = "TODOPLAN_HOOKS"
"""The environment variable that switches hooks off if its value is "off"."""

_SECONDS = 5.0
_LONGEST = 10_000_000
_LONGEST_ANSWER = 200_000
_LOOKS = 10
_LOOKS_AT_START = 40
_SECONDS_BETWEEN = 0.05
_LOG_BYTES = 100_000
_ANCESTORS = 5  # there may be shells between the agent and its hook

EVENTS = {
    "BeforeAgent": "UserPromptSubmit",
    "userPromptSubmitted": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "agentStop": "Stop",
    "sessionStart": "SessionStart",
}
"""Claude Code's names for the events of other hosts."""


def ours() -> str:
    """
    Return the folder of the sockets at which servers answer hooks. If it is missing, make it.

    Raises:
        OSError: the folder cannot be made, or other users own it or have access to it, so that
            answers from its sockets could not be trusted.
    """
    with suppress(FileExistsError):
        os.mkdir(FOLDER, 0o700)
    status = os.lstat(FOLDER)
    if status.st_uid != os.getuid() or status.st_mode & 0o077:
        msg = f"{FOLDER} belongs to somebody else"
        raise PermissionError(msg)
    return FOLDER


def tidy() -> None:
    """
    Remove the files of servers whose agents have ended. A killed server leaves its files behind.

    Raises:
        OSError: see `ours`.
    """
    for name in os.listdir(ours()):
        process = name.partition(".")[0]
        if not process.isdigit():
            continue
        try:
            os.kill(int(process), 0)  # signal 0 only asks whether the process exists
        except PermissionError:
            pass  # it exists, and belongs to another user
        except ProcessLookupError:
            with suppress(FileNotFoundError):  # another server may have removed the file
                os.unlink(f"{FOLDER}/{name}")


def socket_of(process: int) -> str:
    """Return the path of the socket of an agent, by the id of its process."""
    return f"{FOLDER}/{process}.sock"


def run(arguments: list[str]) -> None:
    """
    Answer the event on stdin, or carry out the last argument: `show`, `on` or `off`.

    `show` prints the plan of the session; `off` and `on` switch this agent's hooks off and on.
    """
    try:
        word = arguments[-1] if arguments else ""
        if word:
            sys.stdout.write(_of_person(word))
        elif os.environ.get(OFF) != "off":
            raw_input = json.loads(sys.stdin.buffer.read(_LONGEST))
            answer = _shaped(raw_input, _asked(_canonical(raw_input)))
            if answer:
                sys.stdout.write(json.dumps(answer))
    except Exception as error:  # noqa: BLE001 - see the module
        with suppress(OSError):
            path = f"{ours()}/hook.log"
            is_full = os.path.exists(path) and os.path.getsize(path) > _LOG_BYTES
            with open(path, "w" if is_full else "a", encoding="utf-8") as file:
                at = time.strftime("%Y-%m-%dT%H:%M:%S")
                file.write(f"{at} {type(error).__name__}: {str(error)[:500]!r}\n")


def _of_person(word: str) -> str:
    """Carry out `show`, `on` or `off` for a person, and return the text to print."""
    path = _socket_path()
    if path is None:
        return "No planning server is running in this session.\n"
    switch = f"{path}.off"
    if word == "off":
        with open(switch, "w"):
            return "Reminders of the plan are off in this session; /plan on switches them on.\n"
    if word == "on":
        with suppress(FileNotFoundError):
            os.unlink(switch)
        return "Reminders of the plan are on.\n"
    show = {"hook_event_name": "Show", "session_id": os.environ.get("CLAUDE_CODE_SESSION_ID")}
    return f"{_asked(show).get('text', '')}\n"


def _canonical(raw_input: Mapping[str, Any]) -> dict[str, Any]:
    """Return the input with Claude Code's names for its keys and its event."""
    hook_input = dict(raw_input)
    event = hook_input.get("hook_event_name") or hook_input.get("hookEventName") or ""
    hook_input["hook_event_name"] = EVENTS.get(event, event)
    hook_input.setdefault("session_id", hook_input.get("sessionId"))
    hook_input.setdefault("last_assistant_message", hook_input.get("prompt_response"))
    transcript = hook_input.get("transcript_path") or hook_input.get("transcriptPath")
    if (
        hook_input["hook_event_name"] == "Stop"
        and hook_input["last_assistant_message"] is None
        and transcript
    ):
        hook_input["last_assistant_message"] = _last_message(transcript)
    return hook_input


def _last_message(transcript: str) -> str | None:
    """
    Return the text of the model's last answer in a recording of Copilot CLI, or `None`.

    The answer may be written a moment after the hook has begun, so the file is read repeatedly.
    """
    for _ in range(_LOOKS):
        with suppress(OSError), open(transcript, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LONGEST_ANSWER))
            for line in reversed(file.readlines()):
                with suppress(ValueError, KeyError, TypeError):  # the first line may be cut
                    event = json.loads(line)
                    if event.get("agentId"):  # of a subagent
                        continue
                    is_message = event["type"] == "assistant.message"
                    if is_message and not event["data"].get("toolRequests"):
                        return str(event["data"]["content"])
                    if is_message or event["type"].startswith(("user.", "tool.")):
                        break
        time.sleep(_SECONDS_BETWEEN)
    return None


def _shaped(raw_input: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the answer in the host's form, without keys that the host does not know.

    Codex silently ignores an answer with an unknown key.
    """
    text = answer.get("hookSpecificOutput", {}).get("additionalContext")
    if not text:
        return {}
    event = raw_input.get("hook_event_name") or raw_input.get("hookEventName")
    is_claude = "CLAUDECODE" in os.environ and "turn_id" not in raw_input
    if EVENTS.get(str(event), event) == "Stop" and not is_claude:
        return {"decision": "block", "reason": text}
    if _is_copilot():
        return {"additionalContext": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _is_copilot() -> bool:
    return "COPILOT_CLI" in os.environ or "COPILOT_PLUGIN_ROOT" in os.environ


def _asked(hook_input: Mapping[str, Any]) -> dict[str, Any]:
    """Return the server's answer to an event, or {} if there is no server or hooks are off."""
    path = _socket_path()
    # Copilot CLI calls the hook for its first prompt while the server is starting. Waiting here
    # costs nothing, because Copilot CLI waits for the server before its first request anyway.
    is_starting = (
        path is None and hook_input["hook_event_name"] == "UserPromptSubmit" and _is_copilot()
    )
    for _ in range(_LOOKS_AT_START if is_starting else 0):
        if path := _socket_path():
            break
        time.sleep(_SECONDS_BETWEEN)
    if path is None or (os.path.exists(f"{path}.off") and hook_input["hook_event_name"] != "Show"):
        return {}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_SECONDS)
        connection.connect(path)
        connection.sendall(json.dumps(hook_input).encode() + b"\n")
        with connection.makefile("rb") as lines:
            line = lines.readline(_LONGEST)
    answer = json.loads(line) if line else {}
    return answer if isinstance(answer, dict) else {}


def _socket_path() -> str | None:
    """Return the path of the socket of the nearest ancestor process that has one, or `None`."""
    ours()
    return next(filter(os.path.exists, map(socket_of, _ancestors())), None)


def _ancestors() -> Iterator[int]:
    """Yield the ids of the processes from which this one may descend, the nearest first."""
    with suppress(KeyError, ValueError):
        yield int(os.environ["CLAUDE_PID"])
    process = os.getppid()
    for _ in range(_ANCESTORS):
        yield process
        try:
            with open(f"/proc/{process}/stat", "rb") as file:
                # The second field is a name in parentheses, which may contain any character.
                process = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:
            return

"""
The plans of the sessions of a coding agent that calls tools over MCP and runs hooks.

The inputs of the hooks have the form of Claude Code's. A tool call arrives over MCP, which does not
say from which session or subagent it comes. In Claude Code, the hook before the call names the
session and the subagent, with the call's id (`tool_use_id`); the call has the same id in its
`_meta`. Codex names the session and the subagent in `_meta`. A subagent works on the plan of its
session, but counts as another session (law 15 of the guide `architecture`): a list that the
subagent writes drops only tasks that the subagent itself has listed.

Texts that a hook adds stay in the conversation, unlike the reminders of other adapters. So a text
is added only at a prompt, after a message with tool calls, after the conversation was compacted,
and when the model stops while tasks are open. Each change is reported only once.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import attrs

from todoplan.adapters.mcp.server import call_of, instructions_of, result_of
from todoplan.dialogue.guidance import Message
from todoplan.errors import TodoplanError
from todoplan.planner import AnyStore, AsyncPlanner, Subscriber
from todoplan.planner.loops import Limiter
from todoplan.planner.session import AsyncSession, BasePlanning
from todoplan.planner.steps import remember
from todoplan.render.outline import to_text
from todoplan.stores.memory import MemoryStore

SERVER = "plan"
"""The default name of the MCP server, and of the plan for calls without a session."""

_NOTIFICATION = "<task-notification>"
_REMINDER = "<todoplan-reminder>"
_COMMANDS = "/todoplan:"  # a command of the plugin; the model has no work to do then
_CALL_ID = "claudecode/toolUseId"
_LONGEST = 10_000_000  # bytes of a hook's input


@attrs.frozen
class _Caller:
    """The host's session that makes a call, and the id and the type of the subagent, if any."""

    session_id: str
    agent_id: str = ""
    agent_type: str | None = None

    @classmethod
    def of(cls, hook_input: Mapping[str, Any]) -> _Caller:
        """Return the caller that the input of a hook names."""
        agent_id = hook_input.get("agent_id") or ""
        # An agent that was started by `--agent` has a type but no id, because it is not a subagent.
        return cls(
            hook_input["session_id"],
            agent_id,
            (hook_input.get("agent_type") or "subagent") if agent_id else None,
        )

    @classmethod
    def of_call(cls, meta: Mapping[str, Any]) -> _Caller | None:
        """
        Return the caller that a call's metadata names, as Codex's does; otherwise return `None`.
        """
        session_id, thread_id = meta.get("sessionId"), meta.get("threadId")
        if not isinstance(session_id, str):
            return None
        return cls(session_id, "" if thread_id in {None, session_id} else str(thread_id))


class HostSessions(BasePlanning):
    """
    The plans of any number of sessions of a coding agent, with its hooks and calls.

    The arguments are those of `todoplan.adapters.claude_agent_sdk.Planning`.
    """

    store: AnyStore

    def own_prompt(self) -> str:
        """Return the instructions that a host shows before the tools."""
        return instructions_of(self.toolbox.toolset)

    def own_store(self) -> AnyStore:
        """Return a store in memory: a coding agent has no state that could contain plans."""
        return MemoryStore()

    def prepare(self) -> None:
        """Initialise the sessions. None is known yet."""
        self._planners: dict[str, AsyncPlanner] = {}
        self._sessions: dict[_Caller, tuple[AsyncSession, Limiter]] = {}
        self._callers: dict[str, _Caller] = {}
        self._roots: dict[str, str] = {}  # the session of a subagent of Copilot CLI
        self._is_command = False  # whether the last prompt was a command of the plugin
        self._latest: _Caller | None = None
        self.planner(self.plan_id or SERVER)  # checks the store now, not at a call

    def begin(self, session_id: str) -> None:
        """Assign later calls to this session, until a hook names another one."""
        self._latest = _Caller(session_id)

    def planner(self, session_id: str) -> AsyncPlanner:
        """Return the planner with which your code changes and follows the plan of a session."""
        name = self.plan_id or session_id
        if name not in self._planners:
            settings: Any = {"toolbox": self.toolbox, "clock": self.clock, "verify": self._verify}
            self._planners[name] = AsyncPlanner(self.store, name, **settings)
        return self._planners[name]

    def subscribe(self, session_id: str, subscriber: Subscriber) -> Callable[[], None]:
        """
        Call a subscriber after each change of a session's plan, with the journal entry and plan.

        The subscriber may be a plain or a coroutine function. Call the returned function to stop.
        """
        return self.planner(session_id).subscribe(subscriber)

    def session(self, hook_input: Mapping[str, Any]) -> AsyncSession:
        """Return the main agent's session, in the host's session that a hook names."""
        self._latest = _Caller(hook_input["session_id"])
        return self._session(self._latest)[0]

    def _session(self, caller: _Caller) -> tuple[AsyncSession, Limiter]:
        """Return the caller's session, and a limiter so that its calls run one after the other."""
        entry = self._sessions.pop(caller, None)
        if entry is None:
            planner = self.planner(caller.session_id)
            actor = caller.agent_type or self.actor_of(caller.session_id)
            session = AsyncSession(planner, settings=self.settings, actor=actor)
            entry = session, Limiter(1)
        remember(self._sessions, caller, entry)
        return entry

    async def call(self, _: Any, params: Any) -> Any:
        """Answer a call of a tool, as a request handler of MCP."""
        meta = params.model_dump(by_alias=True).get("_meta") or {}
        call_id = meta.get(_CALL_ID) or ""
        caller = self._callers.pop(call_id, None) or _Caller.of_call(meta) or self._latest
        caller = caller or _Caller(SERVER)
        session, limiter = self._session(caller)
        try:
            async with limiter.semaphore(asyncio.get_running_loop()):
                await _responded(session)
                turn = await session.answer([call_of(params, call_id)], None)
        except TodoplanError as error:  # no MCP error: the model has to read it
            return result_of(str(error), caller.session_id)
        return result_of(turn.replies[0], caller.session_id)

    async def before_call(self, hook_input: Any, call_id: str | None, _: object) -> Any:
        """
        PreToolUse: record who makes the next call, also under the call's id if the call has one.
        """
        self._latest = caller = _Caller.of(hook_input)
        if call_id := call_id or hook_input.get("tool_use_id"):
            remember(self._callers, call_id, caller)
        session, _limiter = self._session(caller)
        is_first = session.request is None and session.state.revision is None
        # OpenCode sends its first prompt before the server has started, so `before_prompt` was not
        # called. Without this call of `before_model`, the model's own first list would be reported
        # to the model as a change by others. If there is a plan already, `after_calls` shows it.
        if is_first and not caller.agent_id and not await session.planner.plan():
            await session.before_model(partial=True, is_new=True)
        return {}

    async def before_prompt(self, hook_input: Any, *_: object) -> Any:
        """
        UserPromptSubmit: a new run begins. Show the plan if the conversation has not shown it.
        """
        # Copilot CLI calls this hook and the Stop hook for subagents too.
        if hook_input.get("agent_id"):
            self._latest = _Caller.of(hook_input)
            return {}
        self._is_command = str(hook_input.get("prompt", "")).startswith(_COMMANDS)
        # Two kinds of prompts belong to the run before: the report of a finished background task,
        # and in Gemini CLI and Copilot CLI the text that asks the model to go on.
        is_new = not str(hook_input.get("prompt", "")).startswith((_NOTIFICATION, _REMINDER))
        request = await self.session(hook_input).before_model(partial=True, is_new=is_new)
        return _context(hook_input, request.text)

    async def after_calls(self, hook_input: Any, *_: object) -> Any:
        """PostToolBatch: the calls of a message were answered. Report the changes by others."""
        if hook_input.get("agent_id"):  # subagents get no reminders: their conversations are short
            return {}
        session = self.session(hook_input)
        await _responded(session)
        return _context(hook_input, (await session.before_model(partial=True)).text)

    async def after_start(self, hook_input: Any, *_: object) -> Any:
        """SessionStart: show the plan again if the conversation was compacted."""
        if hook_input.get("source") != "compact":
            return {}
        return _context(hook_input, (await self.session(hook_input).before_model()).text)

    async def before_stop(self, hook_input: Any, *_: object) -> Any:
        """
        Stop: ask the model to go on if tasks are open, unless a background task wakes it later.
        """
        session = self.session(hook_input)
        if self._is_command or hook_input.get("agent_id"):
            return {}
        if session.request is None:
            await session.before_model(silent=True)
        message = Message("assistant", hook_input.get("last_assistant_message") or "")
        is_waiting = hook_input.get("background_tasks") or hook_input.get("session_crons")
        advice = await session.after_model(message, silent=bool(is_waiting))
        if advice.verdict != "again":
            await session.answer([])  # the request is over
            return {}
        await session.before_model(silent=True)  # the next request ends with this text
        # Not `{"decision": "block"}`: the model would read its reason twice, the second time as an
        # error of the hook.
        return _context(hook_input, advice.text)

    async def answer(self, hook_input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer a hook by the name of its event; return {} for an unknown event."""
        handlers: dict[str, Callable[[Any, str | None, object], Any]] = {
            "PreToolUse": self.before_call,
            "UserPromptSubmit": self.before_prompt,
            "PostToolBatch": self.after_calls,
            "SessionStart": self.after_start,
            "Stop": self.before_stop,
            "Show": self.show,
        }
        if parent := hook_input.get("parent_agent_id"):
            # In Copilot CLI, a subagent has its own session, and names the agent that started it.
            session_id: str = self._roots.get(parent) or parent
            remember(self._roots, hook_input["agent_id"], session_id)
            hook_input = {**hook_input, "session_id": session_id}
        handler = handlers.get(hook_input["hook_event_name"])
        answer: Mapping[str, Any] = await handler(hook_input, None, None) if handler else {}
        return answer

    async def show(self, hook_input: Mapping[str, Any], *_: object) -> Any:
        """Return the plan of the named session, or of the latest one, as text for a person."""
        latest = self._latest.session_id if self._latest else SERVER
        plan = await self.planner(hook_input.get("session_id") or latest).plan()
        return {"text": to_text(plan)}


@asynccontextmanager
async def answering(sessions: HostSessions, path: str) -> AsyncIterator[None]:
    """
    Answer hooks at a Unix socket until the `async with` block ends.

    A request is one line of JSON, the input of a hook. The answer is one line of JSON too. If
    another server already answers at this path, only that server answers; for example, a subagent
    of Codex starts a server of its own.
    """

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A hook must never break a conversation. If a request cannot be answered, the connection is
        # closed without an error, and `todoplan hook` writes to its log.
        with suppress(TodoplanError, LookupError, TypeError, ValueError, OSError):
            hook_input = json.loads(await reader.readline())
            if isinstance(hook_input, dict):
                answer = await sessions.answer(hook_input)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        writer.close()

    with suppress(OSError):
        _, other = await asyncio.open_unix_connection(path)
        other.close()
        yield
        return
    # No server answers at this path. Remove the socket that an ended server may have left there.
    with suppress(OSError):
        os.unlink(path)  # noqa: PTH108 - one call of the system, at the start
    server = await asyncio.start_unix_server(handle, path, limit=_LONGEST)
    try:
        yield
    finally:
        server.close()
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - and one at the end


async def _responded(session: AsyncSession) -> None:
    # The first call or batch of a response ends the request to the model.
    if session.request is not None:
        await session.after_model(Message("assistant", calls=("tool",)))


def _context(hook_input: Mapping[str, Any], text: str) -> Any:
    if not text:
        return {}
    event = hook_input["hook_event_name"]
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}

"""
`Planning` and `attach`: the tools as an in-process MCP server, and the guidance as hooks.

The SDK runs the program of Claude Code and has no state of its own. So the plan is kept in a store,
under the id of the SDK session, which every hook is told.

A call of a tool arrives over MCP, which tells neither its session nor its subagent. The hook in
front of it tells both with the id of the call (`tool_use_id`), and the call has this id too
(`_meta`). A subagent works on the plan of its session, but as a session of its own (law 15): its
lists drop only what it has listed itself.

What a hook adds to the conversation stays in it, unlike the reminders of other adapters. So
guidance speaks only at a prompt, after a message with tool calls, after the conversation was
compacted, and when the model stops too early, and tells each thing once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import attrs
from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, McpSdkServerConfig

from todoplan.adapters.mcp.server import result_of, tool_server
from todoplan.core.commands import Command
from todoplan.core.decide import Decision
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import short_repr
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import Call, Clock, utc_now
from todoplan.dialogue.guidance import Message, Settings
from todoplan.dialogue.toolbox import Toolbox, require, require_clock
from todoplan.errors import PlanError, TodoplanError
from todoplan.planner import AnyStore, AsyncPlanner, Subscriber
from todoplan.planner.session import AsyncSession
from todoplan.planner.verifying import Verify
from todoplan.stores.memory import MemoryStore

SERVER = "plan"
"""The default name of the MCP server; the model sees its tools as `mcp__plan__...`."""

# Older models are offered these unless they are disallowed. To allow any of them by name would
# switch all of them on.
BUILT_IN = ("TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoWrite")

_NOTIFICATION = "<task-notification>"
_CALL_ID = "claudecode/toolUseId"
_MOST = 1_000  # sessions that are kept, and calls that were announced and never came
_Value = TypeVar("_Value")


@attrs.frozen
class _Caller:
    """Who calls: the SDK's session, and the id and the type of a subagent, or "" and `None`."""

    session_id: str
    agent_id: str = ""
    agent_type: str | None = None

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> _Caller:
        """Return the caller that the input of a hook names."""
        agent_id = told.get("agent_id") or ""
        # An agent that was started by `--agent` has a type and no id: it is no subagent.
        return cls(told["session_id"], agent_id, told.get("agent_type") if agent_id else None)


class Planning:
    """
    The plans of any number of SDK sessions, for `attach`.

    `toolbox` has the tools and their policy, `settings` are those of guidance, `store` keeps the
    plans (this process's memory unless given), `clock` returns the aware time of a change, and
    `verify` checks whether a task is done (see `AsyncPlanner`). `system_prompt` is the instruction
    that the model reads with the tools; the tool set's unless given, and "" for none. A plan has
    the id of its SDK session, or `plan_id` for a plan that several sessions share.

    Raises:
        PlanError: an argument has the wrong type; or the settings say to raise, which no hook can.
    """

    def __init__(  # noqa: PLR0913 - the settings of every adapter
        self,
        toolbox: Toolbox | None = None,
        settings: Settings = Settings(),  # noqa: B008 - a frozen value
        *,
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
        system_prompt: str | None = None,
        plan_id: str | None = None,
    ) -> None:
        if require(settings, Settings).on_ignored == "raise":
            msg = (
                "Settings(on_ignored='raise') has no effect in the Claude Agent SDK, because an"
                " error in a hook does not reach your program; leave it out, and read the plan"
                " after the run by `await plan_of_state(planning, session_id)`"
            )
            raise PlanError(msg)
        self.toolbox = Toolbox() if toolbox is None else require(toolbox, Toolbox)
        self.settings = settings
        self.store: AnyStore = MemoryStore() if store is None else store
        self.system_prompt = system_prompt
        self.plan_id = plan_id
        self._given: Any = {
            "toolbox": self.toolbox,
            "clock": require_clock(clock),
            "verify": verify,
        }
        self._planners: dict[str, AsyncPlanner] = {}
        self._sessions: dict[_Caller, AsyncSession] = {}
        self._callers: dict[str, _Caller] = {}
        self._latest: _Caller | None = None
        self.planner(plan_id or SERVER)  # checks the store and the verifier now, not at a call

    def planner(self, session_id: str) -> AsyncPlanner:
        """Return the planner of an SDK session's plan: `apply`, `undo`, `subscribe`, `watch`."""
        name = self.plan_id or session_id
        if name not in self._planners:
            self._planners[name] = AsyncPlanner(self.store, name, **self._given)
        return self._planners[name]

    def subscribe(self, session_id: str, subscriber: Subscriber) -> Callable[[], None]:
        """
        Call a subscriber with the journal entry and the plan after every accepted change.

        The subscriber may be a plain or a coroutine function. Call the returned function to stop.
        """
        return self.planner(session_id).subscribe(subscriber)

    def session(self, told: Mapping[str, Any]) -> AsyncSession:
        """Return the session of the main agent in the SDK session that a hook names."""
        self._latest = _Caller(told["session_id"])
        return self._session(self._latest)

    def _session(self, caller: _Caller) -> AsyncSession:
        found = self._sessions.pop(caller, None)
        if found is None:
            planner = self.planner(caller.session_id)
            found = AsyncSession(planner, settings=self.settings, actor=caller.agent_type)
        _keep(self._sessions, caller, found)
        return found

    async def call(self, _: Any, params: Any) -> Any:
        """Answer a call of a tool, as a request handler of MCP."""
        meta = params.model_dump(by_alias=True).get("_meta") or {}
        call_id = meta.get(_CALL_ID) or ""
        caller = self._callers.pop(call_id, self._latest) or _Caller(SERVER)
        session = self._session(caller)
        try:
            await _responded(session)
            turn = await session.answer([Call(params.name, params.arguments, call_id)], None)
        except TodoplanError as error:  # a result and not an error of MCP: the model has to read it
            return result_of(str(error), caller.session_id)
        return result_of(turn.replies[0], caller.session_id)

    async def before_call(self, told: Any, call_id: str | None, _: object) -> Any:
        """PreToolUse: note who makes the call that is about to come."""
        _keep(self._callers, call_id or told["tool_use_id"], _Caller.of(told))
        return {}

    async def before_prompt(self, told: Any, *_: object) -> Any:
        """UserPromptSubmit: a new run begins. Show the plan if the conversation has not seen it."""
        # A finished background task comes as a prompt too, but belongs to the run that started it.
        is_new = not told.get("prompt", "").startswith(_NOTIFICATION)
        request = await self.session(told).before_model(partial=True, is_new=is_new)
        return _context(told, request.text)

    async def after_calls(self, told: Any, *_: object) -> Any:
        """PostToolBatch: the calls of a message were answered. Tell what others have changed."""
        if told.get("agent_id"):  # subagents get no reminders: their conversations are short
            return {}
        session = self.session(told)
        await _responded(session)
        return _context(told, (await session.before_model(partial=True)).text)

    async def after_start(self, told: Any, *_: object) -> Any:
        """SessionStart: show the plan again where the conversation was compacted."""
        if told.get("source") != "compact":
            return {}
        return _context(told, (await self.session(told).before_model()).text)

    async def before_stop(self, told: Any, *_: object) -> Any:
        """Stop: send the model back while tasks are open, unless something else is to wake it."""
        session = self.session(told)
        if session.request is None:
            await session.before_model(silent=True)
        message = Message("assistant", told.get("last_assistant_message") or "")
        is_waiting = told.get("background_tasks") or told.get("session_crons")
        advice = await session.after_model(message, silent=bool(is_waiting))
        if advice.verdict != "again":
            await session.answer([])  # the request is over
            return {}
        await session.before_model(silent=True)  # the next request has the reason at its end
        # Not `{"decision": "block"}`: the model would read its reason twice, the second time as an
        # error of the hook.
        return _context(told, advice.text)


async def _responded(session: AsyncSession) -> None:
    # The first call of a response, or the batch that it is in, ends the request to the model.
    if session.request is not None:
        await session.after_model(Message("assistant", calls=("tool",)))


def _context(told: Mapping[str, Any], text: str) -> Any:
    if not text:
        return {}
    event = told["hook_event_name"]
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _keep(kept: dict[Any, _Value], key: object, value: _Value) -> None:
    kept[key] = value
    if len(kept) > _MOST:
        del kept[next(iter(kept))]


def make_tools(planning: Planning) -> McpSdkServerConfig:
    """
    Return the tools as an in-process MCP server, for `ClaudeAgentOptions(mcp_servers=...)`.

    Without the hooks of `attach`, the calls do not tell their session: all of them work on the plan
    `plan_id`, or on the plan "plan" if there is none.

    Raises:
        PlanError: the argument is not a `Planning`.
    """
    return _server(require(planning, Planning), SERVER)


def _server(planning: Planning, name: str) -> McpSdkServerConfig:
    server = tool_server(planning.toolbox.toolset, planning.call, planning.system_prompt)
    return {"type": "sdk", "name": name, "instance": server}


def attach(
    options: ClaudeAgentOptions, planning: Planning, *, server: str = SERVER
) -> ClaudeAgentOptions:
    """
    Return options with the tools, the instruction and the guidance of a planning.

    The given options are not changed. The tools are allowed without asking, and Claude Code's own
    task tools are not offered. Hooks of your own stay. One planning may serve any number of
    sessions, one after the other or at the same time. `server` is the name of the MCP server.

    Raises:
        PlanError: an argument has the wrong type; the MCP servers are given as a file; or the name
            of the server is taken.
    """
    require(planning, Planning)
    servers = require(options, ClaudeAgentOptions).mcp_servers
    if not isinstance(servers, dict) or server in servers:
        msg = (
            f"mcp_servers is {short_repr(servers)}: give a dict of servers, to which one named"
            f" {server!r} can be added, or another name by attach(server=...)"
        )
        raise PlanError(msg, seen=servers)
    added = {
        "PreToolUse": HookMatcher(f"mcp__{server}__.*", [planning.before_call]),
        "UserPromptSubmit": HookMatcher(hooks=[planning.before_prompt]),
        # One hook for a message, however many calls it has. The SDK's types do not list it yet,
        # nor SessionStart, but the program that it runs calls both.
        "PostToolBatch": HookMatcher(hooks=[planning.after_calls]),
        "SessionStart": HookMatcher(hooks=[planning.after_start]),
        "Stop": HookMatcher(hooks=[planning.before_stop]),
    }
    hooks: dict[Any, list[HookMatcher]] = {**(options.hooks or {})}
    for event, matcher in added.items():
        hooks[event] = [*hooks.get(event, ()), matcher]
    names = [f"mcp__{server}__{name}" for name in planning.toolbox.toolset.tool_names]
    return replace(
        options,
        mcp_servers={**servers, server: _server(planning, server)},
        hooks=hooks,
        allowed_tools=[*options.allowed_tools, *names],
        disallowed_tools=[*dict.fromkeys([*options.disallowed_tools, *BUILT_IN])],
    )


async def plan_of_state(planning: Planning, session_id: str) -> Plan:
    """
    Return the plan of an SDK session, or an empty plan if there is none.

    Raises:
        PlanError: `planning` is not a `Planning`.
        StoreError: the store cannot be read.
    """
    return await require(planning, Planning).planner(session_id).plan()


async def history_of(planning: Planning, session_id: str) -> tuple[Entry, ...]:
    """
    Return the journal of an SDK session's plan, oldest entry first.

    Raises:
        PlanError: as in `plan_of_state`.
        StoreError: as in `plan_of_state`.
    """
    return await require(planning, Planning).planner(session_id).history()


async def seed_plan(
    planning: Planning, session_id: str, plan: Plan, *, actor: str | None = None
) -> None:
    """
    Replace the tasks of an SDK session's plan by those of `plan`; used ids are not used again.

    Raises:
        PlanError: an argument has the wrong type.
    """
    planner = require(planning, Planning).planner(session_id)
    await planner.restore(require(plan, Plan), actor=actor)


async def edit_plan(
    planning: Planning,
    session_id: str,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
) -> Decision:
    """
    Apply a command to the plan of an SDK session, and return the decision.

    The default policy is that of the toolbox. `actor` is the author of the change, for the journal.
    The agent is told at its next hook, also in the middle of a run.

    Raises:
        PlanError: an argument has the wrong type.
    """
    planner = require(planning, Planning).planner(session_id)
    chosen = planner.toolbox.policy if policy is None else require(policy, Policy)
    return await planner.apply(command, actor=actor, policy=chosen)


async def undo_plan(planning: Planning, session_id: str, *, actor: str | None = None) -> Decision:
    """
    Undo the last change of an SDK session's plan that is not undone yet, by any actor.

    Raises:
        PlanError: `planning` is not a `Planning`.
    """
    return await require(planning, Planning).planner(session_id).undo(actor=actor)

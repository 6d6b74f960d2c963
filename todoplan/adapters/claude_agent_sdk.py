"""
Plans in the Claude Agent SDK: `pip install 'todoplan[claude-agent-sdk]'`.

`attach(options, planning)` returns options with the tools and the guidance (reminders to the model)
of a `Planning`, for `query` and `ClaudeSDKClient`. `make_tools` returns only the tools, for
`ClaudeAgentOptions(mcp_servers={"plan": make_tools(planning)})`.

Plans are kept in a store, each under the id of its SDK session. `plan_of_state` and `history_of`
read a plan; `seed_plan`, `edit_plan` and `undo_plan` change it, also while an agent works.

The SDK runs the program of Claude Code and has no state of its own. So the plan is kept in a store,
under the id of the SDK session, which every hook receives. The tools are in an in-process MCP
server, and guidance consists of hooks.

`todoplan.adapters.mcp.hooks` has the sessions and the hooks; `todoplan mcp --hooks` uses them too.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from todoplan.errors import MissingExtraError, PlanError

try:
    from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, McpSdkServerConfig
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "claude-agent-sdk") from error

from todoplan.adapters.mcp.hooks import SERVER, HostSessions
from todoplan.adapters.mcp.server import tool_server
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import short_repr
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import require
from todoplan.lazy import listing
from todoplan.planner.editing import edit_plan, seed_plan, undo_plan
from todoplan.planner.session import AsyncSession

__all__ = [
    "Planning",
    "attach",
    "edit_plan",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)

# Claude Code's own task tools. Claude Code offers them to older models unless they are disallowed,
# and offers all of them if one is allowed by name.
BUILT_IN = ("TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoWrite")


class Planning(HostSessions):
    """
    The plans of any number of SDK sessions, for `attach`.

    `toolbox` has the tools and their policy, `settings` configure the reminders to the model,
    `store` keeps the plans (by default in memory), `clock` returns the current time with its time
    zone, and `verify` checks whether a task is done (see `AsyncPlanner`). `system_prompt` is the
    instruction about the tools; the default is the tool set's prompt, and "" adds none. `actor` is
    the main agent's name in the journal. A plan has the id of its SDK session, or `plan_id` for a
    plan that several sessions share.

    Raises:
        PlanError: an argument has the wrong type, or `settings.on_ignored` is "raise", which a hook
            cannot do.
    """

    def prepare(self) -> None:
        """Refuse settings that have no effect here."""
        if self.settings.on_ignored == "raise":
            msg = (
                "Settings(on_ignored='raise') has no effect in the Claude Agent SDK, because an"
                " error in a hook does not reach your program; leave it out, and read the plan"
                " after the run by `await plan_of_state(planning, session_id)`"
            )
            raise PlanError(msg)
        super().prepare()

    @asynccontextmanager
    async def editing(self, session_id: str) -> AsyncGenerator[AsyncSession]:
        """
        Yield a session of todoplan with which to edit the plan of an SDK session.

        This is possible during a run too: the agent's next hook reports the change to the model.
        """
        yield AsyncSession(self.planner(session_id))


def make_tools(planning: Planning) -> McpSdkServerConfig:
    """
    Return the tools as an in-process MCP server, for `ClaudeAgentOptions(mcp_servers=...)`.

    Without the hooks of `attach`, calls do not name their session. So all calls work on the plan
    `plan_id`, by default "plan".

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
    Return options with the tools, the instruction and the reminders of a planning.

    The given options are not changed. The tools are allowed without asking, and Claude Code's own
    task tools are not offered. Your own hooks are kept. One `Planning` may serve any number of
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
        # This hook is called once for a message, however many calls the message has. The SDK's
        # types list neither PostToolBatch nor SessionStart yet, but the program that the SDK runs
        # calls both.
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
        PlanError: see `plan_of_state`.
        StoreError: see `plan_of_state`.
    """
    return await require(planning, Planning).planner(session_id).history()

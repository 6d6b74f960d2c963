"""
Ready-made policies: how strict the planning tools in use are, and our own middle way.

Each rule declares in which of them it holds and how (`todoplan.core.rules.builtin`).
"""

from todoplan.core.rules.policy import Policy

__all__ = [
    "AGENTSCOPE",
    "CLAUDE",
    "CLAUDE_STRICT",
    "DEFAULT",
    "LANGCHAIN",
    "PRESETS",
    "STRICT",
]

LANGCHAIN = Policy.preset("langchain")
"""As LangChain's TodoListMiddleware: anything goes, prompts do the rest; only sizes are bounded."""

AGENTSCOPE = Policy.preset("agentscope")
"""As AgentScope's task tools: statuses are free, edges a coordination signal."""

DEFAULT = Policy.preset("default")
"""Permissive where users of the peers were hurt by refusals, strict where data would be lost."""

CLAUDE = Policy.preset("claude")
"""As Claude-style TodoWrite describes itself: one task in progress, an active form for each."""

CLAUDE_STRICT = Policy.preset("claude-strict")
"""The same with a priority for each item."""

STRICT = Policy.preset("strict")
"""Every rule an error."""

PRESETS: dict[str, Policy] = {
    "default": DEFAULT,
    "langchain": LANGCHAIN,
    "claude": CLAUDE,
    "claude-strict": CLAUDE_STRICT,
    "agentscope": AGENTSCOPE,
    "strict": STRICT,
}
"""Policies by the name that the command line takes."""

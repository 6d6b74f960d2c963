"""
Ready-made policies: as strict as the planning tools in use, and a compromise as the default.

Each rule declares its severity in the presets (`todoplan.core.rules.builtin`).
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
"""Like LangChain's TodoListMiddleware: only sizes are limited, the rest is left to prompts."""

AGENTSCOPE = Policy.preset("agentscope")
"""Like AgentScope's task tools: statuses change freely, and edges only give warnings."""

DEFAULT = Policy.preset("default")
"""Permissive where refusals hurt users of comparable libraries, strict where data would be lost."""

CLAUDE = Policy.preset("claude")
"""Like the description of Claude's TodoWrite: one task in progress, an active form for each."""

CLAUDE_STRICT = Policy.preset("claude-strict")
"""Like CLAUDE, and each task needs a priority."""

STRICT = Policy.preset("strict")
"""Every rule is an error, except those that must be switched on explicitly (`opt_in`)."""

PRESETS: dict[str, Policy] = {
    "default": DEFAULT,
    "langchain": LANGCHAIN,
    "claude": CLAUDE,
    "claude-strict": CLAUDE_STRICT,
    "agentscope": AGENTSCOPE,
    "strict": STRICT,
}
"""The presets by their names on the command line."""

"""Ready-made policies: how strict the planning tools in use are, and our own middle way."""

from todoplan.core.rules.builtin import RULES
from todoplan.core.rules.policy import Policy, Severity

__all__ = [
    "AGENTSCOPE",
    "CLAUDE",
    "CLAUDE_STRICT",
    "DEFAULT",
    "LANGCHAIN",
    "PRESETS",
    "STRICT",
]

LANGCHAIN = Policy().but(max_items="error", max_text="error", max_edges="error")
"""As LangChain's TodoListMiddleware: anything goes, prompts do the rest; only sizes are bounded."""

AGENTSCOPE = LANGCHAIN.but(blocked_start="warn", blocked_complete="warn", owner_taken="warn")
"""As AgentScope's task tools: statuses are free, edges a coordination signal."""

DEFAULT = AGENTSCOPE.but(
    single_in_progress="warn",
    completed_is_final="warn",
    dropped_open_items="warn",
    empty_write="error",
    no_op_write="warn",
)
"""Permissive where users of the peers were hurt by refusals, strict where data would be lost."""

CLAUDE = DEFAULT.but(single_in_progress="error", active_form_required="error")
"""As Claude-style TodoWrite describes itself: one task in progress, an active form for each."""

CLAUDE_STRICT = CLAUDE.but(priority_required="error")
"""The same with a priority for each item."""

STRICT = Policy(tuple((rule, Severity.ERROR) for rule in RULES.values()))
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

"""The names of the dialects, for callers that need no reader."""

# Readers are tried in this order, so the readers of more specific formats come first. Nearly any
# list of objects with a role is recognised as a chat.
DIALECT_NAMES = (
    "todoplan",  # the format's name is in the first bytes
    "specstory",
    "codex",
    "copilot",
    "entire",
    "openhands",
    "vscode",
    "adk",
    "pydantic-ai",
    "ag-ui",
    "openai-agents",
    "otlp",
    "claude-code",
    "opencode",
    "gemini",
    "atif",
    "antigravity",
    "kiro",
    "cline",
    "cursor",
    "langchain",
    "anthropic",
    "chat",
)
"""The dialects in the order in which their readers are tried."""

"""
The table of dialects: one reader for each.

To add one, write a module in `readers` with a `READER` and add its line. Readers are tried from
the top, so the ones that recognise more specific files stand first.
"""

from collections.abc import Mapping

from todoplan.transcripts.readers import (
    anthropic,
    chat,
    claude_code,
    codex,
    entire,
    gemini,
    langchain,
    opencode,
    openhands,
)
from todoplan.transcripts.readers.base import Reader

__all__ = ["DIALECTS", "Reader"]

DIALECTS: Mapping[str, Reader] = {
    "codex": codex.READER,
    "entire": entire.READER,
    "openhands": openhands.READER,
    "claude-code": claude_code.READER,
    "opencode": opencode.READER,
    "gemini": gemini.READER,
    "langchain": langchain.READER,
    "anthropic": anthropic.READER,
    "chat": chat.READER,
}

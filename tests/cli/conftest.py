"""What the tests of the command line share."""

from support.command_line import (
    command,
    complaints,
    invoke,
    project,
    recording,
    screen,
    start,
    terminal,
    text,
    todo,
    tool_call,
)

__all__ = [
    "command",
    "complaints",
    "invoke",
    "project",
    "recording",
    "screen",
    "start",
    "terminal",
    "text",
    "todo",
    "tool_call",
]

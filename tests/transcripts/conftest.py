"""What the tests of the commands on recordings share."""

from support.command_line import (
    complaints,
    invoke,
    recording,
    screen,
    terminal,
    text,
    todo,
    tool_call,
)

__all__ = ["complaints", "invoke", "recording", "screen", "terminal", "text", "todo", "tool_call"]

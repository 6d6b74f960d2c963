"""What the tests of the terminal share."""

from support.command_line import (
    complaints,
    screen,
    terminal,
    text,
)

__all__ = [
    "complaints",
    "screen",
    "terminal",
    "text",
]

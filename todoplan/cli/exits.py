"""The exit code of a command, also if it is interrupted or if its output pipe is closed."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from todoplan.errors import CLOSED_PIPE, INTERRUPTED, UNREADABLE, TodoplanError
from todoplan.render.terminal import Screen


def exit_code_of(job: Callable[[Screen], int | None], screen: Screen | None = None) -> int:
    """
    Run the job and return its exit code; `None` counts as 0.

    The exit code is 2 after an error, which is printed, 130 after Ctrl-C, and 141 if the output
    pipe was closed.
    """
    screen = screen or Screen()
    try:
        try:
            code = job(screen) or 0
        except TodoplanError as error:
            screen.complain(str(error))
            code = UNREADABLE
        # A closed pipe is detected only when the buffer is written, so it is written here, where
        # the error can still be handled.
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # The rest of the buffer is sent to /dev/null. Otherwise the interpreter would print an
        # error when it exits.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        code = CLOSED_PIPE
    except OSError as error:
        screen.complain(str(error))
        code = UNREADABLE
    return code


def write_files(files: Mapping[Path, str], screen: Screen) -> int:
    """Write the texts into the files, create missing folders, and return the exit code."""
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    except OSError as error:
        screen.complain(f"cannot write {error.filename}: {error.strerror}")
        return UNREADABLE
    return 0

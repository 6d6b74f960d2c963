"""How a command ends: with its code, or quietly when it was interrupted or nobody listens."""

import os
import sys
from collections.abc import Callable
from typing import NoReturn

import typer

__all__ = ["leave"]

_INTERRUPTED = 130
_CLOSED_PIPE = 141


def leave(job: Callable[[], int]) -> NoReturn:
    """
    Do the job and exit with the code that it returns.

    After Ctrl-C the code is 130, after a closed pipe 141, as of a process that a signal ended.

    Raises:
        Exit: always.
    """
    try:
        code = job()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BrokenPipeError:
        _hush()
        code = _CLOSED_PIPE
    raise typer.Exit(code)


def _hush() -> None:
    """
    Let what is still buffered go nowhere, or the interpreter would complain at its end.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)

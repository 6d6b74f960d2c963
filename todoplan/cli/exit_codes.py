"""How a command ends: with its code, or quietly when it was interrupted or nobody reads on."""

import os
import sys
from collections.abc import Callable
from typing import NoReturn

__all__ = ["CLOSED_PIPE", "INTERRUPTED", "REFUSED", "UNREADABLE", "exit_with"]

REFUSED = 1
"""The rules refuse a change, and nothing was changed; the code of findings of severity error."""

UNREADABLE = 2
"""Something could not be read, or was asked for wrongly; the same as for a wrong option."""

# As a shell reports a process that SIGINT (2) or SIGPIPE (13) ended: 128 and the signal's number.
INTERRUPTED = 130
CLOSED_PIPE = 141


def exit_with(job: Callable[[], int]) -> NoReturn:
    """
    Do the job and exit with the code that it returns.

    After Ctrl-C the code is 130, after a closed pipe 141.

    Raises:
        SystemExit: always.
    """
    try:
        code = job()
        # That a pipe is closed shows when the buffer is written: here it can still be answered.
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # What is still buffered must go somewhere, or the interpreter complains at its end.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        code = CLOSED_PIPE
    sys.exit(code)

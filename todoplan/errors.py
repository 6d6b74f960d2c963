"""The exceptions, raised for mistakes of developers. A mistake of a model is a value, `Problem`."""

from typing import Any

from todoplan.lazy import listing

__all__ = [
    "CodecError",
    "MissingExtraError",
    "PlanError",
    "ReadError",
    "StoreError",
    "TodoplanError",
    "UnfinishedError",
]
__dir__ = listing(__all__)


class TodoplanError(Exception):
    """Base of every exception that todoplan raises. `data` holds its details by name."""

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.data = data


class PlanError(TodoplanError):
    """
    The core, a policy or a tool set was used wrongly.

    Examples are an unknown rule, and a list of tasks that is not a valid plan. `Rejected.unwrap`
    raises this error too; `data["problems"]` then holds the problems.
    """


class UnfinishedError(PlanError):
    """
    The model gave a final answer although tasks were open.

    Before, the model was asked to go on, as often as `Settings` allows. The error is raised only
    with the setting `on_ignored="raise"`. `data["task_ids"]` has the ids of the open tasks.
    """


class CodecError(TodoplanError):
    """A document could not be read: it is truncated, corrupt, too large or of a newer format."""


class StoreError(TodoplanError):
    """A store refused a request: the plan has changed since it was read, or does not exist."""


class ReadError(TodoplanError):
    """A recording could not be read at all. `data` has `file` and, where known, `line` (from 1)."""


# Also an ImportError, so that callers who catch ImportError around an import keep working.
class MissingExtraError(TodoplanError, ImportError):
    """
    An optional dependency is not installed. The message names the pip command that installs it.

    `data["missing"]` is the name of the module, `data["extra"]` the extra that installs it.
    """

    @classmethod
    def of(cls, missing: str | None, extra: str) -> "MissingExtraError":
        """Return the error for a module that an extra of todoplan installs."""
        # The second command is for users who work from a checkout.
        msg = (
            f"{missing} is not installed; run: pip install 'todoplan[{extra}]'"
            f" (from a checkout: pip install '.[{extra}]')"
        )
        return cls(msg, missing=missing, extra=extra)


# -------- exit codes of the command line --------


REFUSED = 1
"""Exit code: the rules refused the change (the plan is unchanged), or a check found an error."""

UNREADABLE = 2
"""Exit code: an input cannot be read, or an argument is wrong. Typer uses 2 for wrong options."""

# Shells report a process that a signal has ended as 128 plus the signal's number: SIGINT is 2,
# SIGPIPE is 13.
INTERRUPTED = 130
CLOSED_PIPE = 141

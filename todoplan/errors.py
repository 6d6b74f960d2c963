"""The exceptions: a developer's mistakes. A model's mistake is a `Problem`, a value."""

from typing import Any

from todoplan.lazy import listing

__all__ = [
    "CodecError",
    "MissingExtraError",
    "PlanError",
    "ReadError",
    "StoreError",
    "TodoplanError",
]
__dir__ = listing(__all__)


class TodoplanError(Exception):
    """
    Base of every exception that todoplan raises. `data` holds its fields by name.
    """

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.data = data


class PlanError(TodoplanError):
    """
    The core, a policy or a tool set was used wrongly: an unknown rule, a task list that is no plan.

    Also what `Rejected.unwrap` raises; `data["problems"]` then holds what was refused.
    """


class CodecError(TodoplanError):
    """
    A document could not be read: truncated, corrupt, too large, or of a newer format.
    """


class StoreError(TodoplanError):
    """
    A store refused: the plan moved on since it was read, or is not there.
    """


class ReadError(TodoplanError):
    """
    A recording could not be read at all. `data` has `file` and, where known, `line` (from 1).
    """


# An ImportError as well: callers who try an import and catch that go on working.
class MissingExtraError(TodoplanError, ImportError):
    """
    An optional dependency is not installed. The message names the pip command that brings it.

    `data` has what is `missing` and the `extra` that brings it.
    """

    @classmethod
    def of(cls, missing: str | None, extra: str) -> "MissingExtraError":
        """
        Return the error for a module that an extra of todoplan brings.
        """
        # The second for those who have no release: an editable checkout, or one of a colleague's.
        msg = (
            f"{missing} is not installed; run: pip install 'todoplan[{extra}]'"
            f" (from a checkout: pip install '.[{extra}]')"
        )
        return cls(msg, missing=missing, extra=extra)

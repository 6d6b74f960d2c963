"""A model's mistake, as a value: what was seen, what is allowed. Never an exception."""

import attrs

__all__ = ["Problem"]


@attrs.frozen
class Problem:
    """
    One fault of an input.

    `code` is stable and machine-readable; its sentence stands in the dialogue's texts. `seen` is
    what was given, `legal` what would be accepted, `path` where in the arguments, such as
    "todos[2].status". `note` is a sentence of its own, for rules that users add.
    """

    code: str
    task_ids: tuple[str, ...] = ()
    seen: str = ""
    legal: str = ""
    path: str = ""
    note: str = ""

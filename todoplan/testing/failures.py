"""
The message of a failed check: its name, its law (the docstring of the check), the last exchanges,
and possibly a remedy.

A conversation through a framework is long, and the reader of a failure needs only its end. So the
last exchanges are a note on the error. The whole conversation is the error's attribute
`conversation`, which the plugin `report` prints with `-vv`.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import getdoc, isfunction
from typing import Any

from todoplan.testing.assertions import clipped

__tracebackhide__ = True

_LATEST = 2
_LONGEST_NOTE = 600
_REST = "all of it: `conversation` of this error, or `-vv -p todoplan.testing.adapters.report`"


class TellsFailures:
    """
    A suite whose checks (methods named `test_...`) report their name, law and last exchanges on
    failure.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, check in [*vars(cls).items()]:
            if name.startswith("test_") and isfunction(check):
                setattr(cls, name, _telling(check))

    def exchanges(self) -> Sequence[str]:
        """Return the exchanges so far, one text for each."""
        return ()

    def remedy(self) -> str:
        """Return what to do about a failure if the tested code is right, or ""."""
        return ""


def _telling(check: Callable[..., Any]) -> Callable[..., Any]:
    # `wraps` keeps the signature, from which pytest reads the parameters of a check.
    @wraps(check)
    def told(self: TellsFailures, *args: Any, **kwargs: Any) -> Any:
        try:
            return check(self, *args, **kwargs)
        except Exception as error:
            _tell(error, check, self.exchanges(), self.remedy())
            raise

    return told


def _tell(error: Any, check: Callable[..., Any], exchanges: Sequence[str], remedy: str) -> None:
    # The notes of Hypothesis contain the drawn conversation, with each text in full.
    drawn = getattr(error, "__notes__", [])
    error.conversation = "\n".join([*exchanges, *drawn])
    error.__notes__ = [clipped(note, _LONGEST_NOTE) for note in drawn]
    law = " ".join((getdoc(check) or "").split())
    error.add_note(f"check: {check.__name__}\nlaw: {law}")
    if exchanges:
        lines = [clipped(line) for each in exchanges[-_LATEST:] for line in each.splitlines()]
        last = min(_LATEST, len(exchanges))
        head = f"the last {last} of {len(exchanges)} exchanges:"
        error.add_note("\n  ".join([head, *lines]) + f"\n{_REST}")
    if remedy:
        error.add_note(remedy)

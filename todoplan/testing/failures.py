"""
The message of a failed check: its name, its law (the docstring of the check), the last exchanges
with the model, and possibly a remedy.

A conversation through a framework is long, and the reader of a failure needs only its end. So the
last exchanges are a note on the error. The whole conversation is the error's attribute
`conversation`, which the plugin `todoplan.testing.adapters.report` prints with `-vv`.
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
    """A suite whose checks (methods named `test_...`) add a report to their failures."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, check in [*vars(cls).items()]:
            if name.startswith("test_") and isfunction(check):
                setattr(cls, name, _reporting(check))

    def exchanges(self) -> Sequence[str]:
        """Return a text for each exchange with the model so far."""
        return ()

    def remedy(self) -> str:
        """Return what to do about a failure if the tested code is right, or ""."""
        return ""


def _reporting(check: Callable[..., Any]) -> Callable[..., Any]:
    # `wraps` keeps the signature, from which pytest reads the parameters of a check.
    @wraps(check)
    def checked(self: TellsFailures, *args: Any, **kwargs: Any) -> Any:
        try:
            return check(self, *args, **kwargs)
        except Exception as caught:
            error: Any = caught
            exchanges, remedy = self.exchanges(), self.remedy()
            # The notes of Hypothesis contain the drawn conversation, with each text in full.
            drawn = getattr(error, "__notes__", [])
            error.conversation = "\n".join([*exchanges, *drawn])
            error.__notes__ = [clipped(note, _LONGEST_NOTE) for note in drawn]
            law = " ".join((getdoc(check) or "").split())
            error.add_note(f"check: {check.__name__}\nlaw: {law}")
            if exchanges:
                latest = exchanges[-_LATEST:]
                lines = [clipped(line) for each in latest for line in each.splitlines()]
                head = f"the last {len(latest)} of {len(exchanges)} exchanges:"
                error.add_note("\n  ".join([head, *lines]) + f"\n{_REST}")
            if remedy:
                error.add_note(remedy)
            raise

    return checked

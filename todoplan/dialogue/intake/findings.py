"""What comes up while a call's arguments are read: mends to be told, faults to refuse it for."""

from typing import Any

import attrs

from todoplan.core.problems import Problem
from todoplan.dialogue.intake.cleaning import clean, is_clean, leaks_field, quoted
from todoplan.dialogue.intake.jsonish import InputLimits, unwrapped_text
from todoplan.dialogue.intake.repairs import Repair

__all__ = ["MISSING", "Findings"]

MISSING = object()
"""What a reader returns for a value that does not count, or that it has refused."""


@attrs.define
class Findings:
    """
    What came up while a call's arguments were read.
    """

    limits: InputLimits = InputLimits()
    repairs: list[Repair] = attrs.Factory(list)
    problems: list[Problem] = attrs.Factory(list)

    def mend(self, code: str, path: str, seen: object = "", used: str = "") -> None:
        """
        Say what was read differently from what was given.
        """
        self.repairs.append(Repair(code, path, quoted(seen), used))

    def refuse(self, code: str, path: str, seen: object = "", legal: str = "") -> Any:
        """
        Say what cannot be read, and return `MISSING`.
        """
        self.problems.append(Problem(code, (), quoted(seen), legal, path))
        return MISSING

    def decoded(self, value: Any, path: str, *, expected: bool = False) -> Any:
        """
        Return the list or object that a text spells, or else the value; `MISSING` if it is broken.

        `expected`: the schema asks for a JSON text here, so reading one is nothing to tell.
        """
        found = unwrapped_text(value, self.limits)
        if isinstance(found, Problem):
            return self.refuse(found.code, path or "arguments", found.seen, found.legal)
        told = (mend for mend in found.repairs if not expected or mend.code != "json_text")
        self.repairs.extend(attrs.evolve(repair, path=path) for repair in told)
        return found.value

    def cleaned(self, text: str, path: str) -> Any:
        """
        Return the text without what hides from a reader; `MISSING` if a field was lost in it.
        """
        if is_clean(text):
            return text
        if leaks_field(text):
            return self.refuse("swallowed_field", path, text)
        kept, repairs = clean(text, path)
        self.repairs.extend(repairs)
        return kept

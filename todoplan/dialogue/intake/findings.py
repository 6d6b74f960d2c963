"""What comes up while a call's arguments are read: repairs to report, faults to refuse it for."""

from typing import Any

import attrs

from todoplan.core.problems import Problem
from todoplan.dialogue.intake.cleaning import clean, is_clean, leaks_field, quoted
from todoplan.dialogue.intake.parsing import InputLimits, unwrapped_text
from todoplan.dialogue.intake.repairs import GUESSES, Repair

__all__ = ["MISSING", "MOST_KEPT", "Findings"]

MISSING = object()
"""What a reader returns for a value that does not count, or that it has refused."""

MOST_KEPT = 1_000
"""So many repairs, and problems, of a call are kept; a megabyte of odd keys has 100,000 of them."""


@attrs.define
class Findings:
    """
    What came up while a call's arguments were read. `faults` counts all problems, also unkept ones.
    """

    limits: InputLimits = InputLimits()
    repairs: list[Repair] = attrs.Factory(list)
    problems: list[Problem] = attrs.Factory(list)
    faults: int = 0

    def repair(self, code: str, path: str, seen: object = "", used: str = "") -> None:
        """
        Say what was read differently from what was given.
        """
        if len(self.repairs) < MOST_KEPT or code in GUESSES:  # law 17 goes by the guesses
            self.repairs.append(Repair(code, path, quoted(seen), used))

    def refuse(self, code: str, path: str, seen: object = "", legal: str = "") -> Any:
        """
        Say what cannot be read, and return `MISSING`.
        """
        # `problems` cannot be counted for this: once it is full, a faulty entry would look sound.
        self.faults += 1
        if self.faults <= MOST_KEPT:
            self.problems.append(Problem(code, (), quoted(seen), legal, path))
        return MISSING

    def decoded(self, value: Any, path: str, *, expected: bool = False) -> Any:
        """
        Return the list or object that a text spells, or else the value; `MISSING` if it is broken.

        `expected`: the schema asks for a JSON text here, so reading one is nothing to report.
        """
        if not isinstance(value, str):
            return value
        found = unwrapped_text(value, self.limits)
        if isinstance(found, Problem):
            return self.refuse(found.code, path or "arguments", found.seen, found.legal)
        for repair in found.repairs:
            if repair.code != "json_text" or not expected:
                self.repair(repair.code, path)
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
        for repair in repairs:
            self.repair(repair.code, path)
        return kept

"""
What a model sent, read against a tool's fields: values, repairs and problems.

The theory of intake, which the whole room keeps:
- law 10: never an exception, whatever is sent, and nothing is repaired silently;
- repair only what has one meaning and is whole, and report it. Else refuse the whole call, with
  every fault at once: its path, what was seen in at most 40 characters, what is allowed; a correct
  example follows. A model given one fault at a time spends a turn on each;
- `null` means "not given", never the task "None"; an unknown word is never taken for the nearest;
- law 17: what was guessed about the container is marked (`Intake.guessed`), and removes nothing.

There are two ways with one meaning: `fast_read` for the call as the schema asks for it, which is
nearly every one, and the careful one below for all others. A test holds them against each other.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import attrs

from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.cleaning import quoted
from todoplan.dialogue.intake.containers import arguments_in, entries_in
from todoplan.dialogue.intake.fast_read import DEFER, fast_read
from todoplan.dialogue.intake.fields import Field, Kind, meant_by
from todoplan.dialogue.intake.findings import MISSING, Findings
from todoplan.dialogue.intake.nesting import (
    OWN_ID,
    as_lines,
    nests,
    read_own_ids,
    rows_in,
    within_each_other,
)
from todoplan.dialogue.intake.parsing import InputLimits, parse
from todoplan.dialogue.intake.repairs import Repair, is_guess
from todoplan.dialogue.intake.values import READERS
from todoplan.dialogue.intake.waits import WaitingWord, settle_wait

__all__ = ["WITHIN", "Intake", "careful_read", "read"]

WITHIN = "within"
"""Under this name an entry holds the index of the one that it lies in, if it lies in one."""

_LONGEST_KEY = 80
_MOST_NEAR = 10


@attrs.frozen(weakref_slot=False)
class Intake:
    """
    A call's arguments by target name; `values` hold only what was given and could be read.
    """

    values: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def guessed(self) -> bool:
        """
        True where the container had to be guessed: such a call must remove nothing (law 17).
        """
        return is_guess(self.repairs)


_intake = fast_constructor(Intake)
_USUAL = InputLimits()


def read(raw: object, fields: tuple[Field, ...], limits: InputLimits | None = None) -> Intake:
    """
    Read a call's arguments: JSON text, or the mapping that a framework has made of it.
    """
    limits = limits or _USUAL
    values = fast_read(raw, fields, limits)
    return _intake(values) if values is not DEFER else careful_read(raw, fields, limits)


def careful_read(raw: object, fields: tuple[Field, ...], limits: InputLimits) -> Intake:
    """
    Read any arguments: those that `fast_read` leaves alone, and to the same effect all others.
    """
    parsed = parse(raw, limits)
    if isinstance(parsed, Problem):
        # `parse` puts the whole text into its problem; a model is shown 40 characters (`quoted`).
        return Intake({}, (), (attrs.evolve(parsed, seen=quoted(parsed.seen)),))
    findings = Findings(limits, list(parsed.repairs))
    found = arguments_in(parsed.value, fields, findings)
    values = {} if found is None else _object(found, fields, "", findings)
    return Intake(values, tuple(findings.repairs), tuple(findings.problems))


def _object(
    value: Mapping[str, Any], fields: tuple[Field, ...], prefix: str, findings: Findings
) -> dict[str, Any]:
    by_field = _by_field(value, fields, prefix, findings)
    values: dict[str, Any] = {}
    for field in fields:
        path = f"{prefix}{field.name}"
        faults = findings.faults
        found = _value(by_field[field], field, path, findings) if field in by_field else MISSING
        if found is not MISSING:
            values[field.target] = found
        # A field is missing only if nothing was refused in it: one fault is told once.
        elif field.required and not field.lenient and findings.faults == faults:
            findings.refuse("missing_field", path, "", field.name)
    if "waiting" in values or type(values.get("status")) is WaitingWord:
        settle_wait(values, {field.target: prefix + field.name for field in fields}, findings)
    return values


def _by_field(
    value: Mapping[str, Any], fields: tuple[Field, ...], prefix: str, findings: Findings
) -> dict[Field, Any]:
    """
    Return the value of each field; of several spellings the strongest, if they do not contradict.
    """
    chosen: dict[
        Field, tuple[int, str, Any]
    ] = {}  # how surely the key means it, the key, the value
    left_out: list[Field] = []
    for key, inner in value.items():
        field, strength = meant_by(key, fields)
        if field is None:
            _unknown(key, fields, prefix, findings)
        elif inner is None:  # for an optional argument it is "not given" (inspect_ai#1477)
            left_out.append(field)
        else:
            kept = new = strength, key, inner
            if field in chosen:
                old = chosen[field]
                kept, other = (new, old) if new[0] > old[0] == 0 else (old, new)
                # The type too, since True == 1 == 1.0.
                same = type(old[2]) is type(new[2]) and old[2] == new[2]
                if not same and kept[0] and not other[0]:
                    findings.repair("ignored_key", f"{prefix}{quoted(other[1])}", other[1])
                elif not same:
                    findings.refuse("conflicting_keys", f"{prefix}{field.name}", new[1])
            chosen[field] = kept
    # In strict mode a model sends a `null` for each argument that it leaves out; one alone is meant
    # as it stands.
    if len(left_out) == 1 and left_out[0].clears and left_out[0] not in chosen:
        chosen[left_out[0]] = (0, "", None)
    return {field: inner for field, (_, _, inner) in chosen.items()}


def _unknown(key: str, fields: tuple[Field, ...], prefix: str, findings: Findings) -> None:
    names = [field.name for field in fields if not field.hidden]
    path = f"{prefix}{quoted(key)}"
    if findings.limits.strict:
        findings.refuse("unknown_key", path, key, ", ".join(names) or "none")
        return
    # An extra key is no fault (hermes#100979): refusing it would cost a turn for nothing lost.
    # The search for a near name is the dearest step of intake, and the reply names three at most.
    searched = len(findings.repairs) < _MOST_NEAR
    near = get_close_matches(key[:_LONGEST_KEY], names, n=1) if searched else []
    findings.repair("ignored_key", path, key, near[0] if near else "")


def _value(value: Any, field: Field, path: str, findings: Findings) -> Any:
    if field.clears and (value is None or value == ""):
        return None
    if field.kind is Kind.ITEMS:
        listed = entries_in(value, field, path, findings)
        return MISSING if listed is MISSING else _entries(listed, field, path, findings)
    found = READERS[field.kind](value, path, findings)
    if field.required and isinstance(found, str) and not found.strip():
        return findings.refuse("empty_text", path, value)
    return found


def _entries(listed: Sequence[Any], field: Field, path: str, findings: Findings) -> Any:
    if len(listed) > findings.limits.items:
        return findings.refuse("too_many", path, len(listed), str(findings.limits.items))
    faults = findings.faults
    rows = rows_in(
        listed,
        field,
        path,
        findings,
        lambda entry, prefix: _object(entry, field.items, prefix, findings),
    )
    # A row with a fault may lack what its class requires; the call is refused anyhow.
    if nests(field) and findings.faults == faults:
        if field.entry:
            lines = as_lines(rows, findings)
            return [field.entry(**line) for line in lines if findings.faults == faults]
        within = within_each_other(rows)
        if any(OWN_ID in row.values for row in rows):
            names = {inner.target: inner.name for inner in field.items}
            read_own_ids(rows, within, names, findings)
        for row, outer in zip(rows, within, strict=True):
            if outer is not None:
                row.values[WITHIN] = outer
    return [row.values for row in rows]

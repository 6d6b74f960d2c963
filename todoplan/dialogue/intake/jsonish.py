"""
From what a model sent to a JSON value: mends what is unambiguous and whole, refuses the rest.

Never raises and never hangs: sizes are bounded first, every pass is linear, nothing recurses.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

import attrs

from todoplan.core.problems import Problem
from todoplan.dialogue.intake.cleaning import ANY_CLOSER, unleaked
from todoplan.dialogue.intake.literals import MOST_DIGITS, RefusedError, from_json, from_python
from todoplan.dialogue.intake.repairs import Repair

__all__ = ["InputLimits", "Parsed", "parse", "unwrapped_text"]

_REPR_LIMIT = 65_536
_TRUNCATED = Problem("truncated")
_TOO_LONG = Problem("bad_number", seen=f"a number of over {MOST_DIGITS} digits")
_FENCE = re.compile(r"```[\w-]*+[ \t]*+\n")
_NOISE = re.compile(
    r'("(?:[^"\\]++|\\.)*+"?)|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|,(?=\s*+[}\]])', re.DOTALL
)
_ENCODED = re.compile(r"\s*+[\[{\"`]")
_STRUCTURED = re.compile(
    r"""\s*+["\\]*+(?:\{\s*+(?:[\\"']|\Z)|\[\s*+(?:[\[{\\"']|\Z))"""  # how lists and objects begin
)


@attrs.frozen
class InputLimits:
    """
    How much one call may bring: characters, levels of nesting, entries of a list.

    `strict`: keys that no field has refuse the call; otherwise they are ignored, and told.
    """

    chars: int = 1_048_576
    depth: int = 32
    items: int = 1_000
    strict: bool = False


@attrs.frozen
class Parsed:
    """
    A JSON value, and what was mended to get it.
    """

    value: Any
    repairs: tuple[Repair, ...] = ()


def parse(raw: object, limits: InputLimits) -> Parsed | Problem:
    """
    Return the value of a call's arguments: JSON text, bytes, or what a framework has parsed.
    """
    if raw is None:
        return Parsed({})
    if isinstance(raw, str | bytes | bytearray):
        return _read(raw, limits)
    return _bounded(Parsed(raw), limits)


def _read(raw: str | bytes | bytearray, limits: InputLimits) -> Parsed | Problem:
    if len(raw) > limits.chars:
        return Problem("too_large", seen=f"{len(raw)} characters", legal=str(limits.chars))
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    found = _from_text(text.removeprefix("\ufeff").strip(), limits)
    if isinstance(found, Problem):
        return found
    if not isinstance(raw, str) and raw.decode("utf-8", "ignore") != text:
        found = attrs.evolve(found, repairs=(*found.repairs, Repair("surrogates")))
    return _bounded(found, limits)


def _from_text(text: str, limits: InputLimits) -> Parsed | Problem:
    found = _strictly(text, (), limits) if text else Parsed({})
    return _mended(text, limits) if found is None else found


def _strictly(
    text: str, repairs: tuple[Repair, ...], limits: InputLimits
) -> Parsed | Problem | None:
    try:
        return Parsed(from_json(text), repairs)
    except RefusedError as refused:
        return refused.problem
    except RecursionError:
        return _too_deep(limits.depth)
    except ValueError:
        return None


def _too_deep(levels: int) -> Problem:
    return Problem("too_deep", seen=f"over {levels} levels", legal=str(levels))


def _mended(text: str, limits: InputLimits) -> Parsed | Problem:
    repairs: tuple[Repair, ...] = ()
    for code, mend in (("code_fence", _unfenced), ("closing_tags", _unclosed)):
        tidier = mend(text)
        if tidier != text:
            text, repairs = tidier, (*repairs, Repair(code))
            found = _strictly(text, repairs, limits)
            if found is not None:
                return found
    found = _strictly(_tidy(text), (*repairs, Repair("noise")), limits)
    return _from_repr(text, repairs) if found is None else found


def _unfenced(text: str) -> str:
    opening = _FENCE.match(text)
    return text[opening.end() : -3].strip() if opening and text.endswith("```") else text


def _unclosed(text: str) -> str:
    return unleaked(text, ANY_CLOSER)


def _tidy(text: str) -> str:
    return _NOISE.sub(lambda found: found[1] or "", text)


def _from_repr(text: str, repairs: tuple[Repair, ...]) -> Parsed | Problem:
    if text[:1] in ("[", "{", "(") and len(text) <= _REPR_LIMIT:
        try:
            return Parsed(from_python(text), (*repairs, Repair("python_repr")))
        except RefusedError as refused:
            return refused.problem
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            pass
    return _TRUNCATED if _ends_open(text) else Problem("not_json", seen=text)


def _ends_open(text: str) -> bool:
    """
    Say whether the text stops inside a string or a bracket: cut off, most likely.
    """
    depth, quote, escaped = 0, "", False
    for letter in text:
        if escaped:
            escaped = False
        elif quote:
            escaped = letter == "\\"
            quote = "" if letter == quote else quote
        elif letter == '"':
            quote = letter
        else:
            depth += (letter in "[{") - (letter in "]}")
    return bool(quote) or depth > 0


def _bounded(parsed: Parsed, limits: InputLimits) -> Parsed | Problem:
    """
    Refuse what is nested too deeply, too large, or not of JSON's types, without recursion.
    """
    level, chars, depth = [parsed.value], 0, 0
    while level:
        depth += 1
        if depth > limits.depth:
            return _too_deep(limits.depth)
        below: list[Any] = []
        for value in level:
            chars += len(value) if isinstance(value, str) else 1
            fault = _children(value, below)
            if fault:
                return fault
        if chars + len(below) > limits.chars:
            return Problem("too_large", seen=f"over {limits.chars}", legal=str(limits.chars))
        level = below
    return parsed


def _children(value: object, below: list[Any]) -> Problem | None:
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            return _not_of_json("a key that is not text", "text keys")
        below.extend(value)
        below.extend(value.values())
    elif isinstance(value, list | tuple):
        below.extend(value)
    elif isinstance(value, float):
        return None if math.isfinite(value) else Problem("bad_number", seen=str(value))
    elif isinstance(value, int):
        return None if abs(value) < 10**MOST_DIGITS else _TOO_LONG
    elif value is not None and not isinstance(value, str):
        return _not_of_json(type(value).__name__, "JSON values")
    return None


def _not_of_json(seen: str, legal: str) -> Problem:
    return Problem("wrong_type", seen=seen, legal=legal, path="arguments")


def unwrapped_text(value: object, limits: InputLimits, levels: int = 3) -> Parsed | Problem:
    """
    Return the list or object that a text spells, unwrapped at most three times; else the value.

    A text that begins as lists and objects do, and is broken, is a problem: never a title.
    """
    inner: object = value
    repairs: tuple[Repair, ...] = (Repair("json_text"),)
    for _ in range(levels):
        if not isinstance(inner, str) or not _ENCODED.match(inner):
            break
        found = parse(inner, limits)
        if isinstance(found, Problem):
            return found if _STRUCTURED.match(str(value)) else Parsed(value)
        inner, repairs = found.value, (*repairs, *found.repairs)
    if inner is not value and isinstance(inner, Mapping | list | tuple):
        return Parsed(inner, repairs)
    broken = isinstance(value, str) and _STRUCTURED.match(value)
    return _too_deep(levels) if broken else Parsed(value)

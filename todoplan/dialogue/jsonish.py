"""
From what a model sent to a JSON value: mends what is unambiguous and whole, refuses the rest.

Never raises and never hangs: sizes are bounded first, every pass is linear, nothing recurses.
"""

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

import attrs

from todoplan.core.problems import Problem
from todoplan.dialogue.repairs import Repair

__all__ = ["InputLimits", "Parsed", "parse", "unwrapped_text"]

_REPR_LIMIT = 65_536
_TRUNCATED = Problem("truncated")
_FENCE = re.compile(r"\A\s*```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```\s*\Z", re.DOTALL)
_CLOSERS = re.compile(r"(?:\s*</[\w:.-]{1,40}>)+\s*\Z")
_NOISE = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|,(?=\s*[}\]])')


@attrs.frozen
class InputLimits:
    """
    How much one call may bring: characters, levels of nesting, entries of a list.
    """

    chars: int = 1_048_576
    depth: int = 32
    items: int = 1_000


@attrs.frozen
class Parsed:
    """
    A JSON value, and what was mended to get it.
    """

    value: Any
    repairs: tuple[Repair, ...] = ()


class _RefusedError(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def parse(raw: object, limits: InputLimits) -> Parsed | Problem:
    """
    Return the value of a call's arguments: JSON text, bytes, or what a framework has parsed.
    """
    if raw is None:
        return Parsed({})
    if isinstance(raw, bytes | bytearray):
        raw = bytes(raw[: limits.chars + 1]).decode("utf-8", "replace")
    if not isinstance(raw, str):
        return _bounded(Parsed(raw), limits)
    if len(raw) > limits.chars:
        return Problem("too_large", seen=f"{len(raw)} characters", legal=str(limits.chars))
    found = _from_text(raw)
    return found if isinstance(found, Problem) else _bounded(found, limits)


def _from_text(raw: str) -> Parsed | Problem:
    text = raw.removeprefix("\ufeff").strip()
    if not text:
        return Parsed({})
    try:
        return Parsed(_loads(text))
    except _RefusedError as refused:
        return refused.problem
    except (ValueError, RecursionError):
        return _mended(text)


def _mended(text: str) -> Parsed | Problem:
    repairs: list[Repair] = []
    for code, mend in (("code_fence", _unfenced), ("closing_tags", _unclosed), ("noise", _tidy)):
        tidier = mend(text)
        if tidier != text:
            text = tidier
            repairs.append(Repair(code))
            try:
                return Parsed(_loads(text), tuple(repairs))
            except _RefusedError as refused:
                return refused.problem
            except (ValueError, RecursionError):
                continue
    return _from_repr(text, tuple(repairs))


def _unfenced(text: str) -> str:
    fenced = _FENCE.match(text)
    return fenced[1].strip() if fenced else text


def _unclosed(text: str) -> str:
    return _CLOSERS.sub("", text[-400:]).join((text[:-400], "")) if text.endswith(">") else text


def _tidy(text: str) -> str:
    return _NOISE.sub(lambda found: found[1] or "", text)


def _from_repr(text: str, repairs: tuple[Repair, ...]) -> Parsed | Problem:
    if text[:1] in ("[", "{", "(") and len(text) <= _REPR_LIMIT:
        try:
            return Parsed(ast.literal_eval(text), (*repairs, Repair("python_repr")))
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


def _loads(text: str) -> Any:
    return json.loads(
        text,
        strict=False,
        object_pairs_hook=_object,
        parse_constant=_no_constant,
        parse_int=_integer,
        parse_float=_number,
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise _RefusedError(Problem("duplicate_key", seen=key))
        found[key] = value
    return found


def _no_constant(word: str) -> Any:
    raise _RefusedError(Problem("bad_number", seen=word))


def _integer(digits: str) -> int:
    if len(digits) > 18:  # noqa: PLR2004 - what 64 bits hold
        raise _RefusedError(Problem("bad_number", seen=f"a number of {len(digits)} digits"))
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise _RefusedError(Problem("bad_number", seen=digits))
    return value


def _bounded(parsed: Parsed, limits: InputLimits) -> Parsed | Problem:
    """
    Refuse what is nested too deeply, too large, or not of JSON's types, without recursion.
    """
    level, chars, depth = [parsed.value], 0, 0
    while level:
        depth += 1
        if depth > limits.depth:
            return Problem("too_deep", seen=f"over {limits.depth} levels", legal=str(limits.depth))
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
            return Problem("wrong_type", seen="a key that is not text", legal="text keys")
        below.extend(value.values())
    elif isinstance(value, list | tuple):
        below.extend(value)
    elif isinstance(value, float) and value - value != 0.0:
        return Problem("bad_number", seen=str(value))
    elif value is not None and not isinstance(value, str | int | float):
        return Problem("wrong_type", seen=type(value).__name__, legal="JSON values")
    return None


def unwrapped_text(value: object, limits: InputLimits, levels: int = 3) -> Parsed:
    """
    Return the list or object that a text spells, unwrapped at most three times; else the value.
    """
    inner: object = value
    for _ in range(levels):
        if not isinstance(inner, str) or inner.strip()[:1] not in ("[", "{", '"', "`"):
            break
        found = parse(inner, limits)
        if isinstance(found, Problem):
            return Parsed(value, (Repair("unreadable", seen=found.code),))
        inner = found.value
    if inner is value or not isinstance(inner, Mapping | list | tuple):
        return Parsed(value)
    return Parsed(inner, (Repair("json_text"),))

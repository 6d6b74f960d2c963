"""
The first step of intake: turn the arguments that a model sent into plain JSON values.

Law 10: this never raises and never hangs, whatever the input. To ensure that:
- Sizes are checked before any work. The length comes first, and every pass over a text is linear.
  Patterns are possessive and treat an unclosed string as going on to the end of the text: a
  pattern that gave up there and started again at the next quote took seven seconds for 64 KiB.
  Nothing is cached.
- Objects from a framework are copied into plain values, once: the methods of foreign classes may
  raise, return different values the second time, or never end.
- Only complete texts with one meaning are repaired (commas, comments, fences, Python's spelling). A
  text that ends inside a value is always refused, since closing its brackets would invent a value:
  `"status": "pen` once became a status.

JSON texts and Python literals are read strictly: duplicate keys are refused unless their values are
equal, and so are numbers that cannot be represented.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, cast

import attrs

from todoplan.core.problems import Problem
from todoplan.dialogue.intake.cleaning import ANY_CLOSER, unleaked
from todoplan.dialogue.intake.repairs import Repair

MOST_DIGITS = 18
_CLOSER_OF = {"[": "]", "{": "}", "(": ")"}
_WORDS = {"None": "null", "True": "true", "False": "false"}
# `u'...'` is a Python 2 string.
_TOKEN = re.compile(
    r"""
    (?P<space> \s++ )
    | u?(?P<string> "(?:[^"\\]++|\\.)*+" | '(?:[^'\\]++|\\.)*+' )
    | (?P<plain> -?[0-9][0-9.eE+-]*+ | : )
    | (?P<comma> , )
    | (?P<word> \w++ )
    | (?P<opening> [\[{(] )
    | (?P<closing> [\]})] )
    | (?P<other> . )
    """,
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_DEEPEST = 100
_MISPLACED = "a literal holds brackets, texts, numbers, None, True and False, with commas between"
_ESCAPED = {"\n": "", **dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))}


class RefusedError(Exception):
    """The text can be parsed but must be refused; `problem` is the reason."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def from_json(text: str) -> Any:
    """
    Return the value of a JSON text; raw line ends inside strings are allowed.

    Raises:
        RefusedError: a key occurs twice with different values, or a number cannot be represented.
        ValueError: the text is not JSON.
        RecursionError: the text is nested more deeply than Python can read.
    """
    return _DECODER.decode(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):  # `json` would silently keep the last of two
        first: dict[str, Any] = {}
        for key, value in pairs:
            kept = first.setdefault(key, value)
            if kept != value or type(kept) is not type(value):
                raise RefusedError(Problem("duplicate_key", seen=key))
    return found


def _no_constant(name: str) -> float:
    raise RefusedError(Problem("bad_number", seen=name))


def _integer(digits: str) -> int:
    # The length is checked first: int() takes quadratic time, and raises beyond 4,300 digits.
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise RefusedError(Problem("bad_number", seen=f"a number of {len(digits)} digits"))
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)  # 1e999 is infinite, and `json` would not write it as valid JSON
    if value in (float("inf"), float("-inf")):
        raise RefusedError(Problem("bad_number", seen=digits))
    return value


_DECODER = json.JSONDecoder(
    strict=False,
    object_pairs_hook=_object,
    parse_constant=_no_constant,
    parse_int=_integer,
    parse_float=_number,
)


def from_python(text: str) -> Any:
    """
    Return the value of a Python literal of lists, dicts, tuples, strings and numbers.

    The text is translated to JSON token by token and then read as JSON. Python's own parser is
    unsuitable for untrusted text: it writes a warning to standard error for each odd token, runs
    out of memory on `-----`, drops comments, and joins two strings with a missing comma.

    Raises:
        RefusedError: as in `from_json`.
        RecursionError: as in `from_json`.
        ValueError: the text is not such a literal.
    """
    parts: list[str] = []
    opened: list[tuple[str, int, list[str]]] = []  # each bracket, its position, its commas
    for found in _TOKEN.finditer(text):
        part = found[0]
        match found.lastgroup:
            case "space":
                continue
            case "string":
                part = json.dumps(_ESCAPE.sub(_unescaped, found["string"][1:-1]))
            case "word" if part in _WORDS:
                part = _WORDS[part]
            case "comma" if opened:
                opened[-1][2].append(part)
            case "opening" if len(opened) < _DEEPEST:
                opened.append((part, len(parts), []))
                part = "[" if part == "(" else part
            case "closing" if opened and _CLOSER_OF[opened[-1][0]] == part:
                bracket, start, commas = opened.pop()
                if bracket == "(" and not commas and len(parts) > start + 1:
                    raise ValueError(_MISPLACED)  # (1) is 1, not a tuple
                # [1,] is valid in Python, [,] is not; JSON then refuses the remaining comma.
                if parts[-1] == "," and len(parts) > start + 2:
                    parts.pop()
                part = "]" if bracket == "(" else part
            case "plain":
                pass
            case _:
                raise ValueError(_MISPLACED)
        parts.append(part)
    # Joined by blanks: two strings with a missing comma stay separate, and are refused.
    return from_json(" ".join(parts))


def _unescaped(found: re.Match[str]) -> str:
    if code := found[1] or found[2] or found[3]:
        return chr(int(code, 16))
    if found[4]:
        return chr(int(found[4], 8))
    return _ESCAPED.get(found[5], found[0])  # an unknown escape keeps its backslash, as in C:\dir


_LONGEST_LITERAL = 65_536  # bounded, since its tokens are read one by one in Python
# Raw line ends inside strings are allowed here too, as in `from_json`.
_PLAIN_DECODE = json.JSONDecoder(strict=False).raw_decode
_DEEPEST_PLAIN = 5  # arguments, list, entry, list of ids, id: none of our schemas is deeper
_NODE = 64  # an upper bound: in `_json_values`, a value's key and brackets count less
# Models encode arguments several times: kimi-cli#2513, livekit#5411, OpenManus#989.
_MOST_ENCODINGS = 3
# lobehub#13817: five blind retries of a truncated call, 487,000 tokens. So the error says why.
_TRUNCATED = Problem("truncated")
_FENCE = re.compile(r"```[\w-]*+[ \t]*+\n")
# Strings are matched first, so that `//` in a URL inside a string is kept.
_NOISE = re.compile(
    r'("(?:[^"\\]++|\\.)*+"?)|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|,(?=\s*+[}\]])', re.DOTALL
)
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+("?)', re.DOTALL)
# Texts that may be JSON, and texts that must be: "[urgent] call back" is a title, but `["urgent` is
# a broken list.
_ENCODED = re.compile(r"\s*+[\[{\"`]")
_STRUCTURED = re.compile(
    r"""\s*+["\\]*+(?:\{\s*+(?:[\\"']|\Z)|\[\s*+(?:[\[{\\"']|\Z))"""  # how lists and objects begin
)


@attrs.frozen
class InputLimits:
    """
    The limits of one call: characters, levels of nesting, and entries of a list.

    With `strict`, a call with an unknown key is refused; otherwise the key is ignored and reported.
    """

    chars: int = 1_048_576
    depth: int = 32
    items: int = 1_000
    strict: bool = False


@attrs.frozen
class Parsed:
    """A JSON value, and the repairs that were needed to read it."""

    value: Any
    repairs: tuple[Repair, ...] = ()


def parse(raw: object, limits: InputLimits) -> Parsed | Problem:
    """Return the value of a call's arguments: JSON text, bytes, or an object from a framework."""
    if raw is None:
        return Parsed({})
    try:
        kind = type(raw)  # `isinstance` would call methods of a foreign class
        if issubclass(kind, str):
            return _read(str.__str__(cast("str", raw)), limits)
        if issubclass(kind, bytes | bytearray):
            return _read(memoryview(cast("bytes", raw)).tobytes(), limits)
        return Parsed(_json_values(raw, limits))
    except RefusedError as refused:
        return refused.problem


def plain_object(raw: object, limits: InputLimits) -> dict[str, Any] | None:
    """
    Return a call's arguments if they are a dict, or a JSON text that needs no repair.

    Return `None` if they must be parsed with `parse`. The size is checked, but not the values.
    """
    # `type`, not `isinstance`: a foreign class may define any behaviour.
    if limits.depth < _DEEPEST_PLAIN:
        return None
    if type(raw) is dict:
        return raw if _size(raw) <= limits.chars else None
    return _plain_json(raw) if type(raw) is str and len(raw) <= limits.chars else None


def _size(value: dict[str, Any] | list[Any]) -> int:
    """Return an upper bound of the size that `_json_values` computes."""
    size = 0
    for inner in value.values() if type(value) is dict else value:
        if isinstance(inner, dict | list):
            size += _size(inner)
        else:
            size += _NODE + len(inner) if isinstance(inner, str) else _NODE
    return size


def _plain_json(text: str) -> dict[str, Any] | None:
    """
    Return the object of a JSON text if it is cheap to show that no key occurs twice.

    A hook for each object, as in `from_json`, would cost more than all the rest. Instead, the
    number of colons in the text is compared with the number of keys in the value: if they are
    equal, no repeated key was lost. If strings contain colons too, only `":` is counted; that works
    for texts without escapes and without space before a colon.
    """
    try:
        value, end = _PLAIN_DECODE(text)
    except (ValueError, RecursionError):
        return None
    if end != len(text) or type(value) is not dict:
        return None
    keys = len(value)
    for inner in value.values():
        if type(inner) is list:
            keys += sum(len(item) for item in inner if type(item) is dict)
    if keys == text.count(":"):
        return value
    if "\\" in text or any(loose in text for loose in (" :", "\n:", "\t:", "\r:")):
        return None
    return value if keys == text.count('":') else None


def _read(raw: str | bytes, limits: InputLimits) -> Parsed | Problem:
    if len(raw) > limits.chars:
        return Problem("too_large", seen=f"{len(raw)} characters", legal=str(limits.chars))
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    whole = isinstance(raw, str) or raw.decode("utf-8", "ignore") == text
    text = text.removeprefix("\ufeff").strip()
    found = _from_text(text, limits) if text else Parsed({})
    if isinstance(found, Problem):
        return found
    repairs = found.repairs if whole else (*found.repairs, Repair("surrogates"))
    return Parsed(_json_values(found.value, limits), repairs)


def _from_text(text: str, limits: InputLimits) -> Parsed | Problem:
    """Return the value of a text: parsed as it is, then with one repair after the other applied."""
    repairs: tuple[Repair, ...] = ()
    for code, repair in _REPAIRS:
        tidier = repair(text)
        if tidier == text and code:
            continue
        repairs = (*repairs, Repair(code)) if code else ()
        try:
            return Parsed(from_json(tidier), repairs)
        except RecursionError:
            return _too_deep(limits.depth)
        except ValueError:
            if code in {"trailing_comma", "noise"}:  # `//` may be text in a Python literal
                repairs = repairs[:-1]
            else:
                text = tidier
    if text[:1] in ("[", "{", "(") and len(text) <= _LONGEST_LITERAL:
        try:
            return Parsed(from_python(text), (*repairs, Repair("python_repr")))
        except (ValueError, RecursionError):
            pass
    return _TRUNCATED if _ends_open(text) else Problem("not_json", seen=text)


def _unfenced(text: str) -> str:
    opening = _FENCE.match(text)
    return text[opening.end() : -3].strip() if opening and text.endswith("```") else text


# Commas before comments: only dropping a comment is a guess (law 17), so it is tried last.
_REPAIRS = (
    ("", str),
    ("code_fence", _unfenced),
    ("closing_tags", lambda text: unleaked(text, ANY_CLOSER)),
    ("trailing_comma", lambda text: _NOISE.sub(lambda at: "" if at[0] == "," else at[0], text)),
    ("noise", lambda text: _NOISE.sub(lambda found: found[1] or "", text)),
)


def _too_deep(levels: int) -> Problem:
    return Problem("too_deep", seen=f"over {levels} levels", legal=str(levels))


def _ends_open(text: str) -> bool:
    """
    Return whether the text ends inside a string or a bracket, so that it was most likely truncated.
    """
    bare = _STRING.sub(lambda found: "" if found[1] else '"', text)
    opened = bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")
    return '"' in bare or opened > 0


def _json_values(value: object, limits: InputLimits) -> Any:
    """
    Return a copy of the value that consists of Python's built-in types only.

    Raises:
        RefusedError: the value is nested too deeply, too large, or not of JSON's types; or a
            foreign class raised an error while it was read.
    """
    room = limits.chars

    def copied(value: Any, level: int) -> Any:
        nonlocal room
        # Python's own limit is unsuitable: it is 1,000 levels on 3.11, and 3.14 reads 100,000
        # (influxdb3_plugins#169).
        if level > limits.depth:
            raise RefusedError(_too_deep(limits.depth))
        scalar = _scalar(value)
        # Every value counts, even an empty text, since a foreign mapping may be endless.
        room -= len(scalar or "-") if isinstance(scalar, str) else 1
        if room < 0:
            most = str(limits.chars)
            raise RefusedError(Problem("too_large", seen=f"over {most} characters", legal=most))
        if scalar is not _NO_SCALAR:
            return scalar
        if isinstance(value, list):
            return [copied(inner, level + 1) for inner in list.__iter__(value)]
        if isinstance(value, tuple):
            return [copied(inner, level + 1) for inner in tuple.__iter__(value)]
        found: dict[str, Any] = {}
        for key, inner in dict.items(value) if isinstance(value, dict) else value.items():
            name = copied(key, level + 1)
            if not isinstance(name, str):
                raise RefusedError(_not_of_json("a key that is not text", "text keys"))
            # Two keys of a subclass of `str` may differ, but have equal copies.
            if name in found:
                raise RefusedError(Problem("duplicate_key", seen=name))
            found[name] = copied(inner, level + 1)
        return found

    try:
        return copied(value, 1)
    except RefusedError:
        raise
    except RecursionError:
        raise RefusedError(_too_deep(limits.depth)) from None
    except Exception:  # noqa: BLE001 - a foreign class may raise anything
        seen = "an object that raises an error when it is read"
        raise RefusedError(_not_of_json(seen, "JSON values")) from None


_NO_SCALAR: Any = object()


def _scalar(value: Any) -> Any:
    """
    Return a text, number, flag or `None` as a built-in type; `_NO_SCALAR` for lists and mappings.

    Only methods of the built-in types are called, never those of a subclass.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        number = int.__int__(value)
        if abs(number) < 10**MOST_DIGITS:
            return number
        digits = f"a number of over {MOST_DIGITS} digits"
        raise RefusedError(Problem("bad_number", seen=digits))
    if isinstance(value, float):
        fraction = float.__float__(value)
        if math.isfinite(fraction):
            return fraction
        raise RefusedError(Problem("bad_number", seen=str(fraction)))
    if not isinstance(value, list | tuple | Mapping):
        raise RefusedError(_not_of_json(type(value).__name__, "JSON values"))
    return _NO_SCALAR


def _not_of_json(seen: str, legal: str) -> Problem:
    return Problem("wrong_type", seen=seen, legal=legal, path="arguments")


def unwrapped_text(value: object, limits: InputLimits) -> Parsed | Problem:
    """
    Return the list or object encoded in a text, decoded at most three times; otherwise the value.

    A broken text that begins like a list or an object is a problem, never a title.

    """
    inner: object = value
    repairs: tuple[Repair, ...] = (Repair("json_text"),)
    for _ in range(_MOST_ENCODINGS):
        if not isinstance(inner, str) or not _ENCODED.match(inner):
            break
        found = parse(inner, limits)
        if isinstance(found, Problem):
            return found if _STRUCTURED.match(str(value)) else Parsed(value)
        inner, repairs = found.value, (*repairs, *found.repairs)
    if inner is not value and isinstance(inner, dict | list):
        return Parsed(inner, repairs)
    broken = isinstance(value, str) and _STRUCTURED.match(value)
    return _too_deep(_MOST_ENCODINGS) if broken else Parsed(value)

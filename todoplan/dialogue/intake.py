"""
Read the arguments of a model's call: repair them if their meaning is clear, otherwise refuse them.

A refusal names every fault. This module is divided into sections. Read the last section, `read`,
first: it states the principles of intake, and reads the arguments of a call by means of the
`fields` of a tool. `parsing` turns text into plain data. `containers` unpacks arguments and lists,
and `nesting` finds the parent of each entry of a list. `values` has a reader for each kind of
field, and collects repairs and problems; its readers use the words in `vocabulary` and the
functions in `cleaning`. `repairs` says which repairs are guesses, and limits what a guess may do.
`application_lists` repairs a list that was written by a program, not by a model.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache, partial
from itertools import chain, count, islice, repeat
from typing import Any, NamedTuple, cast

import attrs

from todoplan.core.commands import Batch, Command, DeleteTask, WriteTodos
from todoplan.core.plan.model import Priority, Status, Task, Waiting, fast_constructor
from todoplan.core.plan.plan import number_of
from todoplan.core.problems import Problem
from todoplan.core.rules import Change
from todoplan.texts import say

# -------- repairs --------
# The repairs of intake as values, and which of these repairs are guesses.
#
# Law 10: nothing is repaired silently; the reply names every repair. Law 17: a guess never removes
# a task. A whole-list write replaces the plan. So a value that is no list ("null", one object,
# "same as before") once emptied the plan, and the reply reported success. If intake had to guess
# the container of the arguments, the call may add and change tasks, but it is refused if it would
# remove a task that it does not name.


# It is not a guess if a text is exactly the whole list as JSON or as a Python literal, even with
# one comma too many. Models often encode a list twice, and the text still shows what the list
# contains and where it ends. "noise" is a guess: this repair drops comments, and models write
# comments such as `/* the rest as before */`.
GUESSES = frozenset(
    {"bare_entry", "bare_list", "checklist", "last_brace", "noise", "prose", "wrapper"}
)
"""The repairs that guess the container of the arguments, or of a list in them."""


@attrs.frozen
class Repair:
    """
    One repair by intake: its kind, its path in the arguments, the value sent, and the value used.
    """

    code: str
    path: str = ""
    seen: str = ""
    used: str = ""


def parts_of(command: Command | None) -> Iterator[Command]:
    """Yield the commands of a batch, or any other command itself. For `None`, yield nothing."""
    if isinstance(command, Batch):
        for part in command.commands:
            yield from parts_of(part)
    elif command is not None:
        yield command


def loss_by_guess(repairs: Sequence[Repair], change: Change) -> Problem | None:
    """
    Return the problem if a guess would remove tasks that the command does not name, or `None`.

    A guess is a repair for which intake had to guess what a container is (law 17).

    A whole-list write names each task that it keeps, by id or by text. Other commands name every
    task by its id. `clear` with an empty list counts as naming all tasks.
    """
    guess = next((repair for repair in repairs if repair.code in GUESSES), None)
    if guess is None:
        return None
    parts = [*parts_of(change.command)]
    if any(isinstance(part, WriteTodos) and part.clear and not part.todos for part in parts):
        return None
    # Closed tasks count too, since they show what was done.
    named = {part.task_id for part in parts if isinstance(part, DeleteTask)}
    lost = tuple(task.id for task in change.removed() if task.id not in named)
    how = say("repairs", guess.code, path=guess.path or say("repairs", "arguments"))
    return Problem("guessed_container", lost, seen=how) if lost else None


def loss_by_list(change: Change) -> Problem | None:
    """Return the problem if a change removes open tasks, otherwise `None`."""
    # Small models call the list tool again to add one task. In 20 of 46 such calls, the other tasks
    # were lost.
    left_out = tuple(task.id for task in change.removed() if not task.status.closed)
    return Problem("left_out", left_out) if left_out else None


# -------- cleaning --------
# Cleaning of task texts: hidden characters and leaked call syntax are removed.


# NUL (PostgreSQL refuses it: langgraph#1878), and bidi overrides, bidi isolates and the tag block,
# which hide text from the person who approves a plan (mcp-execution#430, Decepticon#480).
_HIDING = "\x00\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f"
_HALVES = "\ud800-\udfff"
_HIDDEN = re.compile(f"[{_HIDING}]")
_LONE = re.compile(f"[{_HALVES}]")
_SUSPECT = re.compile(f"[<{_HIDING}{_HALVES}]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# Models leak parts of their own call format (claude-code#83088, #48679, #44826). Closing tags at
# the very end of a text are noise. An opening tag inside a text means that the text also contains
# another argument.
_SWALLOWED = re.compile(r"<(?:antml:)?parameter\s++name\s*+=")
_CLOSER = re.compile(
    r"</(?:antml:)?(?:parameter|invoke|function_calls|payload|tool_call|tool_use)>\Z"
)
ANY_CLOSER = re.compile(r"</[\w:.-]{1,40}>\Z")
"""A closing tag of any name, for places where only JSON is expected."""
_LONGEST_CLOSER = 43  # "</", a name of 40, ">"
_MOST_SEEN = 40
MOST_DIGITS = 18
_BEYOND_IDS = 10**MOST_DIGITS
_MANY_DIGITS = f"a number of over {MOST_DIGITS} digits"


def is_clean(text: str) -> bool:
    """Return whether a quick check shows that `clean` would return the text unchanged."""
    if text.isascii():
        return "<" not in text and "\x00" not in text
    return _SUSPECT.search(text) is None


def clean(text: str, path: str) -> tuple[str, tuple[Repair, ...]]:
    """
    Return the cleaned text and the repairs.

    NUL, bidi overrides, tag characters and leaked closing tags are removed, and lone surrogates are
    replaced. Other control characters are kept; they are never rendered.
    """
    repairs: list[Repair] = []
    if not text.isascii() or "\x00" in text:
        # A lone surrogate cannot be encoded as UTF-8. LangGraph's fallback for such a text was a
        # vulnerability (CVE-2025-64439).
        paired = _PAIR.sub(
            lambda it: it[0].encode("utf-16", "surrogatepass").decode("utf-16"), text
        )
        whole = _LONE.sub("\ufffd", paired)
        if whole != text:
            repairs.append(Repair("surrogates", path))
        # Joiners (U+200C, U+200D) are kept, since some scripts and emoji need them.
        text = _HIDDEN.sub("", whole)
        if text != whole:
            repairs.append(Repair("hidden_characters", path))
    shorter = unleaked(text)
    if shorter != text:
        repairs.append(Repair("closing_tags", path))
    return shorter, tuple(repairs)


def unleaked(text: str, closer: re.Pattern[str] = _CLOSER) -> str:
    """
    Return the text without the closing tags at its end.

    `closer` is the pattern of such a tag.
    """
    # There may be several tags ("</parameter>\n</invoke>") and megabytes of text, so each search
    # is limited to a window at the end.
    end = _bare_end(text, len(text))
    kept = len(text)
    while tag := closer.search(text, max(0, end - _LONGEST_CLOSER), end):
        kept = end = _bare_end(text, tag.start())
    return text[:kept]


def _bare_end(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end


def quoted(value: object) -> str:
    """
    Return a value in at most 40 printable characters: enough to recognise it, not to copy it.

    Models imitate text that an error repeats: in openclaw#142304, 127 failures followed each other
    that way.
    """
    if isinstance(value, str):
        text = value
    elif value is None or isinstance(value, bool):
        text = json.dumps(value)
    elif isinstance(value, int | float):
        text = str(value) if abs(value) < _BEYOND_IDS else _MANY_DIGITS
    else:
        text = "a list" if isinstance(value, list | tuple) else "an object"
    # Truncated before it is escaped, since the text may have a megabyte.
    safe = text[: _MOST_SEEN * 2].encode("unicode_escape").decode("ascii")
    return safe if len(safe) <= _MOST_SEEN else f"{safe[: _MOST_SEEN - 3]}..."


# -------- parsing --------
# The first step of intake: turn the arguments that a model sent into plain JSON values.
#
# Law 10: this never raises and never hangs, whatever the input. To ensure that:
# - Sizes are checked before any work. The length is checked first, and every pass over a text is
#   linear. Patterns use possessive quantifiers, and let a string without a closing quote extend to
#   the end of the text. A pattern that started again at the next quote instead took seven seconds
#   for 64 KiB. Nothing is cached.
# - Objects from a framework are copied into plain values, once: the methods of foreign classes may
#   raise, return different values the second time, or never end.
# - Only complete texts with one meaning are repaired (commas, comments, fences, Python's
#   spelling). A text that ends inside a value is always refused, since closing the brackets would
#   invent a value: `"status": "pen` once became a status.
#
# JSON texts and Python literals are read strictly. Duplicate keys are refused unless their values
# are equal. Numbers that cannot be represented are refused too.


_CLOSER_OF = {"[": "]", "{": "}", "(": ")"}
_WORDS = {"None": "null", "True": "true", "False": "false"}
_JSON_WORDS = {word: word for word in _WORDS.values()}
# `u'...'` is a Python 2 string.
_TOKEN = re.compile(
    r"""
    (?P<space> \s++ )
    | u?(?P<string> "(?:[^"\\]++|\\.)*+" | '(?:[^'\\]++|\\.)*+' )
    | (?P<plain> -?[0-9][0-9.eE+-]*+ | : )
    | (?P<comma> , )
    | (?P<key> [A-Za-z_]\w*+ (?=\s*+:) )
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
    members = dict(pairs)
    if len(members) < len(pairs):  # `json` would silently keep the last of two
        first: dict[str, Any] = {}
        for key, value in pairs:
            kept = first.setdefault(key, value)
            if kept != value or type(kept) is not type(value):
                raise RefusedError(Problem("duplicate_key", seen=key))
    return members


def _integer(digits: str) -> int:
    # The length is checked first: int() takes quadratic time, and raises beyond 4,300 digits.
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise RefusedError(Problem("bad_number", seen=f"a number of {len(digits)} digits"))
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):  # "NaN", "Infinity", or 1e999: no number of JSON
        raise RefusedError(Problem("bad_number", seen=digits))
    return value


_DECODER = json.JSONDecoder(
    strict=False,
    object_pairs_hook=_object,
    parse_constant=_number,
    parse_int=_integer,
    parse_float=_number,
)


def from_python(text: str, *, bare_keys: bool = False) -> Any:
    """
    Return the value of a Python literal of lists, dicts, tuples, strings and numbers.

    With `bare_keys`, keys without quotes and the words `null`, `true` and `false` are read too, as
    in JavaScript.

    The text is translated to JSON token by token and then read as JSON. Python's own parser is
    unsuitable for untrusted text: it writes a warning to standard error for each odd token, runs
    out of memory on `-----`, drops comments, and joins two strings with a missing comma.

    Raises:
        RefusedError: see `from_json`.
        RecursionError: see `from_json`.
        ValueError: the text is not such a literal.
    """
    parts: list[str] = []
    opened: list[tuple[str, int, list[str]]] = []  # each bracket, its position, its commas
    words = {**_WORDS, **_JSON_WORDS} if bare_keys else _WORDS
    for token in _TOKEN.finditer(text):
        part = token[0]
        match token.lastgroup:
            case "space":
                continue
            case "string":
                part = json.dumps(_ESCAPE.sub(_unescaped, token["string"][1:-1]))
            case "key" if bare_keys and part not in words:
                part = json.dumps(part)
            case "word" if part in words:
                part = words[part]
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
    # Joined by blanks, so that two strings without a comma stay separate and are refused.
    return from_json(" ".join(parts))


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape[1] or escape[2] or escape[3]:
        return chr(int(code, 16))
    if escape[4]:
        return chr(int(escape[4], 8))
    return _ESCAPED.get(escape[5], escape[0])  # an unknown escape keeps its backslash, as in C:\dir


_LONGEST_LITERAL = 65_536  # bounded, since its tokens are read one by one in Python
# Raw line ends inside strings are allowed here too, as in `from_json`.
_PLAIN_DECODE = json.JSONDecoder(strict=False).raw_decode
_DEEPEST_PLAIN = 5  # arguments, list, entry, list of ids, id: none of our schemas is deeper
_NODE = 64  # more than `_json_values` counts for a value's key and brackets
# Models encode arguments several times: kimi-cli#2513, livekit#5411, OpenManus#989.
_MOST_ENCODINGS = 3
# The error says why the call failed. In lobehub#13817 a model did not learn this, and repeated a
# truncated call five times, for 487,000 tokens.
_TRUNCATED = Problem("truncated")
# Prose before an object or a code fence: text without quotes and brackets, as in
# "Here it is: {...}".
_PROSE = re.compile(r"[^\[\]{}()\"'`]++(?=\{|```)")
_FENCED = re.compile(r"```[\w-]*+[ \t]*+\n(.*)```", re.DOTALL)
# Strings are matched first, so that `//` in a URL inside a string is kept.
_NOISE = re.compile(
    r'("(?:[^"\\]++|\\.)*+"?)|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|,(?=\s*+[}\]])', re.DOTALL
)
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+("?)', re.DOTALL)
# `_ENCODED` matches texts that may be JSON, and `_STRUCTURED` matches texts that must be JSON:
# "[urgent] call back" is a title, but `["urgent` is a broken list.
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


def parse(raw: object, limits: InputLimits, *, whole: bool = False) -> Parsed | Problem:
    """
    Read a call's arguments (JSON text, bytes, or an object from a framework), and return their
    value.

    With `whole`, a text contains all arguments of a call. Then keys need no quotes, the last brace
    may be missing, and prose before an object is dropped. Without `whole`, the text is one
    argument, which may be a title, so these three repairs are not tried.
    """
    if raw is None:
        return Parsed({})
    try:
        kind = type(raw)  # `isinstance` would call methods of a foreign class
        if issubclass(kind, str):
            return _read(str.__str__(cast("str", raw)), limits, whole=whole)
        if issubclass(kind, bytes | bytearray):
            return _read(memoryview(cast("bytes", raw)).tobytes(), limits, whole=whole)
        return Parsed(_json_values(raw, limits))
    except RefusedError as refused:
        return refused.problem


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
    Return the object of a JSON text if a quick check shows that no key occurs twice, or `None`.

    Calling a hook for each object, as `from_json` does, would take longer than everything else.
    Instead, the number of colons in the text is compared with the number of keys in the value: if
    the numbers are equal, no key was lost. If strings contain colons too, only `":` is counted;
    this is correct only for texts without escapes and without space before a colon.
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


def _read(raw: str | bytes, limits: InputLimits, *, whole: bool) -> Parsed | Problem:
    if len(raw) > limits.chars:
        return Problem("too_large", seen=f"{len(raw)} characters", legal=str(limits.chars))
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    is_utf8 = isinstance(raw, str) or raw.decode("utf-8", "ignore") == text
    text = text.removeprefix("\ufeff").strip()
    parsed = _from_text(text, limits, whole=whole) if text else Parsed({})
    if whole and isinstance(parsed, Problem):
        parsed = _object_in(text, limits) or parsed
    if isinstance(parsed, Problem):
        return parsed
    repairs = parsed.repairs if is_utf8 else (*parsed.repairs, Repair("surrogates"))
    return Parsed(_json_values(parsed.value, limits), repairs)


def _object_in(text: str, limits: InputLimits) -> Parsed | None:
    """Return the object in a text that begins with prose, or that lacks only the last brace."""
    prose = _PROSE.match(text)
    tried = {
        "prose": text[prose.end() :] if prose else "",
        # Models forget the last brace. A text that ends within a list, an entry, a text or a number
        # was truncated.
        "last_brace": text + "}" if text[0] == "{" and text[-1] in '"]}' else "",
    }
    for code, changed in tried.items():
        parsed = _from_text(changed, limits, whole=True) if changed else None
        if isinstance(parsed, Parsed) and isinstance(parsed.value, dict):
            return Parsed(parsed.value, (Repair(code), *parsed.repairs))
    return None


def _from_text(text: str, limits: InputLimits, *, whole: bool) -> Parsed | Problem:
    """Return the value of a text, parsed as it is or after as few repairs as possible."""
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
            value = from_python(text, bare_keys=whole)
            return Parsed(value, (*repairs, Repair("python_repr")))
        except (ValueError, RecursionError):
            pass
    # A text that ends inside a string or a bracket was most likely truncated.
    bare = _STRING.sub(lambda string: "" if string[1] else '"', text)
    opened = bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")
    return _TRUNCATED if '"' in bare or opened > 0 else Problem("not_json", seen=text)


def _unfenced(text: str) -> str:
    fenced = _FENCED.fullmatch(text)
    return fenced[1].strip() if fenced else text


# Of these repairs, only dropping a comment is a guess (law 17). So it is tried last, after dropping
# extra commas.
_REPAIRS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("", str),
    ("code_fence", _unfenced),
    ("closing_tags", lambda text: unleaked(text, ANY_CLOSER)),
    ("trailing_comma", lambda text: _NOISE.sub(lambda at: "" if at[0] == "," else at[0], text)),
    ("noise", lambda text: _NOISE.sub(lambda at: at[1] or "", text)),
)


def _too_deep(levels: int) -> Problem:
    return Problem("too_deep", seen=f"over {levels} levels", legal=str(levels))


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
        members: dict[str, Any] = {}
        for key, inner in dict.items(value) if isinstance(value, dict) else value.items():
            name = copied(key, level + 1)
            if not isinstance(name, str):
                raise RefusedError(_not_of_json("a key that is not text", "text keys"))
            # Two keys of a subclass of `str` may differ, but have equal copies.
            if name in members:
                raise RefusedError(Problem("duplicate_key", seen=name))
            members[name] = copied(inner, level + 1)
        return members

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
    Return a text, number, flag or `None` as an object of a built-in type.

    For a list or a mapping, return `_NO_SCALAR`. Only methods of the built-in types are called,
    never methods of a subclass.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        number = int.__int__(value)
        if abs(number) < _BEYOND_IDS:
            return number
        raise RefusedError(Problem("bad_number", seen=_MANY_DIGITS))
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


# -------- fields --------
# The arguments of a tool as data. Both the JSON Schema and intake are derived from it.


MOST_TABLES = 256
"""The maximum number of tools for which tables are cached; enough for all, and bounded."""

_LONGEST_WORD = 80


class Kind(StrEnum):
    """The kind of a field's value; `READERS` has a reader for each kind."""

    LINE = "line"
    TEXT = "text"
    STATUS = "status"
    STATUS_OR_DELETED = "status_or_deleted"
    PRIORITY = "priority"
    ID = "id"
    ID_HINT = "id_hint"  # in a whole list: the id of a task, or the model's own number of the entry
    OWN_ID = "own_id"  # in a list of new tasks: the model's own id of the entry
    IDS = "ids"
    REF = "ref"  # an id, or "#0" for the first entry of the same call
    REFS = "refs"
    MINUTES = "minutes"
    DATE = "date"
    FLAG = "flag"
    METADATA = "metadata"
    WAITS = "waits"  # reasons for waiting, by task id
    ITEMS = "items"  # a list of entries
    # These three are never published. WAITING and PARENT are used only in entries of a whole list.
    WAITING = "waiting"  # the reason why the entry waits
    PARENT = "parent"  # the id or the title of another entry
    SUBTASKS = "subtasks"  # a list of entries within an entry


# Compared by identity, because fields are keys of tables and caches that every call uses.
@attrs.frozen(eq=False)
class Field:
    """
    One argument. `name` is its published name, and `target` is its name in commands.

    `aliases` are other spellings that models use; `weak` aliases count only if no other spelling is
    sent. `hidden` fields are accepted but not published. `items` are the fields of an entry of a
    list; the first is its title. `numeric` ids are published as integers, which cost fewer tokens.
    `required` fields are published as required, but a `lenient` one may be missing. A field with
    `clears` is cleared by "", or by `null` if the call contains only this one `null`.

    A list with `adds` only adds tasks. It may be sent as one title, since no task is lost if the
    title is misread. A field with `begins` writes a new plan. If a call is nothing but a list of
    titles, and the tool has several list fields, the titles are the value of the field with
    `begins`; the toolbox must refuse such a call if the plan already has tasks. An entry is read as
    a dict whose keys are the targets, or as an instance of the attrs class `entry`, whose fields
    are the targets.
    """

    name: str
    target: str
    kind: Kind
    required: bool = False
    aliases: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    hidden: bool = False
    numeric: bool = False
    lenient: bool = False
    items: tuple["Field", ...] = ()
    entry: type[attrs.AttrsInstance] | None = None
    clears: bool = False
    adds: bool = False
    begins: bool = False

    def spellings(self) -> Iterator[tuple[str, int]]:
        """Yield each folded spelling with its strength: 2 for a name, 1 for an alias, 0 if weak."""
        for strength, words in enumerate((self.weak, self.aliases, (self.name, self.target))):
            for word in words:
                yield folded(word), strength


@lru_cache(maxsize=MOST_TABLES)
def find_field(fields: tuple[Field, ...]) -> Mapping[str, tuple[Field, int]]:
    """
    Map each spelling of a key to the field that it means, and the strength of the spelling.

    The spellings are folded (see `folded`), but each published name is also included unfolded.
    """
    # Claude Code, AgentScope and Deep Agents name the same things differently, and models mix the
    # names. A field's own name beats another field's alias, and an alias beats a weak spelling.
    table: dict[str, tuple[Field, int]] = {}
    for field in fields:
        for word, strength in field.spellings():
            if word not in table or strength > table[word][1]:
                table[word] = (field, strength)
    # Published names are also included unfolded: nearly every key is one, and needs no folding.
    return {**table, **{field.name: table[folded(field.name)] for field in fields}}


def meant_by(key: str, fields: tuple[Field, ...]) -> tuple[Field | None, int]:
    """
    Return the field that a key means, and the strength of the spelling (see `Field.spellings`).

    If no field fits, return `(None, -1)`.
    """
    table = find_field(fields)
    return table.get(key) or table.get(folded(key)) or (None, -1)


def shown_path(path: str, fields: tuple[Field, ...]) -> str:
    """
    Return a path in a command, such as "tasks[0].blocked_by", with the published names of fields.

    Return "" if the tool's fields have no such path.
    """
    head, _, rest = path.partition(".")
    target, bracket, index = head.partition("[")
    field = next((field for field in fields if field.target == target), None)
    if field is None:
        return ""
    below = shown_path(rest, field.items)
    return f"{field.name}{bracket}{index}" + (f".{below}" if below else "")


def folded(word: str) -> str:
    """Return the word without case, spaces, `_` and `-`, so that activeForm equals active_form."""
    # Not cached: the words come from the model, and 4,096 words of 80 characters take two MB.
    return word[:_LONGEST_WORD].casefold().translate(_UNMARKED)


_UNMARKED = str.maketrans("", "", " _-")


# -------- vocabulary --------
# The words that models use for statuses, priorities and ids, and their meaning.


DELETED = "deleted"
BLOCKED = "blocked"
EXACT_WORDS: dict[Kind, Mapping[str, Any]] = {
    Kind.STATUS: {status.value: status for status in Status},
    Kind.STATUS_OR_DELETED: {**{status.value: status for status in Status}, DELETED: DELETED},
    Kind.PRIORITY: {priority.value: priority for priority in Priority},
}
"""The words that are accepted exactly, for each kind of field, and their meaning."""
# In a whole list, "failed" is accepted but not published, since the schema costs tokens in each
# request.
PUBLISHED: dict[Kind, tuple[str, ...]] = {
    **{kind: tuple(words) for kind, words in EXACT_WORDS.items()},
    Kind.STATUS: tuple(status.value for status in Status if status is not Status.FAILED),
}
"""The words in the published schema, for each kind of field."""
ABSENT = frozenset({"", "none", "null", "undefined", "nil"})

# Fixed tables: each word was seen in calls (comfyui-mcp#1018, kimi-code#1016, agentuity#1215). Any
# other word ("gone", "changes_made") is refused with the list of statuses. The words are written as
# `folded` returns them: without case, spaces, `_` and `-`.
_STATUSES = {
    Status.PENDING: "pending todo open notstarted notdone new queued ☐ ⏳",
    Status.IN_PROGRESS: "inprogress doing active started running ongoing current wip 🔄",
    Status.COMPLETED: "completed complete done finished closed resolved success ✓ ✔ ✅ ☑",
    Status.CANCELLED: "cancelled canceled abandoned skipped dropped wontdo obsolete ❌",
    # When "failed" was read as pending (eliza#28209), a model did a task again and again. If it was
    # read as done or cancelled, tasks that need the result could start. So it is its own status.
    Status.FAILED: "failed failure fail error errored unsuccessful",
}
# Reasons for waiting, each with the status words that express it. A task with such a word is
# pending and waits for the reason. Waiting is no status: pydantic-ai-todo stores "blocked" as a
# status, and nothing ever resets it.
_WAITS = {
    BLOCKED: "blocked",
    "waiting": "waiting awaiting",
    "on hold": "onhold hold held paused suspended postponed deferred",
    "input": "needsinput inputneeded inputrequired waitingforinput awaitinginput needsinfo",
    "the user": "needsuser waitingforuser awaitinguser waitingonuser",
    "approval": "needsapproval waitingforapproval awaitingapproval pendingapproval",
    "review": "review inreview needsreview waitingforreview awaitingreview",
}
_PRIORITIES = {
    Priority.HIGH: "high urgent critical p0 p1 important",
    Priority.MEDIUM: "medium normal mid moderate p2",
    Priority.LOW: "low minor p3 p4",
}
# [0-9], not \d, wherever a number is read: \d also matches digits such as "\uff11\uff12".
_ID = re.compile(r"(?:(?:task|todo|item|step)[\s#_-]*|#\s*)?([0-9]{1,18})(?:\.0)?", re.IGNORECASE)
_REFERENCE = re.compile(r"#[0-9]{1,18}")
_MARKS = {
    " ": Status.PENDING,
    "x": Status.COMPLETED,
    "X": Status.COMPLETED,
    # Some tools write "-" for a cancelled task. To read it as in progress loses no work.
    **dict.fromkeys("~*>/-", Status.IN_PROGRESS),
}
_BOX = re.compile(r"\[\s*+([xX~*>/!-]?)\s*+\]")  # possessive, else blanks take quadratic time
_BLOCKED_BOX = "!"  # used by pydantic-ai-todo and pydantic-ai-harness


@attrs.frozen
class WaitingWord:
    """
    A status such as "on hold": the task is pending and waits for `reason`. `word` is what was sent.
    """

    reason: str
    word: str = ""


def _by_word(meanings: Mapping[Any, str]) -> dict[str, Any]:
    return {word: meaning for meaning, words in meanings.items() for word in words.split()}


# No folded word begins with a blank, so the key of a checkbox is its mark after a blank.
_STATUS_WORDS = {
    **_by_word(_STATUSES),
    **_by_word({WaitingWord(reason): words for reason, words in _WAITS.items()}),
    **{f" {mark}": status for mark, status in _MARKS.items()},
    f" {_BLOCKED_BOX}": WaitingWord(BLOCKED),
}
WORDS: dict[Kind, Mapping[str, Any]] = {
    Kind.STATUS: _STATUS_WORDS,
    Kind.STATUS_OR_DELETED: _STATUS_WORDS | _by_word({DELETED: "deleted delete remove removed"}),
    Kind.PRIORITY: _by_word(_PRIORITIES),
}
"""The meaning of each word, by its folded form, for each kind of field."""
_LINE = re.compile(r"(\s*+)(?:(?:[-*+]|\d{1,6}[.)])\s*)?\[([ xX~*>/!-])\]\s++(\S.*)")
# A line without a checkbox. If only some lines of a list have one, it is no checklist (law 17).
_ITEM = re.compile(
    r"(\s*+)(?:([-*])|([0-9]{1,6}(?:\.[0-9]{1,6}){0,9})([.)]?))\s++(?!\[.?\]\s)(\S.*)"
)


@attrs.frozen
class Line:
    """
    One line of a list that was written as text.

    `status` is the meaning of the line's checkbox, if there is one. `level` is the line's
    indentation, or `None` if all lines of the list have the same indentation.
    """

    title: str
    status: str | None = None
    level: int | None = None


def meaning_of(word: str, kind: Kind) -> Any:
    """
    Return what a word means for a field of this kind, or `None` if the word is unknown.

    The meaning is a status, a `WaitingWord`, a priority, or `DELETED`.
    """
    box = _BOX.fullmatch(word.strip())
    return WORDS[kind].get(f" {box[1] or ' '}" if box else folded(word))


def indentation(text: str) -> int:
    """Return the indentation of a line in levels; two spaces or a tab are one level."""
    margin = text[: len(text) - len(text.lstrip())]
    return (len(margin) + margin.count("\t")) // 2


def id_of(value: object) -> str | None:
    """Return the id that 3, "3", "#3", "task-3", 3.0 or " 3 " means, or `None` for other values."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):  # some frameworks pass 3 as 3.0
        value = int(value) if value.is_integer() and abs(value) < 1e15 else ""  # noqa: PLR2004 - exact
    if isinstance(value, int):
        return str(value) if 0 < value < 10**18 else None
    if not isinstance(value, str):
        return None
    match = _ID.fullmatch(value.strip())
    # "007" means 7, since ids have no leading zeros. 0 is no id, since ids start at 1.
    return match[1].lstrip("0") or None if match else None


def ids_in(text: str) -> list[str]:
    """Split a text such as "1,2", "1 and 2" or "1 2". A single id ("task 3") stays whole."""
    if id_of(text) is not None:  # before it is split: "task 3" is one id
        return [text]
    return [part for part in re.split(r"[\s,;]+(?:and\s+)?|\band\b", text) if part]


def is_reference(text: str) -> bool:
    """Return whether the text has the form "#0", which may refer to an item of the same call."""
    return _REFERENCE.fullmatch(text) is not None


def checklist(text: str) -> list[Line] | None:
    """
    Return the items of a Markdown checklist or of a list without boxes, or `None` for other text.

    Every line is an item. A list without boxes must have at least two lines, numbered or bulleted.
    A line that is indented further is nested in one above it. Numbers start at 1 on each level.
    """
    # A single line without a box, or numbers with a gap, may be a text that contains a list, or
    # half a list. Law 17 allows only what is clearly a whole list.
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if boxes := _all(_LINE, lines):
        words = {**_MARKS, _BLOCKED_BOX: BLOCKED}
        return _levelled([(indentation(box[1]), box[3], str(words[box[2]])) for box in boxes])
    items = _all(_ITEM, lines) if len(lines) > 1 else []
    if not items:
        return None
    # For each line: its depth, its number ("" for a bullet), and the punctuation after the number.
    # "2.1" is nested in "2" even if it is not indented.
    marks = [
        (indentation(line[1]) + (line[3] or "").count("."), line[3] or "", line[4] or "")
        for line in items
    ]
    if min(marks)[0] == marks[0][0] and _in_order(marks):
        return _levelled(
            [(mark[0], line[5], None) for mark, line in zip(marks, items, strict=True)]
        )
    # If the numbers are consecutive over all lines, it is one flat list, whatever the indentation.
    is_flat = marks[0][1] and _in_order([(0, number, sign) for _, number, sign in marks])
    return [Line(line[5]) for line in items] if is_flat else None


def _all(pattern: re.Pattern[str], lines: Sequence[str]) -> list[re.Match[str]]:
    """Return the match of each line, or an empty list if one of the lines does not match."""
    matches = [match for line in lines if (match := pattern.fullmatch(line))]
    return matches if len(matches) == len(lines) else []


def _levelled(items: Sequence[tuple[int, str, str | None]]) -> list[Line]:
    nested = len({depth for depth, _, _ in items}) > 1
    return [Line(title, word, depth if nested else None) for depth, title, word in items]


def _in_order(lines: Sequence[tuple[int, str, str]]) -> bool:
    """Return whether siblings are all bulleted, or all numbered from 1 in the same notation."""
    above: list[tuple[int, str, str]] = []  # the last line of each open level
    for depth, number, sign in lines:
        while above and above[-1][0] > depth:
            above.pop()
        if above and above[-1][0] == depth:
            _, last, one_sign = above.pop()
        else:
            # The first number below "2" is "1" or "2.1".
            outer = above[-1][1] if above and "." in number else ""
            last, one_sign = (f"{outer}.0" if outer else "0") if number else "", sign
        head, dot, end = last.rpartition(".")
        if sign != one_sign or number != (f"{head}{dot}{int(end) + 1}" if end else ""):
            return False
        # "1 egg" is no item, since the number may be part of the text; "1.1 eggs" is an item.
        if number and not (sign or "." in number):
            return False
        above.append((depth, number, sign))
    return True


# -------- values --------
# Readers for each kind of field: they turn a JSON value into ours, with repairs and problems.
#
# Begin with `Reading`, which collects repairs and problems while a call is read. Next come the
# functions for waiting, as models express it: a status such as "on hold", a reason, or reasons by
# task id. Waiting is a field of a task and not a status, so the two must be made consistent: a
# waiting task is pending, and a closed task waits for nothing. Then come the readers and their
# table.


MISSING = object()
"""Returned by a reader for a value that is ignored or refused."""

MOST_KEPT = 1_000
"""The most repairs, and the most problems, that are recorded; a large call may have 100,000."""


@attrs.define
class Reading:
    """
    The repairs and problems that were recorded while a call was read.

    `problems` keeps only the first problems; `faults` counts all of them.
    """

    limits: InputLimits = InputLimits()
    repairs: list[Repair] = attrs.Factory(list)
    problems: list[Problem] = attrs.Factory(list)
    faults: int = 0

    def repair(self, code: str, path: str, seen: object = "", used: str = "") -> None:
        """Record a repair."""
        if len(self.repairs) < MOST_KEPT or code in GUESSES:  # law 17 depends on the guesses
            self.repairs.append(Repair(code, path, quoted(seen), used))

    def refuse(self, code: str, path: str, seen: object = "", legal: str = "") -> Any:
        """Record a problem, and return `MISSING`."""
        # Counted separately: once `problems` is full, its length no longer shows new faults.
        self.faults += 1
        if self.faults <= MOST_KEPT:
            self.problems.append(Problem(code, (), quoted(seen), legal, path))
        return MISSING

    def decoded(self, value: Any, path: str, *, expected: bool = False) -> Any:
        """
        Return the list or object that a text encodes, decoded at most three times.

        Any other value is returned unchanged. A broken text that begins like a list or an object is
        refused, and is never a title. With `expected`, the schema asks for a JSON text, so the
        decoding is not reported as a repair.
        """
        decoded, codes = value, [] if expected else ["json_text"]
        problem: Problem | None = None
        for _ in range(_MOST_ENCODINGS):
            if not isinstance(decoded, str) or not _ENCODED.match(decoded):
                break
            parsed = parse(decoded, self.limits)
            if isinstance(parsed, Problem):
                problem = parsed
                break
            decoded = parsed.value
            codes += [repair.code for repair in parsed.repairs]
        if decoded is not value and isinstance(decoded, dict | list):
            for code in codes:
                self.repair(code, path)
            return decoded
        if not isinstance(value, str) or not _STRUCTURED.match(value):
            return value
        problem = problem or _too_deep(_MOST_ENCODINGS)
        return self.refuse(problem.code, path or "arguments", problem.seen, problem.legal)

    def cleaned(self, text: str, path: str) -> Any:
        """Return the cleaned text, or `MISSING` if the text contains another argument."""
        if is_clean(text):
            return text
        if _SWALLOWED.search(text):
            return self.refuse("swallowed_field", path, text)
        kept, repairs = clean(text, path)
        for repair in repairs:
            self.repair(repair.code, path)
        return kept


class NotPlainError(Exception):
    """The call does not follow its schema exactly, so it must be read with repairs."""


def _not_plain(*_: object, **__: object) -> Any:
    raise NotPlainError


class Plain(Reading):
    """
    The reading of the first pass, which is only for calls without any fault: each method raises
    `NotPlainError` instead of recording something.

    The first pass reads values that nothing has validated. A reader calls one of these methods for
    every value that differs from the schema. So each value that a reader returns consists of plain
    JSON types and is within the limits.
    """

    def __init__(self, limits: InputLimits) -> None:
        self.limits = limits

    repair = refuse = decoded = cleaned = _not_plain


_ID_KEYS = frozenset({"id", "taskid"})
_EDGES = frozenset({"blocked_by", "add_blocked_by"})
_WAITING_LINE = re.compile(r"#?([0-9]{1,18})(?:\s*+[:,-]|\s)\s*+(\S.*)", re.DOTALL)
_REASON_KEYS = frozenset({"for", "reason", "why", "text", "waitingfor"})
_WAIT_EXAMPLE = {"id": "why"}  # the description of the argument, as an object
_WAITS_LEGAL = 'ids with what each waits for, such as {"3": "the answer of ann"}'


def read_reason(value: Any, path: str, reading: Reading) -> Any:
    """
    Read the reason why a task waits, from a key such as `needs`, which may contain ids instead.
    """
    if isinstance(value, str) and not all(map(id_of, ids_in(value))):
        return reading.cleaned(value.strip(), path)
    # The value is no text, or consists of ids. Ids would mean edges, but a whole list has no edges,
    # and an edge is no reason for waiting.
    reading.repair("ignored_key", path, path.rpartition(".")[2])
    return MISSING


def read_waits(value: Any, path: str, reading: Reading) -> Any:
    """
    Read the reasons why tasks wait, as pairs of an id and a reason; "" ends the wait.

    The accepted forms are {"3": "why"}, "3 why", [{"id": 3, "for": "why"}], and lists of these.
    """
    decoded = reading.decoded(value, path, expected=True)
    if decoded is MISSING:
        return MISSING
    if isinstance(decoded, Mapping) and (
        decoded == _WAIT_EXAMPLE or decoded.get("type") == "object"
    ):
        # Small models send the schema of an argument as its value if they do not need the argument.
        reading.repair("ignored_key", path, path)
        return MISSING
    if isinstance(decoded, Mapping) and not _ID_KEYS & set(map(folded, decoded)):
        pairs = list(decoded.items())
    else:
        listed = decoded if isinstance(decoded, list | tuple) else [decoded]
        pairs = [_wait_in(part) for part in listed]
        reading.repair("waits", path, value)
    if len(pairs) > reading.limits.items:
        return reading.refuse("too_many", path, len(pairs), str(reading.limits.items))
    waits: dict[str, str] = {}
    for key, reason in pairs:
        task_id = id_of(key)
        if task_id is None or not isinstance(reason, str | None):
            reading.refuse("bad_id" if task_id is None else "wrong_type", path, key, _WAITS_LEGAL)
        elif task_id in waits:
            reading.refuse("duplicate_key", path, task_id)
        else:
            waits[task_id] = reading.cleaned((reason or "").strip(), path)
    return tuple(waits.items())


def _wait_in(part: Any) -> tuple[Any, Any]:
    """Return the id and the reason in an entry. If one of the two is missing, the id is `None`."""
    if isinstance(part, str) and (line := _WAITING_LINE.fullmatch(part.strip())):
        return line[1], line[2]
    if not isinstance(part, Mapping):
        return None, part
    by_word = {folded(key): inner for key, inner in part.items()}
    ids = [by_word[key] for key in sorted(_ID_KEYS & by_word.keys())]
    reasons = [by_word[key] for key in sorted(_REASON_KEYS & by_word.keys())]
    return (ids[0], reasons[0]) if ids and reasons else (None, part)


def settle_wait(values: dict[str, Any], paths: Mapping[str, str], reading: Reading) -> None:
    """Make status and waiting agree: a waiting task is pending, and a closed task does not wait."""
    status = values.get("status")
    if isinstance(status, WaitingWord):
        values["status"] = Status.PENDING
        # If the call also contains blockers, "blocked" refers to these edges. It does not become a
        # wait, because completing a blocker would never end a wait.
        waits = "waiting" in paths and not (status.reason == BLOCKED and values.keys() & _EDGES)
        used = "pending and waiting" if waits else "pending"
        reading.repair("word", paths["status"], status.word, used)
        if waits:
            values["waiting"] = values.get("waiting") or status.reason
    elif status in {None, Status.PENDING} or not values["waiting"]:
        return
    elif status is Status.IN_PROGRESS:
        reading.repair("word", paths["status"], status, "pending and waiting")
        values["status"] = Status.PENDING
    else:
        reading.repair("ignored_key", paths["waiting"], "waiting")
        del values["waiting"]


_MOST_MINUTES = 1e9  # two thousand years
_AT_THE_TOP = ABSENT | {"0", "root"}

Reader = Callable[[Any, str, Reading], Any]


# Each reader first checks whether the value has exactly the schema's type, and not a subclass,
# which may define any behaviour. For nearly every value, this one comparison is enough (see
# `Plain`).


def _text(value: Any, path: str, reading: Reading) -> Any:
    if type(value) is str and is_clean(value):
        return value
    # Never str(value): converting any value to text is how `null` became the task "None".
    if isinstance(value, int | float) and not isinstance(value, bool):
        reading.repair("number_as_text", path, value, str(value))
        return str(value)
    if not isinstance(value, str):
        return reading.refuse("wrong_type", path, value, "a text")
    return reading.cleaned(value, path)


def _word_reader(kind: Kind, code: str) -> Reader:
    """
    Return the reader for a kind whose values are words.

    The reader refuses an unknown word; `code` is then the code of the problem.
    """
    exact, legal = EXACT_WORDS[kind], ", ".join(PUBLISHED[kind])

    def read(value: Any, path: str, reading: Reading) -> Any:
        if type(value) is str and value in exact:
            return exact[value]
        if not isinstance(value, str):
            return reading.refuse("wrong_type", path, value, f"one of {legal}")
        word = reading.cleaned(value, path)
        if word is MISSING or _is_absent(word, path, reading):
            return MISSING
        used = meaning_of(word, kind)
        if used is None:
            return reading.refuse(code, path, word, legal)
        if isinstance(used, WaitingWord):  # `settle_wait` reports it
            return WaitingWord(used.reason, word)
        _report(word, used, path, reading)
        return used

    return read


def _is_absent(word: str, path: str, reading: Reading) -> bool:
    # Frameworks write Python's None as text into optional arguments (smolagents#1538). Titles are
    # not checked, since a title may be such a word.
    absent = word.strip().casefold() in ABSENT
    if absent:
        reading.repair("absent_word", path, word)
    return absent


def _report(word: str, used: str, path: str, reading: Reading) -> None:
    if word != used:
        reading.repair("word", path, word, str(used))


_PLAIN_ID = re.compile(f"[1-9][0-9]{{0,{MOST_DIGITS - 1}}}").fullmatch


def _plain_id(value: Any) -> str | None:
    if type(value) is str:
        return value if _PLAIN_ID(value) else None
    return str(value) if type(value) is int and 0 < value < _BEYOND_IDS else None


def _plain_ref(value: Any) -> str | None:
    return value if type(value) is str and is_reference(value) else _plain_id(value)


def _id(
    value: Any, path: str, reading: Reading, plain: Callable[[Any], str | None] = _plain_id
) -> Any:
    task_id = plain(value)
    if task_id is not None:
        return task_id
    word = reading.cleaned(value, path) if isinstance(value, str) else value
    if isinstance(word, str) and _is_absent(word, path, reading):
        return MISSING
    task_id = None if word is MISSING else id_of(word)
    if task_id is None:
        return reading.refuse("bad_id", path, value, 'an id such as "3"')
    if isinstance(word, str):
        _report(word, task_id, path, reading)
    return task_id


def _own_id(value: Any, _path: str, _reading: Reading) -> Any:
    """Read an id that the model chose itself, such as "2.1". The plan need not have such an id."""
    fits = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value).strip() if fits else MISSING


def _parent(value: Any, path: str, reading: Reading) -> Any:
    """Read the id or title of an entry's parent; "" means that the entry is at the top level."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return reading.refuse("wrong_type", path, value, "the id of an entry of the list")
    word = str(value).strip()
    return "" if word.casefold() in _AT_THE_TOP else word


def _ids(
    value: Any, path: str, reading: Reading, plain: Callable[[Any], str | None] = _plain_id
) -> Any:
    """Read a list of ids in any form: 7, "1, 2", [[7]], [{"id": 7}]; duplicates are removed."""
    if type(value) is list and len(value) <= reading.limits.items:
        ids = dict.fromkeys(map(plain, value))
        if None not in ids and len(ids) == len(value):
            return tuple(ids)
    value = reading.decoded(value, path)
    if value is MISSING:
        return MISSING
    # If a part is no id, the call is refused. AgentScope drops unknown blockers, so the task starts
    # too early.
    listed = value
    if not isinstance(value, list | tuple):
        listed = ids_in(value) if isinstance(value, str) else [value]
    if len(listed) > reading.limits.items:
        return reading.refuse("too_many", path, len(listed), str(reading.limits.items))
    flat = [_single(part) for part in listed]
    if flat != list(listed) or listed is not value:
        reading.repair("unwrapped", path, value)
    read = (_id(part, f"{path}[{index}]", reading, plain) for index, part in enumerate(flat))
    known = [task_id for task_id in read if task_id is not MISSING]
    if not known and (listed or isinstance(value, str)):  # "none" means "not given", unlike []
        return MISSING
    once = tuple(dict.fromkeys(known))
    if len(once) < len(known):
        reading.repair("repeated_id", path)
    return once


def _single(part: Any) -> Any:
    """Return the single value in [7] or {"id": 7}. Return any other value unchanged."""
    if isinstance(part, list | tuple) and len(part) == 1:
        return part[0]
    if isinstance(part, Mapping) and len(part) == 1:
        return next((inner for key, inner in part.items() if folded(key) in _ID_KEYS), part)
    return part


def _minutes(value: Any, path: str, reading: Reading) -> Any:
    if type(value) in (int, float) and 0 <= value < _MOST_MINUTES:
        return value
    sent = value
    # float() accepts the digits of every script, and reads "1_0" as 10; only ASCII digits are
    # accepted here.
    if isinstance(value, str) and value.isascii() and len(value) <= MOST_DIGITS:
        try:
            value = None if "_" in value else float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return reading.refuse("wrong_type", path, sent, "a number of minutes")
    if not 0 <= value < _MOST_MINUTES or not math.isfinite(value):
        return reading.refuse("bad_number", path, sent, "minutes from 0 up")
    reading.repair("word", path, sent, str(value))  # a number in range was returned above
    return value


def _date(value: Any, path: str, reading: Reading) -> Any:
    """Read a date. If a time and a time zone follow the date, they are ignored."""
    word = reading.cleaned(value, path) if isinstance(value, str) else value
    if isinstance(word, str):
        if _is_absent(word, path, reading):
            return MISSING
        try:
            # The form is checked, since `fromisoformat` also accepts week dates.
            day = date.fromisoformat(word.strip()[:10]) if _DATE(word.strip()) else None
        except ValueError:
            day = None
        if day is not None:
            _report(word, day.isoformat(), path, reading)
            return day
    return reading.refuse("wrong_type", path, value, "a date such as 2026-12-31")


_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+(Z|[+-][0-9:]+)?)?").fullmatch

# A fixed table, since bool("false") is true.
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}


def _flag(value: Any, path: str, reading: Reading) -> Any:
    if type(value) is bool:
        return value
    used = _FLAGS.get(quoted(value).casefold()) if isinstance(value, str | int) else None
    if used is None:
        return reading.refuse("wrong_type", path, value, "true or false")
    reading.repair("word", path, value, json.dumps(used))
    return used


def _as_sent(value: Any, _path: str, _reading: Reading) -> Any:
    """Return the value unchanged: it is read later, with the other values of the call."""
    return value


def _metadata(value: Any, path: str, reading: Reading) -> Any:
    metadata = reading.decoded(value, path, expected=True)
    if metadata is MISSING:
        return MISSING
    if not isinstance(metadata, Mapping):
        return reading.refuse("wrong_type", path, value, "an object")
    return _cleaned(metadata, path, reading)


def _cleaned(value: Any, path: str, reading: Reading) -> Any:
    if isinstance(value, str):
        return reading.cleaned(value, path)
    # No check of depth: `parse` allows at most `limits.depth` levels.
    if isinstance(value, list | tuple):
        return [_cleaned(item, path, reading) for item in value]
    if not isinstance(value, Mapping):
        return value
    cleaned: dict[str, Any] = {}
    for key, item in value.items():
        kept = reading.cleaned(key, path)
        if kept in cleaned:  # two keys that differed in hidden characters
            reading.refuse("conflicting_keys", path, key)
        cleaned[kept] = _cleaned(item, path, reading)
    return cleaned


READERS: dict[Kind, Reader] = {
    Kind.LINE: _text,
    Kind.TEXT: _text,
    Kind.STATUS: _word_reader(Kind.STATUS, "unknown_status"),
    Kind.STATUS_OR_DELETED: _word_reader(Kind.STATUS_OR_DELETED, "unknown_status"),
    Kind.PRIORITY: _word_reader(Kind.PRIORITY, "unknown_priority"),
    Kind.ID: _id,
    Kind.ID_HINT: _own_id,
    Kind.OWN_ID: _own_id,
    Kind.IDS: _ids,
    Kind.REF: partial(_id, plain=_plain_ref),
    Kind.REFS: partial(_ids, plain=_plain_ref),
    Kind.MINUTES: _minutes,
    Kind.DATE: _date,
    Kind.FLAG: _flag,
    Kind.METADATA: _metadata,
    Kind.WAITS: read_waits,
    Kind.WAITING: read_reason,
    Kind.PARENT: _parent,
    Kind.SUBTASKS: _as_sent,
}
"""The reader of each kind, except for lists of entries, which `_entries` reads."""

# What these values mean depends on other values of the call, so the first pass does not read them.
_PLAIN_READERS = READERS | dict.fromkeys((Kind.OWN_ID, Kind.PARENT, Kind.SUBTASKS), _not_plain)
_PLAIN_READERS[Kind.ID_HINT] = _id


# -------- application_lists --------
# Repair of a task list that an application wrote; each repair is reported.
#
# This is for lists that programs write into a framework's state (AgentScope's tasks), not for
# models. A fault is repaired only if there is exactly one way to repair it. Other faults, such as a
# duplicate id used by edges, or a cycle, are left as they are, and `plan_of` refuses them.


def repaired_list(
    tasks: Sequence[Task], next_id: int
) -> tuple[tuple[Task, ...], tuple[Repair, ...]]:
    """
    Repair the ids, subjects and edges of tasks that a program has listed.

    Return the tasks in the same order, and the repairs. Half an edge is completed (law 4); an edge
    from a task to itself or to a missing task is removed (law 5).
    """
    # AgentScope creates tasks with an empty subject.
    titled = [
        task
        if task.subject.strip()
        else task.but(
            subject=next(iter(task.description.strip().splitlines()), say("repairs", "untitled"))
        )
        for task in tasks
    ]
    numbered = _numbered(titled, next_id)
    # Law 4: AgentScope drops one half of an edge when the blocker is completed (its fix for #2540),
    # so a reopened blocker would no longer block. Here either half is enough for the edge. An edge
    # is the ids of the blocker and of the blocked task.
    in_blockers = dict.fromkeys((task.id, end) for task in numbered for end in task.blocks)
    in_blocked = dict.fromkeys((end, task.id) for task in numbered for end in task.blocked_by)
    known = {task.id for task in numbered}
    # AgentScope lets a task block itself. Law 5 forbids this, and also an edge to a missing task.
    gone = [
        edge
        for edge in {**in_blockers, **in_blocked}
        if edge[0] == edge[1] or not known.issuperset(edge)
    ]
    for edge in gone:
        in_blockers.pop(edge, None)
        in_blocked.pop(edge, None)
    blocks: dict[str, list[str]] = {task.id: [] for task in numbered}
    blocked_by: dict[str, list[str]] = {task.id: [] for task in numbered}
    for blocker, blocked in {**in_blockers, **in_blocked}:
        blocks[blocker].append(blocked)
    for blocker, blocked in {**in_blocked, **in_blockers}:
        blocked_by[blocked].append(blocker)
    edged = tuple(
        task.but(blocks=tuple(blocks[task.id]), blocked_by=tuple(blocked_by[task.id]))
        for task in numbered
    )
    half = in_blockers.keys() ^ in_blocked.keys()
    mirrored = [edge for edge in {**in_blockers, **in_blocked} if edge in half]
    changed = [*zip(tasks, edged, strict=True)]
    lists = {
        "list_ids": [f'"{old.id}" is now #{new.id}' for old, new in changed if old.id != new.id],
        "list_titles": [f"#{new.id}" for old, new in changed if old.subject != new.subject],
        "list_gone": [f"#{blocker} -> #{blocked}" for blocker, blocked in gone],
        "list_mirrored": [f"#{blocker} -> #{blocked}" for blocker, blocked in mirrored],
    }
    return edged, tuple(Repair(code, seen=", ".join(seen)) for code, seen in lists.items() if seen)


def _numbered(tasks: Sequence[Task], next_id: int) -> list[Task]:
    """Return the tasks. A task with an invalid id, or the id of an earlier task, gets a new id."""
    # New ids are higher than all earlier ids (law 6), so an id in an old reply never means another
    # task.
    named = {end for task in tasks for end in (*task.blocks, *task.blocked_by)}
    times = Counter(task.id for task in tasks)
    fresh = count(max([next_id, *(number_of(task.id) + 1 for task in tasks)]))
    seen: set[str] = set()
    ids: list[str] = []
    for task in tasks:
        # An edge to a duplicate id is ambiguous: both tasks keep the id, and `plan_of` refuses the
        # list.
        unclear = times[task.id] > 1 and task.id in named
        fine = number_of(task.id) and task.id not in seen
        ids.append(task.id if unclear or fine else str(next(fresh)))
        seen.add(task.id)
    new_ids = {task.id: new for task, new in zip(tasks, ids, strict=True) if task.id in named}
    return [
        task.but(
            id=new,
            blocks=tuple(new_ids.get(end, end) for end in task.blocks),
            blocked_by=tuple(new_ids.get(end, end) for end in task.blocked_by),
        )
        for task, new in zip(tasks, ids, strict=True)
    ]


# -------- containers --------
# Only for the second pass of `read`: the arguments of a call, and the entries of a list, without
# the containers in which models send them.


# Models send the envelope of the call instead of its arguments: openclaw#142304, ollama#11805,
# hermes#100979.
_WRAPPERS = (
    "arguments",
    "input",
    "parameters",
    "args",
    "params",
    "kwargs",
    "tool_input",
    "function",
)
# Keys that may occur beside a wrapper, because they belong to the envelope. "function" contains the
# whole call in OpenAI's envelope, and only a name in other envelopes.
_NAMES = frozenset({"name", "tool", "tool_name", "function", "type", "id"})
_LEVELS = 3


def arguments_in(
    value: Any, fields: tuple[Field, ...], reading: Reading
) -> Mapping[str, Any] | None:
    """Return a call's arguments by key, without any container, or `None` if they are refused."""
    value = _unwrapped(value, fields, reading)
    # Missing arguments (agno#4604, hermes#112120) are read as an empty object, so that the error
    # names the required fields.
    if value is None or value is MISSING:
        return {} if value is None else None
    # With several list fields, a bare list or a bare entry would be ambiguous.
    lists = [field for field in fields if field.kind is Kind.ITEMS and not field.hidden]
    if len(lists) > 1 and _are_titles(value, fields):
        lists = [field for field in lists if field.begins]
    field = lists[0] if len(lists) == 1 else None
    if not isinstance(value, Mapping):
        listed = isinstance(value, list | tuple) or (isinstance(value, str) and checklist(value))
        if field is None or not listed:
            reading.refuse("wrong_type", "arguments", value, "an object")
            return None
        reading.repair("bare_list", field.name)
        return {field.name: value}
    named = any(meant_by(key, fields)[0] for key in value)
    # A weak spelling alone ("description", strength 0) does not indicate an entry.
    if named or field is None or not any(meant_by(key, field.items)[1] > 0 for key in value):
        return value
    reading.repair("bare_entry", field.name)
    return {field.name: [value]}


def _are_titles(value: Any, fields: tuple[Field, ...]) -> bool:
    """
    Return whether the value is a list of titles. A text that may be an id or a key is no title.
    """
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(
            isinstance(item, str)
            and _is_title(item)
            and not any(map(id_of, ids_in(item)))
            and meant_by(item, fields)[0] is None
            for item in value
        )
    )


def _unwrapped(value: Any, fields: tuple[Field, ...], reading: Reading) -> Any:
    """Remove up to three wrappers, such as {"arguments": {...}}, and return the arguments."""
    for _ in range(_LEVELS):
        value = reading.decoded(value, "")
        key = _wrapper(value, fields)
        if key is None:
            return value
        # In {"arguments": {...}, "drop": [2]}, one half would be lost, so the call is refused.
        if isinstance(value[key], Mapping) and any(near != key for near in value.keys() - _NAMES):
            return reading.refuse("wrapper_siblings", "arguments", key)
        reading.repair("wrapper", "")
        value = value[key]
    value = reading.decoded(value, "")
    if _wrapper(value, fields) is None:
        return value
    return reading.refuse("too_deep", "arguments", "", str(_LEVELS))


def _wrapper(value: Any, fields: tuple[Field, ...]) -> str | None:
    """Return the key of a wrapper, or `None`; a field of the tool is never a wrapper."""
    if not isinstance(value, Mapping):
        return None
    # A text or a list under "input" may be an ordinary argument: the key is a wrapper only if no
    # other argument is sent.
    alone = len(value.keys() - _NAMES) <= 1
    for key in _WRAPPERS:
        if key in value and meant_by(key, fields)[0] is None:
            inner = value[key]
            if isinstance(inner, Mapping):
                return key
            if alone and key not in _NAMES and (inner is None or isinstance(inner, str | list)):
                return key
    return None


def entries_in(value: Any, field: Field, path: str, reading: Reading) -> Any:
    """
    Return the list of entries, or `MISSING` if the value is broken or is not a list.

    The entries of a checklist are returned as `Line` objects. Nested containers such as
    {"todos": {"todos": ...}} are unpacked at most three times. A text is refused unless it is a
    JSON or Python list, or clearly a checklist: "null", "same as before" and "[object Object]" once
    became titles, and the rest of the plan was removed.
    """
    value = reading.decoded(value, path)
    for _ in range(_LEVELS):
        if not isinstance(value, Mapping) or len(value) != 1:
            break
        ((key, inner),) = value.items()
        if meant_by(key, (field,))[0] is None:
            break
        reading.repair("wrapper", path)
        value = reading.decoded(inner, path)
    if isinstance(value, str):
        lines = checklist(value)
        if lines is None and field.adds and _is_title(value):
            reading.repair("bare_entry", path)
            return [value]
        if lines is None:
            return reading.refuse("no_list", path, value)
        reading.repair("checklist", path)
        return lines
    if value is MISSING or isinstance(value, list | tuple):
        return value
    reading.repair("bare_entry", path)
    return [value]


def _is_title(text: str) -> bool:
    """Return whether a text is one line, begins no list or object, and is no word like "none"."""
    bare = text.strip()
    return bare.casefold() not in ABSENT and "\n" not in bare and not _ENCODED.match(bare)


def entry_in(item: str | Line, field: Field, path: str, reading: Reading) -> Any:
    """Return the entry for a text in a list: a title, a line with a checkbox, or a JSON object."""
    title = field.items[0].name
    if isinstance(item, Line):
        return {title: item.title, **({"status": item.status} if item.status else {})}
    lines = checklist(item) or []
    if len(lines) == 1:
        reading.repair("box", path)
        return entry_in(lines[0], field, path, reading)
    # A title may begin with "[", so only texts that begin like an object are decoded.
    spelled = reading.decoded(item, path) if item.lstrip().startswith("{") else item
    return {title: item} if isinstance(spelled, str) else spelled


# -------- nesting --------
# Only for the second pass of `read`: which entry of a list contains which other entry.
#
# Models and other tools express nesting in many ways: lists in lists, `subtasks` in an entry,
# `parent` by id or by title, ids with dots, indented lines. All of them are converted to one form:
# the index of the containing entry. Every step is a loop that takes linear time, because a text in
# a list may encode another list, which contains such a text again, deeper than Python can recurse.


OWN_ID = "id"
"""The key of the id that the model has given to an entry; it is not an id of the plan."""

BY_OWN_ID = "@"
"""
The prefix of a reference to an entry by the id from the model. The index of the entry follows.
"""

WITHIN = "within"
"""The key of the index of the containing entry, if the entry is nested."""

_BULLET = "- "
_MOST_NAMED = 20
_EDGES_READ = ("blocked_by", "blocks")


@attrs.define
class Row:
    """One entry of a list: its path, its values by target, and the index of the containing row."""

    path: str
    values: dict[str, Any]
    within: int | None


@attrs.define
class _List:
    """
    A list that is being read: the remaining entries, the path, the index of the row that contains
    the list, and the index of the row read last.
    """

    left: Iterator[tuple[int, Any]]
    path: str
    outer: int | None = None
    last: int | None = None


def nests(field: Field) -> bool:
    """Return whether the entries of a field may be nested."""
    return any(inner.kind is Kind.SUBTASKS for inner in field.items)


def rows_in(listed: Sequence[Any], field: Field, path: str, reading: Reading) -> list[Row]:
    """
    Return the entries of a list and of its nested lists, each read by the fields of an entry.

    The entries of a nested list follow the entry that contains the list. The container of an entry
    is the nearest row above it in the same list that is indented less. If there is no such row, it
    is the row that contains the list. The call is refused if there are more entries in total than
    the limit.
    """
    rows: list[Row] = []
    # For each containing row: the indentation and the index of the rows that may contain another.
    above: dict[int | None, list[tuple[int, int]]] = {}
    nested, bulleted = nests(field), False
    open_lists = [_List(enumerate(listed), path)]
    while open_lists:
        here = open_lists[-1]
        place, item = next(here.left, (-1, None))
        at = f"{here.path}[{place}]"
        if place < 0:
            open_lists.pop()
        elif nested and here.last is not None and isinstance(item, list | tuple):
            open_lists.append(_List(enumerate(item), at, here.last))
        elif (
            nested
            and isinstance(item, str)
            and "\n" in item.strip()
            and len(lines := checklist(item) or ()) > 1
        ):
            # A whole checklist in one entry of a list, as in ["- [ ] a\n  - [ ] b"].
            reading.repair("checklist", at)
            open_lists.append(_List(enumerate(lines), at, here.outer))
        elif len(rows) == reading.limits.items:
            reading.refuse("too_many", path, f"over {len(rows)}", str(len(rows)))
            break
        else:
            level, entry = _entry(item, field, at, reading)
            if not isinstance(entry, Mapping):
                if entry is not MISSING:
                    reading.refuse("wrong_type", at, entry, "an object")
                continue
            # A text with an odd level had a bullet: see `_entry`.
            bulleted = bulleted or (isinstance(item, str) and level % 2 == 1)
            siblings = above.setdefault(here.outer, [])
            while siblings and siblings[-1][0] >= level:
                siblings.pop()
            within = siblings[-1][1] if siblings else here.outer
            here.last = len(rows)
            siblings.append((level, here.last))
            row = Row(at, _read_object(entry, field.items, f"{at}.", reading), within)
            rows.append(row)
            if inner := row.values.pop("subtasks", None):
                inside = entries_in(inner, field, f"{at}.subtasks", reading)
                if inside is not MISSING:
                    open_lists.append(_List(enumerate(inside), f"{at}.subtasks", here.last))
    if bulleted:
        reading.repair("bullets", path)
    return rows


def _entry(item: Any, field: Field, at: str, reading: Reading) -> tuple[int, Any]:
    """Return the indentation of an entry's line, and the entry."""
    if isinstance(item, Line):
        return item.level or 0, entry_in(item, field, at, reading)
    if not isinstance(item, str):
        return 0, item
    if not nests(field) or "\n" in item.strip():
        return 0, entry_in(item, field, at, reading)
    level, bare = 2 * indentation(item), item.strip()
    # If entries are published as texts, a bullet indents a line by half a level.
    if bare.startswith(_BULLET) and sum(not inner.hidden for inner in field.items) == 1:
        level, bare = level + 1, bare.removeprefix(_BULLET).lstrip()
    return level, entry_in(bare or item, field, at, reading)


def in_tree_order(rows: Sequence[Row], reading: Reading) -> list[dict[str, Any]]:
    """
    Return the values of the rows of a whole list, each row followed by the rows that it contains.

    If at least one row is nested, the values of each row include its level.
    """
    places = reversed([*enumerate(rows)])  # the first entry with a title wins
    titles = {str(row.values.get("content", "")).strip(): index for index, row in places}
    named = titles | _by_id(rows)
    is_nested = any(row.within is not None for row in rows)
    for index, row in enumerate(rows):
        values = row.values
        parent, own = values.pop("parent", None), values.pop("id", "")
        if task_id := id_of(own):
            values["id"] = task_id
        if "waiting" in values:
            values["waiting"] = Waiting(values["waiting"])
        head = own.rpartition(".")[0]
        if row.within is not None:
            continue
        if parent:
            is_nested = True
            container = named.get(parent, named.get(id_of(parent) or parent))
            if container is None or container == index:
                known = ", ".join(islice(named, _MOST_NAMED))
                reading.refuse("unknown_reference", f"{row.path}.parent", parent, known)
            else:
                row.within = container
        elif parent is not None:
            is_nested = True
        elif head and head in named and task_id is None:
            is_nested, row.within = True, named[head]
    if not is_nested:
        return [row.values for row in rows]
    below: dict[int | None, list[int]] = {}
    for index in reversed(range(len(rows))):
        below.setdefault(rows[index].within, []).append(index)
    lines: list[dict[str, Any]] = []
    left = [(index, 0) for index in below.pop(None, ())]
    while left:
        index, level = left.pop()
        lines.append({**rows[index].values, "level": level})
        left += [(inner, level + 1) for inner in below.pop(index, ())]
    if below:
        # Rows whose parents form a cycle cannot be reached from a top-level row.
        lost = rows[min(chain.from_iterable(below.values()))]
        reading.refuse("parent_circle", f"{lost.path}.parent", lost.values.get("content", ""))
    return lines


def _by_id(rows: Sequence[Row]) -> dict[str, int]:
    """
    Map the id that the model gave to a row, as written and as a plain id, to the index of the row.
    """
    named: dict[str, int] = {}
    for index, row in reversed([*enumerate(rows)]):
        if own := row.values.get(OWN_ID, ""):
            named[own] = index
            named[id_of(own) or own] = index
    return named


def settle_own_ids(rows: Sequence[Row], field: Field, reading: Reading) -> None:
    """
    Remove the ids that the model gave to new entries, and replace references to these ids.

    A reference is an edge, a parent, or the head of an id with dots ("2" in "2.1"). The reference
    is replaced by "@" and the index of the entry.
    """
    # If the model's ids were simply ignored, "1" would mean a task that is already in the plan.
    named = _by_id(rows)
    names = {inner.target: inner.name for inner in field.items}
    used: set[int] = set()

    def read(reference: str, path: str) -> str:
        index = named.get(reference)
        if index is None:
            return reference
        used.add(index)
        reading.repair("id", path, reference, f"#{index}")
        return f"{BY_OWN_ID}{index}"

    for place, row in enumerate(rows if named else ()):
        values, own = row.values, row.values.get(OWN_ID, "")
        # In a fixed order, since the reply names the first repairs.
        for edges in _EDGES_READ:
            if edges in values:
                path = f"{row.path}.{names[edges]}"
                values[edges] = tuple(read(reference, path) for reference in values[edges])
        head = own.rpartition(".")[0]
        if "parent" in values:
            values["parent"] = read(values["parent"], f"{row.path}.{names['parent']}")
        elif row.within is None and named.get(head, place) < place:
            values["parent"] = read(head, f"{row.path}.{OWN_ID}")
            used.add(named[own])
    for index, row in enumerate(rows):
        if row.values.pop(OWN_ID, "") and index not in used:
            reading.repair("ignored_key", f"{row.path}.{OWN_ID}", OWN_ID)
        if row.within is not None:
            row.values[WITHIN] = row.within


# -------- read --------
# Read a call's arguments by a tool's fields, into values, repairs and problems.
#
# The principles of intake:
# - Law 10: intake never raises, whatever is sent, and nothing is repaired silently.
# - Only a complete value with one meaning is repaired, and the repair is reported. Otherwise the
#   whole call is refused. The refusal names all faults: for each fault its path, at most 40
#   characters of the value, and what is allowed. A correct example follows. If faults were reported
#   one at a time, the model would need a turn for each of them.
# - `null` means "not given", never the task "None". An unknown word is never replaced by the most
#   similar known word.
# - Law 17: a guess about the container is reported as a repair (`GUESSES`), and such a call removes
#   nothing.
#
# Values are read in up to two passes. The first pass uses a `Plain` reading and the value as it was
# sent; it is enough for calls that follow their schema, which are nearly all. At the first value
# that is not plain, the call is read again, from the validated value; this second pass records
# repairs and problems. The first pass reads a list without the paths that repairs need. If all
# entries of the list have the same keys, it reads all values of a key with one call into C. A test
# compares the results of the two passes.


_LONGEST_KEY = 80
_MOST_NEAR = 10


class Intake(NamedTuple):
    """
    A call's arguments by target name. `values` has only arguments that were sent and could be read.
    """

    values: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    problems: tuple[Problem, ...] = ()


_USUAL = InputLimits()
_FEW_ROWS = 5  # measured: for so few entries, rows are faster than columns


def read(raw: object, fields: tuple[Field, ...], limits: InputLimits | None = None) -> Intake:
    """Read a call's arguments: JSON text, or a mapping that a framework has parsed."""
    limits = limits or _USUAL
    try:
        return Intake(plain_read(raw, fields, limits))
    except Exception:  # noqa: BLE001 - not plain, or a foreign class: the second pass reports the cause
        return careful_read(raw, fields, limits)


def plain_read(raw: object, fields: tuple[Field, ...], limits: InputLimits) -> dict[str, Any]:
    """
    Read arguments that follow their schema exactly.

    Raises:
        NotPlainError: the arguments do not follow their schema. A foreign class may raise other
            errors.
    """
    # `type`, not `isinstance`: a foreign class may define any behaviour. For a text that needs a
    # repair, `_plain_json` returns `None`.
    if type(raw) is str and len(raw) <= limits.chars:
        arguments = _plain_json(raw)
    else:
        arguments = raw if type(raw) is dict and _size(raw) <= limits.chars else None
    if arguments is None or limits.depth < _DEEPEST_PLAIN:
        raise NotPlainError
    return _plain_object(arguments, table_of(fields), Plain(limits))


def careful_read(raw: object, fields: tuple[Field, ...], limits: InputLimits) -> Intake:
    """Read any arguments, with repairs; for plain arguments the result is that of `plain_read`."""
    parsed = parse(raw, limits, whole=True)
    if isinstance(parsed, Problem):
        # The problem from `parse` has the whole text; the model is shown 40 characters (`quoted`).
        return Intake({}, (), (attrs.evolve(parsed, seen=quoted(parsed.seen)),))
    reading = Reading(limits, list(parsed.repairs))
    arguments = arguments_in(parsed.value, fields, reading)
    values = {} if arguments is None else _read_object(arguments, fields, "", reading)
    return Intake(values, tuple(reading.repairs), tuple(reading.problems))


class Table(NamedTuple):
    """
    Data about the fields of a tool or an entry, for reading plain values.

    `readers` maps a published name to the target and the reader of a field. `required` are the
    targets of the required fields. `clearing` are the published names of the fields that a single
    `null` clears.
    """

    readers: Mapping[str, tuple[str, Reader]]
    required: frozenset[str]
    clearing: frozenset[str]


@lru_cache(maxsize=MOST_TABLES)
def table_of(fields: tuple[Field, ...]) -> Table:
    """Return the cached table of these fields."""
    # Only published names are in the table, since an alias must be compared with the other keys of
    # the call.
    readers: dict[str, tuple[str, Reader]] = {}
    for field in fields:
        if field.kind is Kind.ITEMS:
            reader = _plain_entries(field)
        elif field.clears:  # "" and `null` have a meaning, which depends on the other keys
            reader = _not_plain
        else:
            is_text = field.required and field.kind in _TEXTS
            reader = _filled_text if is_text else _PLAIN_READERS[field.kind]
        readers[field.name] = field.target, reader
    return Table(
        readers,
        frozenset(field.target for field in fields if field.required and not field.lenient),
        frozenset(field.name for field in fields if field.clears),
    )


_UNKNOWN = "", _not_plain
_TEXTS = frozenset({Kind.LINE, Kind.TEXT})


def _filled_text(value: Any, path: str, reading: Reading) -> Any:
    text = _text(value, path, reading)
    return text if text.strip() else _not_plain()


def _plain_object(sent: dict[str, Any], table: Table, reading: Reading) -> dict[str, Any]:
    readers, absent, clears = table.readers, 0, False
    values: dict[str, Any] = {}
    for key, value in sent.items():
        target, reader = readers.get(key, _UNKNOWN)
        # `null` means "not given": in OpenAI's strict mode, models send it for each omitted
        # argument. If there are several, they clear nothing.
        if value is None and target:
            absent += 1
            clears = key in table.clearing
        else:
            values[target] = reader(value, "", reading)
    if (absent == 1 and clears) or not table.required <= values.keys():
        raise NotPlainError
    return values


def _read_object(
    sent: Mapping[str, Any], fields: tuple[Field, ...], prefix: str, reading: Reading
) -> dict[str, Any]:
    by_field = _by_field(sent, fields, prefix, reading)
    values: dict[str, Any] = {}
    for field in fields:
        path = f"{prefix}{field.name}"
        faults = reading.faults
        used = value = by_field.get(field, MISSING)
        if value is MISSING:
            pass
        elif field.clears and (value is None or value == ""):
            used = None
        elif field.kind is Kind.ITEMS:
            used = _entries(value, field, path, reading)
        else:
            used = READERS[field.kind](value, path, reading)
            if field.required and isinstance(used, str) and not used.strip():
                used = reading.refuse("empty_text", path, value)
        if used is not MISSING:
            values[field.target] = used
        # If the value of a field was refused, the field is not also reported as missing.
        elif field.required and not field.lenient and reading.faults == faults:
            reading.refuse("missing_field", path, "", field.name)
    if "waiting" in values or type(values.get("status")) is WaitingWord:
        settle_wait(values, {field.target: prefix + field.name for field in fields}, reading)
    return values


def _by_field(
    value: Mapping[str, Any], fields: tuple[Field, ...], prefix: str, reading: Reading
) -> dict[Field, Any]:
    """
    Return the value of each field.

    If a field is sent under several spellings, weak spellings are ignored if there is a stronger
    one. It is a problem if the values under the remaining spellings differ.
    """
    chosen: dict[Field, tuple[int, str, Any]] = {}  # the strength of the key, the key, the value
    left_out: list[Field] = []
    for key, inner in value.items():
        field, strength = meant_by(key, fields)
        if field is None:
            _unknown(key, fields, prefix, reading)
        elif inner is None:  # for an optional argument, `null` is "not given" (inspect_ai#1477)
            left_out.append(field)
        else:
            kept = new = strength, key, inner
            if field in chosen:
                old = chosen[field]
                kept, other = (new, old) if new[0] > old[0] == 0 else (old, new)
                # Types are compared too, since True == 1 == 1.0.
                same = type(old[2]) is type(new[2]) and old[2] == new[2]
                if not same and kept[0] and not other[0]:
                    reading.repair("ignored_key", f"{prefix}{quoted(other[1])}", other[1])
                elif not same:
                    reading.refuse("conflicting_keys", f"{prefix}{field.name}", new[1])
            chosen[field] = kept
    # In strict mode, a model sends `null` for each omitted argument. Only if there is a single
    # `null` does it mean a value.
    if len(left_out) == 1 and left_out[0].clears and left_out[0] not in chosen:
        chosen[left_out[0]] = (0, "", None)
    return {field: inner for field, (_, _, inner) in chosen.items()}


def _unknown(key: str, fields: tuple[Field, ...], prefix: str, reading: Reading) -> None:
    names = [field.name for field in fields if not field.hidden]
    path = f"{prefix}{quoted(key)}"
    if reading.limits.strict:
        reading.refuse("unknown_key", path, key, ", ".join(names) or "none")
        return
    # An extra key is no fault (hermes#100979): refusing it would cost a turn although nothing is
    # lost. The search for a similar name is the slowest step of intake, and the reply names at most
    # three.
    searched = len(reading.repairs) < _MOST_NEAR
    near = get_close_matches(key[:_LONGEST_KEY], names, n=1) if searched else []
    reading.repair("ignored_key", path, key, near[0] if near else "")


def _plain_entries(field: Field) -> Reader:
    """Return a reader for a list of plain entries, each of which is an object or a title."""
    table, columns = table_of(field.items), _columns(field)
    title, *others = field.items
    alone = title.kind is Kind.LINE and not table_of(tuple(others)).required
    make = dict if field.entry is None else fast_constructor(field.entry)

    def read(listed: Any, _path: str, reading: Reading) -> Any:
        if type(listed) is not list or len(listed) > reading.limits.items:
            raise NotPlainError
        if len(listed) > _FEW_ROWS and (entries := columns(listed)) is not None:
            return entries
        rows = []
        for item in listed:
            if type(item) is dict:
                rows.append(make(**_plain_object(item, table, reading)))
            elif type(item) is str and alone and _is_plain_title(item, field):
                rows.append(make(**{title.target: item}))
            else:
                raise NotPlainError
        return rows

    return read


def _is_plain_title(text: str, field: Field) -> bool:
    # A text is not plain if it has a checkbox, if it is an entry as JSON text, or if it has spaces
    # around it, which must be removed.
    if "[" in text or text.startswith("{") or text != text.strip() or not text:
        return False
    # A line with a bullet may be nested in the line above it.
    return is_clean(text) and not (text.startswith("- ") and nests(field))


def _columns(field: Field) -> Callable[[list[Any]], Any]:
    """
    Return a reader for entries that all have the same keys.

    The reader reads all values of a key at once. If the keys of the entries differ, it returns
    `None`.
    """
    entry = field.entry
    if entry is None:
        return lambda _: None
    by_name = {inner.name: inner for inner in field.items}
    required = frozenset(item.name for item in field.items if item.required and not item.lenient)
    order, make = [attribute.name for attribute in attrs.fields(entry)], fast_constructor(entry)

    def read(entries: list[dict[str, Any]]) -> Any:
        if set(map(type, entries)) != {dict}:
            return None
        # The keys must be in the same order too, so that the values can be zipped.
        keys = tuple(entries[0])
        alike = list(map(tuple, entries)).count(keys) == len(entries)
        if not alike or not required <= set(keys) <= by_name.keys():
            return None
        columns: dict[str, Any] = {}
        for key, values in zip(keys, zip(*map(dict.values, entries), strict=True), strict=True):
            column = _column(by_name[key], values)
            if column is None:
                return None
            columns[by_name[key].target] = column
        return list(map(make, *(columns.get(name, repeat(None)) for name in order)))

    return read


def _column(field: Field, values: Sequence[Any]) -> Sequence[Any] | None:
    if set(map(type, values)) != {str}:
        return None
    words = EXACT_WORDS.get(field.kind)
    if words is not None:
        meanings = list(map(words.get, values))
        return None if None in meanings else meanings
    # Joined, for a single search in C. A suspect character is one code point, so joining texts
    # cannot create one.
    if field.clears or field.kind not in {Kind.LINE, Kind.TEXT} or not is_clean("".join(values)):
        return None
    return None if field.required and not all(map(str.strip, values)) else values


def _entries(value: Any, field: Field, path: str, reading: Reading) -> Any:
    faults = reading.faults
    listed = entries_in(value, field, path, reading)
    if listed is MISSING:
        return MISSING
    if len(listed) > reading.limits.items:
        return reading.refuse("too_many", path, len(listed), str(reading.limits.items))
    rows = rows_in(listed, field, path, reading)
    # A row with a fault may lack values that the class of entries requires; the call is refused
    # anyway.
    if nests(field) and reading.faults == faults:
        if field.entry:
            lines = in_tree_order(rows, reading)
            return [field.entry(**line) for line in lines if reading.faults == faults]
        settle_own_ids(rows, field, reading)
    return [row.values for row in rows]

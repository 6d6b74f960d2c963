"""Texts as data: every text that a model reads, in a file for each subject. `say` fills them."""

import os
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

# -------- wording --------
# Texts are data: they are stored in .txt files beside this module. The functions here fill them.


_NAME = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


@cache
def _sections(file: str) -> dict[str, str]:
    # Not by importlib.resources, whose import takes an eighth of the time of the whole core's.
    loader: Any = __spec__.loader
    path = os.path.join(os.path.dirname(__file__), f"{file}.txt")  # noqa: PTH118, PTH120 - same
    try:
        data: bytes = loader.get_data(path)
    except (OSError, ValueError):  # a user's own tool set, for which todoplan has no texts
        return {}
    sections = data.decode().split("\n== ")[1:]
    named = (section.partition(" ==\n") for section in sections)
    return {name: body.strip("\n") for name, _, body in named}


def wording(file: str, name: str, default: str | None = None) -> str:
    """
    Return the text `name` of a file. Its $names are not filled in.

    Raises:
        KeyError: there is no such text and no default.
    """
    text = _sections(file).get(name, default)
    if text is None:
        raise KeyError(name)
    return text


def names(file: str) -> tuple[str, ...]:
    """Return the names of a file's texts, in file order."""
    return tuple(_sections(file))


def say(file: str, name: str, /, **values: object) -> str:
    """
    Return the text `name` of a file, with its $names replaced by `values`.

    A $name inside a value is not replaced.
    """
    return _template(file, name) % values


@cache
def _template(file: str, name: str) -> str:
    return _parsed(wording(file, name))


def fill(text: str, values: Mapping[str, object]) -> str:
    """
    Return a text with its $names filled in.

    Raises:
        KeyError: a name has no value.
    """
    return _parsed(text) % values


@lru_cache(maxsize=1024)
def _parsed(text: str) -> str:
    """Return the text with each $name replaced by %(name)s."""
    # `%` takes a tenth of the time of string.Template, and every reply is filled here.
    return _NAME.sub(r"%(\1)s", text.replace("%", "%%"))


# -------- cleaning --------
# Make text safe to display. Every reply, reminder and printer cleans its text here first, and then
# escapes it for its own format.
#
# Law: cleaned text contains no control character except the newline, no character that reorders or
# hides text, and only whole code points. Cleaning it a second time changes nothing. Each step
# takes linear time.
#
# Text for people and text for models are both cleaned: a person's terminal obeys escape sequences,
# and a model reads text that tag characters or bidi overrides hide from the person who watches.


# Possessive quantifiers ("*+") are used wherever a run may be long. Otherwise a title with many
# unterminated opening sequences would be scanned again from each of them, in quadratic time.
_SEQUENCE = re.compile(
    # Titles, links, clipboard (OSC) and device strings, with their payload.
    "(?:\x1b[]P^_X]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*+(?:\x07|\x1b\\\\|\x9c)"
    # Colours and cursor moves (CSI), then the other escapes, then single control characters.
    "|(?:\x1b\\[|\x9b)[0-?]*+[ -/]*+[@-~]"
    "|\x1b[ -/]*+[0-~]"
    "|[\x00-\x09\x0b-\x1f\x7f-\x9f]"
    # Bidi marks, overrides and isolates; zero-width characters except joiners; tag characters.
    "|[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]"
    "|[\U000e0000-\U000e007f]"
)
_BREAK = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def printable(text: str) -> str:
    """
    Return the text with everything unsafe removed, possibly on several lines.

    Removed are terminal sequences with their payload, other control characters, bidi and zero-width
    formatting, tag characters, and U+FFFE and U+FFFF, which XML does not allow. Every kind of line
    break becomes a newline, a tab becomes a space, and half a surrogate pair becomes U+FFFD.
    Joiners stay: scripts and emoji need them.
    """
    if text.isascii() and text.isprintable():
        return text
    # Encoding to UTF-16 joins two adjacent surrogate halves into their character.
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _SEQUENCE.sub("", _BREAK.sub("\n", whole).replace("\t", " "))


def one_line(text: str) -> str:
    """Return the text cleaned and on one line, with a single space for each run of whitespace."""
    return " ".join(printable(text).split())


def plural(count: int, noun: str, nouns: str = "") -> str:
    """
    Return the count with the noun in singular or plural: "1 plan", "2 plans".

    `nouns` is the plural if it is not the noun with an "s".
    """
    return f"{count} {noun}" if count == 1 else f"{count} {nouns or noun + 's'}"


def clipped(text: str, most: int = 240) -> str:
    """
    Return a text shortened for quoting in a sentence, with unprintable characters escaped.

    Of a text longer than `most` characters, the start and the end are kept: in a text that names a
    cycle of tasks, these two say the most.
    """
    if len(text) > most:
        text = f"{text[: most - 40]} ... {text[-30:]}"
    return text if text.isprintable() else escaped(text)


def escaped(text: str) -> str:
    """Return a text with each unprintable character replaced by an escape."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )

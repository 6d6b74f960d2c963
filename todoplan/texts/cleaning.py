"""
Text that is safe to show. Every reply, reminder and printer cleans here first, and then escapes for
its own format.

Law: cleaned text holds no control character but the newline, nothing that reorders or hides text,
and only whole code points; cleaning it again changes nothing. Each step takes linear time.

It lies below everything because both sides need it: a person's terminal obeys an escape sequence,
and a model reads what a tag character or a bidi override hides from the person who watches it.
"""

import re

__all__ = ["clipped", "escaped", "one_line", "printable"]

# Possessive ("*+") wherever a run may be long: a title of opening sequences without an end would
# otherwise be scanned anew from each of them, in quadratic time.
_SEQUENCE = re.compile(
    # Titles, links, clipboard (OSC) and device strings: with all that they carry.
    "(?:\x1b[]P^_X]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*+(?:\x07|\x1b\\\\|\x9c)"
    # Colours and cursor moves (CSI), then the other escapes, then single controls.
    "|(?:\x1b\\[|\x9b)[0-?]*+[ -/]*+[@-~]"
    "|\x1b[ -/]*+[0-~]"
    "|[\x00-\x09\x0b-\x1f\x7f-\x9f]"
    # Bidi marks, overrides and isolates; zero-width but for the joiners; then tag characters.
    "|[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]"
    "|[\U000e0000-\U000e007f]"
)
_BREAK = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def printable(text: str) -> str:
    """
    Return the text as it may be shown, over several lines.

    Terminal sequences go whole, with their payload; other controls, bidi and zero-width formatting,
    tag characters, and U+FFFE and U+FFFF, which no XML may hold, go. Every kind of line break
    becomes a newline, a tab a space, half a surrogate pair U+FFFD. Joiners stay: scripts and emoji
    need them.
    """
    if text.isascii() and text.isprintable():
        return text
    # Through UTF-16, where two halves side by side are the character that they spell.
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _SEQUENCE.sub("", _BREAK.sub("\n", whole).replace("\t", " "))


def one_line(text: str) -> str:
    """
    Return the text as it may be shown on one line: runs of space folded, none at the ends.
    """
    return " ".join(printable(text).split())


def clipped(text: str, most: int = 240) -> str:
    """
    Return a text that is quoted in a sentence: what cannot be shown is written as an escape.

    Of a long one the start and the end are shown: of a cycle these say most.
    """
    if len(text) > most:
        text = f"{text[: most - 40]} ... {text[-30:]}"
    return text if text.isprintable() else escaped(text)


def escaped(text: str) -> str:
    """
    Return a text with an escape for each letter that cannot be shown.
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )

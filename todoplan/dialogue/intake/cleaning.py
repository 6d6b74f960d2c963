"""Cleaning of task texts: hidden characters and leaked call syntax are removed."""

import re

from todoplan.dialogue.intake.repairs import Repair

__all__ = ["ANY_CLOSER", "clean", "is_clean", "leaks_field", "quoted", "unleaked"]

# NUL (PostgreSQL refuses it: langgraph#1878), and bidi overrides, bidi isolates and the tag block,
# which hide text from the person who approves a plan (mcp-execution#430, Decepticon#480).
_HIDING = "\x00\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f"
_HALVES = "\ud800-\udfff"
_HIDDEN = re.compile(f"[{_HIDING}]")
_LONE = re.compile(f"[{_HALVES}]")
_SUSPECT = re.compile(f"[<{_HIDING}{_HALVES}]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# Models leak parts of their own call format (claude-code#83088, #48679, #44826). Closing tags at
# the very end are noise; an opening tag inside a text means that it contains another argument.
_SWALLOWED = re.compile(r"<(?:antml:)?parameter\s++name\s*+=")
_CLOSER = re.compile(
    r"</(?:antml:)?(?:parameter|invoke|function_calls|payload|tool_call|tool_use)>\Z"
)
ANY_CLOSER = re.compile(r"</[\w:.-]{1,40}>\Z")
"""A closing tag of any name, for places where only JSON is expected."""
_LONGEST_CLOSER = 43  # "</", a name of 40, ">"
_MOST_SEEN = 40


def is_clean(text: str) -> bool:
    """Return whether a text surely needs no cleaning, so that `clean` would return it unchanged."""
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
        # A lone surrogate cannot be encoded: LangGraph's fallback for that was CVE-2025-64439.
        paired = _PAIR.sub(_joined, text)
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


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def unleaked(text: str, closer: re.Pattern[str] = _CLOSER) -> str:
    """Return the text without the closing tags at its end, in linear time."""
    # There may be several tags ("</parameter>\n</invoke>") and megabytes of text, so each search
    # is limited to a window at the end.
    end = _bare_end(text, len(text))
    found = closer.search(text, max(0, end - _LONGEST_CLOSER), end)
    if found is None:
        return text
    while found is not None:
        end = _bare_end(text, found.start())
        found = closer.search(text, max(0, end - _LONGEST_CLOSER), end)
    return text[:end]


def _bare_end(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end


def leaks_field(text: str) -> bool:
    """
    Return whether the text contains another argument's opening tag, so that its value was lost.
    """
    return _SWALLOWED.search(text) is not None


def quoted(value: object) -> str:
    """
    Return a value in at most 40 printable characters: enough to recognise it, not to copy it.

    Models imitate text that an error repeats: in openclaw#142304, 127 failures followed each other
    that way.
    """
    text = value if isinstance(value, str) else _spelled(value)
    # Cut before escaping, since the text may have a megabyte.
    safe = text[: _MOST_SEEN * 2].encode("unicode_escape").decode("ascii")
    return safe if len(safe) <= _MOST_SEEN else f"{safe[: _MOST_SEEN - 3]}..."


def _spelled(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value) if abs(value) < 1e18 else "a number of over 18 digits"  # noqa: PLR2004 - as it says
    return "a list" if isinstance(value, list | tuple) else "an object"

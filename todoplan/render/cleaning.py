"""Cut text to a number of terminal columns. `texts.cleaning` decides which characters are safe."""

import unicodedata

from todoplan.texts.cleaning import one_line

__all__ = ["clip", "one_line"]

_MOST_PER_COLUMN = 4  # combining marks take no column; a text of nothing else is cut as well


def clip(text: str, width: int) -> str:
    """Return cleaned text in at most `width` columns, with an ellipsis if it was cut."""
    shown = text[: width * _MOST_PER_COLUMN]
    if shown.isascii():  # the usual case, made fast for long logs
        if len(text) <= width:
            return text
        return shown[: width - 1].rstrip() + "…" if width > 0 else ""
    if shown == text and sum(map(_columns, text)) <= width:
        return text
    used, end = 0, 0
    while end < len(shown) and used + _columns(shown[end]) < width:
        used += _columns(shown[end])
        end += 1
    return shown[:end].rstrip() + "…" if width > 0 else ""


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1

"""How deep JSON nests, told from its bytes chunk by chunk before a parser holds them."""

import re
from itertools import accumulate

__all__ = ["DEEPEST", "Nesting"]

DEEPEST = 1000
# Possessive, and a step for each escape, not for each byte: the matcher remembers every step that it
# might take back, which was 50 bytes for each byte of a long string.
_STRING_END = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_STRING = re.compile(b'"' + _STRING_END.pattern, re.DOTALL)
_OPENING = b"[{"
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class Nesting:
    """
    Follows the brackets outside strings over the chunks of one document.

    A parser that streams keeps the path to where it stands for every level, so that its memory
    grows with the square of the depth. `unfinished` is how long the string is so far that the last
    chunk ended in.
    """

    __slots__ = ("_carried", "_depth", "_in_string", "unfinished")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._carried = b""
        self.unfinished = 0

    def check(self, chunk: bytes) -> None:
        """
        Take the next chunk.

        Raises:
            ValueError: it nests more than `DEEPEST` levels deep.

        """
        brackets = self._outside_strings(chunk).translate(None, _NOT_BRACKETS)
        opened = sum(brackets.count(mark) for mark in (b"[", b"{"))
        if self._depth + opened > DEEPEST and self._deepest(brackets) > DEEPEST:
            msg = f"nested more than {DEEPEST} levels deep"
            raise ValueError(msg)
        self._depth += 2 * opened - len(brackets)

    def _deepest(self, brackets: bytes) -> int:
        steps = (1 if mark in _OPENING else -1 for mark in brackets)
        return max(accumulate(steps, initial=self._depth))

    def _outside_strings(self, chunk: bytes) -> bytes:
        text = self._carried + chunk
        self._carried = b""
        if self._in_string:
            end = _STRING_END.match(text)
            if not end:
                self._carried = b"\\" if _ends_escaping(text) else b""
                self.unfinished += len(chunk)
                return b""
            text = text[end.end() :]
        text = _STRING.sub(b"", text)
        outside, quote, rest = text.partition(b'"')
        self._in_string = bool(quote)
        self.unfinished = len(rest)
        self._carried = b"\\" if quote and _ends_escaping(rest) else b""
        return outside


def _ends_escaping(text: bytes) -> bool:
    return (len(text) - len(text.rstrip(b"\\"))) % 2 == 1

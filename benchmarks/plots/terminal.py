"""
Draw the README's picture of the command line: `python -m benchmarks.plots.terminal`.

The picture shows the output of `todoplan replay --sample`, drawn by rich.
"""

import re
import subprocess
import sys
from html import unescape
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

__all__ = ["drawn", "main"]

_WIDTH = 100
_PLACE = Path("todoplan", "guides", "replay.svg")
_TEXT = re.compile(
    r'(<text class="todoplan-r\d+" x=")([\d.]+)(" y="[\d.]+" textLength=")([\d.]+)("[^>]*>)'
    r"([^<]*)</text>"
)
_BLANK = "&#160;"


def drawn(arguments: list[str], *, most: int) -> str:
    """Return the first lines of a `todoplan` command's output as an SVG."""
    command = [sys.executable, "-m", "todoplan", *arguments]
    printed = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    lines = printed.stdout.splitlines()[:most]
    console = Console(record=True, width=_WIDTH, file=StringIO())
    console.print(Text(f"$ todoplan {' '.join(arguments)}", style="bold"))
    for line in lines:
        console.print(Text(line), no_wrap=True, overflow="ellipsis", crop=True)
    picture = console.export_svg(title="todoplan", unique_id="todoplan")
    picture = _TEXT.sub(_placed, picture)
    # A picture that loads fonts from the network reveals who looked at it.
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def _placed(line: re.Match[str]) -> str:
    """
    Return a line of the picture in pieces, each with its own position.

    Some renderers drop spaces at the start of a text, and others use a font of another width.
    Columns that are separated only by spaces would then be misaligned.
    """
    head, x, middle, length, tail, text = line.groups()
    cells = text.count(_BLANK) + len(unescape(text.replace(_BLANK, "")))
    width, at, pieces = float(length) / cells, 0, []
    for piece in re.split(rf"((?:{_BLANK}){{2,}}|^{_BLANK})", text):
        size = piece.count(_BLANK) + len(unescape(piece.replace(_BLANK, "")))
        if piece.replace(_BLANK, "").strip():
            place, long = float(x) + at * width, size * width
            pieces.append(f"{head}{place:g}{middle}{long:g}{tail}{piece}</text>")
        at += size
    return "".join(pieces)


def main() -> None:
    """Write the README's picture. Run it in the README's directory."""
    _PLACE.write_text(drawn(["replay", "--sample"], most=29), "utf-8")


if __name__ == "__main__":
    main()

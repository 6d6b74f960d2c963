"""
A picture of the command line: `python -m benchmarks.plots.terminal` writes the one in the README.

The picture is what `todoplan replay --sample` prints, drawn by rich.
"""

import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

__all__ = ["drawn", "main"]

_WIDTH = 100
_PLACE = Path("todoplan", "guides", "replay.svg")


def drawn(arguments: list[str], *, most: int) -> str:
    """
    Return the first lines of what a `todoplan` command prints, as an SVG.
    """
    command = [sys.executable, "-m", "todoplan", *arguments]
    printed = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    lines = printed.stdout.splitlines()[:most]
    console = Console(record=True, width=_WIDTH, file=StringIO())
    console.print(Text(f"$ todoplan {' '.join(arguments)}", style="bold"))
    for line in lines:
        console.print(Text(line), no_wrap=True, overflow="ellipsis", crop=True)
    picture = console.export_svg(title="todoplan", unique_id="todoplan")
    # A picture that loads fonts from the network is one that tells who looked at it.
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def main() -> None:
    """
    Write the README's picture; run it where the README is.
    """
    _PLACE.write_text(drawn(["replay", "--sample"], most=29), "utf-8")


if __name__ == "__main__":
    main()

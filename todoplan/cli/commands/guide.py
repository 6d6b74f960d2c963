"""`todoplan guide`: the pages that people and coding agents read; they ship with the package."""

from difflib import get_close_matches
from importlib.resources import files

from rich.markdown import Markdown

from todoplan.cli.exit_codes import UNREADABLE
from todoplan.cli.output.screen import Screen

__all__ = ["READING_ORDER", "guide", "page_names"]

_PAGES = files("todoplan") / "guides"
_END = ".md"

READING_ORDER = (
    ("Begin", ("ten-minutes", "own-loop", "moving")),
    (
        "Frameworks",
        ("langchain", "deepagents", "agentscope", "openai-agents", "pydantic-ai", "mcp", "acp"),
    ),
    ("Shape it", ("rules", "limits", "human-edits", "evidence", "board")),
    ("Keep and share it", ("stores", "several-agents", "command-line", "write-a-store")),
    ("Check it", ("recordings", "telemetry", "testing")),
    ("Look inside", ("reference", "architecture", "threat-model", "write-an-adapter")),
)
"""The pages by what somebody came for, in the order in which they are read."""


def page_names() -> tuple[str, ...]:
    """
    Return the names of the pages, in the order in which they are read.
    """
    return tuple(name for _, names in READING_ORDER for name in names)


def guide(name: str | None, screen: Screen) -> int:
    """
    Print a page, or without a name what pages there are, and return the exit code.
    """
    if name is None:
        screen.write(_overview())
        return 0
    wanted = name.lower().removesuffix(_END)
    if wanted not in page_names():
        screen.complain(_unknown(name, wanted))
        return UNREADABLE
    text = _text(wanted)
    if screen.out.is_terminal:
        # Links between pages are names of files: as links of a terminal they would lead nowhere.
        screen.out.print(Markdown(text, hyperlinks=False))
    else:
        screen.write(text)
    return 0


def _overview() -> str:
    width = max(map(len, page_names()))
    lines = []
    for group, names in READING_ORDER:
        lines += [group, *(f"  {name:{width}}  {_title(name)}" for name in names), ""]
    return "\n".join([*lines, "Show one: todoplan guide NAME", ""])


def _title(name: str) -> str:
    return _text(name).partition("\n")[0].removeprefix("# ")


def _text(name: str) -> str:
    return (_PAGES / f"{name}{_END}").read_text("utf-8")


def _unknown(name: str, wanted: str) -> str:
    near = get_close_matches(wanted, page_names(), 1)
    meant = f"did you mean {near[0]}? " if near else ""
    return f"no guide is called {name!r}; {meant}the guides are {', '.join(page_names())}"

"""What the README and the guides show: the blocks behind a mark, and the names they define."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "todoplan" / "guides"
PAGES = {"README": ROOT / "README.md", **{page.stem: page for page in sorted(GUIDES.glob("*.md"))}}


def page(name):
    """Return the text of a page: "README", or a guide by its name."""
    return PAGES[name].read_text("utf-8")


def fenced(name, mark, language):
    """Return the fenced block behind a mark, such as "code: loop" or "output: machine"."""
    found = re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", page(name), re.DOTALL)
    assert found, f"{name} shows no {mark}"
    return found[1]


def defined(name, mark, **given):
    """Return the names that the code behind a mark defines, with some given to it."""
    names = {"__name__": "shown", **given}
    code = compile(fenced(name, f"code: {mark}", "python"), f"{name}: {mark}", "exec")
    exec(code, names)  # noqa: S102 - our own page
    return names

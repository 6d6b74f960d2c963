"""Code and output in the README and the guides: each block follows a mark, an HTML comment."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "todoplan" / "guides"
PAGES = {"README": ROOT / "README.md", **{page.stem: page for page in sorted(GUIDES.glob("*.md"))}}


def page(name):
    """Return the text of a page: "README", or a guide by its name."""
    return PAGES[name].read_text("utf-8")


def fenced(name, mark, language):
    """Return the fenced block after a mark, such as "code: loop" or "output: machine"."""
    found = re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", page(name), re.DOTALL)
    assert found, f"{name} shows no {mark}"
    return found[1]


def defined(name, mark, **given):
    """Run the code after a mark, with some names given to it, and return all its names."""
    names = {"__name__": "shown", **given}
    code = compile(fenced(name, f"code: {mark}", "python"), f"{name}: {mark}", "exec")
    exec(code, names)  # noqa: S102 - our own page
    return names

"""What the README shows, taken out of it: the code behind a mark, and what the code defines."""

import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def code(mark):
    """
    Return the Python block behind a mark.
    """
    text = README.read_text("utf-8")
    found = re.search(rf"<!-- code: {mark} -->\n```python\n(.*?)```", text, re.DOTALL)
    assert found, f"the README shows no {mark}"
    return found[1]


def defined(mark, **given):
    """
    Return the names that the block behind a mark defines, with some given to it.
    """
    names = {"__name__": "shown", **given}
    exec(compile(code(mark), f"README.md: {mark}", "exec"), names)  # noqa: S102 - our own README
    return names

"""The README's section about Pydantic AI keeps its word: its code runs and prints what it shows."""

import asyncio
import re
from pathlib import Path

from support.pydantic_ai_agent import Script, wrote

README = (Path(__file__).parents[3] / "README.md").read_text("utf-8")


def block(mark, language):
    """
    Return the fenced block behind a mark.
    """
    return re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", README, re.DOTALL)[1]


def model():
    """
    Return a model that plans, stops too early, finishes, and goes on in a second run.
    """
    return Script(
        wrote(("Draft", "in_progress"), ("Send", "pending"), call_id="1"),
        wrote(("Draft", "completed"), ("Send", "in_progress"), call_id="2"),
        "Drafted.",
        wrote(("Draft", "completed"), ("Send", "completed"), call_id="3"),
        "Drafted and sent.",
        wrote(
            *((title, "completed") for title in ("Draft", "Send", "Invoice")),
            call_id="4",
        ),
        "The invoice is in.",
    ).model


def test_the_agent_prints_what_is_shown(capsys):
    """Two runs, the second from what the first one saved."""
    names = {}
    exec(block("code: pydantic-ai", "python"), names)  # noqa: S102 - the README's code
    script = model()
    saved = asyncio.run(names["work"](script, "Draft and send the letter."))
    assert b"Drafted." not in saved
    asyncio.run(names["work"](script, "Add the invoice.", saved))
    assert capsys.readouterr().out == block("output: pydantic-ai", "text")

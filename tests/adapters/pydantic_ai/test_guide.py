"""The guide pydantic-ai.md keeps its word: its code runs and prints what it shows."""

import asyncio
import doctest

from support.docs import defined, fenced, page
from support.pydantic_ai_agent import Script, wrote


def model():
    """Return a model that plans, stops too early, finishes, and goes on in a second run."""
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
    exec(fenced("pydantic-ai", "code: pydantic-ai", "python"), names)  # noqa: S102 - the guide's code
    script = model()
    saved = asyncio.run(names["work"](script, "Draft and send the letter."))
    assert b"Drafted." not in saved
    asyncio.run(names["work"](script, "Add the invoice.", saved))
    assert capsys.readouterr().out == fenced("pydantic-ai", "output: pydantic-ai", "text")


def test_a_history_is_edited_as_shown():
    """The plan and the one who edited it stand in the history that is returned."""
    above = defined("pydantic-ai", "pydantic-ai")
    names = defined("pydantic-ai", "pydantic-ai edit", **above)
    text = page("pydantic-ai").replace("```", "")
    examples = doctest.DocTestParser().get_doctest(text, names, "pydantic-ai", None, 0)
    assert len(examples.examples) == 2
    assert doctest.DocTestRunner().run(examples).failed == 0

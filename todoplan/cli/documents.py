"""The commands that print guides and tool definitions, and that write a plan as a file."""

import json
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import attrs

from todoplan.cli.plans import Place
from todoplan.dialogue.tools import TOOLSETS, ToolSet
from todoplan.errors import UNREADABLE, PlanError, ReadError
from todoplan.render.terminal import Screen

# -------- guide --------
# `todoplan guide`: pages for people and coding agents, shipped with the package.


READING_ORDER = {
    "Begin": "recipes own-loop moving",
    "Frameworks": (
        "langchain deepagents agentscope openai-agents pydantic-ai claude-agent-sdk google-adk "
        "strands agent-framework haystack llama-index mcp coding-agents acp other-frameworks"
    ),
    "Shape it": "rules limits human-edits evidence board",
    "Keep and share it": "stores several-agents command-line write-a-store",
    "Check it": "recordings telemetry testing",
    "Look inside": "reference architecture threat-model write-an-adapter",
}
"""The pages, grouped by purpose, in reading order."""


def page_names() -> tuple[str, ...]:
    """Return the names of the pages in reading order."""
    return tuple(" ".join(READING_ORDER.values()).split())


def guide(screen: Screen, name: str | None = None) -> None:
    """Show a guide, or list all guides."""
    if name is None:
        width = max(map(len, page_names()))
        for group, names in READING_ORDER.items():
            titles = ((page, _text(page).partition("\n")[0][2:]) for page in names.split())
            rows = (f"  {page:{width}}  {title}" for page, title in titles)
            screen.write("\n".join([group, *rows, "", ""]))
        screen.write("Show one: todoplan guide NAME\n")
        return
    wanted = name.lower().removesuffix(".md")
    if wanted not in page_names():
        near = get_close_matches(wanted, page_names(), 1)
        meant = f"did you mean {near[0]}? " if near else ""
        msg = f"no guide is called {name!r}; {meant}the guides are {', '.join(page_names())}"
        raise ReadError(msg)
    text = _text(wanted)
    if screen.out.is_terminal:
        from rich.markdown import Markdown  # noqa: PLC0415 - slow to import

        # Links between pages are file names, which a terminal could not open.
        screen.out.print(Markdown(text, hyperlinks=False))
    else:
        screen.write(text)


def _text(name: str) -> str:
    return (files("todoplan") / "guides" / f"{name}.md").read_text("utf-8")


# -------- schema --------
# `todoplan schema`: the tool definitions of a tool set, in a provider's format.


def _of_provider(module: str, **how: Any) -> Callable[[ToolSet], Any]:
    path = f"todoplan.adapters.functions.{module}"
    return lambda tools: import_module(path).make_tools(tools, **how)


FORMS: dict[str, Callable[[ToolSet], Any]] = {
    "plain": lambda tools: {tool.name: tool.schema for tool in tools.definitions()},
    "openai": _of_provider("openai_chat"),
    "anthropic": _of_provider("anthropic_messages"),
    "gemini": _of_provider("gemini"),
    "strict": _of_provider("openai_chat", strict=True),
}
"""The functions that make tool definitions, by format name; `strict` is OpenAI's strict mode."""


def schema(toolset: str, screen: Screen, *, form: str = "plain") -> None:
    """Print the tool definitions of a tool set as JSON."""
    screen.write(json.dumps(FORMS[form](TOOLSETS[toolset]), indent=2) + "\n")


# -------- report --------
# `todoplan report`: one plan of a store as a single file, either an HTML page or an SVG picture.
#
# The page is made from the plan's journal in the same way as a page of `todoplan replay --html`. It
# has the last state, a slider through the revisions, and each finding next to its journal entry.


def report(
    place: Place,
    screen: Screen,
    *,
    html: Path | None = None,
    picture: Path | None = None,
    policy: str = "audit",
) -> int:
    """
    Write a plan as an HTML page or an SVG picture.

    The page has the plan's history and findings.
    """
    from todoplan.render.pictures import plan_svg  # noqa: PLC0415 - slow to import
    from todoplan.transcripts import output, replay  # noqa: PLC0415 - same
    from todoplan.transcripts.calls import RecordedEntry  # noqa: PLC0415 - same

    if html is None and picture is None:
        msg = "say what to write: --html OUT, --svg OUT, or both"
        raise PlanError(msg)
    run = output.Run(screen, replay.POLICIES[policy], None)
    store, plan_id = place.opened()
    journal = store.entries(plan_id)
    if picture is not None:
        output.save_page(plan_svg(store.load(plan_id), plan_id), picture, run, "picture")
    if html is not None:
        # A replay begins at revision 0, but the store may have removed the first entries.
        before = journal[0].revision - len(journal[0].events) if journal else 0
        items = [
            RecordedEntry(entry.revision, attrs.evolve(entry, revision=entry.revision - before))
            for entry in journal
        ]
        printer = output.HtmlPrinter(by_revision=True)
        run.consume(
            replay.replay_items(plan_id or "plan", "todoplan", items, run.policy), printer.recording
        )
        printer.close(run)
        output.save_page(printer.written, html, run)
    # Findings alone do not change the exit code of this command.
    return UNREADABLE if run.exit_code == UNREADABLE else 0

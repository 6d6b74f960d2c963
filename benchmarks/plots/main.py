"""The plot of a run: a status change, a whole life, tokens, imports."""

from collections.abc import Iterator
from typing import Any

from benchmarks.plots.canvas import document, rect, text
from benchmarks.plots.panels import Bar, Frame, bars, curves

__all__ = ["drawn"]

_WIDTH, _HEIGHT = 900, 576
_KINDS = {
    "todoplan": "ours",
    "floor": "floor",
    "AgentScope call": "agentscope",
    "AgentScope Toolkit": "toolkit",
    "pydantic-ai-todo": "pydantic",
    "LangChain invoke": "langchain",
}
_LEGEND = {
    "todoplan": "todoplan",
    "floor": "floor of bare Python",
    "AgentScope call": "AgentScope",
    "AgentScope Toolkit": "AgentScope, Toolkit",
    "pydantic-ai-todo": "pydantic-ai-todo",
    "LangChain invoke": "LangChain",
}
_TOKENS = {
    "todoplan lean, compact": ("todoplan lean", "ours"),
    "todoplan tasks, compact": ("todoplan tasks", "ours"),
    "todoplan todos, compact": ("todoplan todos", "ours"),
    "AgentScope, lean use": ("AgentScope, lean use", "agentscope"),
    "pydantic-ai-todo, lean use": ("pydantic-ai-todo, lean use", "pydantic"),
    "LangChain TodoListMiddleware": ("LangChain", "langchain"),
    "AgentScope, as its texts ask": ("AgentScope, as prompted", "agentscope"),
    "pydantic-ai-todo, as its texts ask": ("pydantic-ai-todo, as prompted", "pydantic"),
}
_IMPORTS = {
    "attrs": ("attrs", "floor"),
    "todoplan, core in use": ("todoplan, core", "ours"),
    "todoplan, toolbox": ("todoplan, toolbox", "ours"),
    "agentscope.tool": ("agentscope.tool", "agentscope"),
    "pydantic_ai_todo": ("pydantic_ai_todo", "pydantic"),
    "langgraph + langchain": ("langchain + langgraph", "langchain"),
}


def drawn(found: dict[str, Any]) -> str:
    """Return the SVG of a run. The panel of a suite that was not run stays empty."""
    label = (
        "todoplan beside its peers: time of a status change and of a plan's life, tokens, imports"
    )
    return document(_WIDTH, _HEIGHT, label, [*_legend(), *_panels(found)])


def _legend() -> Iterator[str]:
    x = 20.0
    for name, kind in _KINDS.items():
        yield rect(x, 14, 12, 12, kind)
        yield text(x + 18, 24, _LEGEND[name], kind="ours-text" if kind == "ours" else "")
        x += 40 + 7 * len(_LEGEND[name])


def _panels(found: dict[str, Any]) -> Iterator[str]:
    changes = _times(found.get("operations", ()), "status_change")
    yield from curves(Frame(20, 64, 430, 270, "One status change, by tasks in the plan"), changes)
    lives = _times(found.get("life", ()), "life")
    title = "Whole life of a plan: n creates, 2n updates"
    yield from curves(Frame(465, 64, 430, 270, title), lives)
    title = "Input tokens over a plan of 20 (less is better)"
    yield from bars(Frame(20, 376, 430, 240, title), list(_tokens(found.get("tokens", ()))))
    title = "Import, CPU time of a fresh process (less is better)"
    yield from bars(Frame(465, 376, 430, 240, title), list(_imports(found.get("footprint", ()))))


def _times(rows: Any, operation: str) -> dict[str, dict[int, float]]:
    times: dict[str, dict[int, float]] = {}
    for row in rows:
        kind = _KINDS.get(row.get("contender", ""))
        if kind and row["operation"] == operation and "us" in row:
            times.setdefault(kind, {})[row["n"]] = row["us"]
    return times


def _tokens(rows: Any) -> Iterator[Bar]:
    told = {row["contender"]: row["again"] for row in rows if row.get("n") == 20}  # noqa: PLR2004
    for name, (label, kind) in _TOKENS.items():
        if name in told:
            yield Bar(label, told[name], f"{told[name] / 1000:,.0f}k", kind)


def _imports(rows: Any) -> Iterator[Bar]:
    told = {row["contender"]: row["ms"] for row in rows if "ms" in row}
    for name, (label, kind) in _IMPORTS.items():
        if name in told:
            yield Bar(label, told[name], f"{told[name]:,.0f} ms", kind)

"""Mermaid diagrams: a plan as a flowchart, and the transition table as a state diagram."""

import re
from collections.abc import Iterator

from todoplan.core.plan.plan import Plan
from todoplan.core.rules.lifecycle import TABLE, Action, Kind, Move
from todoplan.render.cleaning import clip
from todoplan.render.outline import Line, arrows, lines, nesting

__all__ = ["lifecycle_diagram", "to_mermaid"]

_WIDTH = 80
_INDENT = "    "
# Texts in diagrams have run as scripts before: CVE-2025-54880 and -54881 of Mermaid.
# Everything but letters, digits and spaces becomes a numeric entity, because quotation marks cannot
# be escaped.
# Mermaid reads any line with "direction LR" as a statement, even inside quotation marks.
_MARKUP = re.compile("[^A-Za-z0-9 \x80-\U0010ffff]|[dD](?=irection)")
_STYLES = (
    "    classDef pending stroke-dasharray:4 3",
    "    classDef in_progress stroke-width:3px",
    "    classDef completed opacity:0.6",
    "    classDef cancelled opacity:0.4,stroke-dasharray:1 3",
    "    classDef failed stroke:red,stroke-width:2px",
    "    classDef waiting stroke:orange,stroke-dasharray:4 3",
)


def to_mermaid(plan: Plan) -> str:
    """
    Return a flowchart with a node for each task and an arrow from each blocker.

    A node is named "t7" for task 7; its class is the status, or "waiting". A task with subtasks is
    a subgraph of that name around them. Labels are cut at 80 columns. By default, Mermaid draws at
    most 500 arrows and 50,000 characters.
    """
    rows = lines(plan)
    if not rows:
        return 'flowchart TD\n    empty["no tasks"]'
    edges = (f"    {blocker} --> {blocked}" for blocker, blocked in arrows(rows))
    return "\n".join(("flowchart TD", *_nodes(rows), *edges, *_STYLES))


def _nodes(rows: tuple[Line, ...]) -> Iterator[str]:
    for row, opens, ends in nesting(rows):
        indent, box = _INDENT * (row.level + 1), f'{row.node}["{_label(row.caption)}"]'
        yield f"{indent}subgraph {box}" if opens else f"{indent}{box}:::{row.kind}"
        yield from (f"{_INDENT * (row.level - number)}end" for number in range(ends))
    # A subgraph cannot get its class where it is opened.
    yield from (f"    class {row.node} {row.kind}" for row, opens, _ in nesting(rows) if opens)


def _label(text: str) -> str:
    return _MARKUP.sub(_entity, clip(text, _WIDTH))


def _entity(character: re.Match[str]) -> str:
    return "#quot;" if character[0] == '"' else f"#{ord(character[0])};"


def lifecycle_diagram() -> str:
    """
    Return the transition table as a state diagram, with an arrow for each cell that moves a task.
    """
    return "\n".join(("stateDiagram-v2", *_transitions()))


def _transitions() -> Iterator[str]:
    for (status, action), move in TABLE.items():
        if move.kind is not Kind.STAY:
            yield f"    {status} --> {move.target}: {_caption(action, move)}"


def _caption(action: Action, move: Move) -> str:
    return f"{action}" if move.kind is Kind.STEP else f"{action} ({move.kind})"

"""A plan as a Graphviz graph in the DOT language."""

from collections.abc import Iterator

from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip
from todoplan.render.outline import Line, arrows, lines, nesting

__all__ = ["to_dot"]

_WIDTH = 80
# Each style must suit both a node and a cluster: a filled cluster is black unless a colour is
# named.
_STYLES = {
    "pending": "style=dashed",
    "in_progress": "style=bold",
    "completed": "style=filled, fillcolor=lightgrey",
    "cancelled": "style=dotted",
    "failed": "style=solid, color=red",
    "waiting": "style=dashed, color=orange",
}
# "&" is escaped too: Graphviz reads entities such as &quot; in labels.
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})
_INDENT = "  "


def to_dot(plan: Plan) -> str:
    """
    Return a digraph with a node for each task and an edge from each blocker.

    A node is named "t7" for task 7; its style shows the status. A task with subtasks is a cluster
    around them ("cluster_t7") with an invisible point as its node, where edges start and end.
    Labels are cut at 80 columns.
    """
    rows = lines(plan)
    clusters = {row.node for row, opens, _ in nesting(rows) if opens}
    edges = (
        f"  {blocker} -> {end}{_ends(blocker, end, clusters)};" for blocker, end in arrows(rows)
    )
    # Edges can end at the border of a cluster only in a compound graph.
    head = ("digraph plan {", *(["  compound=true;"] if clusters else []), "  node [shape=box];")
    return "\n".join((*head, *_nodes(rows), *edges, "}"))


def _nodes(rows: tuple[Line, ...]) -> Iterator[str]:
    for row, opens, ends in nesting(rows):
        indent = _INDENT * (row.level + 1)
        look = f"label={_quoted(row.caption)}, {_STYLES[row.kind]}"
        if opens:
            yield f"{indent}subgraph cluster_{row.node} {{"
            yield f"{indent}  graph [{look}];"
            yield f"{indent}  {row.node} [shape=point, style=invis];"
        else:
            yield f"{indent}{row.node} [{look}];"
        yield from (f"{_INDENT * (row.level - number)}}}" for number in range(ends))


def _ends(blocker: str, blocked: str, clusters: set[str]) -> str:
    ends = (("ltail", blocker), ("lhead", blocked))
    named = [f"{side}=cluster_{node}" for side, node in ends if node in clusters]
    return f" [{', '.join(named)}]" if named else ""


def _quoted(text: str) -> str:
    return f'"{clip(text, _WIDTH).translate(_ESCAPES)}"'

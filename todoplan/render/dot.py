"""A plan as a Graphviz graph in the DOT language."""

from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip
from todoplan.render.outline import Line, arrows, lines

__all__ = ["to_dot"]

_WIDTH = 80
_STYLES = {
    Status.PENDING: "dashed",
    Status.IN_PROGRESS: "bold",
    Status.COMPLETED: "filled",
    Status.CANCELLED: "dotted",
}
# "&" too: Graphviz reads entities such as &quot; in labels.
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})


def to_dot(plan: Plan) -> str:
    """
    Return a digraph: a node a task ("t7", its style the status), an arrow from each blocker.

    Labels are cut at 80 columns.
    """
    rows = lines(plan)
    edges = (f"  {blocker} -> {blocked};" for blocker, blocked in arrows(rows))
    head = ("digraph plan {", "  node [shape=box];")
    return "\n".join((*head, *map(_node, rows), *edges, "}"))


def _node(row: Line) -> str:
    return f"  {row.node} [label={_quoted(row.caption)}, style={_STYLES[row.status]}];"


def _quoted(text: str) -> str:
    return f'"{clip(text, _WIDTH).translate(_ESCAPES)}"'

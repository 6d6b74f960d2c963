"""A few SVG shapes, coloured by CSS classes: dark pages get other colours than light ones."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["document", "line", "path", "rect", "text"]

_STYLE = """
text { font: 12px -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #57606a }
.title { font-size: 14px; font-weight: 600; fill: #24292f }
.ours-text { font-weight: 600; fill: #0969da }
.grid { stroke: #d0d7de; stroke-width: 1 }
.series { fill: none; stroke-width: 2 }
.ours { stroke: #0969da; fill: #0969da }
.floor { stroke: #8c959f; fill: #8c959f }
.agentscope { stroke: #bc4c00; fill: #bc4c00 }
.toolkit { stroke: #d4a72c; fill: #d4a72c }
.pydantic { stroke: #8250df; fill: #8250df }
.langchain { stroke: #1a7f37; fill: #1a7f37 }
.series { fill: none }
.series.ours { stroke-width: 3.5 }
.series.floor { stroke-dasharray: 5 4 }
rect { stroke: none }
@media (prefers-color-scheme: dark) {
text { fill: #9da7b3 }
.title { fill: #e6edf3 }
.ours-text { fill: #58a6ff }
.grid { stroke: #30363d }
.ours { stroke: #58a6ff; fill: #58a6ff }
.floor { stroke: #8b949e; fill: #8b949e }
.agentscope { stroke: #f0883e; fill: #f0883e }
.toolkit { stroke: #e3b341; fill: #e3b341 }
.pydantic { stroke: #bc8cff; fill: #bc8cff }
.langchain { stroke: #3fb950; fill: #3fb950 }
.series { fill: none }
}
"""


def document(width: int, height: int, label: str, shapes: Iterable[str]) -> str:
    """Return the whole SVG."""
    head = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
    told = f'role="img" aria-label="{escape(label)}"'
    size = f'width="{width}" height="{height}"'
    body = "\n".join(shapes)
    return f"<svg {head} {size} {told}>\n<style>{_STYLE}</style>\n{body}\n</svg>\n"


def text(x: float, y: float, words: str, *, kind: str = "", anchor: str = "start") -> str:
    """Return a text."""
    styled = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{styled}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "grid") -> str:
    """Return a straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def path(points: Sequence[tuple[float, float]], kind: str) -> str:
    """Return a line through points, with a dot on each."""
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" class="{kind}"/>' for x, y in points)
    return f'<polyline points="{joined}" class="series {kind}"/>{dots}'


def rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Return a bar."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'rx="2" class="{kind}"/>'
    )

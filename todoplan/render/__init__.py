"""
Plans for people, as text, Markdown, Mermaid, DOT and HTML, all from the same outline.

Read `outline` first. It computes the lines of a plan with their level, makes their texts safe to
show (law 14 of the guide `architecture`), and writes them as plain text. `markup` has the other
formats, `pictures` has SVG, and `terminal` has the consoles and the progress bar.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.render.markup import to_dot, to_html, to_markdown, to_mermaid
    from todoplan.render.outline import drift_to_text, to_text

__all__ = ["drift_to_text", "to_dot", "to_html", "to_markdown", "to_mermaid", "to_text"]
__dir__ = listing(__all__)

if not TYPE_CHECKING:  # with it, a type checker would accept every misspelled name
    __getattr__ = loader(
        __name__,
        {
            "markup": ("to_dot", "to_html", "to_markdown", "to_mermaid"),
            "outline": ("drift_to_text", "to_text"),
        },
    )

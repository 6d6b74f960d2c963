"""
Plans for people, as text, Markdown, Mermaid, DOT and HTML, all from the same outline.

Read `outline` first: it computes the lines of a plan, in order and with their level. `details` adds
the notes that quote texts of users and models. Each other module writes the lines in one format;
`cleaning` makes texts safe to show (law 14). `drift` reports what changed since a person approved
the plan.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.render.dot import to_dot
    from todoplan.render.drift import drift_to_text
    from todoplan.render.markdown import to_markdown
    from todoplan.render.mermaid import to_mermaid
    from todoplan.render.page import to_html
    from todoplan.render.text import to_text

__all__ = ["drift_to_text", "to_dot", "to_html", "to_markdown", "to_mermaid", "to_text"]
__dir__ = listing(__all__)

if not TYPE_CHECKING:  # a type checker that saw it would let every misspelled name pass
    __getattr__ = loader(
        __name__,
        {
            "dot": ("to_dot",),
            "drift": ("drift_to_text",),
            "markdown": ("to_markdown",),
            "mermaid": ("to_mermaid",),
            "page": ("to_html",),
            "text": ("to_text",),
        },
    )

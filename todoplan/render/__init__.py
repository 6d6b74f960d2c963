"""
Plans for people: text, Markdown, Mermaid, DOT and HTML, all from one outline.

Read `outline` first: the lines of a plan, in order and with their level (`details` is what others
say of a task). Each other module writes them in one format, with texts made safe by `cleaning` (law
14). `drift` tells what became of a plan since a person approved it.
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

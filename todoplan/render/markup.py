"""
Build HTML from elements, so that text is never read as markup; and build whole pages.

A page is one file that loads nothing else. Its content security policy allows only our own style
sheets and scripts, identified by their hashes, and no images, fonts, forms or connections.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from todoplan.render.cleaning import one_line

__all__ = ["Markup", "data_block", "element", "joined", "page", "style"]


class Markup(str):
    """Text that is already HTML. Any other text is cleaned and escaped when added to an element."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str) -> Markup:
    """
    Return an element with its children.

    A trailing underscore in the name of an attribute is removed (`class_`); other underscores
    become hyphens. Attributes with an empty value are omitted.
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(one_line(text))}"'
        for name, text in attributes.items()
        if text
    )
    return Markup(f"<{tag}{given}>{joined(children)}</{tag}>")


def joined(children: Iterable[str]) -> Markup:
    """Return the children as the content of an element, one on each line."""
    # Separated by newlines: otherwise, parts shown in separate boxes would be read aloud, and
    # copied, as one word.
    return Markup(
        "\n".join(
            child if isinstance(child, Markup) else escape(one_line(child)) for child in children
        )
    )


@cache
def style() -> str:
    """Return the style sheet that all pages share."""
    return files("todoplan.render").joinpath("page.css").read_text("utf-8")


def page(title: str, *body: str, styles: Sequence[str] = (), scripts: Sequence[str] = ()) -> Markup:
    """
    Return a whole HTML page, including its document type.

    `styles` and `scripts` are our own code; the scripts come after the body.
    """
    sheets = (style(), *styles)
    # Allowed by hash: a style or script injected by a text that escaped from its element would not
    # run. In pages with scripts, trusted types prevent these from parsing text as markup.
    allowed = "".join(
        f"; {kind}-src {' '.join(map(_hash, texts))}"
        for kind, texts in (("style", sheets), ("script", scripts))
        if texts
    )
    if scripts:
        allowed += "; require-trusted-types-for 'script'; trusted-types 'none'"
    policy = f"default-src 'none'{allowed}; base-uri 'none'; form-action 'none'"
    head = (
        f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"{element('title', title)}\n{''.join(f'<style>{sheet}</style>' for sheet in sheets)}"
    )
    last = "".join(f"<script>{script}</script>\n" for script in scripts)
    return Markup(
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n'
        f"<body>\n{joined(body)}\n{last}</body>\n</html>\n"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def data_block(name: str, data: object) -> Markup:
    """
    Return JSON data for a script of the page. No text in it can close the element. `name` is its
    id.
    """
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{escape(name)}">{text}</script>')

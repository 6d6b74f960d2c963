"""
HTML that is put together from elements, so that no text can be taken for markup, and whole pages.

A page is one file that asks nobody for anything: its policy allows the style sheets and scripts of
ours that stand in it, known by their hashes, and neither images, fonts, forms nor addresses.
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
    """
    Text that is HTML already. Any other is cleaned and escaped where it is put into an element.
    """

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str) -> Markup:
    """
    Return an element around its children; a trailing underscore of an attribute's name is left out
    (`class_`), others are hyphens. An attribute of the empty text is left out.
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(one_line(text))}"'
        for name, text in attributes.items()
        if text
    )
    return Markup(f"<{tag}{given}>{joined(children)}</{tag}>")


def joined(children: Iterable[str]) -> Markup:
    """
    Return the children as they stand in an element, a line each.
    """
    # Apart: what a page shows in boxes of their own would else be read aloud, and copied, as one.
    return Markup(
        "\n".join(
            child if isinstance(child, Markup) else escape(one_line(child)) for child in children
        )
    )


@cache
def style() -> str:
    """
    Return the style sheet of all pages.
    """
    return files("todoplan.render").joinpath("page.css").read_text("utf-8")


def page(title: str, *body: str, styles: Sequence[str] = (), scripts: Sequence[str] = ()) -> Markup:
    """
    Return a whole page, from its document type to its end; with styles and scripts of our own, the
    scripts behind its body.
    """
    sheets = (style(), *styles)
    # By their hashes: were a text to get out of its place, a style or a script of its own would
    # still do nothing. Where scripts run, none of them can make markup of a text (trusted types).
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
    Return data for a script of the page, as JSON that no text in it can end; `name` is its id.
    """
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{escape(name)}">{text}</script>')

"""
HTML that is put together from elements, so that no text can be taken for markup, and whole pages.

A page is one file that asks nobody for anything: its policy allows the one style sheet that stands
in it, known by its hash, and neither scripts nor images, fonts, forms or addresses.
"""

from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from todoplan.render.cleaning import one_line

__all__ = ["Markup", "element", "joined", "page", "style"]


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


def page(title: str, *body: str) -> Markup:
    """
    Return a whole page, from its document type to its end.
    """
    # By its hash: were a text to get out of its place, a style of its own would still do nothing.
    digest = b64encode(sha256(style().encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = (
        f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"{element('title', title)}\n<style>{style()}</style>"
    )
    return Markup(
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n'
        f"<body>\n{joined(body)}\n</body>\n</html>\n"
    )

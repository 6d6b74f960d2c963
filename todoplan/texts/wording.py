"""Texts are data: they are stored in .txt files beside this module, and are filled here."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

__all__ = ["fill", "names", "say", "wording"]


_NAME = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


@cache
def _sections(file: str) -> dict[str, str]:
    source = files("todoplan.texts").joinpath(f"{file}.txt")
    if not source.is_file():  # a user's own tool set, for which todoplan has no texts
        return {}
    sections = source.read_text("utf-8").split("\n== ")[1:]
    named = (section.partition(" ==\n") for section in sections)
    return {name: body.strip("\n") for name, _, body in named}


def wording(file: str, name: str, default: str | None = None) -> str:
    """
    Return a text from its file, with its $names not filled in.

    Raises:
        KeyError: there is no such text and no default.
    """
    found = _sections(file).get(name, default)
    if found is None:
        raise KeyError(name)
    return found


def names(file: str) -> tuple[str, ...]:
    """Return the names of a file's texts, in file order."""
    return tuple(_sections(file))


def say(file: str, name: str, /, **values: object) -> str:
    """
    Return a text with its $names filled in. Values are inserted as they are, never as templates.
    """
    return _template(file, name) % values


@cache
def _template(file: str, name: str) -> str:
    return _parsed(wording(file, name))


def fill(text: str, values: Mapping[str, object]) -> str:
    """
    Return a text with its $names filled in.

    Raises:
        KeyError: a name has no value.
    """
    return _parsed(text) % values


@lru_cache(maxsize=1024)
def _parsed(text: str) -> str:
    """Return the text with each $name replaced by %(name)s."""
    # `%` takes a tenth of the time of string.Template, and every reply is filled here.
    return _NAME.sub(r"%(\1)s", text.replace("%", "%%"))

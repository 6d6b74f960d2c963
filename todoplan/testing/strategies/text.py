"""Honest texts and ids: short, meeting again, shrinking to "a" and "1"."""

from functools import cache
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

__all__ = ["NO_IDS", "any_ids", "few", "ids", "texts", "titles"]

T = TypeVar("T")

NO_IDS = ("0", "007", "x", "\uff11\uff12", "-1", "1.0", " 1", "", "9" * 30)
"""Texts that are no id in any plan."""

_COMMON = ("a", "b", "c", "d", "A", "a b", "a  b", "b!", "\uff23", "\u2026", " a ")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_INNER = st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Cn"))


@cache
def few(of: SearchStrategy[T], most: int = 3, least: int = 0) -> SearchStrategy[tuple[T, ...]]:
    """
    Draw a short tuple.
    """
    return st.lists(of, min_size=least, max_size=most).map(tuple)


@cache
def titles(max_size: int = 12) -> SearchStrategy[str]:
    """
    Draw subjects that every plan takes: some that are alike but for case or spaces, or any script.
    """
    rest = st.text(_INNER, max_size=max_size - 1)
    return st.sampled_from(_COMMON) | st.builds(str.__add__, st.sampled_from(_LETTERS), rest)


@cache
def texts() -> SearchStrategy[str]:
    """
    Draw what might be given for a subject: also nothing, blanks, and any characters.
    """
    return titles() | st.sampled_from(["", "   ", "\n"]) | st.text(max_size=8)


@cache
def ids(most: int = 12) -> SearchStrategy[str]:
    """
    Draw ids as plans have them, from "1" up.
    """
    return st.integers(1, most).map(str)


@cache
def any_ids() -> SearchStrategy[str]:
    """
    Draw ids, and texts that are none.
    """
    return ids() | st.sampled_from(NO_IDS)

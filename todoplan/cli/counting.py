"""Numbers with their nouns."""

__all__ = ["percent", "plural"]


def plural(count: int, noun: str) -> str:
    """
    Return "1 plan", "2 plans".
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def percent(part: int, whole: int) -> str:
    """
    Return a share as "12.5 %", and "-" of nothing.
    """
    return f"{100 * part / whole:.1f} %" if whole else "-"

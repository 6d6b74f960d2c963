"""How a check fails: with what was found and what was wanted, whether or not pytest rewrites it."""

from collections.abc import Mapping

__all__ = ["must", "same", "same_parts"]


def must(holds: object, message: str) -> None:
    """
    Fail the check unless something holds.

    Raises:
        AssertionError: it does not.
    """
    if not holds:
        raise AssertionError(message)


def same(found: object, wanted: object, what: str) -> None:
    """
    Fail the check unless what was found is what was wanted.

    Raises:
        AssertionError: it is not.
    """
    must(found == wanted, f"{what}:\n  found  {found!r}\n  wanted {wanted!r}")


def same_parts(found: Mapping[str, object], wanted: Mapping[str, object], what: str) -> None:
    """
    Fail the check unless the parts of what was found are those of what was wanted; only those that
    differ are said.

    Raises:
        AssertionError: they are not.
    """
    names = [name for name in {**wanted, **found} if _part(found, name) != _part(wanted, name)]
    lines = (f"  {n}: found {_part(found, n)}, wanted {_part(wanted, n)}" for n in names)
    must(not names, "\n".join((f"{what} is not as wanted:", *lines)))


def _part(parts: Mapping[str, object], name: str) -> str:
    return repr(parts[name]) if name in parts else "nothing"

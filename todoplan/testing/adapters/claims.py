"""How a check fails: with what was found and what was wanted, whether or not pytest rewrites it."""

__all__ = ["must", "same"]


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

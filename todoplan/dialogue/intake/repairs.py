"""What intake mended, as values: the reply says so, nothing is mended silently."""

import attrs

__all__ = ["Repair"]


@attrs.frozen
class Repair:
    """
    One mend: what kind, where in the arguments, what was given, what it was read as.
    """

    code: str
    path: str = ""
    seen: str = ""
    used: str = ""

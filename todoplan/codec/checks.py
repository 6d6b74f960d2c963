"""
A checksum for a journal entry or a plan, which detects accidental damage.

Of 150,000 documents in which bits were flipped, 2 % still loaded, as different plans: one digit of
a revision or one letter of a title is as valid as another. Law: with a checksum, such a document is
a `CodecError`. A document without a checksum loads as before, so that older documents and those of
other programs stay valid.

The checksum is CRC-32 over the canonical text of the data: sorted keys, no spaces, ASCII. So it
does not depend on how the document was transported or stored, for example in a database's JSON
column that sorts keys, or by a tool that indents. It detects every flip of few bits, and misses one
in four thousand million other changes. It is not a signature: whoever changes an entry on purpose
can also compute its checksum.
"""

import json
import re
from typing import Any
from zlib import crc32

from todoplan.codec.faults import MisfitError, shown
from todoplan.errors import CodecError

__all__ = ["CHECK", "CHECK_PATTERN", "checksum", "unchecked"]

CHECK = "check"
"""The key of an object's checksum."""

CHECK_PATTERN = "crc32:[0-9a-f]{8}"
"""The format of a checksum. The word before the colon names the algorithm."""

_is_check = re.compile(CHECK_PATTERN).fullmatch
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def checksum(data: dict[str, Any]) -> str:
    """
    Return the checksum of an object. It is stored in the object as `CHECK`, and does not cover
    itself.
    """
    return f"crc32:{crc32(_canonical(data).encode()):08x}"


def unchecked(data: Any, what: str, where: dict[str, Any]) -> Any:
    """
    Return an object without its checksum, after verifying it. An object without one is returned as
    is.

    `what` and `where` describe the object in error messages.

    Raises:
        MisfitError: the value of "check" is not a checksum.
        CodecError: the object differs from what was written.
    """
    if not isinstance(data, dict) or CHECK not in data:
        return data
    rest = dict(data)
    said = rest.pop(CHECK)
    if not isinstance(said, str) or not _is_check(said):
        legal = "no check such as crc32:0a1b2c3d; a newer todoplan may know it"
        raise MisfitError([(f".{CHECK}", f"{shown(said)} is {legal}")])
    try:
        found = checksum(rest)
    # Data from a framework did not come from a JSON parser, and may contain anything.
    except (TypeError, ValueError, RecursionError):
        found = "what is no JSON"
    if found != said:
        msg = (
            f"this {what} is damaged: it was written with the check {said} and comes to {found}; "
            f'restore it from a copy, or take "{CHECK}" out to read it as it stands'
        )
        raise CodecError(msg, problem="damaged", path=CHECK, said=said, found=found, **where)
    return rest

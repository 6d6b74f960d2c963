"""The head of a document (format and version), and upcasting from older versions."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from todoplan.codec.faults import shown
from todoplan.errors import CodecError

__all__ = ["JOURNAL", "PLAN", "UPCASTERS", "VERSION", "Upcasters", "check_head", "upcast"]

PLAN = "todoplan/plan"
JOURNAL = "todoplan/journal"
VERSION = 2

Upcasters = Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]]
"""
A mapping from each version to the function that converts a document to the next version.

A function returns new data and does not change its argument. For a journal it receives one entry.
"""


# Version 2 only adds to version 1: the status failed, subtasks, waiting, answers, checks, evidence,
# approval. Its number tells an older todoplan why it cannot read such a document. The data are
# returned unchecked: if they are not an object, the readers report that.
def _from_1(data: dict[str, Any]) -> dict[str, Any]:
    return data


class _Named(dict[int, Callable[[dict[str, Any]], dict[str, Any]]]):
    """
    A dict whose repr in a signature is its name: an address in it would differ from run to run.
    """

    def __repr__(self) -> str:
        return "UPCASTERS"


# Read-only, because everybody shares this default.
UPCASTERS: Upcasters = MappingProxyType(_Named({1: _from_1}))

_OTHER = {PLAN: "load_plan reads it", JOURNAL: "load_journal reads it"}


def check_head(data: Any, form: str) -> int:
    """
    Return the version of a document, after checking its format.

    Raises:
        CodecError: the document has another format, or a newer version than this todoplan.
    """
    if not isinstance(data, dict) or data.get("format") != form:
        raise _wrong_format(data, form)
    version = data.get("version")
    if type(version) is not int or version < 0:  # True is an int, but not a version
        msg = f"version: {shown(version)} is no version; this todoplan reads up to {VERSION}"
        raise CodecError(msg, problem="wrong_version", path="version", version=version)
    if version > VERSION:
        msg = (
            f"written by a newer todoplan: version {shown(version)}, "
            f"this one reads up to {VERSION}; upgrade"
        )
        raise CodecError(msg, problem="newer_version", path="version", version=version)
    return version


def _wrong_format(data: Any, form: str) -> CodecError:
    if not isinstance(data, dict):
        msg = f"{shown(data)} is no {form} document"
        return CodecError(msg, problem="wrong_format", path="")
    seen = data.get("format")
    hint = _OTHER.get(seen, "") if isinstance(seen, str) else ""
    msg = f"format: {shown(seen)} is not {shown(form)}{hint and '; '}{hint}"
    return CodecError(msg, problem="wrong_format", path="format", version=data.get("version"))


def upcast(data: dict[str, Any], version: int, upcasters: Upcasters) -> dict[str, Any]:
    """
    Return the document converted to the current version.

    Raises:
        CodecError: an upcaster is missing, or the document was not what its upcaster expects.
    """
    for old in range(version, VERSION):
        if old not in upcasters:
            msg = f"version {old} is older than {VERSION}, and no upcaster reads it; give one"
            raise CodecError(msg, problem="older_version", path="version", version=version)
        try:
            data = upcasters[old](data)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            msg = f"the upcaster from version {old} failed: {error!r}"
            raise CodecError(msg, problem="upcast_failed", path="", version=version) from error
    return data

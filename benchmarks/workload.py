"""The plan that every contender gets: half completed, one in progress, the rest pending."""

import json
from collections.abc import Iterator

__all__ = ["DENSE", "active_id", "edges", "entries", "listed", "open_id", "title"]

DENSE = 10
"""The number of blockers of a task in the dense graph."""


def title(number: int, verb: str = "Write") -> str:
    """Return a text of about 45 characters."""
    return f"{verb} part {number} of the work that was asked for"


def entries(size: int, *, verb: str = "Write") -> Iterator[tuple[str, str, str]]:
    """Yield id, text and status of each task."""
    half = size // 2
    for number in range(1, size + 1):
        status = "completed" if number <= half else "pending"
        yield str(number), title(number, verb), "in_progress" if number == half + 1 else status


def active_id(size: int) -> str:
    """Return the id of the middle task, which is in progress."""
    return str(size // 2 + 1)


def open_id(size: int) -> str:
    """Return the id of the pending task after the middle one."""
    return str(size // 2 + 2)


def listed(size: int, *, verb: str = "Write", moved: int = 0, **extra: str) -> str:
    """Return a whole list as JSON arguments, with `moved` more tasks completed than in the plan."""
    told = [
        {"content": text, "status": status, **extra} for _, text, status in entries(size, verb=verb)
    ]
    at = size // 2
    for place in range(at, at + moved):
        told[place]["status"] = "completed"
    if moved:
        told[at + moved]["status"] = "in_progress"
    return json.dumps({"todos": told})


def edges(size: int, shape: str) -> Iterator[tuple[int, int]]:
    """
    Yield (blocker, blocked) pairs of a chain, of one task that blocks all others ("wide"), or of
    ten blockers for each task ("dense").
    """
    for number in range(2, size + 1):
        if shape == "chain":
            yield number - 1, number
        elif shape == "wide":
            yield 1, number
        else:
            yield from ((before, number) for before in range(max(1, number - DENSE), number))

"""
What a forked child does with its copies of its parent's connections: nothing, ever.

To close one there, or to let it be collected, would end the session that the parent goes on using;
and a lock that another thread of the parent held would be held in the child for ever.
"""

import os
from typing import Protocol
from weakref import WeakSet

__all__ = ["Forked", "begins_anew", "left_alone"]


class Forked(Protocol):
    """
    What has connections, threads or locks.
    """

    def forked(self) -> object:
        """
        Begin anew in a child process, and return what must be neither closed nor collected there.
        """
        ...


_every: "WeakSet[Forked]" = WeakSet()
_of_parents: list[object] = []


def begins_anew(thing: Forked) -> None:
    """
    Have a thing begin anew in each child process that is forked.
    """
    _every.add(thing)


def left_alone(of_parent: object) -> None:
    """
    Keep what is a parent's, so that it is never collected here.
    """
    _of_parents.append(of_parent)


def _forked() -> None:
    _of_parents.extend(thing.forked() for thing in _every)


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork either
    os.register_at_fork(after_in_child=_forked)

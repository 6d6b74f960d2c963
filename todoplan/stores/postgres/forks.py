"""
Handling of a parent's connections in a forked child: the child never uses or closes them.

Closing a connection in the child, or letting it be garbage-collected, would end the session that
the parent still uses. And a lock that another thread of the parent held at the fork would stay
locked in the child forever.
"""

import os
from typing import Protocol
from weakref import WeakSet

__all__ = ["Forked", "begins_anew", "left_alone"]


class Forked(Protocol):
    """An object that has connections, threads or locks."""

    def forked(self) -> object:
        """
        Reset the object in a child process, and return what the child must neither close nor
        collect.
        """
        ...


_every: "WeakSet[Forked]" = WeakSet()
_of_parents: list[object] = []


def begins_anew(thing: Forked) -> None:
    """Register an object to be reset in each forked child process."""
    _every.add(thing)


def left_alone(of_parent: object) -> None:
    """
    Keep a reference to an object of the parent, so that it is never collected in this process.
    """
    _of_parents.append(of_parent)


def _forked() -> None:
    _of_parents.extend(thing.forked() for thing in _every)


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)

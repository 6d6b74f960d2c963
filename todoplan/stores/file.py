"""Plans in one JSON file: shared by processes, kept across restarts, never half written."""

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs

from todoplan.codec import VERSION, entry_from_data, entry_to_data
from todoplan.codec.text import LIMIT, parse, to_text, to_unicode
from todoplan.codec.versions import check_head
from todoplan.core.events.apply import replay
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, StoreError
from todoplan.stores.base import checked_id

__all__ = ["FORMAT", "FileStore"]

FORMAT = "todoplan/plans"
"""What the head of the file says. Below `plans` stands a journal for each plan, by its id."""

_PRIVATE = 0o600
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@attrs.frozen
class _Kept:
    """
    One plan with its journal, also as the lines that stand in the file.
    """

    plan: Plan = Plan()
    entries: tuple[Entry, ...] = ()
    lines: tuple[str, ...] = ()

    def longer(self, entries: Sequence[Entry], plan: Plan) -> "_Kept":
        lines = (to_text(entry_to_data(entry)) for entry in entries)
        return _Kept(plan, (*self.entries, *entries), (*self.lines, *lines))


_Plans = Mapping[str, _Kept]
_Stamp = tuple[int, int, int]
_NOTHING: _Plans = MappingProxyType({})


class FileStore:
    """
    A `Store` in one JSON file, which its owner alone may read. Safe between threads and processes.

    An append writes the file anew and swaps it in while a lock on `<file>.lock` is held. The file
    is missing until the first append; a symbolic link is refused.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self._lock = self.path.with_name(f"{self.path.name}.lock")
        self._new = self.path.with_name(f"{self.path.name}.new")
        self._read: tuple[_Stamp | None, _Plans] = (None, _NOTHING)

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as of its last entry.

        Raises:
            StoreError: the file cannot be opened, or is no plain file.
            CodecError: it is truncated, corrupt, too large, or of a newer format.
        """
        return self._kept(plan_id).plan

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of the plans that the file keeps, in the order in which they came.

        Raises:
            TodoplanError: as of `load`.
        """
        with _refusing(self.path, "read"):
            return tuple(self._plans())

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest first.

        Raises:
            TodoplanError: as of `load`.
        """
        return self._kept(plan_id).entries

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`, and say whether that was so.

        Raises:
            TodoplanError: as of `load`; and a StoreError if the file cannot be written.
        """
        with _refusing(self.path, "written"), _held(self._lock):
            plans = self._plans()  # and not `_read`, which a reader may set to an older file
            kept = plans.get(plan_id, _Kept())
            if kept.plan.revision != expected:
                return False
            self._swap({**plans, checked_id(plan_id): kept.longer(entries, plan)})
            return True

    def _kept(self, plan_id: str) -> _Kept:
        with _refusing(self.path, "read"):
            return self._plans().get(plan_id, _Kept())

    def _plans(self) -> _Plans:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | _NOFOLLOW)
        except FileNotFoundError:
            self.path.parent.stat()
            self._read = (None, _NOTHING)
            return _NOTHING
        with os.fdopen(descriptor, "rb") as file:
            stamp, (known, plans) = _stamp(os.fstat(descriptor)), self._read
            if stamp != known:
                plans = _decoded(file.read(LIMIT + 1), self.path)
                self._read = stamp, plans
        return plans

    def _swap(self, plans: _Plans) -> None:
        """
        Put a new file in the place of the old one, at once and on the disk.
        """
        document = _document(plans)
        self._new.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
        with os.fdopen(os.open(self._new, flags, _PRIVATE), "wb") as file:
            file.write(document)
            file.flush()
            os.fsync(file.fileno())
            stamp = _stamp(os.fstat(file.fileno()))
        self._new.replace(self.path)
        _sync(self.path.parent)
        self._read = (stamp, plans)


@contextmanager
def _refusing(path: Path, done: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        linked = error.errno == errno.ELOOP
        reason = "it is a symbolic link; name the file itself" if linked else error.strerror
        msg = f"{path} cannot be {done}: {reason}"
        raise StoreError(msg, file=str(path)) from error


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    try:
        from fcntl import LOCK_EX, flock  # noqa: PLC0415 - not there on every system
    except ImportError:
        msg = f"{lock} cannot be locked: a FileStore needs a POSIX system; take another store"
        raise StoreError(msg, file=str(lock)) from None
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | _NOFOLLOW, _PRIVATE)
    try:
        flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _stamp(status: os.stat_result) -> _Stamp:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no plain file")
    return status.st_ino, status.st_mtime_ns, status.st_size


def _document(plans: _Plans) -> bytes:
    between = ",\n"
    journals = between.join(
        f"{to_text(plan_id)}:[\n{between.join(kept.lines)}\n]" for plan_id, kept in plans.items()
    )
    head = f'{{"format":"{FORMAT}","version":{VERSION},"plans":{{'
    document = f"{head}\n{journals}\n}}}}\n".encode()
    if len(document) > LIMIT:
        raise OSError(errno.EFBIG, f"it would have {len(document)} bytes, the limit is {LIMIT}")
    return document


def _decoded(document: bytes, path: Path) -> _Plans:
    try:
        data = parse(to_unicode(document, LIMIT))
        version = check_head(data, FORMAT)
        return {key: _journal(key, found, version) for key, found in _journals(data).items()}
    except CodecError as error:
        msg = f"{path} holds no plans that can be trusted: {error}; mend it or move it away"
        raise CodecError(msg, **{**error.data, "file": str(path)}) from error


def _journals(data: dict[str, Any]) -> dict[str, Any]:
    plans = data.get("plans")
    if not isinstance(plans, dict) or not all(isinstance(kept, list) for kept in plans.values()):
        msg = "plans: no object with a list for each plan"
        raise CodecError(msg, problem="wrong_shape", path="plans")
    return plans


def _journal(plan_id: str, found: list[Any], version: int) -> _Kept:
    """
    Return a journal and what it leads to; each entry has to name the revision that it led to.
    """
    entries, plan = [], Plan()
    for place, data in enumerate(found):
        entry = _entry(data, version, f"plans.{plan_id}[{place}]")
        plan = replay(plan, entry.events)
        if plan.revision != entry.revision:
            path = f"plans.{plan_id}[{place}].revision"
            msg = f"{path}: {entry.revision}, but the events up to here lead to {plan.revision}"
            raise CodecError(msg, problem="wrong_shape", path=path)
        entries.append(entry)
    return _Kept().longer(entries, plan)


def _entry(data: Any, version: int, path: str) -> Entry:
    try:
        return entry_from_data(data, version=version)
    except CodecError as error:
        msg = f"{path}: {error}"
        raise CodecError(msg, **{**error.data, "path": path}) from error

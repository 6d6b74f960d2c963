"""
A store in one JSON file that processes can share. A crash never leaves the file half written.

Every append writes a new file, which replaces the old one completely or not at all. Appending in
place would be faster, but a power failure could leave half an entry, and every reader would have to
distinguish that from damage. A person can read the file and repair it by hand.

The time of an append grows with the size of the file. So there is a size limit, and a warning long
before it. A single plan may use only a share of the limit; otherwise one large plan could stop
everybody from writing.

A `FileStore` remembers what it has read. If the file has disappeared, or a plan is at an earlier
revision than before, somebody has deleted the file or restored an older copy. The store then raises
an error: if it continued, work would silently be undone.
"""

import errno
import os
import stat
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs

from todoplan.codec import VERSION, entry_from_data
from todoplan.codec.documents import check_head, entry_to_line
from todoplan.codec.engine import LIMIT, parse, to_text, to_unicode
from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, StoreError
from todoplan.stores.base import checked_id, plan_after
from todoplan.stores.locks import (
    closed,
    lock,
    open_plain,
    refusing,
    remove_stale,
    sync_folder,
    unlocked,
    write_anew,
)

FORMAT = "todoplan/plans"
"""The format name in the head of the file. Its `plans` object has a journal for each plan id."""

SHARE = LIMIT // 4
"""The maximum size of one plan's journal in bytes."""

_WARNED_AT = LIMIT // 8
_MEBIBYTE = 1024 * 1024


@attrs.frozen
class _Kept:
    """One plan with its journal, and the lines of the journal in the file."""

    plan: Plan = Plan()
    entries: tuple[Entry, ...] = ()
    # An append writes the whole file, but encodes only its own entries and reuses the other lines.
    lines: tuple[str, ...] = ()
    size: int = 0

    def longer(self, entries: Sequence[Entry], plan: Plan) -> "_Kept":
        lines = [entry_to_line(entry) for entry in entries]
        size = self.size + sum(len(line.encode()) for line in lines)
        return _Kept(plan, (*self.entries, *entries), (*self.lines, *lines), size)


_Plans = Mapping[str, _Kept]
# Inode, modification time and size of the file. If one of them has changed, the file is read again.
# An append always changes the size, because journals only grow; an edit by hand or a restored copy
# changes the inode or the time.
_Stamp = tuple[int, int, int]
_NOTHING: _Plans = MappingProxyType({})


class FileStore:
    """
    A `Store` in one JSON file, readable by its owner only. Safe between threads and processes.

    An append waits for other writers for at most `patience` seconds, then raises a StoreError whose
    `data["problem"]` is "busy". The first append creates the file. A symbolic link is refused. An
    existing file keeps its permissions.
    """

    def __init__(self, path: str | os.PathLike[str], *, patience: float = 10.0) -> None:
        given: object = path
        if not isinstance(given, str | os.PathLike) or "\0" in os.fspath(path):
            msg = f"{path!r} is no path; give the name of a file, such as FileStore('plans.json')"
            raise StoreError(msg, seen=path)
        # Made absolute now, because the process may change its working directory. `resolve` would
        # follow the links that the store refuses.
        self.path = Path(path).absolute()
        self._patience = patience
        self._read: tuple[_Stamp | None, _Plans] = (None, _NOTHING)
        self._has_written = self._has_warned = False

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as its last entry left it.

        Raises:
            StoreError: the file cannot be opened, or is not a regular file.
            CodecError: the file is truncated, corrupt, too large, or of a newer format.
        """
        return self._kept(plan_id).plan

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of the plans in the file, in the order in which they were added.

        Raises:
            TodoplanError: the same errors as `load`.
        """
        with refusing(self.path, "read"):
            return tuple(self._plans())

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest entry first.

        Raises:
            TodoplanError: the same errors as `load`.
        """
        return self._kept(plan_id).entries

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`; return whether they were added.

        Raises:
            TodoplanError: the same errors as `load`; a StoreError if the file is busy or cannot be
                written, or if the plan has used its share of the file. After an error, nothing was
                appended, unless `data["problem"]` is "unsynced".
        """
        locks: tuple[list[int], list[int]] = [], []
        process = os.getpid()

        def let_go() -> None:
            for taken in reversed(locks):
                unlocked(taken, process)

        with refusing(self.path, "written"):
            try:
                lock(locks, self.path, self._patience)
                return self._append(plan_id, expected, entries, plan)
            finally:
                try:
                    let_go()
                finally:
                    let_go()

    def _append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        plans = self._plans()  # not `_read`, which a concurrent reader may set to an older file
        kept = plans.get(plan_id, _Kept())
        if kept.plan.revision != expected:
            return False
        grown = kept.longer(entries, plan)
        # `is`, because a file without plans also equals `_NOTHING`, but has to be replaced.
        is_first = plans is _NOTHING
        plans = {**plans, checked_id(plan_id): grown}
        document = self._document(plan_id, plans)
        if not self._has_written:
            remove_stale(self.path)
        try:
            written = write_anew(self.path, document, is_first=is_first)
        except FileExistsError:
            return False  # a writer with another lock file has just created the file
        # Before the folder is synced: the new file is in place even if that fails.
        self._read, self._has_written = (_stamp(written), plans), True
        try:
            sync_folder(self.path.parent)
        except OSError as error:
            msg = (
                f"{self.path} was written, but may be lost in a power failure: {error.strerror}. "
                f"The plan {plan_id!r} has been changed; load it before you try again"
            )
            raise StoreError(msg, file=str(self.path), problem="unsynced") from error
        return True

    def _kept(self, plan_id: str) -> _Kept:
        with refusing(self.path, "read"):
            return self._plans().get(plan_id, _Kept())

    def _plans(self) -> _Plans:
        # Read before the file is opened, so the content read below is at least as new as `before`.
        before, taken = self._read, list[int]()
        try:
            descriptor = open_plain(taken, self.path)
            stamp = _stamp(os.fstat(descriptor))
            if stamp == before[0]:
                return before[1]
            with open(descriptor, "rb", closefd=False) as file:
                plans = _decoded(file.read(LIMIT + 1))
        except FileNotFoundError:
            # A missing folder is a misspelled path. Reading reports it, before any work is lost.
            self.path.parent.stat()
            if before[0] is not None:
                raise self._gone_back(problem="deleted", what="it is not there any more") from None
            return _NOTHING
        # Law 11: OpenHands and docker-agent read a corrupt file as an empty list and save that.
        except CodecError as error:
            said = f"{self.path} holds no plans that can be trusted: {error}"
            msg = f"{said}; repair it or move it away"
            raise CodecError(msg, **{**error.data, "file": str(self.path)}) from error
        finally:
            try:
                closed(taken)
            finally:
                closed(taken)
        # Entries are compared, not revisions: an older copy may have been restored and changed.
        for plan_id, known in before[1].items():
            tail = plans.get(plan_id, _Kept()).entries[len(known.entries) - 1 :]
            if known.entries and tail[:1] != known.entries[-1:]:
                what = f"revision {known.plan.revision} of the plan {plan_id!r} is not in it"
                raise self._gone_back(problem="rolled_back", what=what)
        self._read = stamp, plans
        return plans

    def _gone_back(self, *, problem: str, what: str) -> StoreError:
        msg = (
            f"{self.path} was deleted or restored from older data while in use: {what}. Nothing "
            "was written; restore the newer file, or make a new FileStore to continue from this"
        )
        return StoreError(msg, file=str(self.path), problem=problem)

    def _document(self, plan_id: str, plans: _Plans) -> bytes:
        """Return the bytes of the new file. Raise an error if it or the plan is too large."""
        if plans[plan_id].size > SHARE:
            msg = (
                f"{self.path}: the journal of the plan {plan_id!r} would have "
                f"{plans[plan_id].size} bytes, and one plan may have {SHARE}, so that there is "
                "room for others; continue in a new plan, or in a SqliteStore: `todoplan store "
                "copy` copies plans there"
            )
            raise StoreError(msg, file=str(self.path), problem="too_large", plan_id=plan_id)
        # An id is a key in the file, never a file name: Gemini's tracker puts ids unchecked into
        # paths.
        between = ",\n"
        journals = between.join(
            f"{to_text(each)}:[\n{between.join(kept.lines)}\n]" for each, kept in plans.items()
        )
        head = f'{{"format":"{FORMAT}","version":{VERSION},"plans":{{'
        document = f"{head}\n{journals}\n}}}}\n".encode()
        if len(document) > LIMIT:
            reason = f"it would have {len(document)} bytes, the limit is {LIMIT}"
            raise OSError(errno.EFBIG, reason)
        if len(document) > _WARNED_AT and not self._has_warned:
            self._has_warned = True
            msg = (
                f"{self.path} has {len(document) // _MEBIBYTE} of at most {LIMIT // _MEBIBYTE} "
                "MiB, and every append writes all of it; put other plans in another file, or use "
                "a SqliteStore: `todoplan store copy` copies plans there"
            )
            warnings.warn(msg, stacklevel=3)
        return document


def _stamp(status: os.stat_result) -> _Stamp:
    if stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no plain file")
    return status.st_ino, status.st_mtime_ns, status.st_size


def _decoded(document: bytes) -> _Plans:
    data = parse(to_unicode(document, LIMIT))
    version = check_head(data, FORMAT)
    plans = data.get("plans")
    if not isinstance(plans, dict) or not all(isinstance(saved, list) for saved in plans.values()):
        msg = "plans: no object with a list for each plan"
        raise CodecError(msg, problem="wrong_shape", path="plans")
    return {plan_id: _journal(plan_id, saved, version) for plan_id, saved in plans.items()}


def _journal(plan_id: str, saved: list[Any], version: int) -> _Kept:
    """
    Return a journal and its plan from `saved`, the entries in the file.

    Each entry must state the revision that its events lead to.
    """
    entries, plan = [], Plan()
    for place, data in enumerate(saved):
        path = f"plans.{plan_id}[{place}]"
        try:
            entry = entry_from_data(data, version=version)
        except CodecError as error:
            msg = f"{path}: {error}"
            raise CodecError(msg, **{**error.data, "path": path}) from error
        plan = plan_after(plan, entry)
        # Replay checks no rules: only this comparison detects a missing or duplicated entry.
        if plan.revision != entry.revision:
            path += ".revision"
            msg = f"{path}: {entry.revision}, but the events up to here lead to {plan.revision}"
            raise CodecError(msg, problem="wrong_shape", path=path)
        entries.append(entry)
    # The lines are encoded again: the next append writes them under a head that says VERSION.
    return _Kept().longer(entries, plan)

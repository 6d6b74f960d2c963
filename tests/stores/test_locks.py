"""Waiting for a lock in the system's own queue, with a deadline."""

import errno
import fcntl
import os
import sys
import threading
import time
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

import pytest
from support.stored import refused

from todoplan import stores
from todoplan.stores import locks
from todoplan.stores.locks import LockQueue, unlocked


@pytest.fixture
def queues(tmp_path):
    """Two handles of one lock, as of two processes. At the end, nothing may be left open."""
    path = tmp_path / "plans.db"
    yield LockQueue(path), LockQueue(path)
    until(lambda: not waiting())
    assert descriptors(path) == 0


@contextmanager
def held(queue, patience):
    """Hold a lock, as stores do."""
    taken = []
    try:
        yield queue.take(taken, time.monotonic() + patience)
    finally:
        unlocked(taken, os.getpid())


def waiting():
    """Return the threads that wait for a lock."""
    return [each for each in threading.enumerate() if each.name == "todoplan lock"]


def descriptors(path):
    """Return how many descriptors of a file's lock are open; other tests' may close meanwhile."""
    count = 0
    for number in [int(each.name) for each in Path("/dev/fd").iterdir()]:
        with suppress(OSError):  # that of the listing itself, or closed by another thread
            count += locks.is_at(f"{path}.lock", number)
    return count


def until(holds):
    """Wait until something holds, or fail."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it never held"
        time.sleep(0.001)


def test_who_waits_comes_to_the_lock_when_it_is_let_go_of(queues, tmp_path):
    """One after the other; nothing is left open."""
    order = []

    def work(number):
        with held(LockQueue(tmp_path / "plans.db"), 60):
            order.append(number)
            time.sleep(0.002)
            order.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert order[::2] == order[1::2]
    assert sorted(order) == sorted([*range(6)] * 2)


def test_a_wait_has_an_end(queues, monkeypatch):
    """Who was given up lets go at once when the lock comes; further tries need no thread."""
    holder, late = queues
    copied, copies = os.dup, []

    def dup(descriptor):
        copies.append(copied(descriptor))  # as a child that is forked meanwhile has one
        return copied(descriptor)

    monkeypatch.setattr(os, "dup", dup)
    with held(holder, 1):
        for _ in range(3):
            with held(late, 0.02) as is_locked:
                assert not is_locked
        assert len(waiting()) == 1
    until(lambda: not waiting())
    with held(late, 1) as first, held(holder, 0) as second:
        assert (first, second) == (True, False)
    for copy in copies:
        os.close(copy)


def test_an_interrupt_leaves_nothing_locked(queues, monkeypatch):
    """Whether it comes before the lock does, or just behind it."""
    holder, late = queues

    class Interrupted(threading.Event):
        def wait(self, timeout=None):
            raise KeyboardInterrupt

    monkeypatch.setattr(locks, "Event", Interrupted)
    with held(holder, 1), pytest.raises(KeyboardInterrupt), held(late, 60):
        """Never."""
    until(lambda: not waiting())
    with held(holder, 0) as is_locked:
        assert is_locked


def test_a_file_system_that_runs_out_of_locks_is_busy(queues, monkeypatch):
    """The thread that waits ends, and who waits is told after the time that was given."""
    real = fcntl.flock

    def out_of_locks(descriptor, what):
        if not what & fcntl.LOCK_NB and what & fcntl.LOCK_EX:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
        real(descriptor, what)

    monkeypatch.setattr(fcntl, "flock", out_of_locks)
    holder, late = queues
    with held(holder, 1), held(late, 0.01) as is_locked:
        assert not is_locked


def test_without_fcntl_the_module_is_there_and_says_what_is_missing(tmp_path, monkeypatch):
    """Such a system can use the stores that lock nothing: only who locks a file is refused."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(stores, "locks", locks)  # put back at the end
    monkeypatch.delitem(sys.modules, locks.__name__)
    anew = import_module(locks.__name__)
    turn = []
    anew.Turn("a store in memory").take(turn, 0)
    assert turn == [True]
    take = anew.LockQueue(tmp_path / "plans.db").take
    refused("no_locks", lambda: take([], 0), "needs a POSIX system")


def test_a_thread_that_begins_after_it_was_given_up_asks_for_no_lock(queues, monkeypatch):
    """Its caller has closed the descriptor: another file may have the number by now."""
    holder, late = queues
    begins, asked, real = threading.Event(), [], threading.Thread.run

    def run_late(waiter):
        begins.wait(60)
        with monkeypatch.context() as patch:
            patch.setattr(fcntl, "flock", lambda *given: asked.append(given))
            real(waiter)

    monkeypatch.setattr(threading.Thread, "run", run_late)
    with held(holder, 1):
        with held(late, 0.01) as is_locked:
            assert not is_locked
        assert len(waiting()) == 1
        begins.set()
        until(lambda: not waiting())
    assert asked == []


def test_where_no_thread_can_be_started_it_asks_again_and_again(queues, monkeypatch):
    """The lock comes all the same, or the end of the time; no descriptor stays open."""
    holder, late = queues

    def refused(*_, **__):
        msg = "can't start new thread"
        raise RuntimeError(msg)

    with held(holder, 1):
        monkeypatch.setattr(threading.Thread, "start", refused)
        for _ in range(5):
            with held(late, 0.02) as is_locked:
                assert not is_locked
        monkeypatch.undo()
    with held(late, 1) as is_locked:
        assert is_locked

"""Plans that are locked in this process, in memory and in SQLite."""

import pytest
from support.stored import DIG, create, write

from todoplan.core.plan.plan import Plan
from todoplan.stores.base import Key, Receipt
from todoplan.stores.memory import MemoryHold, MemoryStore


def test_an_append_that_is_interrupted_leaves_nothing():
    """Entries that raise while they are taken leave plan and journal as they were."""
    store = MemoryStore()

    def broken():
        yield DIG.entries[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.append("a", 0, broken(), DIG.plan)
    assert (store.load("a"), store.entries("a")) == (Plan(), ())
    write(store, DIG)
    assert store.entries("a") == DIG.entries


def test_a_hold_that_is_interrupted_while_it_is_kept_leaves_nothing(monkeypatch):
    """
    The receipt of a key counts only with its entries: the call is carried out when it comes again.
    """
    store = MemoryStore()

    class Interrupted(dict):
        def setdefault(self, *_):
            raise KeyboardInterrupt

    def add():
        with store.hold("a") as held:
            held.append(0, DIG.entries, DIG.plan, key=Key("k"), answer="done")
            return held.receipt(Key("k"))

    with monkeypatch.context() as patch:
        patch.setattr(store, "_journals", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            assert add() == Receipt(DIG.entries, "done")
    assert (store.load("a"), store.entries("a")) == (Plan(), ())
    with store.hold("a") as held:
        assert held.receipt(Key("k")) is None
    add()
    with store.hold("a") as held:
        assert held.receipt(Key("k")) == Receipt(DIG.entries, "done")
    assert store.entries("a") == DIG.entries


def test_a_release_that_is_interrupted_is_repeated(monkeypatch):
    """Ctrl-C before anything was released does not leave the store locked."""
    store, release = MemoryStore(), MemoryHold.release
    signals = iter([KeyboardInterrupt()])

    def interrupted(self):
        for signal in signals:
            raise signal
        release(self)

    monkeypatch.setattr(MemoryHold, "release", interrupted)
    with pytest.raises(KeyboardInterrupt), store.hold("a"):
        pass
    with store.hold("a") as held:
        assert held.revision == 0


@pytest.mark.parametrize("call", ["append", "apply"])
def test_an_interrupt_before_the_end_of_a_lock_releases_it(monkeypatch, call):
    """Ctrl-C may come when `__exit__` begins: an append and a planner release all the same."""
    store, signals = MemoryStore(), iter([KeyboardInterrupt()])
    leave = MemoryHold.__exit__

    def interrupted(self, *error):
        for signal in signals:
            raise signal
        leave(self, *error)

    monkeypatch.setattr(MemoryHold, "__exit__", interrupted)
    with pytest.raises(KeyboardInterrupt) as kept:  # the traceback keeps the lock's object alive
        _ = write(store, DIG) if call == "append" else create(store, "Dig")
    assert kept.value
    write(store, DIG)

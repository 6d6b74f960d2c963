"""The store in this process's memory."""

import pytest

from todoplan.core.commands import CreateTask
from todoplan.core.decide import Accepted, decide
from todoplan.core.events.apply import Entry, replay
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import Key, Receipt
from todoplan.stores.memory import MemoryStore


def first_entry():
    decision = decide(Plan(), CreateTask("Write"))
    assert isinstance(decision, Accepted)
    return Entry(decision.plan.revision, decision.events), decision.plan


def test_a_plan_that_was_never_written_is_empty():
    """
    Loading an unknown id gives the empty plan and an empty journal.
    """
    store = MemoryStore()
    assert store.load("a") == Plan()
    assert store.entries("a") == ()


def test_the_journal_replays_to_the_plan():
    """
    What was appended is kept in order, and its events lead to the plan that was kept.
    """
    store = MemoryStore()
    entry, plan = first_entry()
    assert store.append("a", 0, (entry,), plan)
    assert store.load("a") == replay(Plan(), store.entries("a")[0].events) == plan


def test_an_append_to_an_old_revision_is_refused_and_changes_nothing():
    """
    Whoever read before somebody else wrote is told so, and the journal stays as it was.
    """
    store = MemoryStore()
    entry, plan = first_entry()
    store.append("a", 0, (entry,), plan)
    assert not store.append("a", 0, (entry,), plan)
    assert store.entries("a") == (entry,)


def test_an_append_that_is_interrupted_leaves_nothing():
    """
    Entries that raise while they are taken leave plan and journal as they were.
    """
    store = MemoryStore()
    entry, plan = first_entry()

    def broken():
        yield entry
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.append("a", 0, broken(), plan)
    assert (store.load("a"), store.entries("a")) == (Plan(), ())
    assert store.append("a", 0, (entry,), plan)
    assert store.entries("a") == (entry,)


def test_plans_of_one_store_do_not_see_each_other():
    """
    A plan id is a world of its own.
    """
    store = MemoryStore()
    entry, plan = first_entry()
    store.append("a", 0, (entry,), plan)
    assert store.load("b") == Plan()


def test_a_hold_that_is_interrupted_while_it_is_kept_leaves_nothing(monkeypatch):
    """
    The receipt of a key counts only with its entries: the call is carried out when it comes again.
    """
    store = MemoryStore()
    entry, plan = first_entry()

    def interrupted(*_):
        raise KeyboardInterrupt

    def add():
        with store.hold("a") as held:
            return held.append(0, (entry,), plan, key=Key("k"), answer="done")

    with monkeypatch.context() as patch:
        patch.setattr(store, "_add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            add()
    assert (store.load("a"), store.entries("a")) == (Plan(), ())
    with store.hold("a") as held:
        assert held.receipt(Key("k")) is None
    add()
    with store.hold("a") as held:
        assert held.receipt(Key("k")) == Receipt((entry,), "done")
    assert store.entries("a") == (entry,)


def test_who_holds_a_plan_does_not_wait_for_himself():
    """A second hold in the same thread is refused at once, and the first goes on."""
    store = MemoryStore()
    entry, plan = first_entry()
    with store.hold("a") as held:
        with pytest.raises(StoreError, match="would wait for itself") as caught, store.hold("b"):
            """Never."""
        assert caught.value.data["problem"] == "nested"
        assert held.append(0, (entry,), plan)
    assert store.entries("a") == (entry,)


def test_a_plan_that_was_let_go_of_takes_nothing():
    """
    Somebody else may hold it by now.
    """
    store = MemoryStore()
    entry, plan = first_entry()
    with store.hold("a") as held:
        """Nothing is appended."""
    with pytest.raises(StoreError, match="is not held any more"):
        held.append(0, (entry,), plan)
    assert store.plan_ids() == ()

"""
A store over a slot: what the store suite asks, but for what a slot cannot do.

It cannot keep a second plan (here each plan has a slot of its own), a whole journal or keys over a
restart (so nothing is reopened), nor be reached by another process.
"""

import json

import pytest

from todoplan import Plan
from todoplan.core.commands import CreateTask
from todoplan.errors import CodecError, PlanError
from todoplan.planner import Planner
from todoplan.stores.slot import JOURNAL, SLOT, SlotStore, history_in_slot
from todoplan.testing.stores import StoreSuite


class Slots:
    """A slot for each plan."""

    def __init__(self):
        self.slots = {}

    def plan_ids(self):
        return tuple(name for name, slot in self.slots.items() if slot.plan_ids())

    def __getattr__(self, name):
        if not hasattr(SlotStore, name):
            raise AttributeError(name)

        def ask(plan_id, *given, **named):
            slot = self.slots.setdefault(plan_id, SlotStore({}, plan_id))
            return getattr(slot, name)(plan_id, *given, **named)

        return ask


class TestSlotStore(StoreSuite):
    """Plans in slots, each one the whole of its store."""

    def store(self):
        return Slots()


def test_a_slot_has_its_plan_from_the_start():
    """A saved slot without one would look like one whose plan is in a store."""
    slot = {"other": 1}
    store = SlotStore(slot)
    assert {*slot} == {"other", SLOT}
    assert store.load(SLOT) == Plan()
    assert store.history() == store.entries(SLOT) == ()


def test_what_is_appended_is_in_the_mapping_and_read_again():
    """The plan whole, of the journal the latest entries; its first is then the plan as loaded."""
    slot = {}
    planner = Planner(SlotStore(slot), SLOT)
    for number in range(60):
        planner.apply(CreateTask(f"t{number}"), actor="ann")
    again = SlotStore(json.loads(json.dumps(slot)))
    assert again.load(SLOT) == planner.plan
    assert len(slot[JOURNAL]) == 50
    assert [entry.actor for entry in again.history()] == ["ann"] * 50
    assert history_in_slot(slot, "agent") == again.history()
    assert history_in_slot(None, "agent") == ()
    later = Planner(again, SLOT)
    later.apply(CreateTask("later"), actor="bob")
    later.undo()
    assert later.undo().problems[0].code == "nothing_to_undo"
    assert [entry.actor for entry in again.history()][-2:] == ["bob", None]


def test_a_slot_keeps_no_second_plan():
    """Said at once, whatever is asked of it."""
    store = SlotStore({})
    with pytest.raises(PlanError, match="has one plan, 'plan'"):
        Planner(store, "other").apply(CreateTask("a"))
    with pytest.raises(PlanError, match="has one plan"):
        store.append("other", 0, (), Plan())


def test_a_damaged_slot_is_an_error():
    """Never an empty plan."""
    for damaged in ({SLOT: None}, {SLOT: {"format": "other"}}, {JOURNAL: "x"}, {JOURNAL: ["x"]}):
        with pytest.raises(CodecError):
            SlotStore(damaged)

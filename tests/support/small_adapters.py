"""What the tests of small adapters share: calls of the tool set `lean`, and laws for each."""

import gc

import pytest
from support.conformance import result

from todoplan import LEAN, Plan, Planner, Toolbox
from todoplan.core.commands import CreateTask
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Task
from todoplan.dialogue import Call, Settings, lean
from todoplan.errors import CodecError, PlanError
from todoplan.stores.memory import MemoryStore
from todoplan.testing.adapters import ModelTurn
from todoplan.testing.adapters.host import says

OFF = Settings(unfinished=0)
WRONG = {
    "a toolbox": lambda adapter, *_: adapter.Planning(Plan()),
    "settings": lambda adapter, *_: adapter.Planning(settings="often"),
    "a store": lambda adapter, *_: adapter.Planning(store="plans.db", plan_id="x"),
    "tools of": lambda adapter, *_: adapter.make_tools("planning"),
    "read": lambda adapter, *_: adapter.plan_of_state("place"),
    "read history": lambda adapter, *_: adapter.history_of("place"),
    "edit by": lambda adapter, _, place: adapter.edit_plan("planning", place, CreateTask("x")),
    "edit at": lambda adapter, by, _: adapter.edit_plan(by, "place", CreateTask("x")),
    "policy": lambda adapter, by, at: adapter.edit_plan(by, at, CreateTask("x"), policy="lax"),
    "seed": lambda adapter, by, at: adapter.seed_plan(by, at, "plan"),
    "undo": lambda adapter, by, _: adapter.undo_plan(by, "place"),
}


def calls(*given, tool="plan", **arguments):
    """Return a message with calls of the planning tool, or of another one."""
    found = given or (arguments,)
    return ModelTurn(tuple(Call(tool, each, f"c{id(each)}") for each in found))


def subjects(plan):
    return [task.subject for task in plan]


def statuses(plan):
    return [task.status.value for task in plan]


class SmallAdapter:
    """
    Tests in addition to those of the conformance suite.

    `place` is where the framework keeps a plan: a state, a session, a context or an agent.
    """

    adapter = None
    failure = ZeroDivisionError

    def place(self, planning):
        raise NotImplementedError

    def run(self, planning, place, *turns, meanwhile=None):
        raise NotImplementedError

    def spoil(self, place):
        raise NotImplementedError

    def begin(self, **more):
        planning = self.adapter.Planning(Toolbox(LEAN), OFF, **more)
        return planning, self.place(planning)

    def plan(self, place):
        return result(self.adapter.plan_of_state(place))

    def test_the_plan_is_in_its_place(self):
        """The place has the plan and its journal; a new place has an empty plan."""
        planning, place = self.begin()
        assert (self.plan(place), result(self.adapter.history_of(place))) == (Plan(), ())
        self.run(planning, place, calls(write=["Dig"]), says("ok"))
        assert subjects(self.plan(place)) == ["Dig"]
        assert [entry.cause for entry in result(self.adapter.history_of(place))] == ["plan"]

    def test_a_damaged_plan_is_an_error(self):
        """Reading a damaged plan raises a CodecError and never returns an empty plan."""
        _, place = self.begin()
        self.spoil(place)
        with pytest.raises(CodecError):
            self.plan(place)

    def test_undo_takes_back_change_after_change_and_seeding_begins_anew(self):
        """Each undo takes back one change. The journal says who undid and who seeded."""
        planning, place = self.begin()
        self.run(planning, place, calls(write=["Dig"]), calls(add=["Sow"]), says("ok"))
        found = []
        for _ in range(3):
            decision = result(self.adapter.undo_plan(planning, place, actor="ann"))
            found.append((type(decision).__name__, subjects(self.plan(place))))
        assert found == [("Accepted", ["Dig"]), ("Accepted", []), ("Rejected", [])]
        result(self.adapter.seed_plan(planning, place, plan_of([Task("1", "Anew")]), actor="bo"))
        assert subjects(self.plan(place)) == ["Anew"]
        actors = [entry.actor for entry in result(self.adapter.history_of(place))]
        assert actors == [None, None, "ann", "ann", "bo"]

    def test_a_store_keeps_the_plan_and_is_edited_at_any_time(self):
        """The plan is in the store under the given id, not in the place; edits in a run stay."""
        store = MemoryStore()
        planning, place = self.begin(store=store, plan_id="garden")

        def ann():
            result(self.adapter.edit_plan(planning, place, CreateTask("Tell Ann")))

        turns = calls(write=["Dig"]), calls(add=["Sow"]), says("ok")
        self.run(planning, place, *turns, meanwhile={1: ann})
        assert subjects(store.load("garden")) == ["Dig", "Tell Ann", "Sow"]
        result(self.adapter.undo_plan(planning, place))
        assert subjects(store.load("garden")) == ["Dig", "Tell Ann"]
        for read in (self.adapter.plan_of_state, self.adapter.history_of):
            with pytest.raises(PlanError, match="a store keeps the plan"):
                result(read(place))

    def test_agents_of_a_team_claim_under_names_of_their_own(self):
        """Also if the program gives them none; the journal has the same names."""
        store = MemoryStore()
        Planner(store, "garden").restore(plan_of([Task("1", "Dig"), Task("2", "Sow")]))
        for _ in range(2):
            given = {"store": store, "plan_id": "garden"}
            planning = self.adapter.Planning(Toolbox(lean(team=True)), OFF, **given)
            self.run(planning, self.place(planning), calls(next=True), says("ok"))
        first, second = (task.claim.owner for task in store.load("garden"))
        assert first != second
        assert [entry.actor for entry in store.entries("garden")[1:]] == [first, second]

    def test_a_run_that_failed_is_over(self):
        """After a run that failed, the plan can be edited."""
        planning, place = self.begin()

        def fails():
            raise ZeroDivisionError

        with pytest.raises(self.failure):
            self.run(planning, place, calls(write=["Dig"]), says("ok"), meanwhile={1: fails})
        gc.collect()
        result(self.adapter.edit_plan(planning, place, CreateTask("Tell Ann")))
        assert subjects(self.plan(place))[-1] == "Tell Ann"

    @pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
    def test_arguments_of_the_wrong_type_are_refused(self, wrong):
        """Each function raises a PlanError for an argument of the wrong type."""
        with pytest.raises(PlanError):
            result(wrong(self.adapter, *self.begin()))

"""What the tests of small adapters share: calls of the tool set `lean`, and laws for each."""

import gc

import pytest
from support.conformance import result
from support.editing import Editing

from todoplan import LEAN, Plan, Planner, Toolbox
from todoplan.core.commands import CreateTask
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Task
from todoplan.dialogue import Call, Settings, lean
from todoplan.dialogue.guidance import TAG
from todoplan.errors import CodecError, PlanError
from todoplan.stores.memory import MemoryStore
from todoplan.testing.adapters import ModelTurn, Script
from todoplan.testing.adapters.host import says

OFF = Settings(unfinished=0)
OWN = "You work."
"""The instruction that each agent of these tests has of its own."""
WRONG = {
    "a toolbox": lambda adapter, *_: adapter.Planning(Plan()),
    "settings": lambda adapter, *_: adapter.Planning(settings="often"),
    "a store": lambda adapter, *_: adapter.Planning(store="plans.db", plan_id="x"),
    "tools of": lambda adapter, *_: adapter.make_tools("planning"),
    "read": lambda adapter, *_: adapter.plan_of_state("place"),
    "read history": lambda adapter, *_: adapter.history_of("place"),
    "edit by": lambda adapter, _, *at: adapter.edit_plan("planning", *at, CreateTask("x")),
    "edit at": lambda adapter, by, *at: adapter.edit_plan(by, *at[1:], "place", CreateTask("x")),
    "policy": lambda adapter, by, *at: adapter.edit_plan(by, *at, CreateTask("x"), policy="lax"),
    "seed": lambda adapter, by, *at: adapter.seed_plan(by, *at, "plan"),
    "undo": lambda adapter, by, *at: adapter.undo_plan(by, *at[1:], "place"),
}


def calls(*given, tool="plan", **arguments):
    """Return a message with calls of the planning tool, or of another one."""
    found = given or (arguments,)
    return ModelTurn(tuple(Call(tool, each, f"c{id(each)}") for each in found))


def subjects(plan):
    return [task.subject for task in plan]


def statuses(plan):
    return [task.status.value for task in plan]


class Edited:
    """A plan in its place, which is edited by the laws of `Editing`."""

    def __init__(self, suite, planning):
        self.suite, self.planning, self.place = suite, planning, suite.place(planning)

    def again(self):
        return self

    def create(self, subject):
        made = calls(tool="TaskCreate", subject=subject), says("ok")
        self.suite.run(self.planning, self.place, *made)

    def seed(self, plan, **how):
        self.suite.change("seed_plan", self.planning, self.place, plan, **how)

    def edit(self, command, **how):
        return self.suite.change("edit_plan", self.planning, self.place, command, **how)

    def undo(self, **how):
        return self.suite.change("undo_plan", self.planning, self.place, **how)

    def plan(self):
        return self.suite.plan(self.place)

    def history(self):
        return self.suite.history(self.place)


class SmallAdapter(Editing):
    """
    Tests in addition to those of the conformance suite.

    `place` is where the framework keeps a plan: a state, a session, a context or an agent.
    `own` is an agent's own instruction as the model gets it, `between` what stands between this
    instruction and the prompt.
    """

    adapter = None
    failure = ZeroDivisionError
    own, between = OWN, "\n\n"

    def place(self, planning):
        raise NotImplementedError

    def play(self, planning, place, script):
        """Run an agent with `planning` and a scripted model, and keep the plan in `place`."""
        raise NotImplementedError

    def play_alone(self, planning, script):
        """Run an agent that has only the tools of `make_tools`; return the place of its plan."""
        raise NotImplementedError

    def spoil(self, place):
        raise NotImplementedError

    def id_of(self, place):
        """Return the id that the framework gives the place, or None."""

    def release(self, planning):
        """Collect the objects of a run that failed."""
        gc.collect()

    def at(self, place):
        """Return what the adapter's functions are given as the place."""
        return (place,)

    def begin(self, toolbox):
        return Edited(self, self.adapter.Planning(toolbox, OFF))

    def planned(self, settings=OFF, **more):
        planning = self.adapter.Planning(Toolbox(LEAN), settings, **more)
        return planning, self.place(planning)

    def run(self, planning, place, *turns, meanwhile=None):
        script = Script(*turns, meanwhile=meanwhile)
        self.play(planning, place, script)
        return script

    def change(self, name, planning, place, *given, **how):
        return result(getattr(self.adapter, name)(planning, *self.at(place), *given, **how))

    def plan(self, place):
        return result(self.adapter.plan_of_state(self.at(place)[-1]))

    def history(self, place):
        return result(self.adapter.history_of(self.at(place)[-1]))

    def test_the_plan_is_in_its_place(self):
        """The place has the plan and its journal; a new place has an empty plan."""
        planning, place = self.planned()
        assert (self.plan(place), self.history(place)) == (Plan(), ())
        self.run(planning, place, calls(write=["Dig"]), says("ok"))
        assert subjects(self.plan(place)) == ["Dig"]
        assert [entry.cause for entry in self.history(place)] == ["plan"]

    def test_a_damaged_plan_is_an_error(self):
        """Reading a damaged plan raises a CodecError and never returns an empty plan."""
        _, place = self.planned()
        self.spoil(place)
        with pytest.raises(CodecError):
            self.plan(place)

    def test_a_store_keeps_the_plan_under_the_id_of_the_place(self):
        """If the place has no id, a plan id must be given with the store."""
        store = MemoryStore()
        _, place = self.planned()
        if plan_id := self.id_of(place):
            planning, _ = self.planned(store=store)
            self.run(planning, place, calls(write=["Dig"]), says("ok"))
            self.change("edit_plan", planning, place, CreateTask("Tell Ann"))
            assert subjects(store.load(plan_id)) == ["Dig", "Tell Ann"]
        else:
            with pytest.raises(PlanError):
                self.planned(store=store)

    def test_a_store_keeps_the_plan_and_is_edited_at_any_time(self):
        """The plan is in the store under the given id, not in the place; edits in a run stay."""
        store = MemoryStore()
        planning, place = self.planned(store=store, plan_id="garden")

        def ann():
            self.change("edit_plan", planning, place, CreateTask("Tell Ann"))

        turns = calls(write=["Dig"]), calls(add=["Sow"]), says("ok")
        self.run(planning, place, *turns, meanwhile={1: ann})
        assert subjects(store.load("garden")) == ["Dig", "Tell Ann", "Sow"]
        self.change("undo_plan", planning, place)
        assert subjects(store.load("garden")) == ["Dig", "Tell Ann"]
        for read in (self.plan, self.history):
            with pytest.raises(PlanError, match="a store keeps the plan"):
                read(place)

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
        planning, place = self.planned()

        def fails():
            raise ZeroDivisionError

        with pytest.raises(self.failure):
            self.run(planning, place, calls(write=["Dig"]), says("ok"), meanwhile={1: fails})
        self.release(planning)
        self.change("edit_plan", planning, place, CreateTask("Tell Ann"))
        assert subjects(self.plan(place))[-1] == "Tell Ann"

    @pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
    def test_arguments_of_the_wrong_type_are_refused(self, wrong):
        """Each function raises a PlanError for an argument of the wrong type."""
        planning, place = self.planned()
        at = self.at(place)
        with pytest.raises(PlanError):
            result(wrong(self.adapter, planning, *at))

    def test_the_tools_alone_have_no_guidance(self):
        """An agent that has only the tools gets neither the prompt nor a reminder."""
        planning = self.adapter.Planning(Toolbox(LEAN), Settings())
        script = Script(calls(write=["Dig"]), says("Early."))
        place = self.play_alone(planning, script)
        assert subjects(self.plan(place)) == ["Dig"]
        assert len(script.requests) == 2
        said = [each.text for request in script.requests for each in request]
        assert not any(LEAN.system_prompt() in text or TAG in text for text in said)

    @pytest.mark.parametrize(
        ("given", "added"),
        [(None, LEAN.system_prompt()), ("", ""), ("Plan.", "Plan.")],
        ids=["the tool set's", "none", "another"],
    )
    def test_the_prompt_is_added_to_the_agents_own_instruction(self, given, added):
        """The prompt can be replaced, or left out with an empty text."""
        script = self.run(*self.planned(system_prompt=given), says("ok"))
        system = script.requests[0][0]
        wanted = f"{self.own}{self.between}{added}" if added else self.own
        assert (system.role, system.text) == ("system", wanted)

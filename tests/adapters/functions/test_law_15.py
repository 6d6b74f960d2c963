"""Law 15 in a loop of one's own, over what 0.2.0 has saved, and with a base that is kept."""

import json
from pathlib import Path

import pytest
from support.law_15 import Situations, listing, subjects
from support.wires import CHAT, EVERY, GEMINI, Sent, numbered, says, user

from todoplan import TODOS, Plan
from todoplan.adapters.functions import openai_chat
from todoplan.codec import plan_from_data
from todoplan.core import commands
from todoplan.core.commands import CreateTask
from todoplan.core.decide import decide
from todoplan.core.events.base import Base
from todoplan.dialogue import Settings, Toolbox
from todoplan.errors import CodecError
from todoplan.stores import FileStore

STATES = Path(__file__).parent / "states"


class Talk:
    """A loop over one shape."""

    def __init__(self, wire, saved=None, messages=(), **options):
        self.wire, self.options, self.messages = wire, options, [*messages]
        self.run = wire.module.start_run(**options, saved=saved)

    def again(self):
        saved, messages = json.loads(json.dumps([self.saved(), self.messages]))
        return Talk(self.wire, saved, messages, **self.options)

    def saved(self):
        return self.run.to_data()

    def plan(self):
        return self.run.planner.plan

    def edit(self, command, actor):
        self.run.planner.apply(command, actor=actor).unwrap()

    def seed(self, plan):
        self.run.planner.restore(plan)

    def turn(self, *calls):
        sent = [Sent(*call, f"c{len(self.messages)}-{n}") for n, call in enumerate(calls)]
        self.run.before_model(self.messages)
        response = self.wire.respond(sent)
        assert self.run.after_model(response) == "answer"
        added = self.run.answer(response)
        self.messages += added
        return [text for _, text in self.wire.read(added[1:])]

    def tail(self):
        request = self.run.before_model([*self.messages, user(self.wire, "go")])
        response = says(self.wire, "Ok.")
        assert self.run.after_model(response) == "stop"
        self.messages += [user(self.wire, "go"), *self.run.answer(response)]
        return json.dumps(request[-1])


class TestNameless(Situations):
    def begin(self, **options):
        return Talk(CHAT, **options)


class TestNamed(Situations):
    def begin(self, **options):
        return Talk(GEMINI, actor="bot", **options)


def state(name):
    """Return what 0.2.0 saved of a run that wrote "Fix" and "Release"."""
    return json.loads((STATES / f"{name}.json").read_text("utf-8"))


ALONE = listing(TODOS, ("Fix", "in_progress"), "Release")


def test_a_run_of_0_2_goes_on():
    """With its plan, its journal and what it had listed; it is saved in the new form."""
    talk = Talk(CHAT, state("alone"))
    assert [entry.actor for entry in talk.run.history()] == ["bot"]
    assert talk.turn(ALONE) == ["no change, 0/2 completed"]
    saved = talk.saved()
    assert not {"memory", "seen", "base", "asked", "id", "answered"} & saved.keys()
    assert "listed" not in saved["session"]
    talk = talk.again()
    talk.turn(listing(TODOS, "Release"))
    assert subjects(talk) == ["Release"]


@pytest.mark.parametrize("name", ["unseen", "asked"])
def test_a_run_of_0_2_is_told_what_it_had_not_seen(name):
    """What a person did stays, also where a request was under way whose reminder had shown it."""
    talk = Talk(CHAT, state(name))
    if name == "asked":
        assert talk.run.after_model(CHAT.respond([Sent(*ALONE, "c")])) == "answer"
        (_, result) = talk.run.answer(CHAT.respond([Sent(*ALONE, "c")]))
        text = result["content"]
    else:
        (text,) = talk.turn(ALONE)
    assert "#1 Fix on main (was: Fix) updated by ann" in text
    assert "#3 Changelog created by ann" in text
    for _ in range(2):
        talk = talk.again()
        assert "ann" not in talk.turn(ALONE)[0]
        assert subjects(talk) == ["Fix on main", "Release", "Changelog"]


def test_a_run_of_0_2_that_was_sent_back_is_asked_again():
    """By the very request that 0.2.0 would have made, and no oftener than its settings say."""
    talk = Talk(CHAT, state("sent_back"), settings=Settings(unfinished=1))
    request = json.dumps(talk.run.before_model([user(CHAT, "go")]))
    assert "Early." in request
    assert "while tasks of your plan are open" in request
    assert talk.run.after_model(says(CHAT, "Done.")) == "stop"


def test_a_run_of_0_2_goes_on_in_its_store(tmp_path):
    """It knows the revision that it had seen; a person's task stays, and is told once."""
    file = tmp_path / "plans.json"
    file.write_bytes((STATES / "stored_plans.json").read_bytes())
    kept = {"store": FileStore(file), "plan_id": "7"}
    talk = Talk(CHAT, state("stored"), **kept)
    assert "#3 Changelog created by ann" in talk.turn(ALONE)[0]
    assert "ann" not in talk.again().turn(ALONE)[0]
    assert subjects(talk) == ["Fix", "Release", "Changelog"]


DAMAGE = [
    {"seen": "1"},
    {"seen": True},
    {"plan": {}},
    {"memory": 7},
    {"base": 1},
    {"base": {"plan": {}}},
    {"answered": "1"},
    {"id": 7},
    {"asked": 7},
    {"asked": {"memory": 7}},
    {"asked": {"memory": {}, "seen": "1"}},
]


@pytest.mark.parametrize("damage", DAMAGE, ids=str)
def test_a_damaged_run_of_0_2_is_an_error(damage):
    """It is never taken for nothing."""
    for name in ("alone", "unseen"):
        with pytest.raises(CodecError):
            openai_chat.start_run(saved={**state(name), **damage})


def test_both_forms_in_one_are_an_error():
    """Which of them is true cannot be known."""
    saved = openai_chat.start_run(saved=state("unseen")).to_data()
    with pytest.raises(CodecError):
        openai_chat.start_run(saved={**saved, "seen": 1})


def test_what_0_2_saved_is_left_as_it_is():
    """The caller's own value is not written to."""
    kept = state("unseen")
    run = openai_chat.start_run(saved=kept)
    run.planner.apply(commands.ClearPlan())
    assert kept == state("unseen")
    assert plan_from_data(kept["plan"]) != Plan()


# -------- the merge base that a caller keeps --------

READ = ("read_todos", {})
BAD = ("write_todos", {"todos": [{"status": "pending"}]})


def write(*contents):
    return "write_todos", {"todos": [{"content": one, "status": "pending"} for one in contents]}


def edited_by_ann(wire):
    """Return a plan that the model has written, after Ann's edit, and the base."""
    plan = wire.module.answer(Toolbox(), Plan(), wire.respond(numbered([write("a", "b")]))).plan
    decision = decide(plan, CreateTask("Tell Ann"))
    return decision.plan, Base(plan).after(decision.events, "ann")


def texts_of(wire, answered):
    return [text for _, text in wire.read(answered.messages)]


@EVERY
def test_a_list_that_leaves_out_what_a_person_added_keeps_it_and_says_so_once(wire):
    """The first answer says who did what; every further list keeps what the model never listed."""
    plan, base = edited_by_ann(wire)
    response = wire.respond(numbered([write("a", "b")]))
    for is_told in (True, False, False):
        answered = wire.module.answer(Toolbox(), plan, response, base=base)
        plan, base = answered.plan, answered.base
        assert [task.subject for task in plan] == ["a", "b", "Tell Ann"]
        assert ["#3 Tell Ann created by ann" in text for text in texts_of(wire, answered)] == [
            is_told
        ]
    response = wire.respond(numbered([write("b", "Tell Ann")]))
    answered = wire.module.answer(Toolbox(), plan, response, base=base)
    assert [task.subject for task in answered.plan] == ["b", "Tell Ann"]
    assert answered.base is None


@EVERY
@pytest.mark.parametrize(
    ("calls", "read"),
    [([READ], True), ([BAD], False), ([("search", {})], False), ([], False), ([BAD, READ], True)],
)
def test_a_base_is_kept_until_an_answer_is_no_error(wire, calls, read):
    """Refused calls, other tools and turns without calls have shown the model nothing."""
    plan, base = edited_by_ann(wire)
    answered = wire.module.answer(Toolbox(), plan, wire.respond(numbered(calls)), base=base)
    if read:
        assert answered.base.plan is plan
    else:
        assert answered.base is base

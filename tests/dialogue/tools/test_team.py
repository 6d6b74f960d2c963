"""Tool sets for a team: a task is claimed before it is worked on, and none is done by two."""

from datetime import UTC, datetime, timedelta

import pytest
from support.talk import check_reply, planned

from todoplan import STRICT, Toolbox, plan_of
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.dialogue import Call, lean, tasks
from todoplan.dialogue.toolbox import fences_after
from todoplan.dialogue.tools import LEAN, TASKS

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SETS = [lean(team=True), tasks(team=True), tasks("snake", team=True)]
LATER = timedelta(hours=1)


class Agent:
    """One agent of a team: a tool set, a name, and the fences that its own calls got."""

    def __init__(self, toolset, name="ann", policy=None):
        self.box = Toolbox(toolset, *([policy] if policy else []))
        self.name, self.fences = name, {}

    def says(self, plan, tool, at=NOW, **arguments):
        """Return the reply to a call of this agent."""
        reply = self.box.call(plan, tool, arguments, at=at, actor=self.name, fences=self.fences)
        check_reply(plan, reply)
        self.fences = fences_after(self.fences, reply.events)
        return reply

    def next(self, plan, at=NOW):
        """Claim the next task."""
        if self.box.toolset.name == "lean":
            return self.says(plan, "plan", at, next=True)
        return self.says(plan, "TaskClaim", at)

    def claim(self, plan, number, at=NOW):
        """Claim one by its id."""
        if self.box.toolset.name == "lean":
            return self.says(plan, "plan", at, claim=[number])
        return self.says(plan, "TaskClaim", at, task_id=number)

    def done(self, plan, number, at=NOW):
        """Complete a task."""
        if self.box.toolset.name == "lean":
            return self.says(plan, "plan", at, done=[number])
        return self.says(plan, "TaskUpdate", at, task_id=number, status="completed")


def test_without_a_team_there_is_nothing_of_it():
    """The sets are the usual ones; what a team needs is neither shown nor understood."""
    assert (lean(), tasks(), tasks("camel")) == (LEAN, TASKS, TASKS)
    assert TASKS.find("TaskClaim") is None
    assert "claim" not in str(LEAN.definitions()) + LEAN.system_prompt("guided")
    reply = Toolbox(LEAN).call(planned("a"), "plan", {"next": True})
    assert "ignored next" in reply.text
    assert [repr(toolset) for toolset in SETS] == [
        "lean(team=True)",
        "tasks(team=True)",
        "tasks('snake', team=True)",
    ]


@pytest.mark.parametrize("toolset", SETS, ids=repr)
def test_two_agents_get_two_tasks(toolset):
    """In order, with their texts; the third gets none, and is told that there is none."""
    ann, bob = Agent(toolset), Agent(toolset, "bob")
    first = ann.next(planned("Dig", "Lay"))
    assert first.text == "0/2: #1 claimed (fence 1): Dig"
    second = bob.next(first.plan)
    assert second.text == "0/2: #2 claimed (fence 1): Lay"
    claims = [(task.status, task.claim.owner) for task in second.plan]
    assert claims == [(Status.IN_PROGRESS, "ann"), (Status.IN_PROGRESS, "bob")]
    none = Agent(toolset, "cat").next(second.plan)
    assert none.text == "no change, 0/2 completed; no task can be claimed now"
    assert (ann.fences, bob.fences) == ({"1": 1}, {"2": 1})


@pytest.mark.parametrize("toolset", SETS, ids=repr)
def test_only_its_holder_completes_a_task(toolset):
    """The model of the holder repeats no fence; the other is told whose the task is."""
    ann, bob = Agent(toolset), Agent(toolset, "bob")
    plan = ann.next(planned("Dig")).plan
    for refused in (bob.done(plan, 1), bob.claim(plan, 1)):
        assert refused.is_error
        assert "Task 1 is claimed by ann until 2026-01-01T00:15:00+00:00" in refused.text
    done = ann.done(plan, 1)
    assert done.text == "1/1: #1 completed"
    assert not ann.fences


@pytest.mark.parametrize("toolset", SETS, ids=repr)
def test_a_stale_holder_is_refused(toolset):
    """Its claim ran out, another took the task over: what it reports then does not count."""
    ann, bob = Agent(toolset), Agent(toolset, "bob")
    plan = ann.next(planned("Dig")).plan
    taken = bob.next(plan, NOW + LATER)
    assert taken.text == "0/1: #1 claimed (fence 2): Dig"
    late = ann.done(taken.plan, 1, NOW + LATER)
    assert late.is_error
    assert late.plan["1"].claim.owner == "bob"
    assert bob.done(taken.plan, 1, NOW + LATER).plan.counts.completed == 1


@pytest.mark.parametrize("toolset", SETS, ids=repr)
def test_every_call_of_the_holder_extends_its_claim(toolset):
    """Also one that only looks; not one that is refused, nor one of somebody else."""
    ann, bob = Agent(toolset), Agent(toolset, "bob")
    plan = ann.next(planned("Dig", "Lay")).plan
    look = "plan" if toolset.name == "lean" else "TaskList"
    at = NOW + timedelta(minutes=10)
    bobs = bob.says(plan, look, at)
    assert (bobs.plan, bobs.events) == (plan, ())
    looked = ann.says(plan, look, at)
    assert looked.plan["1"].claim.until == at + timedelta(minutes=15)
    assert looked.text == bobs.text
    refused = ann.done(looked.plan, 7, at + timedelta(minutes=1))
    assert refused.plan["1"].claim.until == at + timedelta(minutes=15)
    again = ann.says(looked.plan, look, NOW)
    assert again.plan is looked.plan


def test_a_claim_without_a_clock_does_not_end():
    """Nobody knows the time: nothing runs out, and nothing is extended."""
    ann = Agent(SETS[0])
    plan = ann.says(planned("Dig"), "plan", None, next=True).plan
    assert plan["1"].claim.until is None
    assert ann.says(plan, "plan", None).plan is plan
    assert ann.says(plan, "plan", NOW).plan is plan


@pytest.mark.parametrize("toolset", SETS, ids=repr)
def test_calls_of_one_turn_build_on_each_other(toolset):
    """A task is claimed and completed in one turn: the fence of the first call serves the next."""
    if toolset.name == "lean":
        calls = [Call("plan", {"next": True}), Call("plan", {"done": [1], "next": True})]
    else:
        update = {"taskId": 1, "status": "completed"}
        calls = [Call("TaskClaim", {}), Call("TaskUpdate", update), Call("TaskClaim", {})]
    turn = Toolbox(toolset).turn(planned("Dig", "Lay"), calls, at=NOW, actor="ann")
    assert not any(reply.is_error for reply in turn.replies)
    assert [task.status.value for task in turn.plan] == ["completed", "in_progress"]
    assert fences_after({}, turn.events) == {"2": 1}


def test_lean_completes_and_claims_in_one_call():
    """Nothing starts by itself, for it would be nobody's."""
    ann = Agent(lean(team=True))
    plan = ann.says(Plan(), "plan", write=["Dig", "Lay", "Sow"]).plan
    assert plan.counts.in_progress == 0
    plan = ann.next(plan).plan
    reply = ann.says(plan, "plan", done=[1], next=True)
    assert reply.text == "1/3: #1 completed; #2 claimed (fence 1): Lay"
    taken = ann.says(reply.plan, "plan", start=[3])
    assert taken.text.startswith("1/3: #3 claimed (fence 1): Sow")
    assert ann.fences == {"2": 1, "3": 1}
    failed = ann.says(taken.plan, "plan", fail=[2])
    assert failed.text.startswith("1/3, 1 failed: #2 failed")
    assert ann.fences == {"3": 1}


def test_to_start_a_task_is_to_claim_it():
    """A model that sets it in progress, as it is used to, gets it as its own; and gives it back."""
    ann, bob = Agent(tasks(team=True)), Agent(tasks(team=True), "bob")
    reply = ann.says(planned("Dig"), "TaskUpdate", taskId=1, status="in_progress")
    assert reply.text == "0/1: #1 claimed (fence 1): Dig"
    both = ann.says(reply.plan, "TaskUpdate", taskId=1, status="doing", subject="Dig it")
    assert both.text.startswith("0/1: #1 updated; #1 claimed (fence 2): Dig it")
    assert bob.says(both.plan, "TaskUpdate", taskId=1, status="in_progress").is_error
    named = bob.says(both.plan, "TaskUpdate", taskId=1, subject="Dig")
    assert named.plan["1"].subject == "Dig"
    back = ann.says(both.plan, "TaskUpdate", taskId=1, status="pending")
    assert back.plan["1"].claim is None
    assert not ann.fences
    gone = ann.says(ann.claim(back.plan, 1).plan, "TaskUpdate", taskId=1, status="deleted")
    assert not ann.fences
    assert not len(gone.plan)


@pytest.mark.parametrize("toolset", SETS, ids=repr)
def test_only_what_is_ready_and_a_leaf_is_claimed(toolset):
    """What contains others, waits, or comes after others is none to get, by its id as well."""
    plan = plan_of(
        [
            Task("1", "around"),
            Task("2", "within", parent="1", blocks=("3",)),
            Task("3", "after", blocked_by=("2",)),
        ]
    )
    ann = Agent(toolset)
    assert ann.next(plan).text == "0/3: #2 claimed (fence 1): within"
    for number in (1, 3):
        refused = ann.claim(plan, number)
        assert f"Task {number} cannot be claimed now; those that can be are: 2." in refused.text


def test_a_team_may_have_several_in_progress():
    """One of each hand is no breach of `single_in_progress`, also where that is an error."""
    policy = STRICT.but(first_in_progress="off", some_in_progress="off", active_form_required="off")
    policy = policy.but(priority_required="off", approval_required="off")
    ann, bob = (Agent(tasks(team=True), name, policy) for name in ("ann", "bob"))
    reply = bob.next(ann.next(planned("Dig", "Lay")).plan)
    assert not reply.is_error
    assert not reply.warnings
    assert reply.plan.counts.in_progress == 2


def test_who_has_no_name_is_somebody():
    """A program that does not say whose call it is: the claim holds all the same."""
    reply = Toolbox(lean(team=True)).call(planned("Dig"), "plan", {"next": True}, at=NOW)
    assert reply.plan["1"].claim.owner == "an agent"
    other = Toolbox(lean(team=True)).call(reply.plan, "plan", {"done": [1]}, at=NOW)
    assert "claimed by an agent" in other.text


def test_the_lease_is_the_toolboxs():
    """So many seconds after each call."""
    box = Toolbox(lean(team=True), lease=60)
    reply = box.call(planned("Dig"), "plan", {"next": True}, at=NOW)
    assert reply.plan["1"].claim.until == NOW + timedelta(seconds=60)
    assert repr(box).endswith("lease=60)")

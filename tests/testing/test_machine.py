"""The machines find faults, show the plan before and after, and pass right code."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

import attrs
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from support.failures import failure_of, smallest_failure_of
from support.naive.machines import NaiveToolMachine
from support.policies import strict_for

from todoplan.core.commands import (
    ApprovePlan,
    ClaimTask,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RecordEvidence,
    ReleaseClaim,
    RenewClaim,
    UpdateTask,
)
from todoplan.core.decide import Accepted, Rejected, decide, plan_of
from todoplan.core.plan.model import Approval, Waiting
from todoplan.core.plan.plan import Counts, Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import DEFAULT, STRICT, Policy, Rule
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, tasks
from todoplan.planner import Planner
from todoplan.testing import PlanMachine, ToolMachine, machine

RUN = settings(
    max_examples=max(6, settings().max_examples // 4),
    stateful_step_count=10,
    database=None,
    derandomize=True,
)
LONG = settings(RUN, max_examples=1_000)
FOUND = settings(LONG, phases=[Phase.generate])
SHRUNK = settings(LONG, phases=[Phase.generate, Phase.shrink])


class Fault(NamedTuple):
    """A faulty loop: how it spoils an answer, commands that show it, and the failure's message."""

    spoil: Callable
    script: tuple
    says: str


def tampered(spoil):
    """Return a machine whose agent loop spoils what `decide` returns."""

    class Tampered(PlanMachine):
        policy = STRICT if spoil is takes_all else DEFAULT

        def carry_out(self, command):
            answer = super().carry_out(command)
            return spoil(self.plan, command, answer)

    return Tampered


def plan_behind(answer, before):
    """Return the plan after an answer."""
    return answer.plan if isinstance(answer, Accepted) else before


def spoiling(change):
    """Return a loop that changes the plan after each answer."""
    return lambda before, _, answer: change(plan_behind(answer, before))


def rebuilt(plan, changed, **more):
    """Return a plan with other tasks; the rest is the same."""
    kept = {"next_id": plan.next_id, "revision": plan.revision, "approved": plan.approved}
    return plan_of(changed, **(kept | more))


def setting(**fields):
    """Return a loop that sets some fields of every task."""
    return spoiling(lambda plan: rebuilt(plan, [attrs.evolve(task, **fields) for task in plan]))


def in_place(change):
    """Return a loop that changes tasks in place, so that nothing else of the plan changes."""

    def spoil(plan):
        for task in plan:
            object.__setattr__(task, "blocks", change(task.blocks))
        return plan

    return spoiling(spoil)


def forgets_a_dependent(before, command, answer):
    """Delete the tasks that waited for a deleted task."""
    plan = plan_behind(answer, before)
    if not isinstance(command, DeleteTask) or isinstance(answer, Rejected):
        return plan
    for gone in before[command.task_id].blocks:
        plan = decide(plan, DeleteTask(gone, "remove"), Policy()).plan if gone in plan else plan
    return rebuilt(plan, plan, revision=answer.plan.revision)


def takes_all(before, command, answer):
    """Accept commands that the policy refuses."""
    return decide(before, command, Policy()) if isinstance(answer, Rejected) else answer


def adds_an_edge(plan):
    """Let the second task wait for the first."""
    linked = decide(plan, UpdateTask("2", add_blocked_by=("1",)), Policy())
    return rebuilt(plan, linked.plan) if isinstance(linked, Accepted) else plan


def takes_over(before, command, answer):
    """Let anybody change a claimed task."""
    held = {task.id: task.claim.fence for task in before if task.claim}
    again = decide(before, command, DEFAULT, fences=held)
    claimed = isinstance(answer, Rejected) and answer.problems[0].code == "claimed"
    return again if claimed and _accepted(again) else answer


def asks_no_fence(before, command, answer):
    """Require a fencing token, but accept an outdated one."""
    if not isinstance(command, UpdateTask | RenewClaim | ReleaseClaim) or _accepted(answer):
        return answer
    claim = before[command.task_id].claim if command.task_id in before else None
    given = attrs.evolve(command, fence=claim.fence) if claim and command.fence else command
    return decide(before, given, DEFAULT)


def keeps_what_was_found(before, _, answer):
    """Keep the evidence of a task that was started again."""
    plan, known = plan_behind(answer, before), {task.id: task.evidence for task in before}
    return rebuilt(plan, [task.but(evidence=task.evidence or known.get(task.id)) for task in plan])


def approves_another(before, command, answer):
    """Record the approval of the revision before the approved one."""
    plan = plan_behind(answer, before)
    if not isinstance(command, ApprovePlan):
        return plan
    return attrs.evolve(plan, approved=attrs.evolve(plan.approved, revision=before.revision))


def refuses_and_does(before, _, answer):
    """Refuse a command, but change the plan."""
    reply = Toolbox(LEAN).call(before, "plan", {"write": ["x"]})
    return attrs.evolve(reply, is_error=True) if isinstance(answer, Rejected) else answer


def _accepted(answer):
    return isinstance(answer, Accepted) and answer.events


ONE = CreateTask("a")
LINKED = CreateTasks((ONE, CreateTask("b", blocked_by=("#0",))))
NESTED = CreateTasks((ONE, CreateTask("b", parent="#0")))
CLAIMED = ONE, ClaimTask("w1")
UNKNOWN = (DeleteTask("7"),)
STAYED = r"the revision went from \d+ to \d+, it should "

FAULTS = {
    "loses an edge": Fault(
        setting(blocks=(), blocked_by=()), (LINKED,), r"the edge #\d+ -> #\d+ is missing"
    ),
    "reuses ids": Fault(
        spoiling(lambda plan: plan_of(plan, revision=plan.revision, approved=plan.approved)),
        (ONE, DeleteTask("1")),
        r"the next id is \d+, it should be \d+",
    ),
    "forgets a dependent": Fault(
        forgets_a_dependent, (LINKED, DeleteTask("1")), r"the tasks are .*, they should be #"
    ),
    "takes all": Fault(takes_all, (ONE,), r"it was accepted, it should be refused \("),
    "refuses all": Fault(
        lambda *_: Rejected((Problem("other"),)),
        (ONE,),
        r"it was refused \(other\), it should be accepted",
    ),
    "gives other reasons": Fault(
        lambda _, __, answer: Rejected((Problem("other"),)) if not _accepted(answer) else answer,
        UNKNOWN,
        "it was refused for other, it should be for ",
    ),
    "loses events": Fault(
        lambda _, __, answer: (
            attrs.evolve(answer, events=answer.events[:-1]) if _accepted(answer) else answer
        ),
        (LINKED,),
        r"replaying its events does not give its plan\n- the revision grew by \d+, there were \d+",
    ),
    "never counts": Fault(
        lambda before, _, answer: rebuilt(
            plan_behind(answer, before), plan_behind(answer, before), revision=before.revision
        ),
        (LINKED,),
        STAYED + "grow",
    ),
    "counts refusals": Fault(
        lambda before, _, answer: (
            rebuilt(before, before, revision=9) if isinstance(answer, Rejected) else answer.plan
        ),
        UNKNOWN,
        STAYED + "stay",
    ),
    "turns the order": Fault(
        spoiling(lambda plan: rebuilt(plan, reversed(tuple(plan)))),
        (ONE, ONE),
        r"the tasks are #.*, they should be #",
    ),
    "adds an edge": Fault(spoiling(adds_an_edge), (ONE, ONE), r"the edge #1 -> #2 is too many"),
    "rewords": Fault(setting(subject="A"), (ONE,), r"the subject of #\d+ is 'A', it should be '"),
    "miscounts": Fault(
        spoiling(lambda plan: attrs.evolve(plan, _counts=Counts(pending=7))),
        (ONE,),
        r"the counts are \(7, 0, 0, 0, 0\), they should be ",
    ),
    "forgets the tree": Fault(
        setting(parent=None), (NESTED,), r"the parent of #\d+ is None, it should be '\d+'"
    ),
    "wakes up": Fault(
        setting(waiting=None),
        (CreateTask("a", waiting=Waiting("ann")),),
        r"the waiting of #\d+ is None, it should be Waiting",
    ),
    "loses the children": Fault(
        spoiling(lambda plan: attrs.evolve(plan, _children={})),
        (NESTED,),
        r"the children of #\d+ are none, they should be #\d+",
    ),
    "lets go": Fault(
        setting(claim=None), CLAIMED, r"the claim of #\d+ is None, it should be Claim"
    ),
    "gives a fence twice": Fault(
        spoiling(
            lambda plan: rebuilt(
                plan, [task if task.claim else task.but(claims=0) for task in plan]
            )
        ),
        (*CLAIMED, ReleaseClaim("1", 1)),
        r"the claims of #\d+ is 0, it should be \d",
    ),
    "takes over": Fault(
        takes_over,
        (*CLAIMED, UpdateTask("1", status="completed")),
        r"it was accepted, it should be refused \(claimed\)",
    ),
    "asks no fence": Fault(
        asks_no_fence,
        (*CLAIMED, UpdateTask("1", subject="b", fence=2)),
        r"it should be (refused \(|for )stale_fence",
    ),
    "keeps what was found": Fault(
        keeps_what_was_found,
        (ONE, RecordEvidence("1", passed=True), UpdateTask("1", status="in_progress")),
        r"the evidence of #\d+ is Evidence.*, it should be (None|Evidence)",
    ),
    "approves nothing": Fault(
        spoiling(lambda plan: attrs.evolve(plan, approved=None)),
        (ApprovePlan(),),
        "the plan is not approved, it should be",
    ),
    "approves all": Fault(
        spoiling(lambda plan: attrs.evolve(plan, approved=Approval(0))),
        (ONE,),
        "the plan is approved, it should not be",
    ),
    "approves another": Fault(
        approves_another,
        (ONE, ApprovePlan()),
        r"the revision of the approval is \d+, it should be \d+",
    ),
    "approves as another": Fault(
        spoiling(
            lambda plan: attrs.evolve(
                plan, approved=plan.approved and attrs.evolve(plan.approved, by="zoe")
            )
        ),
        (ApprovePlan("ann"),),
        "the by of the approval is 'zoe', it should be ",
    ),
    "forgets what is ready": Fault(
        spoiling(lambda plan: attrs.evolve(plan, _ready=Plan()._ready)),
        (ONE,),
        "the tasks that are ready are none",
    ),
    "forgets who waits": Fault(
        spoiling(lambda plan: attrs.evolve(plan, _unresolved=Plan()._unresolved)),
        (LINKED,),
        "does not wait for",
    ),
    "half a mirror": Fault(
        in_place(lambda _: ()), (LINKED,), r"#\d+ blocked_by #.*, which blocks does not mirror"
    ),
    "doubles edges": Fault(
        in_place(lambda ends: ends * 2 if len(ends) == 1 else ends),
        (LINKED,),
        r"#\d+ names a task twice in blocks",
    ),
    "refuses and does": Fault(refuses_and_does, UNKNOWN, "it was refused, and changed the plan"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_a_sentence(fault):
    """Each wrong answer is caught by the step itself, and named in a sentence."""

    def run():
        box = tampered(fault.spoil)()
        for command in fault.script:
            box.do(command)

    with pytest.raises(AssertionError, match=fault.says):
        inside(run)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found(fault):
    """The machine draws steps that find each fault, and shows the plan before and after."""
    _, text = failure_of(tampered(fault.spoil), FOUND)
    assert re.search(fault.says, text)
    assert "  before:\n" in text


@pytest.mark.slow
def test_a_failure_can_be_read():
    """The smallest failure shows each step with the plan before and after, and the right plan."""
    _, text = smallest_failure_of(lambda: tampered(FAULTS["loses an edge"].spoil), SHRUNK)
    # Which command makes the tasks, and which status the first one has, depends on the seed.
    first, second = r"#1 \[\w+\] a\n", r"#2 \[\w+\] a"
    assert re.search(rf"The plan should be:\n{first}{second} \[blocked by #1\]\n", text)
    assert re.search(rf"\n\w+\(.*\)\n  before:\n.*\n  after:\n    {first}    {second}\n", text)


def inside(action):
    """Run a function inside a test of Hypothesis, which `note` requires."""

    @given(st.none())
    @settings(max_examples=1, database=None)
    def body(_):
        action()

    body()


def test_an_id_that_comes_back_is_named():
    """The id of a deleted task is not given to a new task."""

    def again():
        box = PlanMachine()
        box.do(CreateTask("a"))
        box.do(DeleteTask("1"))
        box.plan = Plan()
        box.do(CreateTask("a"))

    with pytest.raises(AssertionError, match="the id #1 was used before"):
        inside(again)


def _no_owner(change):
    owned = [task.id for task in change.after if task.owner]
    return (Problem("no_owner", tuple(owned)),) if owned else ()


class OwnRule(PlanMachine):
    policy = DEFAULT.adding(Rule("no_owner", _no_owner))


class OwnRuleForgotten(PlanMachine):
    policy = DEFAULT.adding(Rule("no_owner", _no_owner))

    def carry_out(self, command):
        return decide(self.plan, command, DEFAULT)


class Strict(PlanMachine):
    policy = STRICT
    times = True
    actors = (None, "ann", "bob")
    holders = True


class Tasks(ToolMachine):
    toolset = tasks("snake").renamed(TaskCreate="add_task")


class Lean(ToolMachine):
    toolset = LEAN
    policy = strict_for(LEAN)


class Unbroken(ToolMachine):
    breaks = ()


class Loop(ToolMachine):
    def __init__(self):
        super().__init__()
        self.loop = Planner()

    def call(self, call):
        self.loop.call(call.name, call.arguments)
        return self.loop.plan


class Clocked(PlanMachine):
    def carry_out(self, command):
        given = {"at": datetime.now(UTC), "actor": self.actor, "fences": self.fences}
        return decide(self.plan, command, self.policy, **given)


@pytest.mark.parametrize(
    "right", [PlanMachine, Strict, OwnRule, ToolMachine, Tasks, Lean, Unbroken, Loop, Clocked]
)
def test_what_is_right_passes(right):
    """Right code passes: with any policy or tool set, and in a loop with a clock of its own."""
    run_state_machine_as_test(right, settings=RUN)


@pytest.mark.parametrize("toolset", [TODOS, Tasks.toolset, LEAN], ids=lambda each: each.name)
def test_the_naive_model_agrees_on_calls(toolset):
    """For each call, the naive model expects the plan and the refusal that the machine expects."""
    allowed = DEFAULT if toolset is not LEAN else Lean.policy
    beside = type("Beside", (NaiveToolMachine,), {"toolset": toolset, "policy": allowed})
    run_state_machine_as_test(beside, settings=RUN)


def test_a_rule_of_ones_own_is_held():
    """A rule of the user's own refuses commands; a loop that forgets it is caught."""
    assert "it should be refused (no_owner)" in failure_of(OwnRuleForgotten, FOUND)[1]


def test_the_machine_of_the_docstring_runs():
    """The ten lines that the module shows are a machine that passes."""
    lines = machine.__doc__.split("\n\n    class ")[1].split("\n\n`policy")[0]
    code = "class " + lines.replace("\n    ", "\n")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    names = {"PlanMachine": PlanMachine, "Planner": Planner, "__name__": "shown"}
    exec(code, names)  # noqa: S102 - our own text
    run_state_machine_as_test(names["LoopMachine"], settings=RUN)
    assert names["TestLoop"]


def test_a_broken_call_is_told():
    """A tool set that accepts a call to be refused is caught, and the failure names the break."""

    class Gullible(ToolMachine):
        breaks = ("unknown_status", "status_word")

        def call(self, call):
            reply = super().call(call)
            if reply.is_error and reply.problems[0].code == "unknown_status":
                return Toolbox(self.toolset).call(self.plan, call.name, {"todos": ["x"]})
            return reply

    _, text = failure_of(Gullible, FOUND)
    assert "it was accepted, it should be refused (no reason known)" in text
    assert "broken: unknown_status (an unknown status), to be refused" in text
    assert "write_todos({'todos': [{" in text


def _forget_tasks(box):
    plan, revision, _ = box._versions[-1]
    box._versions[-1] = plan, revision, ()


def _miscount(box):
    box.plan = attrs.evolve(box.plan, _counts=Counts(pending=7))


def _half_an_edge(box):
    object.__setattr__(box.plan["1"], "blocks", ("7",))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_forget_tasks, "revision 1 has changed"),
        (lambda box: setattr(box, "policy", Policy().but(priority_required="error")), "policy"),
        (_miscount, r"between two steps:\n- the counts are"),
        (_half_an_edge, "between two steps"),
        (lambda box: box.events.clear(), "replaying all events does not give the plan"),
    ],
)
def test_what_is_wrong_between_steps_is_caught(spoil, says):
    """The laws are checked after each step, and replaying the events at the end."""
    box = PlanMachine()
    inside(lambda: box.do(CreateTask("a")))
    spoil(box)
    with pytest.raises(AssertionError, match=says):
        _ask(box)


def _ask(box):
    box.plan_is_sound()
    box.accepted_satisfies_policy()
    box.old_versions_stand()
    box.teardown()

"""
Agent loops that each spoil one thing, for the machines to find.

A fault has a script at which it shows, and what the machine says of it.
"""

from collections.abc import Callable
from typing import NamedTuple

import attrs

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
from todoplan.core.rules import DEFAULT, STRICT, Policy
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN
from todoplan.testing import PlanMachine


class Fault(NamedTuple):
    """What a loop makes of the plan before, the command and the answer; where and how it shows."""

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
    """Return the plan that an answer leaves."""
    return answer.plan if isinstance(answer, Accepted) else before


def spoiling(change):
    """Return a loop that changes the plan that an answer leaves."""
    return lambda before, _, answer: change(plan_behind(answer, before))


def rebuilt(plan, changed, **more):
    """Return a plan with other tasks, else the same."""
    kept = {"next_id": plan.next_id, "revision": plan.revision, "approved": plan.approved}
    return plan_of(changed, **(kept | more))


def setting(**fields):
    """Return a loop that forgets what it did with some fields of a task."""
    return spoiling(lambda plan: rebuilt(plan, [attrs.evolve(task, **fields) for task in plan]))


def in_place(change):
    """Return a loop that changes tasks in place, so that nothing else of the plan changes."""

    def spoil(plan):
        for task in plan:
            object.__setattr__(task, "blocks", change(task.blocks))
        return plan

    return spoiling(spoil)


def forgets_a_dependent(before, command, answer):
    """Delete what waited for a deleted task."""
    plan = plan_behind(answer, before)
    if not isinstance(command, DeleteTask) or isinstance(answer, Rejected):
        return plan
    for gone in before[command.task_id].blocks:
        plan = decide(plan, DeleteTask(gone, "remove"), Policy()).plan if gone in plan else plan
    return rebuilt(plan, plan, revision=answer.plan.revision)


def takes_all(before, command, answer):
    """Ask no policy."""
    return decide(before, command, Policy()) if isinstance(answer, Rejected) else answer


def adds_an_edge(plan):
    """Let the second task wait for the first."""
    linked = decide(plan, UpdateTask("2", add_blocked_by=("1",)), Policy())
    return rebuilt(plan, linked.plan) if isinstance(linked, Accepted) else plan


def takes_over(before, command, answer):
    """Let anybody change what somebody has claimed."""
    held = {task.id: task.claim.fence for task in before if task.claim}
    again = decide(before, command, DEFAULT, fences=held)
    claimed = isinstance(answer, Rejected) and answer.problems[0].code == "claimed"
    return again if claimed and _accepted(again) else answer


def asks_no_fence(before, command, answer):
    """Ask for a fence, and not whether it is the current one."""
    if not isinstance(command, UpdateTask | RenewClaim | ReleaseClaim) or _accepted(answer):
        return answer
    claim = before[command.task_id].claim if command.task_id in before else None
    given = attrs.evolve(command, fence=claim.fence) if claim and command.fence else command
    return decide(before, given, DEFAULT)


def keeps_what_was_found(before, _, answer):
    """Keep what was found of a task that was begun anew."""
    plan, known = plan_behind(answer, before), {task.id: task.evidence for task in before}
    return rebuilt(plan, [task.but(evidence=task.evidence or known.get(task.id)) for task in plan])


def approves_another(before, command, answer):
    """Note the revision before the one that was agreed to."""
    plan = plan_behind(answer, before)
    if not isinstance(command, ApprovePlan):
        return plan
    return attrs.evolve(plan, approved=attrs.evolve(plan.approved, revision=before.revision))


def refuses_and_does(before, _, answer):
    """Say no, and do it."""
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

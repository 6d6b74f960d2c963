"""Agent loops that each spoil one thing, for the machines to find, and what is said of them."""

import attrs

from todoplan.core.commands import ApprovePlan, DeleteTask, ReleaseClaim, RenewClaim, UpdateTask
from todoplan.core.decide import Accepted, Rejected, decide, plan_of
from todoplan.core.plan.model import Approval
from todoplan.core.plan.plan import Counts, Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import DEFAULT, STRICT, Policy
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN
from todoplan.testing import PlanMachine


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


def rebuilt(plan, changed, **more):
    """Return a plan with other tasks, else the same."""
    kept = {"next_id": plan.next_id, "revision": plan.revision, "approved": plan.approved}
    return plan_of(changed, **(kept | more))


def loses_an_edge(before, _, answer):
    """The loop keeps tasks and forgets who waits for whom."""
    bare = [attrs.evolve(task, blocks=(), blocked_by=()) for task in plan_behind(answer, before)]
    return rebuilt(plan_behind(answer, before), bare)


def reuses_ids(before, _, answer):
    """The loop counts its tasks to number the next."""
    plan = plan_behind(answer, before)
    return plan_of(plan, revision=plan.revision, approved=plan.approved)


def forgets_a_dependent(before, command, answer):
    """The loop deletes what waited for a deleted task."""
    plan = plan_behind(answer, before)
    if not isinstance(command, DeleteTask) or isinstance(answer, Rejected):
        return plan
    gone = set(before[command.task_id].blocks)
    left = {task.id for task in plan} - gone
    return rebuilt(
        plan,
        [
            attrs.evolve(
                task,
                blocks=tuple(end for end in task.blocks if end in left),
                blocked_by=tuple(end for end in task.blocked_by if end in left),
                parent=task.parent if task.parent in left else None,
            )
            for task in plan
            if task.id in left
        ],
    )


def takes_all(before, command, answer):
    """The loop asks no policy."""
    return decide(before, command, Policy()) if isinstance(answer, Rejected) else answer


def refuses_all(_, __, ___):
    """The loop refuses everything."""
    return Rejected((Problem("no_reason"),))


def gives_other_reasons(_, __, answer):
    """The loop refuses what is to be refused, for another reason."""
    return Rejected((Problem("other"),)) if isinstance(answer, Rejected) else answer


def loses_events(_, __, answer):
    """The loop does not tell all that happened."""
    return attrs.evolve(answer, events=answer.events[:-1]) if _accepted(answer) else answer


def counts_anew(before, _, answer):
    """The loop's revision goes back to nothing."""
    return rebuilt(plan_behind(answer, before), plan_behind(answer, before), revision=0)


def never_counts(before, _, answer):
    """The loop's revision stays."""
    return rebuilt(
        plan_behind(answer, before), plan_behind(answer, before), revision=before.revision
    )


def turns_the_order(before, _, answer):
    """The loop gives the tasks backwards."""
    return rebuilt(plan_behind(answer, before), reversed(tuple(plan_behind(answer, before))))


def adds_an_edge(before, _, answer):
    """The loop lets the second task wait for the first."""
    plan = plan_behind(answer, before)
    linked = decide(plan, UpdateTask("2", add_blocked_by=("1",)), Policy())
    return rebuilt(plan, linked.plan) if isinstance(linked, Accepted) else plan


def rewords(before, _, answer):
    """The loop tidies texts."""
    plan = plan_behind(answer, before)
    return rebuilt(plan, [attrs.evolve(task, subject=task.subject.upper()) for task in plan])


def miscounts(before, _, answer):
    """The loop's counts are off."""
    return attrs.evolve(plan_behind(answer, before), _counts=Counts(pending=7))


def forgets_what_is_ready(before, _, answer):
    """The loop's list of ready tasks is stale."""
    plan = plan_behind(answer, before)
    return attrs.evolve(plan, _ready=Plan()._ready, _unresolved=Plan()._unresolved)


def half_a_mirror(before, command, answer):
    """The loop writes edges at one end only."""
    plan = plan_behind(answer, before)
    for task in plan:
        if task.blocks:
            object.__setattr__(task, "blocks", ())
    return plan


def doubles_edges(before, command, answer):
    """The loop writes edges twice."""
    plan = plan_behind(answer, before)
    for task in plan:
        if len(task.blocks) == 1:
            object.__setattr__(task, "blocks", task.blocks * 2)
    return plan


def forgets_the_tree(before, _, answer):
    """The loop keeps a flat list."""
    flat = [attrs.evolve(task, parent=None) for task in plan_behind(answer, before)]
    return rebuilt(plan_behind(answer, before), flat)


def wakes_up(before, _, answer):
    """The loop does not keep what a task waits for."""
    awake = [attrs.evolve(task, waiting=None) for task in plan_behind(answer, before)]
    return rebuilt(plan_behind(answer, before), awake)


def loses_the_children(before, _, answer):
    """The loop's list of subtasks is stale."""
    return attrs.evolve(plan_behind(answer, before), _children={})


def lets_go(before, _, answer):
    """The loop does not keep who has claimed a task."""
    plan = plan_behind(answer, before)
    return rebuilt(plan, [attrs.evolve(task, claim=None) for task in plan])


def gives_a_fence_twice(before, _, answer):
    """The loop counts the claims of a task anew."""
    plan = plan_behind(answer, before)
    return rebuilt(plan, [task if task.claim else task.but(claims=0) for task in plan])


def takes_over(before, command, answer):
    """The loop lets anybody change what somebody has claimed."""
    held = {task.id: task.claim.fence for task in before if task.claim}
    again = decide(before, command, DEFAULT, fences=held)
    claimed = isinstance(answer, Rejected) and answer.problems[0].code == "claimed"
    return again if claimed and _accepted(again) else answer


def asks_no_fence(before, command, answer):
    """The loop asks for a fence, and not whether it is the current one."""
    if not isinstance(command, UpdateTask | RenewClaim | ReleaseClaim) or _accepted(answer):
        return answer
    claim = before[command.task_id].claim if command.task_id in before else None
    given = attrs.evolve(command, fence=claim.fence) if claim and command.fence else command
    return decide(before, given, DEFAULT)


def keeps_what_was_found(before, command, answer):
    """The loop keeps what was found of a task that was begun anew."""
    plan = plan_behind(answer, before)
    known = {task.id: task.evidence for task in before}
    return rebuilt(plan, [task.but(evidence=task.evidence or known.get(task.id)) for task in plan])


def approves_nothing(before, _, answer):
    """The loop forgets what a person has agreed to."""
    return attrs.evolve(plan_behind(answer, before), approved=None)


def approves_all(before, _, answer):
    """The loop agrees by itself."""
    return attrs.evolve(plan_behind(answer, before), approved=Approval(0))


def approves_another(before, command, answer):
    """The loop notes the revision before the one that was agreed to."""
    plan = plan_behind(answer, before)
    if not isinstance(command, ApprovePlan):
        return plan
    return attrs.evolve(plan, approved=attrs.evolve(plan.approved, revision=before.revision))


def approves_as_another(before, _, answer):
    """The loop notes another person."""
    plan = plan_behind(answer, before)
    approved = plan.approved and attrs.evolve(plan.approved, by="zoe")
    return attrs.evolve(plan, approved=approved)


def refuses_and_does(before, _, answer):
    """The loop says no, and does it."""
    plan = Toolbox(LEAN).call(before, "plan", {"write": ["x"]})
    return attrs.evolve(plan, is_error=True) if isinstance(answer, Rejected) else answer


def _accepted(answer):
    return isinstance(answer, Accepted) and answer.events


FAULTS = {
    loses_an_edge: r"the edge #\d+ -> #\d+ is missing",
    reuses_ids: r"the next id is \d+, it should be \d+",
    forgets_a_dependent: r"the tasks are .*, they should be #",
    takes_all: r"it was accepted, it should be refused \(",
    refuses_all: r"it was refused \(no_reason\), it should be accepted",
    gives_other_reasons: "it was refused for other, it should be for ",
    loses_events: "replaying its events does not give its plan",
    counts_anew: r"the revision went from \d+ to \d+, it should grow",
    never_counts: r"the revision went from \d+ to \d+, it should grow",
    turns_the_order: r"the tasks are #.*, they should be #",
    adds_an_edge: r"the edge #1 -> #2 is too many",
    rewords: r"the subject of #\d+ is '.*', it should be '",
    miscounts: r"the counts are \(7, 0, 0, 0, 0\), they should be ",
    forgets_the_tree: r"the parent of #\d+ is None, it should be '\d+'",
    wakes_up: r"the waiting of #\d+ is None, it should be Waiting",
    loses_the_children: r"the children of #\d+ are none, they should be #\d+",
    lets_go: r"the claim of #\d+ is None, it should be Claim",
    gives_a_fence_twice: r"the claims of #\d+ is 0, it should be \d",
    takes_over: r"it was accepted, it should be refused \(claimed\)",
    asks_no_fence: r"it should be (refused \(|for )stale_fence",
    keeps_what_was_found: r"the evidence of #\d+ is Evidence.*, it should be (None|Evidence)",
    approves_nothing: "the plan is not approved, it should be",
    approves_all: "the plan is approved, it should not be",
    approves_another: r"the revision of the approval is \d+, it should be \d+",
    approves_as_another: "the by of the approval is 'zoe', it should be ",
    forgets_what_is_ready: r"the tasks that are ready are none|does not wait for",
    half_a_mirror: r"#\d+ blocked_by #.*, which blocks does not mirror",
    doubles_edges: r"#\d+ names a task twice in blocks",
    refuses_and_does: "it was refused, and changed the plan",
}

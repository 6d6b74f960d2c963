"""
Task states beyond open and completed: failed, waiting, nested in another task, claimed.

Frameworks that keep a list of texts and statuses have no fields for these. An adapter that stores a
plan in such a list must not lose them.
"""

from todoplan.core.commands import AnswerTask, ClaimTask
from todoplan.core.decide.assembly import plan_of
from todoplan.core.plan.model import Status, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.testing.adapters.capabilities import Capability, needs
from todoplan.testing.adapters.conversations import says, turn
from todoplan.testing.adapters.harness import Checks, Harness
from todoplan.testing.adapters.host import ModelTurn
from todoplan.testing.assertions import must, same

__all__ = ["States"]

_LONG = 10.0**6  # seconds; longer than any conversation


def _creates(subject: str, **more: object) -> ModelTurn:
    return turn(("TaskCreate", {"subject": subject, **more}))


def _changes(task_id: str, **changes: object) -> ModelTurn:
    return turn(("TaskUpdate", {"taskId": task_id, **changes}))


class States(Checks):
    """Plans with tasks that fail, wait for a permit, are nested, or are claimed."""

    def _goes(self, *turns: ModelTurn) -> tuple[Harness, Plan]:
        """
        Run turns that must agree with the function-calling adapter; return the harness and the
        plan.
        """
        harness = self.harness()
        outcome = harness.run(*turns, says())
        outcome.agrees()
        return harness, outcome.plan

    def test_a_failed_task_stays_failed(self) -> None:
        """
        A failed task is neither completed nor cancelled; its dependents are not ready until it is
        reopened and done.
        """
        blocked = _creates("Lay", blockedBy=["1"])
        harness, plan = self._goes(_creates("Dig"), blocked, _changes("1", status="failed"))
        same(plan["1"].status, Status.FAILED, "the status of the failed task")
        same([task.id for task in plan.ready()], [], "the ready tasks behind a failed one")
        opened = harness.run(_changes("1", status="pending"), says())
        opened.agrees()
        same([task.id for task in opened.plan.ready()], ["1"], "the ready tasks once it is open")

    def test_a_waiting_task_keeps_its_reason(self) -> None:
        """A waiting task is pending, not ready and keeps its reason, until the model starts it."""
        harness, plan = self._goes(_creates("Dig"), _changes("1", waitingFor="the permit"))
        same(plan["1"].waiting, Waiting("the permit"), "what the task waits for")
        same([task.id for task in plan.ready()], [], "the ready tasks while it waits")
        started = harness.run(turn(("TaskList", {})), _changes("1", status="in_progress"), says())
        started.agrees()
        same(started.plan["1"].waiting, None, "what the started task waits for")

    def test_subtasks_stay_where_they_are(self) -> None:
        """Subtasks stay in their parent from run to run, whoever created them."""
        harness = self.harness()
        harness.host.seed("one", _garden())
        outcome = harness.run(_creates("Rake", parentId="2"), turn(("TaskList", {})), says())
        outcome.same_plan()  # the plan only: some adapters also report the seeded tasks in replies
        wanted = {"1": None, "2": "1", "4": "2", "3": "1"}
        found = {task.id: task.parent for task in harness.host.plan("one")}
        same([*found.items()], [*wanted.items()], "the tasks in order, each with its parent")

    @needs(Capability.RESUME)
    def test_what_a_task_is_survives_a_restart(self) -> None:
        """Failed, waiting and nested tasks are the same after a restart."""
        harness = self.harness()
        harness.host.seed("one", _garden())
        harness.run(_changes("3", status="failed"), says())
        harness.restart()
        plan = harness.host.plan("one")
        found, wanted = ([(t.parent, t.waiting) for t in each] for each in (plan, _garden()))
        same(found, wanted, "where the tasks lie and what they wait for, after a restart")
        same(plan["3"].status, Status.FAILED, "the status of the failed task after a restart")

    @needs(Capability.EDITS)
    def test_an_answer_is_told_once(self) -> None:
        """A person's answer to a waiting task is in the next reply, and in no later one."""
        harness, _ = self._goes(_creates("Dig"), _changes("1", waitingFor="how deep?"))
        harness.edit(AnswerTask("1", "two metres"), "ann")
        outcome = harness.run(_creates("Lay"), _creates("Mow"), says())
        first, second = (outcome.answer(call_id).text for call_id in outcome.wanted.replies)
        must("two metres" in first, f"the answer of ann is not in {first!r}")
        must("two metres" not in second, f"it is told again: {second!r}")
        same(harness.host.plan("one")["1"].waiting, None, "what the answered task waits for")

    @needs(Capability.EDITS)
    def test_what_a_person_has_claimed_is_left_to_them(self) -> None:
        """
        A model's change of a claimed task's status is refused, and the reply names the owner (law
        19).
        """
        harness, _ = self._goes(_creates("Dig"), _creates("Lay"))
        harness.edit(ClaimTask("ann", _LONG, task_id="1"), "ann")
        claim = harness.host.plan("one")["1"].claim
        must(claim is not None, "the claim that was accepted is not in the plan")
        outcome = harness.run(_changes("1", status="completed"), says())
        (answer,) = (outcome.answer(call_id).text for call_id in outcome.wanted.replies)
        task = harness.host.plan("one")["1"]
        same((task.status, task.claim), (Status.IN_PROGRESS, claim), "the claimed task")
        must("ann" in answer, f"the answer {answer!r} does not say who has claimed the task")


def _garden() -> Plan:
    return plan_of(
        [
            Task("1", "Garden"),
            Task("2", "Dig", parent="1", waiting=Waiting("the permit", question="how deep?")),
            Task("3", "Lay", parent="1"),
        ]
    )

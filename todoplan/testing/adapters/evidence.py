"""
Evidence: before a model's call completes a task with a check, the program runs a verifier.

Law 20: under the rule `evidence_required` such a task is completed only with passed evidence.
Whatever the verifier does, the run continues and the model is informed.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from todoplan.core.commands import CreateTask
from todoplan.core.decide.assembly import plan_of
from todoplan.core.decide.decide import Accepted, Decision, decide
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.dialogue.verifying import Finding
from todoplan.planner.verifying.verifier import Verifier
from todoplan.testing.adapters.capabilities import Capability, needs
from todoplan.testing.adapters.conversations import TASKS, says, turn, write
from todoplan.testing.adapters.harness import Checks, Harness
from todoplan.testing.adapters.host import QUIET, ModelTurn
from todoplan.testing.adapters.outcome import Outcome
from todoplan.testing.assertions import must, same

__all__ = ["Evidence"]

_ASKING = DEFAULT.but(evidence_required="error")
_CHANGED = Settings(plan_lost=False, unfinished=0, changed=True)
_Judge = Callable[[Task], Finding]


def _red(_: Task) -> Finding:
    return Finding(passed=False, summary="2 of 40 failed")


def _green(_: Task) -> Finding:
    return Finding(passed=True, summary="40 passed")


def _broken(_: Task) -> Finding:
    msg = "no such program"
    raise OSError(msg)


def _completes(*ids: str) -> ModelTurn:
    return turn(*(("TaskUpdate", {"taskId": each, "status": "completed"}) for each in ids))


class Evidence(Checks):
    """Two tasks in progress that have a check, and a verifier."""

    def _harness(
        self,
        judge: _Judge,
        policy: Policy = DEFAULT,
        toolset: ToolSet = TASKS,
        guidance: Settings = QUIET,
    ) -> tuple[Harness, list[str]]:
        """
        Return a harness with the tasks "Dig" and "Lay", and a list that collects the verified ids.
        """
        asked: list[str] = []

        def look(task: Task, _: Plan) -> Finding:
            asked.append(task.id)
            return judge(task)

        harness = self.harness(
            toolset, guidance, policy=policy, verify=Verifier(look, by="inspector")
        )
        plan = plan_of([])
        for subject in ("Dig", "Lay"):
            command = CreateTask(subject, check="it holds", status="in_progress")
            plan = decide(plan, command, Policy(), at=harness.setup.clock()).unwrap()
        harness.host.seed("one", plan)
        return harness, asked

    @needs(Capability.VERIFIER, Capability.LIVE_EDITS)
    def test_an_edit_while_the_program_looks_stays(self) -> None:
        """A person's edit during verification is in the plan after the verified call."""
        # A result that was computed before the verification and saved after it would overwrite the
        # edit.
        decisions: list[Decision] = []

        def edits(task: Task) -> Finding:
            if not decisions:
                # In a thread, like an edit by another client.
                with ThreadPoolExecutor(1) as pool:
                    edit = partial(harness.host.edit, "one", CreateTask("Tell Bo"), "ann")
                    decisions.append(pool.submit(edit).result())
            return _green(task)

        harness, _ = self._harness(edits)
        harness.run(_completes("1"), says())
        must(decisions and isinstance(decisions[0], Accepted), f"the edit came to {decisions}")
        found = [(task.subject, task.status.value) for task in harness.host.plan("one")]
        wanted = [("Dig", "completed"), ("Lay", "in_progress"), ("Tell Bo", "pending")]
        same(found, wanted, "the tasks")

    def _stands(self, harness: Harness, status: Status, passed: bool | None, summary: str) -> None:  # noqa: FBT001 - what is wanted
        task = harness.host.plan("one").get("1")
        must(task is not None, "the task #1 is gone")
        assert task is not None  # noqa: S101 - for the type checkers
        same(task.status, status, "the status of the task")
        found = task.evidence
        same(
            None if found is None else found.passed, passed, "whether its evidence is a passed one"
        )
        if found is not None:
            same((found.summary, found.by), (summary, "inspector"), "what was seen, and by whom")

    def _told(self, outcome: Outcome, word: str) -> None:
        text = outcome.answer(next(iter(outcome.wanted.replies))).text
        must(word in text, f"{word!r} is not in the answer {text!r}")

    @needs(Capability.VERIFIER)
    def test_a_failed_check_keeps_its_task_open(self) -> None:
        """
        If evidence is required, the task keeps its status, and the reply contains the finding.
        """
        harness, _ = self._harness(_red, _ASKING)
        outcome = harness.run(_completes("1"), says())
        self._stands(harness, Status.IN_PROGRESS, passed=False, summary="2 of 40 failed")
        self._told(outcome, "2 of 40 failed")

    @needs(Capability.VERIFIER)
    def test_a_passed_check_is_verified(self) -> None:
        """The task is completed, and its evidence has the verifier's name and summary."""
        harness, _ = self._harness(_green, _ASKING)
        harness.run(_completes("1"), says())
        self._stands(harness, Status.COMPLETED, passed=True, summary="40 passed")

    @needs(Capability.VERIFIER)
    def test_a_claim_against_a_check_is_told(self) -> None:
        """
        If no evidence is required, the task is completed as called; the reply says that its check
        failed.
        """
        harness, _ = self._harness(_red)
        outcome = harness.run(_completes("1"), says())
        self._stands(harness, Status.COMPLETED, passed=False, summary="2 of 40 failed")
        self._told(outcome, "2 of 40 failed")

    @needs(Capability.VERIFIER)
    def test_a_verifier_that_fails_leaves_the_task(self) -> None:
        """
        If the verifier raises an error, the task is unchanged, the run continues and the reply says
        why.
        """
        harness, _ = self._harness(_broken)
        outcome = harness.run(_completes("1"), says())
        self._stands(harness, Status.IN_PROGRESS, passed=None, summary="")
        self._told(outcome, "no such program")

    @needs(Capability.VERIFIER)
    def test_each_check_is_looked_at_once(self) -> None:
        """
        Each task is verified once, in several calls of one turn and in one call that completes
        several.
        """
        harness, asked = self._harness(_green)
        harness.run(_completes("1", "2"), says())
        same(sorted(asked), ["1", "2"], "what two calls of a turn had looked at")
        harness, asked = self._harness(_green, toolset=TODOS)
        done = write(("Dig", "completed"), ("Lay", "completed"))
        harness.run(turn(("write_todos", done)), says())
        same(sorted(asked), ["1", "2"], "what one list had looked at")

    @needs(Capability.VERIFIER)
    def test_what_was_seen_is_told_once(self) -> None:
        """
        The refusal reports the finding; no later reply or reminder reports it as a change by
        others.
        """
        harness, _ = self._harness(_red, _ASKING, guidance=_CHANGED)
        harness.run(turn(("TaskList", {})), says())
        outcome = harness.run(_completes("1"), turn(("TaskList", {})), says())
        answer = outcome.answer([*outcome.wanted.replies][1]).text
        must("since you last looked" not in answer, f"it is told again: {answer!r}")
        for index in range(len(outcome.requests)):
            outcome.has_reminders(index, times=0)

    @needs(Capability.VERIFIER, Capability.EDITS)
    def test_what_was_seen_is_no_news_beside_that_of_others(self) -> None:
        """
        If a person edits the plan before the call, the next reply reports that edit and not the
        evidence.
        """
        harness, _ = self._harness(_red, _ASKING, guidance=_CHANGED)
        harness.run(turn(("TaskUpdate", {"taskId": "2", "description": "By the wall"})), says())
        harness.edit(CreateTask("Tell Bo"), "ann")
        twice = _completes("1", "2"), _completes("1")
        outcome = harness.run(*twice, turn(("TaskList", {})), says())
        told = [outcome.answer([*outcome.wanted.replies][-1]).text.partition("\n")[0]]
        told += [each.text for request in outcome.requests for each in request[-1:]]
        for text in (each for each in told if "since you last looked" in each or "ann" in each):
            must("Tell Bo" in text and "updated" not in text, f"its own check is news: {text!r}")
        must("#3 Tell Bo created by ann" in told[0], f"the edit is not told: {told[0]!r}")

    @needs(Capability.VERIFIER, Capability.RESUME)
    def test_what_was_seen_survives_a_restart(self) -> None:
        """Evidence is the same after a restart, also of a failed check whose call was refused."""
        harness, _ = self._harness(_red, _ASKING)
        harness.run(_completes("1"), says())
        harness.restart()
        self._stands(harness, Status.IN_PROGRESS, passed=False, summary="2 of 40 failed")

"""What the two machines share: the plan beside the model, each step compared."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import note
from hypothesis.stateful import RuleBasedStateMachine, invariant

from todoplan.core.events.apply import replay
from todoplan.core.events.types import Event
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy, inspect
from todoplan.core.rules.presets import DEFAULT
from todoplan.testing.machine.comparison import differences, model_text, plan_text
from todoplan.testing.machine.model import Model
from todoplan.testing.machine.verdict import Answer, Expected, outcome, verdict

__all__ = ["Comparing"]

# An invariant runs after every step: reading all versions each time would be quadratic.
_OLD_VERSIONS = 6


class Comparing(RuleBasedStateMachine):
    """
    A plan, the model of it, and the laws that hold after every step.

    `policy` is the one that steps run under; `times` says whether times are compared.
    """

    policy: Policy = DEFAULT
    # Most hosts set the time by themselves: only where `at` is passed on can times be compared.
    times: bool = False

    def __init__(self) -> None:
        super().__init__()
        self.plan, self.model = Plan(), Model()
        self.versions: list[tuple[Task, ...]] = [()]
        self.used: set[str] = set()
        self.events: list[Event] | None = []
        self._kept = [(self.plan, 0)]
        self._restored = False

    def compare(self, step: str, act: Callable[[], Answer], wanted: Expected) -> None:
        """
        Take a step, note the plan before and after it, and raise where it is not what it should be.

        Raises:
            AssertionError: it says, in sentences, what differs.
        """
        note(f"{step}\n{plan_text('before', self.plan)}")
        out = outcome(self.plan, act())
        codes = f" ({', '.join(sorted(out.codes or ()))})" if out.codes else ""
        note(plan_text(f"refused{codes}" if out.refused else "after", out.plan))
        faults = [*verdict(self.plan, out, wanted, times=self.times)]
        if not wanted.restores:  # an earlier plan brings its ids back; nothing else may (law 6)
            fresh = {task.id for task in out.plan} - {task.id for task in self.plan}
            again = sorted(fresh & self.used, key=int)
            faults += [f"the id #{task_id} was used before" for task_id in again]
        if faults:
            self._fail(f"after {step}", faults, wanted.model)
        self.plan, self.model = out.plan, wanted.model
        if self.model.approved is not None and self.plan.approved is not None:
            # The model does not count events: it learns which revision was meant.
            self.model.approved["revision"] = self.plan.approved.revision
        self.used |= {task.id for task in out.plan}
        self._restored |= wanted.restores and not wanted.refused
        self.versions.append(tuple(out.plan))
        self._kept.append((out.plan, out.plan.revision))
        if self.events is not None:
            # One step that does not tell its events, and there is no history to replay (law 2).
            self.events = None if out.events is None else [*self.events, *out.events]

    def _fail(self, when: str, faults: list[str], model: Model | None = None) -> None:
        should = f"\nThe plan should be:\n{model_text(model)}" if model else ""
        listed = "\n".join(f"- {fault}" for fault in faults)
        msg = f"{when}:\n{listed}{should}"
        raise AssertionError(msg)

    @invariant()
    def plan_is_model(self) -> None:
        """
        Compare tasks, order, edges, next id, counts, ready and waiting with what counting gives.
        """
        faults = [*differences(self.plan, self.model, times=self.times)]
        if faults:
            self._fail("between two steps", faults, self.model)

    @invariant()
    def accepted_satisfies_policy(self) -> None:
        """
        Ask the rules at `error` of the plan as it stands; no rule sees what was brought back.
        """
        problems = () if self._restored else inspect(self.plan, self.policy)
        if problems:
            self._fail("the plan breaks its policy", [problem.code for problem in problems])

    @invariant()
    def old_versions_stand(self) -> None:
        """
        Read earlier plans again.
        """
        # Versions share chunks: a change in place would show in the plans before it.
        pairs = zip(self._kept[-_OLD_VERSIONS:], self.versions[-_OLD_VERSIONS:], strict=True)
        for (plan, revision), tasks in pairs:
            if (plan.revision, tuple(plan)) != (revision, tasks):
                self._fail(f"revision {revision} has changed", ["a plan is a value"])

    def teardown(self) -> None:
        """
        Replay all events from nothing, if every step said which they are.
        """
        if self.events is not None and replay(Plan(), self.events) != self.plan:
            self._fail("at the end", ["replaying all events does not give the plan"], self.model)

"""What both machines share: the plan beside the model, each step told and judged, the laws held."""

from collections.abc import Callable, Iterator

from hypothesis import note
from hypothesis.stateful import RuleBasedStateMachine, invariant

from todoplan.core.events.apply import replay
from todoplan.core.events.types import Event
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy, inspect
from todoplan.core.rules.presets import DEFAULT
from todoplan.testing.machine_checks import differences, in_itself, model_text
from todoplan.testing.machine_judging import Answer, Expected, Outcome, outcome, verdict
from todoplan.testing.machine_model import Model
from todoplan.testing.machine_telling import after_text, before_text

__all__ = ["Judge"]

_VERSIONS = 6


class Judge(RuleBasedStateMachine):
    """
    A plan, the model of it, and the laws that hold after every step.

    `policy` is the one that steps run under; `times` says whether times are compared.
    """

    policy: Policy = DEFAULT
    times: bool = False

    def __init__(self) -> None:
        super().__init__()
        self.plan, self.model = Plan(), Model()
        self.versions: list[tuple[Task, ...]] = [()]
        self.used: set[str] = set()
        self.events: list[Event] | None = []
        self._kept = [(self.plan, 0)]
        self._restored = False

    def judge(self, step: str, act: Callable[[], Answer], wanted: Expected) -> None:
        """
        Take a step, tell the plan before and after it, and raise where it is not what it should be.

        Raises:
            AssertionError: it says, in sentences, what differs.
        """
        note(before_text(step, self.plan))
        out = outcome(self.plan, act())
        note(after_text(out))
        faults = [*verdict(self.plan, out, wanted, times=self.times), *self._reused(out, wanted)]
        if faults:
            self._fail(f"after {step}", faults, wanted.model)
        self._go_on(out, wanted)

    def _reused(self, out: Outcome, wanted: Expected) -> Iterator[str]:
        """
        Yield ids that are new and were used before, unless an earlier plan was brought back.
        """
        fresh = {task.id for task in out.plan} - {task.id for task in self.plan}
        if not wanted.restores:
            yield from (f"the id #{i} was used before" for i in sorted(fresh & self.used, key=int))

    def _go_on(self, out: Outcome, wanted: Expected) -> None:
        self.plan, self.model = out.plan, wanted.model
        self.used |= {task.id for task in out.plan}
        self._restored |= wanted.restores and not wanted.refused
        self.versions.append(tuple(out.plan))
        self._kept.append((out.plan, out.plan.revision))
        if self.events is not None:
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
        faults = [
            *differences(self.plan, self.model, times=self.times),
            *in_itself(self.plan, self.model),
        ]
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
        pairs = zip(self._kept[-_VERSIONS:], self.versions[-_VERSIONS:], strict=True)
        for (plan, revision), tasks in pairs:
            if (plan.revision, tuple(plan)) != (revision, tasks):
                self._fail(f"revision {revision} has changed", ["a plan is a value"])

    def teardown(self) -> None:
        """
        Replay all events from nothing, if all steps told theirs.
        """
        if self.events is not None and replay(Plan(), self.events) != self.plan:
            self._fail("at the end", ["replaying all events does not give the plan"], self.model)

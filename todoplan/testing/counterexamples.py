"""
Find a change on which a rule of your own and your law disagree.

The law is a second function, which receives a `Change` and returns whether the change is right. You
have to write it, because `decide` only applies the rule and cannot know whether the rule is right.
Hypothesis draws short histories of commands. These commands vary the values that the rule and the
law read. Each command is run under the rule, and the first disagreement is shrunk.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

import attrs
import hypothesis
from hypothesis import Phase
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import DrawFn

from todoplan.core.commands import Command
from todoplan.core.decide import Rejected, decide_with_change
from todoplan.core.plan.model import TASK_FIELDS, FieldKind, short_repr
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Change, Policy, Rule
from todoplan.errors import PlanError
from todoplan.testing.machine import command_text, counting, warn_of_silence
from todoplan.testing.strategies.near import Near, near

Law = Callable[[Change], bool]
"""Returns whether a change is right. It may raise an AssertionError with the reason why not."""

_MOST_STEPS = 8
_EXAMPLES = 2_000
_GOES_ON = st.sampled_from([True] * 15 + [False])
_NO_RULES = Policy()
_SHOWN = [
    field
    for field in TASK_FIELDS.values()
    if field.kind not in {FieldKind.ID, FieldKind.STATUS, FieldKind.TIME, FieldKind.COUNT}
    and field.name not in {"subject", "blocks"}
]


@attrs.frozen
class Step:
    """A command, and the actor who gave it."""

    command: Command
    actor: str | None = None

    def __str__(self) -> str:
        by = f"  by {self.actor}" if self.actor else ""
        return command_text(self.command) + by


@attrs.frozen
class Counterexample:
    """
    A change on which a rule and a law disagree. Its `str` is a report of several lines.

    `found` is a sentence about the disagreement, `step` has the command, `before` and `after` are
    the plans before and after it. `history` has the steps that lead from an empty plan to
    `before`; steps that the rule refused are left out.
    """

    found: str
    history: tuple[Step, ...]
    before: Plan
    step: Step
    after: Plan

    def __str__(self) -> str:
        parts = {
            "the commands before it": "\n".join(map(str, self.history)) or "none",
            "the plan before it": _lines(self.before),
            "the command": str(self.step),
            "the plan after it": _lines(self.after),
        }
        sections = (f"{title}:\n{indent(text, '    ')}" for title, text in parts.items())
        return "\n".join((self.found, *sections))


def find_counterexample(
    rule: Rule,
    law: Law,
    *,
    exact: bool = False,
    policy: Policy = _NO_RULES,
    settings: hypothesis.settings | None = None,
) -> Counterexample | None:
    """
    Search for changes on which a rule and a law disagree; return the smallest one, or `None`.

    The law is a function of a `Change`. It returns True if the change may be accepted, else False,
    or raises an AssertionError with the reason. A counterexample is a change that the rule accepts
    and the law does not, or one at which either of them raises an error. With `exact`, a change
    that the rule refuses and the law accepts is a counterexample too.

    `policy` has further rules to apply. `settings` are Hypothesis's; by default 2,000 histories are
    drawn, of at most 8 commands each. No command restores an earlier plan.

        found = find_counterexample(Rule("two_each", two_each), at_most_two)
        assert found is None, found

    Warns:
        RuleNeverFiredWarning: the rule objected to nothing, so the search says little about the
        rule.

    Raises:
        PlanError: the law returned something other than True or False.
    """
    trial = _Trial(rule, law, policy, exact)
    chosen = settings or hypothesis.settings(max_examples=_EXAMPLES, deadline=None)
    phases = {*chosen.phases} - {Phase.explain}  # it would draw more examples, which nobody sees
    chosen = hypothesis.settings(chosen, database=None, phases=phases)
    try:
        return hypothesis.find(_searches(trial), lambda found: found is not None, settings=chosen)
    except NoSuchExample:
        if not trial.fired[rule.name]:
            warn_of_silence([rule.name], f"{trial.decided:,} commands")
        return None


class _Trial:
    """Runs commands under a rule, and calls the law with the changes."""

    def __init__(self, rule: Rule, law: Law, policy: Policy, exact: bool) -> None:  # noqa: FBT001
        self.near = near(rule, law)
        self.decided = 0
        self._rule, self._law, self._exact = rule, law, exact
        self._policy, self.fired = counting(policy.adding(rule))

    def decide(self, plan: Plan, step: Step) -> tuple[Change | None, bool, str]:
        """
        Return the change, whether the rule refuses the change, and a text about the disagreement.

        The change is `None` if the law was not called. The text is "" if there is no disagreement.
        """
        self.decided += 1
        rule, law = self._rule.name, getattr(self._law, "__name__", repr(self._law))
        fired = self.fired[rule]
        try:
            answer, change = decide_with_change(
                plan, step.command, self._policy, None, actor=step.actor
            )
        except Exception as error:  # noqa: BLE001 - a check of the user's
            return None, False, f"the rule {rule} raises {error!r}"
        refuses = self.fired[rule] > fired
        if isinstance(answer, Rejected) and not (refuses and self._exact):
            return None, refuses, ""
        try:
            holds: object = self._law(change)
            why = ""
        except AssertionError as error:
            holds, why = False, f": {error}"
        except Exception as error:  # noqa: BLE001 - a law of the user's
            return change, refuses, f"the law {law} raises {error!r}"
        if not isinstance(holds, bool):
            msg = (
                f"the law {law} returned {short_repr(holds)}; return True if the change is right,"
                " else False"
            )
            raise PlanError(msg, seen=holds)
        found = ""
        if isinstance(answer, Rejected):
            if holds:
                found = f"the rule {rule} refuses what the law {law} accepts: {answer.text}"
        elif not holds:
            found = f"the rule {rule} accepts what the law {law} does not{why}"
        return change, refuses, found


@st.composite
def _searches(draw: DrawFn, trial: _Trial) -> Counterexample | None:
    plan = Plan()
    history: list[Step] = []
    refused: Command | None = None
    for _ in range(_MOST_STEPS):
        if not draw(_GOES_ON):
            break
        step = draw(_steps(trial.near, plan, refused))
        change, refuses, found = trial.decide(plan, step)
        if found:
            after = plan if change is None else change.after
            return Counterexample(found, tuple(history), plan, step, after)
        if refuses:
            refused = step.command
        elif change is not None and change.events:
            history.append(step)
            plan = change.after
    return None


@st.composite
def _steps(draw: DrawFn, near: Near, plan: Plan, refused: Command | None) -> Step:
    # A refused command is tried again together with another command, because the cases that a rule
    # misses are often similar to those that it refuses.
    command = (
        near.again(draw, plan, refused) if refused and draw(_AGAIN) else near.command(draw, plan)
    )
    return Step(command, draw(near.actors))


_AGAIN = st.sampled_from([False, False, True])


def _lines(plan: Plan) -> str:
    lines = []
    for task in plan:
        values = {field: getattr(task, field.name) for field in _SHOWN}
        more = [f" {f.name}={command_text(v)}" for f, v in values.items() if v != f.default]
        lines.append(f"#{task.id} [{task.status}] {task.subject}{''.join(more)}")
    return "\n".join(lines) or "no tasks"

"""
State machines that compare your rules, tool set or agent loop with todoplan's own `decide`.

Hypothesis draws steps. The machine runs each step through your code and through `decide`. If the
results differ, Hypothesis looks for the shortest list of steps that shows the difference, and the
failure prints the plan before and after each step. For example:

    class LoopMachine(PlanMachine):
        def __init__(self):
            super().__init__()
            self.loop = Planner()

        def carry_out(self, command):
            self.loop.apply(command)
            return self.loop.plan

    TestLoop = LoopMachine.TestCase

`policy = DEFAULT.adding(my_rule)` in the class body tests rules of your own. `ToolMachine` with
`toolset = MY_TOOLS` tests a tool set, also with broken arguments; override its `call` to test your
adapter. Add `@rule` and `@invariant` methods as in any Hypothesis machine.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from enum import Enum
from functools import lru_cache, wraps
from itertools import product
from textwrap import indent
from types import MappingProxyType
from typing import Any

import attrs
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from todoplan.core.commands import ClaimTask, Command, RecordEvidence, RenewClaim, RestorePlan
from todoplan.core.decide import Accepted, Decision, Rejected, decide, plan_of
from todoplan.core.events.apply import replay
from todoplan.core.events.types import Event
from todoplan.core.plan.model import TASK_FIELDS, Claim, Evidence, FieldKind, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.core.problems import Problem
from todoplan.core.rules import DEFAULT, RULES, Change, Check, Policy, Rule, Severity, inspect
from todoplan.dialogue.calls import Call, Reply
from todoplan.dialogue.intake import parts_of
from todoplan.dialogue.replies import list_text
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS, ToolSet
from todoplan.errors import PlanError
from todoplan.testing.assertions import clipped
from todoplan.testing.strategies import (
    BREAKS,
    arguments,
    broken_arguments,
    commands,
    commands_near,
    sensible_commands,
)
from todoplan.testing.strategies.command import claimings, growth, meddling
from todoplan.testing.strategies.values import times

Answer = Decision | Reply | Plan
"""The result of a step: a whole decision or reply, or only the plan after it."""

# Invariants run after every step. Reading all versions each time would take quadratic time.
_OLD_VERSIONS = 6
_RESTORED_EVERY = 6
_FEW = 3
_NO_FENCES: Mapping[str, int] = MappingProxyType({})
# One of the breaks sends a megabyte. Failures must remain readable.
_LONGEST_CALL = 400
_WITHOUT_END = 10.0**9  # seconds


@attrs.frozen
class Outcome:
    """The result of a step in one form. Fields are `None` if the answer does not contain them."""

    plan: Plan
    events: tuple[Event, ...] | None = None
    refused: bool | None = None
    codes: frozenset[str] | None = None


def outcome(before: Plan, answer: Answer) -> Outcome:
    """Convert an answer into an `Outcome`."""
    match answer:
        case Plan():
            return Outcome(answer)
        case Rejected(problems):
            return Outcome(before, (), refused=True, codes=frozenset(p.code for p in problems))
        case Accepted():
            return Outcome(answer.plan, answer.events, refused=False, codes=frozenset())
    codes = frozenset(problem.code for problem in answer.problems)
    return Outcome(answer.plan, answer.events, answer.is_error, codes)


class _Machine(RuleBasedStateMachine):
    """
    The plan of the code under test, and the checks that run after every step.

    `policy` applies to all steps. `times` enables the comparison of times.
    """

    TestCase: Any  # made for each subclass below
    policy: Policy = DEFAULT
    # Most code under test has a clock of its own. Times can be compared only if it accepts `at`.
    times: bool = False

    def __init_subclass__(cls) -> None:
        """Give each machine a test case that warns if a rule of the user's own never objected."""
        base: Any = super().TestCase

        class TestCase(base):  # type: ignore[misc]  # known only at run time
            @wraps(base.runTest)
            def runTest(self) -> None:  # noqa: N802 - unittest's name
                _, fired = counting(cls.policy)
                for name in fired:
                    fired[name] = 0
                super().runTest()
                warn_of_silence([name for name, many in fired.items() if not many], "the whole run")

        TestCase.__name__, TestCase.__qualname__ = base.__name__, base.__qualname__
        cls.TestCase = TestCase

    def __init__(self) -> None:
        super().__init__()
        self.plan = Plan()
        self.latest = Outcome(self.plan)
        """The outcome of the last step."""
        self.used: set[str] = set()
        self.events: list[Event] | None = []
        self._versions: list[tuple[Plan, int, tuple[Task, ...]]] = [(self.plan, 0, ())]
        self._restored = False

    def compare(
        self,
        step: str,
        act: Callable[[], Answer],
        wanted: Outcome,
        *,
        restores: bool = False,
        repeats: bool = False,
    ) -> None:
        """
        Run one step by calling `act`, and fail if the result is not `wanted`. The report of a
        failure shows the plan before and after each step.

        With `restores`, the step may bring back ids of deleted tasks. With `repeats`, the step is
        right whether or not the revision grows, because the step may change only a time.

        Raises:
            AssertionError: the result is not `wanted`. The message lists the differences in
                sentences.
        """
        note(f"{step}\n{_plan_text('before', self.plan)}")
        out = outcome(self.plan, act())
        codes = f" ({', '.join(sorted(out.codes or ()))})" if out.codes else ""
        note(_plan_text(f"refused{codes}" if out.refused else "after", out.plan))
        # If the same evidence is recorded again, only its time can differ. Code with a clock then
        # changes the plan; `decide` without times does not.
        unsure = repeats and not self.times
        faults = [*_verdict(self.plan, out, wanted, times=self.times, unsure=unsure)]
        if not restores:  # only restoring an earlier plan may bring back ids (law 6)
            fresh = {task.id for task in out.plan} - {task.id for task in self.plan}
            again = sorted(fresh & self.used, key=int)
            faults += [f"the id #{task_id} was used before" for task_id in again]
        if faults:
            self.fail(f"after {step}", faults, list_text(wanted.plan))
        self.plan, self.latest = out.plan, out
        self.used |= {task.id for task in out.plan}
        self._restored |= restores and not out.refused
        self._versions.append((out.plan, out.plan.revision, tuple(out.plan)))
        if self.events is not None:
            # If any step did not return its events, the history cannot be replayed (law 2).
            self.events = None if out.events is None else [*self.events, *out.events]

    def fail(self, when: str, faults: list[str], should: str = "") -> None:
        """Raise an error that lists the faults, and the tasks as they should be."""
        listed = "\n".join(f"- {fault}" for fault in faults)
        should = f"\nThe plan should be:\n{should}" if should else ""
        msg = f"{when}:\n{listed}{should}"
        raise AssertionError(msg)

    @invariant()
    def plan_is_sound(self) -> None:
        """
        Rebuild the plan from its tasks, and compare edges, children, counts, ready and waiting
        tasks.
        """
        plan = self.plan
        at, approved = plan.revision, plan.approved
        try:
            made = plan_of(tuple(plan), next_id=plan.next_id, revision=at, approved=approved)
        except PlanError as error:
            return self.fail("between two steps", [str(error)])
        faults = [*differences(plan, made, times=True)]
        if faults:
            self.fail("between two steps", faults, list_text(made))
        return None

    @invariant()
    def accepted_satisfies_policy(self) -> None:
        """
        Check the current plan against the rules with the severity `error`. Restored plans are
        exempt from rules.
        """
        problems = () if self._restored else inspect(self.plan, self.policy)
        if problems:
            self.fail("the plan breaks its policy", [problem.code for problem in problems])

    @invariant()
    def old_versions_stand(self) -> None:
        """
        Check that earlier plans are unchanged. A plan shares parts with earlier plans, so a change
        in place would also change the earlier plans.
        """
        for plan, revision, tasks in self._versions[-_OLD_VERSIONS:]:
            if (plan.revision, tuple(plan)) != (revision, tasks):
                self.fail(f"revision {revision} has changed", ["a plan is a value"])

    def teardown(self) -> None:
        """Check that replaying all events gives the plan, if every step returned its events."""
        if self.events is not None and replay(Plan(), self.events) != self.plan:
            self.fail("at the end", ["replaying all events does not give the plan"])


class PlanMachine(_Machine):
    """
    Runs sensible and arbitrary commands through `carry_out` and through `decide`.

    `policy` applies to all commands. If your code passes on `self.at`, set `times = True` to
    compare times. If it passes on `self.actor`, set `actors` to vary the actor. If it passes on
    `self.fences`, set `holders = True` to pass fencing tokens, also outdated ones.
    """

    at: datetime | None = None
    """The time of the command."""
    actor: str | None = None
    """The actor of the command."""
    actors: tuple[str | None, ...] = (None,)
    fences: Mapping[str, int] = _NO_FENCES
    """The fencing tokens of the command, by task id."""
    holders: bool = False

    def carry_out(self, command: Command) -> Answer:
        """
        Carry out a command on `self.plan`, and return the answer, or only the plan after it.

        The default calls `decide`. Override this method to call the code under test.
        """
        return self._decided(command)

    def _decided(self, command: Command) -> Decision:
        at, actor, fences = self.at, self.actor, self.fences
        policy, _ = counting(self.policy)
        return decide(self.plan, command, policy, at=at, actor=actor, fences=fences)

    def do(
        self,
        command: Command,
        at: datetime | None = None,
        actor: str | None = None,
        fences: Mapping[str, int] = _NO_FENCES,
    ) -> None:
        """
        Run one command through `carry_out` and `decide`, and compare the results. Call this method
        from rules of your own.
        """
        self.at, self.actor, self.fences = at if self.times else None, actor, fences
        kinds = {type(part) for part in parts_of(command)}
        self.compare(
            command_text(command),
            lambda: self.carry_out(command),
            outcome(self.plan, self._decided(command)),
            restores=RestorePlan in kinds,
            repeats=bool(kinds & {RecordEvidence, RenewClaim}),
        )

    @rule(data=st.data(), at=times())
    def sensible(self, data: st.DataObject, at: datetime | None) -> None:
        """Run a command that makes sense for the plan."""
        self._give(data, data.draw(sensible_commands(self.plan)), at)

    @rule(data=st.data(), command=commands(), at=times())
    def blind(self, data: st.DataObject, command: Command, at: datetime | None) -> None:
        """Run an arbitrary command, legal or not."""
        self._give(data, command, at)

    # Arbitrary commands seldom meet the conditions of a rule of the user's own.
    @precondition(lambda self: bool(own_rules(self.policy)))
    @rule(data=st.data(), at=times())
    def near_own_rules(self, data: st.DataObject, at: datetime | None) -> None:
        """Run a command that varies the values that your own rules and `carry_out` read."""
        own = own_rules(self.policy)
        self._give(data, data.draw(commands_near(self.plan, *own, type(self).carry_out)), at)

    # Arbitrary commands leave most plans empty, and few of them claim a task.
    @precondition(lambda self: len(self.plan) < _FEW)
    @rule(data=st.data(), at=times())
    def grow(self, data: st.DataObject, at: datetime | None) -> None:
        """Add tasks."""
        self._give(data, data.draw(growth(self.plan)), at)

    @precondition(lambda self: any(True for _ in self.plan.ready()))
    @rule(data=st.data(), at=times())
    def claim(self, data: st.DataObject, at: datetime | None) -> None:
        """Claim a task."""
        ready = [task.id for task in self.plan.ready()]
        self._give(data, data.draw(claimings(st.sampled_from([None, *ready]))), at)

    @precondition(lambda self: any(task.claim for task in self.plan))
    @rule(data=st.data(), at=times())
    def meddle(self, data: st.DataObject, at: datetime | None) -> None:
        """Change a task that someone has claimed."""
        self._give(data, data.draw(meddling(self.plan)), at)

    # Only at intervals: most early plans are empty, so restoring them as often as other steps run
    # would keep most plans empty.
    @precondition(lambda self: len(self._versions) % _RESTORED_EVERY == 0)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        """Restore the tasks and the approval of an earlier plan."""
        earlier, *_ = data.draw(st.sampled_from(self._versions[::-1]))
        self.do(RestorePlan(tuple(earlier), approved=earlier.approved))

    def _give(self, data: st.DataObject, command: Command, at: datetime | None) -> None:
        # If the code under test has a clock of its own, waits and claims can expire there. In
        # `decide` without times, they cannot.
        given = command if self.times else _endless(command)
        # The current tokens of all claims, the previous ones, or no tokens.
        less = data.draw(st.sampled_from([None, 0, 0, 1])) if self.holders else None
        claims = {task.id: task.claim for task in self.plan if task.claim}
        fences = {} if less is None else {n: claim.fence - less for n, claim in claims.items()}
        self.do(given, at, data.draw(st.sampled_from(self.actors)), fences)


class ToolMachine(_Machine):
    """
    Runs tool calls, well-formed and broken, through `call` and through a `Toolbox`.

    A broken call must have the same result as the well-formed call that it means, or be refused.
    `breaks` names the ways in which calls are broken. Remove the breaks that never reach your code
    because of the framework, such as those with `raw`.
    """

    toolset: ToolSet = TODOS
    breaks: tuple[str, ...] = tuple(BREAKS)

    def call(self, call: Call) -> Answer:
        """
        Answer a call on `self.plan`, and return the reply, or only the plan after it.

        The default calls a `Toolbox`. Override this method to call the code under test.
        """
        return self._answered(call.name, call.arguments)

    def _answered(self, name: str, given: Any) -> Reply:
        return Toolbox(self.toolset, counting(self.policy)[0]).call(self.plan, name, given)

    def send(self, call: Call, meant: dict[str, Any] | None) -> None:
        """
        Run one call through `call` and a `Toolbox`, and compare the results.

        `meant` are the well-formed arguments that the call means, or `None` if the call must be
        refused.
        """
        # Without a problem code: it depends on which fault is found first.
        wanted = Outcome(self.plan, (), refused=True)
        if meant is not None:
            wanted = outcome(self.plan, self._answered(call.name, meant))
            if any(task.id not in wanted.plan for task in self.plan):
                # Law 17: if intake guessed the shape of the arguments, the call is refused when it
                # would remove a task that it does not name.
                sent = outcome(self.plan, self._answered(call.name, call.arguments))
                if sent.codes == frozenset({"guessed_container"}):
                    wanted = sent
        self.compare(call_text(call), lambda: self.call(call), wanted)

    @rule(data=st.data())
    def well_formed(self, data: st.DataObject) -> None:
        """Call a tool according to its schema."""
        call = data.draw(arguments(self.toolset, self.plan))
        self.send(call, dict(call.arguments))

    # The strategy raises an error if no break fits; a cycle, for example, needs an edge.
    @precondition(lambda self: self.fitting())
    @rule(data=st.data())
    def broken(self, data: st.DataObject) -> None:
        """Call a tool with arguments that are broken in one way."""
        drawn = data.draw(broken_arguments(self.toolset, *self.fitting(), plan=self.plan))
        note(f"broken: {drawn.broken.name} ({drawn.broken.about}), to be {drawn.broken.expected}")
        self.send(drawn.call, drawn.meant)

    def fitting(self) -> tuple[str, ...]:
        """Return the breaks that fit the current plan."""
        tools = self.toolset.tools
        return tuple(n for n in self.breaks if any(BREAKS[n].fits(t, self.plan) for t in tools))


class RuleNeverFiredWarning(UserWarning):
    """A rule of your own never objected in a whole run, so the run says little about the rule."""


def warn_of_silence(rules: Iterable[str], run: str) -> None:
    """Warn of rules that never objected during a run."""
    for name in rules:
        msg = (
            f"the rule {name} objected to nothing in {run}: either it cannot object, or the"
            " commands that it refuses were not drawn; run some in a step of your own, or look at"
            " its `on`"
        )
        warnings.warn(msg, RuleNeverFiredWarning, stacklevel=3)


@lru_cache(maxsize=16)
def counting(policy: Policy) -> tuple[Policy, Counter[str]]:
    """
    Return the policy with checks that count, and the counts by rule name.

    A count is the number of changes to which a rule of the user's own has objected. Other rules
    have no count. Equal policies share their counts.
    """
    own = own_rules(policy)
    fired = Counter({each.name: 0 for each in own})

    def counted(own: Rule) -> Check:
        def check(change: Change) -> Iterable[Problem]:
            found: Any = own.check(change)
            # A result that is not iterable is refused by `decide`, which reads it.
            if isinstance(found, Iterable):
                found = tuple(found)
            fired[own.name] += bool(found)
            return found  # type: ignore[no-any-return]  # passed on as the rule gave it

        return check

    for each in own:
        level = policy.severity(each.name)
        policy = policy.adding(attrs.evolve(each, check=counted(each)), level)
    return policy, fired


def own_rules(policy: Policy) -> tuple[Rule, ...]:
    """Return the user's own rules that are not off."""
    on = (each for each, level in policy.rules if level is not Severity.OFF)
    return tuple(each for each in on if RULES.get(each.name) is not each)


def _endless(value: Any) -> Any:
    """Return a command, or a value in it, without the times at which waits and claims end."""
    if isinstance(value, Waiting):
        return attrs.evolve(value, until=None)
    if isinstance(value, ClaimTask | RenewClaim):
        return attrs.evolve(value, lease=_WITHOUT_END)
    if isinstance(value, tuple):
        return tuple(map(_endless, value))
    if not attrs.has(type(value)):
        return value
    names = [field.name for field in attrs.fields(type(value))]
    return attrs.evolve(value, **{name: _endless(getattr(value, name)) for name in names})


def _verdict(
    before: Plan, out: Outcome, wanted: Outcome, *, times: bool, unsure: bool
) -> Iterator[str]:
    """Yield a sentence for each fault of a step (laws 2 and 3)."""
    if out.refused is not None and out.refused != wanted.refused:
        done = f"refused ({_listed(out.codes)})" if out.refused else "accepted"
        should = f"be refused ({_listed(wanted.codes)})" if wanted.refused else "be accepted"
        yield f"it was {done}, it should {should}"
    elif wanted.codes is not None and out.codes not in (None, wanted.codes):
        yield f"it was refused for {_listed(out.codes)}, it should be for {_listed(wanted.codes)}"
    if out.refused and out.plan != before:
        yield "it was refused, and changed the plan"
    grown = out.plan.revision - before.revision
    if out.events is not None and replay(before, out.events) != out.plan:
        yield "replaying its events does not give its plan"
    if out.events is not None and grown != len(out.events):
        yield f"the revision grew by {grown}, there were {len(out.events)} events"
    changed = wanted.plan.revision > before.revision
    if grown < 0 or (bool(grown) != changed and not unsure):
        should = "grow" if changed else "stay"
        yield f"the revision went from {before.revision} to {out.plan.revision}, it should {should}"
    yield from differences(out.plan, wanted.plan, times=times)


def _listed(codes: frozenset[str] | None) -> str:
    return ", ".join(sorted(codes or ())) or "no reason known"


def differences(plan: Plan, wanted: Plan, *, times: bool) -> Iterator[str]:
    """
    Yield a sentence for each difference between a plan and the wanted one.

    Derived facts are compared too: edges at both ends, children, counts, ready tasks.
    """
    yield from _unlike("the tasks are", _named(plan), _named(wanted))
    edges, wanted_edges = _edges(plan), _edges(wanted)
    yield from (f"the edge {edge} is missing" for edge in sorted(wanted_edges - edges))
    yield from (f"the edge {edge} is too many" for edge in sorted(edges - wanted_edges))
    yield from _unlike("the next id is", plan.next_id, wanted.next_id)
    both = [(task, wanted[task.id]) for task in plan if task.id in wanted]
    for task, should in both:
        for name, field in TASK_FIELDS.items():
            if field.kind is not FieldKind.IDS and (times or field.kind is not FieldKind.TIME):
                found, right = getattr(task, name), getattr(should, name)
                if not times:
                    found, right = _untimed(found), _untimed(right)
                yield from _unlike(f"the {name} of #{task.id} is", found, right, repr)
    # In both directions: AgentScope keeps an edge at one end only if a task is reopened (law 4).
    for task, (name, mirror) in product(plan, (("blocks", "blocked_by"), ("blocked_by", "blocks"))):
        ends: tuple[str, ...] = getattr(task, name)
        if len(set(ends)) < len(ends):
            yield f"#{task.id} names a task twice in {name}"
        lost = [e for e in ends if e not in plan or task.id not in getattr(plan[e], mirror)]
        if lost:
            yield f"#{task.id} {name} {_named(lost)}, which {mirror} does not mirror"
    for task, should in both:
        blockers = unresolved_blockers(wanted, should)
        if set(unresolved_blockers(plan, task)) != set(blockers):
            yield f"#{task.id} does not wait for {_named(blockers)}"
        found, right = (_named(each.children(task.id)) for each in (plan, wanted))
        yield from _unlike(f"the children of #{task.id} are", found, right)
    yield from _unlike("the counts are", tuple(plan.counts), tuple(wanted.counts))
    lists = {"ready": Plan.ready, "in progress": Plan.active, "waiting": Plan.waiting}
    for name, ask in lists.items():
        found, right = (_named(ask(each)) for each in (plan, wanted))
        yield from _unlike(f"the tasks that are {name} are", found, right)
    approved, approve = plan.approved, wanted.approved
    if approved is None or approve is None:
        if approved is not None:
            yield "the plan is approved, it should not be"
        elif approve is not None:
            yield "the plan is not approved, it should be"
        return
    for name in ("revision", "by", "at") if times else ("revision", "by"):
        found, right = getattr(approved, name), getattr(approve, name)
        yield from _unlike(f"the {name} of the approval is", found, right, repr)


def _unlike(
    what: str, found: object, wanted: object, show: Callable[[object], str] = str
) -> Iterator[str]:
    if found != wanted:
        they = "they" if what.endswith(" are") else "it"
        yield f"{what} {show(found)}, {they} should be {show(wanted)}"


def _untimed(value: Any) -> Any:
    if isinstance(value, Claim):
        return attrs.evolve(value, until=None)
    return attrs.evolve(value, at=None) if isinstance(value, Evidence) else value


def _edges(plan: Plan) -> set[str]:
    return {f"#{task.id} -> #{end}" for task in plan for end in task.blocks}


def _named(tasks: Iterable[Task | str]) -> str:
    ids = (task if isinstance(task, str) else task.id for task in tasks)
    return ", ".join(f"#{task_id}" for task_id in ids) or "none"


def _plan_text(title: str, plan: Plan) -> str:
    return f"  {title}:\n{indent(list_text(plan), '    ')}"


def command_text(value: Any) -> str:
    """Return a command or a value in it as Python code. Fields with their default are left out."""
    if isinstance(value, tuple) and value:
        return f"({', '.join(map(command_text, value))}{',' * (len(value) == 1)})"
    if isinstance(value, Enum):
        return repr(value.value)
    if not attrs.has(type(value)):
        return repr(value)
    shown = []
    for field in attrs.fields(type(value)):
        inner = getattr(value, field.name)
        if field.default is attrs.NOTHING:
            shown.append(command_text(inner))
        elif inner != field.default:
            shown.append(f"{field.name}={command_text(inner)}")
    return f"{type(value).__name__}({', '.join(shown)})"


def call_text(call: Call) -> str:
    """Return a tool call on one line, clipped."""
    return clipped(f"{call.name}({call.arguments!r})", _LONGEST_CALL)

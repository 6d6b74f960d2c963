"""The machines find faults, show the plan before and after, and pass right code."""

import re
from datetime import UTC, datetime

import attrs
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from support.failures import failure_of, smallest_failure_of
from support.faults_of_loops import FAULTS, spoiling, tampered
from support.naive.machines import NaiveToolMachine
from support.policies import strict_for

from todoplan.core.commands import CreateTask, DeleteTask, WriteTodos
from todoplan.core.decide import decide
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
    """Each fault is found by what the machine draws, and shown with the plan before and after."""
    _, text = failure_of(tampered(fault.spoil), FOUND)
    assert re.search(fault.says, text)
    assert "  before:\n" in text


@pytest.mark.slow
def test_a_failure_can_be_read():
    """The smallest failure tells every step with the plan before and after, and what should be."""
    _, text = smallest_failure_of(lambda: tampered(FAULTS["loses an edge"].spoil), SHRUNK)
    # By which command the tasks are made, and what the first one is, is left to the lot.
    first, second = r"#1 \[\w+\] a\n", r"#2 \[\w+\] a"
    assert re.search(rf"The plan should be:\n{first}{second} \[blocked by #1\]\n", text)
    assert re.search(rf"\n\w+\(.*\)\n  before:\n.*\n  after:\n    {first}    {second}\n", text)


def inside(action):
    """Run something where Hypothesis takes notes."""

    @given(st.none())
    @settings(max_examples=1, database=None)
    def body(_):
        action()

    body()


def test_an_id_that_comes_back_is_named():
    """An id of a task that is gone is not given to a new one, whatever the numbers say."""

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
    """Commands and calls, any policy, any tool set, a loop with a clock of its own: no failure."""
    run_state_machine_as_test(right, settings=RUN)


@pytest.mark.parametrize("toolset", [TODOS, Tasks.toolset, LEAN], ids=lambda each: each.name)
def test_the_naive_model_agrees_on_calls(toolset):
    """Law 2 and 3 for tools: the naive model, a second opinion, expects the same of each call."""
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
    """A tool set that takes what is to be refused is caught, and the break is named."""

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
    """The laws are asked between the steps as well, and once more at the end."""
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


def test_machines_on_plans_alone_have_no_events():
    """Where only plans are told there is nothing to replay at the end."""
    box = tampered(spoiling(lambda plan: plan))()
    inside(lambda: box.do(WriteTodos(())))
    assert box.events is None
    _ask(box)

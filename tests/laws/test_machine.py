"""Random commands against the naive reference model: whatever is done, plan and model agree."""

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support import strategies as some
from support.reference import Step
from support.reference_plan import Model, view

from todoplan.core.apply import apply, replay
from todoplan.core.commands import CreateTasks, RestorePlan
from todoplan.core.decide import Accepted, Rejected, decide
from todoplan.core.events import PlanRestored
from todoplan.core.plan import Counts, Plan
from todoplan.core.policy import Policy, inspect
from todoplan.core.questions import open_tasks, unresolved_blockers

_VERSIONS = 6


class PlanMachine(RuleBasedStateMachine):
    """
    Commands, legal and not, under one policy, to the plan and to the model.
    """

    def __init__(self):
        super().__init__()
        self.policy = Policy()
        self.plan, self.model, self.events = Plan(), Model(), []
        self.versions = [(self.plan, (), 0)]
        self.used = set()

    @initialize(policy=some.policies())
    def choose(self, policy):
        """
        Choose the policy that holds for the whole life of the plan.
        """
        self.policy = policy

    def do(self, command, at=None):
        """
        Decide by plan and by model, and compare the answers.
        """
        step = Step(self.model, command, at)
        problems = step.problems(
            {rule.name: level for rule, level in self.policy.rules}, self.policy.limits
        )
        answer = decide(self.plan, command, self.policy, at=at)
        event(f"{type(command).__name__} {type(answer).__name__}")
        if isinstance(answer, Accepted):
            assert not problems
            self.accept(answer, step)
        else:
            self.refuse(answer, problems)

    def accept(self, answer, step):
        """
        Check that the events make the plan, and that no id is used twice.
        """
        assert replay(self.plan, answer.events) == answer.plan
        assert answer.plan.revision == self.plan.revision + len(answer.events)
        assert bool(answer.events) == step.changed
        fresh = {task.id for task in answer.plan} - {task.id for task in self.plan}
        if not any(type(part) is RestorePlan for part in step.commands):
            assert not fresh & self.used
        self.used |= {task.id for task in answer.plan}
        self.plan, self.model = answer.plan, step.after
        self.events += answer.events
        self.versions.append((self.plan, tuple(self.plan), self.plan.revision))

    def refuse(self, answer, problems):
        """
        Check that the plan was right to refuse, and says the same about why.
        """
        assert isinstance(answer, Rejected)
        assert problems == {problem.code for problem in answer.problems} or "no_plan" in problems

    @rule(command=some.legal_lists)
    def create(self, command):
        """
        Create several tasks at once.
        """
        self.do(command)

    @rule(command=some.lists | some.creations(), at=some.times)
    def create_linked(self, command, at):
        """
        Create tasks with edges among themselves and to others.
        """
        self.do(command, at)

    @rule(command=some.moves, at=some.times)
    def move(self, command, at):
        """
        Move any status to any other.
        """
        self.do(command, at)

    @rule(command=some.links)
    def link(self, command):
        """
        Add edges, also those that close a cycle.
        """
        self.do(command)

    @rule(command=some.commands, at=some.times)
    def anything(self, command, at):
        """
        Try any command, legal or not.
        """
        self.do(command, at)

    @rule(command=some.legal_writes)
    def write(self, command):
        """
        Write the whole list.
        """
        self.do(command)

    @rule(data=st.data(), clear=st.booleans())
    def rewrite(self, data, clear):
        """
        Write the list as it is: reordered, doubled, shortened, with and without ids.
        """
        here = [some.Todo(task.subject, task.status, id=task.id) for task in self.plan]
        anonymous = [some.Todo(task.subject, task.status) for task in self.plan]
        lines = st.sampled_from([*here, *anonymous]) if here else some.todos()
        todos = data.draw(some.few(lines | some.todos(), 8))
        self.do(some.WriteTodos(todos, clear))

    @rule(data=st.data(), at=some.times)
    def restore(self, data, at):
        """
        Restore one of the versions before.
        """
        _, tasks, _ = data.draw(st.sampled_from(self.versions))
        self.do(RestorePlan(tasks), at)

    @rule(number=st.sampled_from([60, 300]))
    def grow_and_shrink(self, number):
        """
        Let many tasks come and go in one batch, so that the container compacts itself.
        """
        first = self.plan.next_id
        created = CreateTasks(tuple(some.CreateTask(f"t{n}") for n in range(number)))
        deleted = (some.DeleteTask(str(first + n)) for n in range(number - 1))
        self.do(some.Batch((created, *deleted)))

    @invariant()
    def plan_is_model(self):
        """
        Compare tasks, order, edges and next id.
        """
        assert view(self.plan) == view(self.model)

    @invariant()
    def derived_is_recomputed(self):
        """
        Compare counts, ready, active and waiting with what counting anew gives.
        """
        model = self.model
        statuses = ("pending", "in_progress", "completed", "cancelled")
        assert self.plan.counts == Counts(*(model.count(status) for status in statuses))
        assert [task.id for task in self.plan.ready()] == model.ready()
        assert [task.id for task in self.plan.active()] == model.active()
        assert [task.id for task in open_tasks(self.plan)] == model.open()
        for task in self.plan:
            assert self.plan[task.id] is task
            assert set(unresolved_blockers(self.plan, task)) == set(model.waiting(task.id))
        for task_id in self.used | set(some.NO_IDS):
            assert self.plan.waits_for(task_id) == len(model.waiting(task_id))
            assert (task_id in self.plan) == (task_id in model.ids())

    @invariant()
    def edges_mirror(self):
        """
        Look for every edge at both ends, once, and for no way back.
        """
        for task in self.plan:
            assert len(set(task.blocks)) == len(task.blocks)
            assert len(set(task.blocked_by)) == len(task.blocked_by)
            assert all(task.id in self.plan[end].blocked_by for end in task.blocks)
            assert all(task.id in self.plan[end].blocks for end in task.blocked_by)
        assert not self.model.has_cycle()

    @invariant()
    def accepted_satisfies_policy(self):
        """
        Ask the rules at `error` of the plan as it stands.
        """
        if not self.restored_foreign():
            assert inspect(self.plan, self.policy) == ()

    def restored_foreign(self):
        """
        Say whether tasks came in ready-made: only those may break a rule, for no rule sees them.
        """
        return any(type(each) is PlanRestored for each in self.events)

    @invariant()
    def old_versions_stand(self):
        """
        Read old versions again.
        """
        for plan, tasks, revision in self.versions[-_VERSIONS:]:
            assert (tuple(plan), plan.revision) == (tasks, revision)

    def teardown(self):
        """
        Replay all events from nothing, at once and one by one.
        """
        assert replay(Plan(), self.events) == self.plan
        plan = Plan()
        for each in self.events[:300]:
            plan = apply(plan, each)
        assert replay(plan, self.events[300:]) == self.plan


TestPlanMachine = PlanMachine.TestCase

"""Random commands against the naive reference model: whatever is done, plan and model agree."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from support import strategies as some
from support.naive.machines import NaiveMachine

from todoplan.core.commands import Batch, CreateTask, CreateTasks, DeleteTask, WriteTodos
from todoplan.core.events.apply import apply, replay
from todoplan.core.plan.model import Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks


class LawMachine(NaiveMachine):
    """
    The machine on `decide` itself, under any policy, with times, by several actors and at more
    sizes.
    """

    times = True
    actors = (None, "ann", "bob")
    holders = True

    @initialize(policy=some.policies())
    def choose(self, policy):
        """Choose the policy that holds for the whole life of the plan."""
        self.policy = policy

    @rule(command=some.legal_lists)
    def create(self, command):
        """Create several tasks at once."""
        self.do(command)

    @rule(command=some.lists | some.links, at=some.times)
    def link(self, command, at):
        """Add edges, also those that close a cycle."""
        self.do(command, at)

    @rule(data=st.data(), clear=st.booleans())
    def rewrite(self, data, clear):
        """Write the list as it is: reordered, doubled, shortened, with and without ids."""
        here = [Todo(task.subject, task.status, id=task.id) for task in self.plan]
        anonymous = [Todo(task.subject, task.status) for task in self.plan]
        lines = st.sampled_from([*here, *anonymous]) if here else some.todos()
        self.do(WriteTodos(data.draw(some.few(lines | some.todos(), 8)), clear))

    @rule(number=st.sampled_from([60, 300]))
    def grow_and_shrink(self, number):
        """Let many tasks come and go in one batch, so that the container compacts itself."""
        first = self.plan.next_id
        created = CreateTasks(tuple(CreateTask(f"t{n}") for n in range(number)))
        deleted = (DeleteTask(str(first + n)) for n in range(number - 1))
        self.do(Batch((created, *deleted)))

    @invariant()
    def lookups_are_right(self):
        """Look every id up that was ever used, and texts that are none."""
        assert [task.id for task in open_tasks(self.plan)] == self.model.open()
        for task in self.plan:
            assert self.plan[task.id] is task
        for task_id in self.used | set(some.NO_IDS):
            assert self.plan.waits_for(task_id) == len(
                self.model.blockers(task_id) if task_id in self.model.ids() else ()
            )
            assert (task_id in self.plan) == (task_id in self.model.ids())

    def teardown(self):
        """Replay all events from nothing, at once and one by one."""
        super().teardown()
        plan = Plan()
        for each in self.events[:300]:
            plan = apply(plan, each)
        assert replay(plan, self.events[300:]) == self.plan


TestLawMachine = LawMachine.TestCase
TestLawMachine.settings = settings(max_examples=settings().max_examples // 4)

"""Sessions are isolated, also when they run in parallel, and work after a restart as before it."""

from todoplan.testing.adapters.capabilities import Capability, needs
from todoplan.testing.adapters.conversations import conversation, says, turn
from todoplan.testing.adapters.harness import Checks, SideBySide, in_tasks, in_threads
from todoplan.testing.adapters.host import ModelTurn
from todoplan.testing.assertions import must, same

__all__ = ["Sessions"]


def _digging(who: str) -> tuple[ModelTurn, ...]:
    return (
        turn(("TaskCreate", {"subject": f"{who} digs", "owner": who})),
        turn(("TaskCreate", {"subject": f"{who} lays", "blockedBy": ["1"]})),
        turn(("TaskUpdate", {"taskId": "1", "status": "completed"})),
        turn(("TaskList", {})),
        says(f"{who} is done."),
    )


class Sessions(Checks):
    """Two sessions of one agent, two agents, and a session before and after a restart."""

    def _apart(self, side_by_side: SideBySide) -> None:
        runs = {"ann": _digging("Ann"), "bo": _digging("Bo")}
        for outcome in self.harness().together(side_by_side, runs).values():
            outcome.agrees()

    def test_two_sessions_are_apart(self) -> None:
        """Runs of one session, alternating with another's, do not change the other's plan."""
        harness = self.harness()
        for step in zip(_digging("Ann"), _digging("Bo"), strict=True):
            for name, one in zip(("ann", "bo"), step, strict=True):
                outcome = harness.run(one, says(), session=name)
                outcome.agrees()
        same(
            [t.owner for t in harness.host.plan("ann")], ["Ann", None], "the owners of Ann's tasks"
        )

    def test_two_agents_share_nothing(self) -> None:
        """A new agent has none of another agent's plans: there is no process-wide memory."""
        # Not in a module's dictionary, nor under a default key: two agents in one server are two
        # users.
        self.harness().run(*_digging("Ann"))
        same([*self.harness().host.plan("one")], [], "the plan of a new agent's session")

    @needs(Capability.THREADS)
    def test_sessions_in_threads_are_apart(self) -> None:
        """
        Two sessions of one agent, in threads whose models answer at the same time, are isolated.
        """
        self._apart(in_threads)

    @needs(Capability.TASKS)
    def test_sessions_in_tasks_are_apart(self) -> None:
        """Two sessions of one agent, as tasks of one event loop, are isolated."""
        self._apart(in_tasks)

    @needs(Capability.RESUME)
    def test_a_plan_is_resumed(self) -> None:
        """After a restart the plan is the same: ids, edges, owner, times, next id, revision."""
        harness = self.harness()
        harness.runs(*conversation(harness.setup.toolbox.toolset))
        before = harness.host.plan("one")
        harness.restart()
        after = harness.host.plan("one")
        must(len(before) > 1, "there is no plan before the restart")
        same([*after], [*before], "the tasks after a restart")
        same(after.revision, before.revision, "the revision after a restart")

    @needs(Capability.RESUME)
    def test_work_goes_on_after_a_restart(self) -> None:
        """With a restart after every run, each run gives the same result as without."""
        harness = self.harness()
        for turns in conversation(harness.setup.toolbox.toolset):
            outcome = harness.run(*turns)
            outcome.agrees()
            harness.restart()
            # The expected result is computed from the plan before the run, so a plan lost in the
            # restart would go unnoticed without this check.
            ids = [task.id for task in harness.host.plan("one")]
            same(ids, [task.id for task in outcome.plan], "the ids after a restart")

    @needs(Capability.RESUME)
    def test_no_id_is_used_again_after_a_restart(self) -> None:
        """The id of a task deleted before a restart is not given to a new task after it."""
        # Ids computed from the present tasks are reused, and "#2" in a transcript or in a person's
        # words then means another task. Claude Code and AgentScope have both had this.
        harness = self.harness()
        new = turn(("TaskCreate", {"subject": "Dig"}))
        harness.run(new, new, turn(("TaskUpdate", {"taskId": "2", "status": "deleted"})), says())
        harness.restart()
        outcome = harness.run(new, says())
        same([task.id for task in outcome.plan], ["1", "3"], "the ids")

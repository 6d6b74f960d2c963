"""Sessions are apart, whoever runs beside them, and go on after a restart as if there were none."""

from todoplan.testing.adapters.bench import Checks
from todoplan.testing.adapters.capabilities import Capability, needs
from todoplan.testing.adapters.script import ModelTurn
from todoplan.testing.adapters.side_by_side import SideBySide, in_tasks, in_threads
from todoplan.testing.adapters.talks import says, talk, turn
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
    """
    Two sessions of one agent, two agents, and one before and after a restart.
    """

    def _apart(self, side_by_side: SideBySide) -> None:
        runs = {"ann": _digging("Ann"), "bo": _digging("Bo")}
        for done in self.bench().together(side_by_side, runs).values():
            done.same_plan()
            done.same_replies()

    def test_two_sessions_are_apart(self) -> None:
        """What one session does, by turns with another, is nowhere in the other's plan."""
        bench = self.bench()
        for step in zip(_digging("Ann"), _digging("Bo"), strict=True):
            for name, one in zip(("ann", "bo"), step, strict=True):
                done = bench.run(one, says(), session=name)
                done.same_plan()
                done.same_replies()
        same([t.owner for t in bench.host.plan("ann")], ["Ann", None], "the owners of Ann's tasks")

    def test_two_agents_share_nothing(self) -> None:
        """A new agent knows nothing of the plans of another: there is no process-wide memory."""
        self.bench().run(*_digging("Ann"))
        same([*self.bench().host.plan("one")], [], "the plan of a new agent's session")

    @needs(Capability.THREADS)
    def test_sessions_in_threads_are_apart(self) -> None:
        """Two sessions of one agent, in threads whose models answer together, are apart."""
        self._apart(in_threads)

    @needs(Capability.TASKS)
    def test_sessions_in_tasks_are_apart(self) -> None:
        """Two sessions of one agent, as tasks of one loop, are apart."""
        self._apart(in_tasks)

    @needs(Capability.RESUME)
    def test_a_plan_is_resumed(self) -> None:
        """After a restart the plan is the same: ids, edges, owner, times, next id, revision."""
        bench = self.bench()
        bench.runs(*talk(bench.setup.toolbox.toolset))
        before = bench.host.plan("one")
        bench.restart()
        after = bench.host.plan("one")
        must(len(before) > 1, "there is no plan before the restart")
        same([*after], [*before], "the tasks after a restart")
        same(after.revision, before.revision, "the revision after a restart")

    @needs(Capability.RESUME)
    def test_work_goes_on_after_a_restart(self) -> None:
        """Every run after a restart does what it does without one."""
        bench = self.bench()
        for turns in talk(bench.setup.toolbox.toolset):
            done = bench.run(*turns)
            done.same_plan()
            done.same_replies()
            bench.restart()

    @needs(Capability.RESUME)
    def test_no_id_is_used_again_after_a_restart(self) -> None:
        """The id of a task that was deleted before a restart is not given to another behind it."""
        bench = self.bench()
        new = turn(("TaskCreate", {"subject": "Dig"}))
        bench.run(new, new, turn(("TaskUpdate", {"taskId": "2", "status": "deleted"})), says())
        bench.restart()
        done = bench.run(new, says())
        same([task.id for task in done.plan], ["1", "3"], "the ids")

"""A final answer while tasks are open is sent back, not for ever, and again only upon progress."""

from todoplan.dialogue.guidance.guidance import Settings
from todoplan.testing.adapters.bench import Bench, Checks
from todoplan.testing.adapters.capabilities import Capability, needs
from todoplan.testing.adapters.script import ModelTurn
from todoplan.testing.adapters.side_by_side import SideBySide, in_tasks, in_threads
from todoplan.testing.adapters.talks import says, turn
from todoplan.testing.assertions import must, same

__all__ = ["Further"]

_TWICE = Settings(plan_lost=False, unfinished=2)


def _sets(status: str, *task_ids: str) -> ModelTurn:
    return turn(*(("TaskUpdate", {"taskId": each, "status": status}) for each in task_ids))


class Further(Checks):
    """
    Further turns.
    """

    def _seeded(self) -> Bench:
        bench = self.bench(guidance=_TWICE)
        bench.seed("Dig", "Lay")
        return bench

    @needs(Capability.FURTHER_TURNS)
    def test_an_early_answer_is_sent_back(self) -> None:
        """A final answer while tasks are open is answered by a reminder at the tail."""
        bench = self._seeded()
        plan = bench.host.plan("one")
        done = bench.run(says("Early."), _sets("completed", "1", "2"), says())
        done.reminded(0, times=0)
        done.told(1, "unfinished", plan)
        done.reminded(-1, times=0)
        done.same_plan()

    @needs(Capability.FURTHER_TURNS)
    def test_the_early_answer_is_shown_to_the_model(self) -> None:
        """In a further turn the model finds its own answer, which the reminder is about."""
        done = self._seeded().run(says("Early."), _sets("completed", "1", "2"), says())
        own = [seen.text for seen in done.request(1) if seen.role == "assistant"]
        must(
            any("Early." in text for text in own), f"the early answer is missing: {done.request(1)}"
        )

    @needs(Capability.FURTHER_TURNS)
    def test_what_sends_back_is_not_kept(self) -> None:
        """The reminder that asks for a further turn is not stored."""
        self._seeded().run(says("Early."), says()).nothing_kept()

    @needs(Capability.FURTHER_TURNS)
    def test_further_turns_are_capped(self) -> None:
        """A model that goes on answering is let go after the further turns of the settings."""
        same(len(self._seeded().run(says()).requests), 3, "the requests")

    @needs(Capability.FURTHER_TURNS)
    def test_progress_renews_the_cap(self) -> None:
        """Once more tasks are resolved, further turns are counted anew."""
        done = self._seeded().run(says(), says(), _sets("completed", "1"), says())
        same(len(done.requests), 6, "the requests")

    @needs(Capability.FURTHER_TURNS)
    def test_only_progress_renews_the_cap(self) -> None:
        """A call that resolves nothing gives no further turns."""
        done = self._seeded().run(says(), says(), _sets("in_progress", "1"), says())
        same(len(done.requests), 4, "the requests")

    @needs(Capability.FURTHER_TURNS)
    def test_a_new_run_has_its_own_cap(self) -> None:
        """Further turns belong to a run: the next request of the user has them again."""
        bench = self._seeded()
        asked = [len(bench.run(says()).requests) for _ in range(2)]
        same(asked, [3, 3], "the requests of each run")

    @needs(Capability.FURTHER_TURNS)
    def test_a_finished_plan_is_let_go(self) -> None:
        """With nothing open the first answer stands."""
        bench = self._seeded()
        done = bench.run(_sets("completed", "1", "2"), says())
        same(len(done.requests), 2, "the requests")

    def _sent_back_apart(self, side_by_side: SideBySide) -> None:
        bench = self.bench(guidance=_TWICE)
        plans = {name: bench.seed(f"{name} digs", session=name) for name in ("ann", "bo")}
        runs = {name: (says("Early."), says("Still.")) for name in plans}
        for name, done in bench.together(side_by_side, runs).items():
            same(len(done.requests), 3, f"the requests of {name}")
            done.told(1, "unfinished", plans[name])

    @needs(Capability.FURTHER_TURNS, Capability.THREADS)
    def test_users_in_threads_are_sent_back_apart(self) -> None:
        """Of two users in threads, each is told of their own open tasks, and has their own cap."""
        self._sent_back_apart(in_threads)

    @needs(Capability.FURTHER_TURNS, Capability.TASKS)
    def test_users_in_tasks_are_sent_back_apart(self) -> None:
        """Of two users in tasks of one loop, each is told of their own, and has their own cap."""
        self._sent_back_apart(in_tasks)

"""Law 12: the same calls give the same plans, events and replies through every adapter."""

from hypothesis import given

from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.testing.adapters.bench import Checks
from todoplan.testing.adapters.capabilities import Capability, needs
from todoplan.testing.adapters.done import Done
from todoplan.testing.adapters.drawn import talks
from todoplan.testing.adapters.talks import Run, each_toolset, talk

__all__ = ["SameRoad"]


class SameRoad(Checks):
    """
    Talks that are compared with the function-calling adapter, run by run.
    """

    def _talk(self, toolset: ToolSet) -> list[Done]:
        return self.bench(toolset).runs(*talk(toolset))

    @each_toolset
    def test_the_plans_are_the_same(self, toolset: ToolSet) -> None:
        """A talk leaves the plan that function calling leaves: ids, order, edges, revision."""
        for done in self._talk(toolset):
            done.same_plan()

    @each_toolset
    def test_the_replies_are_the_same(self, toolset: ToolSet) -> None:
        """Every call is answered once, in the words that function calling answers with."""
        for done in self._talk(toolset):
            done.same_replies()

    @needs(Capability.ERROR_FLAG)
    @each_toolset
    def test_exactly_the_errors_are_marked(self, toolset: ToolSet) -> None:
        """An answer is marked as an error if and only if the reply is one."""
        for done in self._talk(toolset):
            done.same_marks()

    @needs(Capability.EVENTS)
    @each_toolset
    def test_the_events_are_the_same(self, toolset: ToolSet) -> None:
        """The application is told of the events of each run, all and in order."""
        for done in self._talk(toolset):
            done.same_events()

    @needs(Capability.CLOCK)
    def test_the_times_are_those_of_the_clock(self) -> None:
        """A task's times are the given clock's, of the run in which it was changed."""
        bench = self.bench()
        for done in bench.runs(*talk(bench.setup.toolbox.toolset)):
            done.same_times()

    @each_toolset
    def test_drawn_talks_are_the_same(self, toolset: ToolSet) -> None:
        """Whatever calls are drawn: plans, replies, marks and events are the same."""

        @self.drawing
        @given(talks(toolset))
        def check(runs: tuple[Run, ...]) -> None:
            for done in self.bench(toolset).runs(*runs):
                self._compare(done)

        check()

    def _compare(self, done: Done) -> None:
        done.same_plan()
        done.same_replies()
        if Capability.ERROR_FLAG in self.capabilities:
            done.same_marks()
        if Capability.EVENTS in self.capabilities:
            done.same_events()

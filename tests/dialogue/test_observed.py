"""Who looks on changes nothing."""

import logging

from todoplan import TASKS, Planner, Toolbox
from todoplan.core.commands import CreateTask
from todoplan.dialogue.toolbox import ObservedToolbox, start, tell_called


class Failing:
    """An observer that cannot."""

    def called(self, replies, actor, began):
        """Fail."""
        raise RuntimeError

    decided = advised = called


def test_an_observer_that_fails_stops_nobody(caplog):
    """It is logged."""
    planner = Planner(toolbox=ObservedToolbox(TASKS, observer=Failing()))
    with caplog.at_level(logging.ERROR, "todoplan"):
        assert not planner.call("TaskList").is_error
        assert planner.apply(CreateTask("Sow")).events
    assert [record.message for record in caplog.records] == ["an observer failed"] * 2


def test_nobody_is_told_where_nobody_looks_on():
    """And no clock is read."""
    assert start(Toolbox()) == 0
    tell_called(Toolbox(), (), None, 0)

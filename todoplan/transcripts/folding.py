"""
Planning calls through our own core, one by one: the plans, how they came about, and what to say.

Memory holds the plans and one step.
"""

from collections.abc import Iterable, Iterator

from todoplan.core.plan.questions import open_tasks
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.replies.views import one_line
from todoplan.transcripts.calls import BadLine, Item, OtherCall, PlanningCall
from todoplan.transcripts.findings import AUDIT, Finding, found
from todoplan.transcripts.scene import Lane, Scene, Step

__all__ = ["Fold"]

_CLIP = 120


class Fold:
    """
    The replay of one recording: feed it items, then close it.

    `others` names the first tools that are no planning tools known here, until a planning call.
    """

    def __init__(self, policy: Policy = AUDIT) -> None:
        self.policy = policy
        self.lanes: dict[str, Lane] = {}
        self.others: dict[str, None] = {}

    def steps(self, items: Iterable[Item]) -> Iterator[Step | Finding]:
        """
        Yield a step for each call, and a finding for each line that could not be read.

        Findings about how the lanes ended come last.
        """
        for item in items:
            if isinstance(item, PlanningCall):
                yield self.feed(item)
            elif isinstance(item, BadLine):
                yield found("bad_line", item.line, "", reason=item.reason)
            elif isinstance(item, OtherCall):
                self.others[item.tool] = None
        for lane in self.lanes.values():
            yield from _ending(lane)

    def feed(self, call: PlanningCall) -> Step:
        """
        Let one call happen to its lane.
        """
        lane = self.lanes.setdefault(call.lane, Lane(call.lane))
        lane.calls += 1
        lane.last_line = call.line
        step = Scene(lane, call, self.policy).play()
        lane.plan = step.plan
        lane.refused += step.outcome == "refused"
        lane.largest = max(lane.largest, len(step.plan))
        return step


def _ending(lane: Lane) -> Iterator[Finding]:
    left = open_tasks(lane.plan)
    if left:
        values = {"open": len(left), "total": len(lane.plan)}
        first = one_line(left[0].subject, _CLIP)
        ids = tuple(task.id for task in left)
        yield found("ended_unfinished", lane.last_line, lane.name, *ids, first=first, **values)

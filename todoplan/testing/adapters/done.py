"""What came of a run, beside what must have come of it."""

import re
from collections.abc import Sequence

import attrs

from todoplan.core.plan import Plan
from todoplan.dialogue.reminders import TAG, reminder
from todoplan.testing.adapters.claims import must, same
from todoplan.testing.adapters.hosting import Ran
from todoplan.testing.adapters.reference import Expected
from todoplan.testing.adapters.script import Seen
from todoplan.testing.adapters.talks import TASKS

__all__ = ["Done"]

_TIME = re.compile(r"datetime\.datetime\((?:[^()]|\([^()]*\))*\)")


@attrs.frozen
class Done:
    """
    A run that is over: what the host says of it, what its model was sent, the plan it left, and
    what must have come of it.
    """

    ran: Ran
    plan: Plan
    wanted: Expected
    requests: Sequence[tuple[Seen, ...]] = ()

    def answer(self, call_id: str) -> Seen:
        """
        Return the answer to a call, as it is kept.
        """
        found = [seen for seen in self.ran.messages if seen.call_id == call_id]
        must(len(found) == 1, f"the call {call_id} has {len(found)} answers in {self.ran.messages}")
        return found[0]

    def same_plan(self) -> None:
        """
        Fail unless the plan is the wanted one: order, ids, edges, next id, revision; not the times.
        """
        same(_parts(self.plan), _parts(self.wanted.plan), "the plan")

    def same_times(self) -> None:
        """
        Fail unless every time in the plan is the wanted one.
        """
        same(_times(self.plan), _times(self.wanted.plan), "the times")

    def same_replies(self) -> None:
        """
        Fail unless every call is answered in the words of the reply.
        """
        replies = self.wanted.replies
        found = {key: self.answer(key).text for key in replies}
        same(found, {key: reply.text for key, reply in replies.items()}, "the answers")

    def same_marks(self) -> None:
        """
        Fail unless exactly the errors are marked as such.
        """
        replies = self.wanted.replies
        found = [key for key in replies if self.answer(key).is_error]
        same(found, [key for key in replies if replies[key].is_error], "what is marked as an error")

    def same_events(self) -> None:
        """
        Fail unless the application was told of the wanted events, in order.
        """
        found, wanted = self.ran.events, self.wanted.events
        same([*map(_timeless, found)], [*map(_timeless, wanted)], "the events")

    def told(self, index: int, kind: str, plan: Plan) -> None:
        """
        Fail unless a request ends with the reminder of this kind, in the names of the set `tasks`,
        and holds no other.
        """
        wanted, tail = reminder(kind, plan, TASKS), self.requests[index][-1].text
        must(tail.endswith(wanted), f"request {index} ends with {tail!r}, not with {wanted!r}")
        self.reminded(index, times=1)

    def reminded(self, index: int, *, times: int) -> None:
        """
        Fail unless a request holds so many reminders.
        """
        found = sum(seen.text.count(f"<{TAG}>") for seen in self.requests[index])
        same(found, times, f"how many reminders request {index} holds")

    def nothing_kept(self) -> None:
        """
        Fail if a reminder stands in the conversation that is stored.
        """
        kept = [seen.text for seen in self.ran.messages if f"<{TAG}>" in seen.text]
        same(kept, [], "the reminders in what is stored")


def _parts(plan: Plan) -> tuple[object, ...]:
    return (f"revision {plan.revision}", f"next id {plan.next_id}", *map(_timeless, plan))


def _timeless(value: object) -> str:
    return _TIME.sub("time", repr(value))


def _times(plan: Plan) -> list[tuple[object, ...]]:
    return [(t.id, t.created_at, t.updated_at, t.started_at, t.completed_at) for t in plan]

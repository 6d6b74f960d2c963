"""Reminders: at the tail of a request, unsaved, escaped, each user's own, and the cache is kept."""

from collections.abc import Sequence
from itertools import pairwise

from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.guidance.reminders import TAG
from todoplan.testing.adapters.bench import Bench, Checks
from todoplan.testing.adapters.breaks import ATTACKS
from todoplan.testing.adapters.capabilities import Capability, needs
from todoplan.testing.adapters.script import Seen
from todoplan.testing.adapters.talks import says, turn
from todoplan.testing.assertions import same

__all__ = ["Guided"]

_LOST = Settings(unfinished=0)
_CHANGED = Settings(plan_lost=False, unfinished=0, changed=True)
_READ = turn(("TaskList", {}))
_FAILED = turn(("TaskGet", {"taskId": "9"}))


class Guided(Checks):
    """
    What the model is reminded of, and where that stands.
    """

    @needs(Capability.MODEL)
    def test_nothing_is_said_unasked(self) -> None:
        """With all guidance off the model is reminded of nothing and may stop where it likes."""
        bench = self.bench()
        bench.seed("Dig", "Lay")
        done = bench.run(_READ, says())
        same(len(done.requests), 2, "the requests")
        for index in range(2):
            done.reminded(index, times=0)

    @needs(Capability.REMINDERS)
    def test_a_lost_plan_is_told_at_the_tail(self) -> None:
        """Open tasks that the conversation does not show are told at the end of the request."""
        bench = self.bench(guidance=_LOST)
        plan = bench.seed("Dig", "Lay")
        bench.run(says()).told(0, "plan_lost", plan)

    @needs(Capability.REMINDERS)
    def test_a_visible_plan_is_not_told_again(self) -> None:
        """Once a planning call has succeeded in the conversation, no reminder is due."""
        bench = self.bench(guidance=_LOST)
        bench.seed("Dig", "Lay")
        done = bench.run(_READ, _READ, says())
        for index in (1, 2):
            done.reminded(index, times=0)

    @needs(Capability.REMINDERS, Capability.ERROR_FLAG)
    def test_a_failed_call_does_not_show_the_plan(self) -> None:
        """A planning call that failed does not count: the reminder is given again."""
        bench = self.bench(guidance=_LOST)
        plan = bench.seed("Dig", "Lay")
        bench.run(_FAILED, says()).told(1, "plan_lost", plan)

    @needs(Capability.REMINDERS)
    def test_a_reminder_is_not_kept(self) -> None:
        """A reminder stands in one request, and neither in the next nor in what is stored."""
        bench = self.bench(guidance=_LOST)
        bench.seed("Dig", "Lay")
        done = bench.run(_READ, says())
        done.nothing_kept()
        done.reminded(1, times=0)

    @needs(Capability.REMINDERS)
    def test_the_cached_prefix_stays(self) -> None:
        """The system message is the same in every request, and a request only adds to the last."""
        bench = self.bench(guidance=_LOST)
        bench.seed("Dig", "Lay")
        done = bench.run(_READ, turn(("TaskCreate", {"subject": "Mow"})), _FAILED, says())
        systems = [[s.text for s in sent if s.role == "system"] for sent in done.requests]
        same(systems, systems[:1] * len(systems), "the system messages")
        for earlier, later in pairwise(done.requests):
            sent = _lasting(earlier)
            same(_lasting(later)[: len(sent)], sent, "the beginning of a request")

    @needs(Capability.REMINDERS)
    def test_a_hostile_text_cannot_close_a_reminder(self) -> None:
        """Whatever tasks are called, a reminder is opened once and closed once (law 14)."""
        for texts in ATTACKS.values():
            bench = self.bench(guidance=_LOST)
            plan = bench.seed("Dig", *texts)
            done = bench.run(says())
            done.told(0, "plan_lost", plan)
            closed = sum(seen.text.count(f"</{TAG}>") for seen in done.request(0))
            same(closed, 1, f"how often the reminder of {texts} is closed")

    @needs(Capability.REMINDERS)
    def test_each_user_is_told_of_their_own(self) -> None:
        """A reminder shows the plan of its own session, whoever was reminded before."""
        bench = self.bench(guidance=_LOST)
        ann, bo = bench.seed("Ann digs", session="ann"), bench.seed("Bo lays", session="bo")
        for name, plan in (("ann", ann), ("bo", bo), ("ann", ann)):
            bench.run(says(), session=name).told(0, "plan_lost", plan)

    @needs(Capability.REMINDERS)
    def test_what_was_told_is_remembered_for_each_user(self) -> None:
        """What one session knows of its plan is not taken for what another knows."""
        bench = self.bench(guidance=_CHANGED)
        for name, subjects in (("ann", ["Dig"]), ("bo", ["Dig", "Lay", "Fill"])):
            bench.seed(*subjects, session=name)
            bench.run(says(), session=name).reminded(0, times=0)

    @needs(Capability.REMINDERS)
    def test_only_changes_by_others_are_told(self) -> None:
        """The model is told once of what others did to its plan, and never of its own changes."""
        _changed(self.bench(guidance=_CHANGED))

    @needs(Capability.REMINDERS, Capability.RESUME)
    def test_guidance_remembers_over_a_restart(self) -> None:
        """What guidance remembers is kept with the session, and resumed with it."""
        _changed(self.bench(guidance=_CHANGED), restart=True)


def _changed(bench: Bench, *, restart: bool = False) -> None:
    own = bench.run(turn(("TaskCreate", {"subject": "Dig"})), _READ, says())
    for index in range(len(own.requests)):
        own.reminded(index, times=0)
    if restart:
        bench.restart()
    plan = bench.seed("Lay")
    done = bench.run(_READ, says())
    done.told(0, "changed", plan)
    done.reminded(1, times=0)


def _lasting(request: Sequence[Seen]) -> Sequence[tuple[str, str]]:
    """
    Return a request without the reminder at its tail.
    """
    cut = [(seen.role, seen.text.partition(f"<{TAG}>")[0].rstrip()) for seen in request]
    return cut if cut[-1][1] else cut[:-1]

"""
Guidance: reminders at the tail of a request, and final answers given too early.

A reminder is not saved, is escaped, belongs to one session, and leaves the cached prefix of the
request unchanged. An answer while tasks are open is sent back a limited number of times; progress
resets the limit.
"""

from collections.abc import Sequence
from itertools import pairwise

from todoplan.core.plan.plan import Plan
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.guidance.reminders import TAG, unfinished_error
from todoplan.testing.adapters.bad_arguments import ATTACKS
from todoplan.testing.adapters.capabilities import Capability, needs
from todoplan.testing.adapters.conversations import says, turn
from todoplan.testing.adapters.harness import Checks, Harness, SideBySide, in_tasks, in_threads
from todoplan.testing.adapters.host import QUIET, ModelTurn, Seen
from todoplan.testing.assertions import must, same

__all__ = ["FurtherTurns", "Reminders"]

_LOST = Settings(unfinished=0, changed=False)
_CHANGED = Settings(plan_lost=False, unfinished=0, changed=True)
_APPROVED_FIRST = DEFAULT.but(approval_required="error")
_READ = turn(("TaskList", {}))
_FAILED = turn(("TaskGet", {"taskId": "9"}))
_TWICE = Settings(plan_lost=False, unfinished=2, changed=False)
_RAISES = Settings(plan_lost=False, unfinished=1, changed=False, on_ignored="raise")
_SILENT = Settings(plan_lost=False, unfinished=0, changed=False, all_done="if_silent")


class _Guided(Checks):
    def _seeded(self, settings: Settings = _TWICE, *subjects: str) -> tuple[Harness, Plan]:
        harness = self.harness(guidance=settings)
        return harness, harness.seed(*(subjects or ("Dig", "Lay")))


class Reminders(_Guided):
    """The contents and the place of reminders."""

    @needs(Capability.MODEL)
    def test_nothing_is_said_unasked(self) -> None:
        """With all guidance off, the model gets no reminder and may stop at any time."""
        harness, _ = self._seeded(QUIET)
        outcome = harness.run(_READ, says())
        same(len(outcome.requests), 2, "the requests")
        for index in range(2):
            outcome.has_reminders(index, times=0)

    @needs(Capability.REMINDERS)
    def test_a_lost_plan_is_told_at_the_tail(self) -> None:
        """
        If the conversation does not show the open tasks, they are listed at the end of the request.
        """
        harness, plan = self._seeded(_LOST)
        harness.run(says()).ends_with_reminder(0, "plan_lost", plan)

    @needs(Capability.REMINDERS)
    def test_a_visible_plan_is_not_told_again(self) -> None:
        """After a successful planning call in the conversation, no reminder is sent."""
        harness, _ = self._seeded(_LOST)
        outcome = harness.run(_READ, _READ, says())
        for index in (1, 2):
            outcome.has_reminders(index, times=0)

    @needs(Capability.REMINDERS, Capability.ERROR_FLAG)
    def test_a_failed_call_does_not_show_the_plan(self) -> None:
        """A failed planning call does not count as showing the plan: the reminder is sent again."""
        # DeerFlow counts any call of the tool as showing the list, even a refused one; the real
        # list stays hidden from then on.
        harness, plan = self._seeded(_LOST)
        harness.run(_FAILED, says()).ends_with_reminder(1, "plan_lost", plan)

    @needs(Capability.REMINDERS)
    def test_a_reminder_is_not_kept(self) -> None:
        """A reminder is in one request only, and neither in the next one nor in what is stored."""
        # A stored reminder is later read as current, and a list that has changed since is never
        # announced again. In the conversation, it also speaks with the user's voice.
        harness, _ = self._seeded(_LOST)
        outcome = harness.run(_READ, says())
        outcome.keeps_no_reminder()
        outcome.has_reminders(1, times=0)

    @needs(Capability.REMINDERS)
    def test_the_cached_prefix_stays(self) -> None:
        """
        The system message is the same in every request, and each request only extends the previous
        one.
        """
        # A list in the system message invalidates the provider's cache of everything after it, on
        # each turn.
        harness, _ = self._seeded(_LOST)
        outcome = harness.run(_READ, turn(("TaskCreate", {"subject": "Mow"})), _FAILED, says())
        systems = [[s.text for s in sent if s.role == "system"] for sent in outcome.requests]
        same(systems, systems[:1] * len(systems), "the system messages")
        for earlier, later in pairwise(outcome.requests):
            sent = _lasting(earlier)
            same(_lasting(later)[: len(sent)], sent, "the beginning of a request")

    @needs(Capability.REMINDERS)
    def test_a_hostile_text_cannot_close_a_reminder(self) -> None:
        """Whatever the texts of tasks, a reminder is opened once and closed once (law 14)."""
        # In DeerFlow and pydantic-ai-harness a task's text can close the reminder, and what follows
        # it speaks as the system. A model that reads web pages writes such texts without intent.
        for texts in ATTACKS.values():
            harness = self.harness(guidance=_LOST)
            plan = harness.seed("Dig", *texts)
            outcome = harness.run(says())
            outcome.ends_with_reminder(0, "plan_lost", plan)
            closed = sum(seen.text.count(f"</{TAG}>") for seen in outcome.request(0))
            same(closed, 1, f"how often the reminder of {texts} is closed")

    @needs(Capability.REMINDERS)
    def test_each_user_is_told_of_their_own(self) -> None:
        """A reminder shows the plan of its own session, whichever session got the previous one."""
        # If DeerFlow finds no thread id where it looks, it keeps all users under one key: the next
        # user's model sees the previous user's tasks.
        harness = self.harness(guidance=_LOST)
        ann, bo = harness.seed("Ann digs", session="ann"), harness.seed("Bo lays", session="bo")
        for name, plan in (("ann", ann), ("bo", bo), ("ann", ann)):
            harness.run(says(), session=name).ends_with_reminder(0, "plan_lost", plan)

    @needs(Capability.REMINDERS)
    def test_what_was_told_is_remembered_for_each_user(self) -> None:
        """The changes reported to one session are recorded for that session only."""
        harness = self.harness(guidance=_CHANGED)
        for name, subjects in (("ann", ["Dig"]), ("bo", ["Dig", "Lay", "Fill"])):
            harness.seed(*subjects, session=name)
            harness.run(says(), session=name).has_reminders(0, times=0)

    @needs(Capability.REMINDERS)
    def test_only_changes_by_others_are_told(self) -> None:
        """Changes by others are reported to the model once; its own changes never."""
        _changed(self.harness(guidance=_CHANGED))

    @needs(Capability.REMINDERS, Capability.RESUME)
    def test_guidance_remembers_over_a_restart(self) -> None:
        """What guidance remembers is saved with the session and restored with it."""
        _changed(self.harness(guidance=_CHANGED), restart=True)


def _changed(harness: Harness, *, restart: bool = False) -> None:
    own = harness.run(turn(("TaskCreate", {"subject": "Dig"})), _READ, says())
    for index in range(len(own.requests)):
        own.has_reminders(index, times=0)
    if restart:
        harness.restart()
    plan = harness.seed("Lay")
    outcome = harness.run(_READ, says())
    outcome.ends_with_reminder(0, "changed", plan)
    outcome.has_reminders(1, times=0)


def _lasting(request: Sequence[Seen]) -> Sequence[tuple[str, str]]:
    """Return a request without the reminder at its tail."""
    cut = [(seen.role, seen.text.partition(f"<{TAG}>")[0].rstrip()) for seen in request]
    return cut if cut[-1][1] else cut[:-1]


def _sets(status: str, *task_ids: str) -> ModelTurn:
    return turn(*(("TaskUpdate", {"taskId": each, "status": status}) for each in task_ids))


class FurtherTurns(_Guided):
    """Requests for a further turn after an early final answer."""

    @needs(Capability.FURTHER_TURNS)
    def test_an_early_answer_is_sent_back(self) -> None:
        """After a final answer while tasks are open, the next request ends with a reminder."""
        harness, plan = self._seeded()
        outcome = harness.run(says("Early."), _sets("completed", "1", "2"), says())
        outcome.has_reminders(0, times=0)
        outcome.ends_with_reminder(1, "unfinished", plan)
        outcome.has_reminders(-1, times=0)
        outcome.same_plan()

    @needs(Capability.FURTHER_TURNS)
    def test_the_early_answer_is_shown_to_the_model(self) -> None:
        """In a further turn, the request contains the answer that the reminder is about."""
        outcome = self._seeded()[0].run(says("Early."), _sets("completed", "1", "2"), says())
        own = [seen.text for seen in outcome.request(1) if seen.role == "assistant"]
        must(
            any("Early." in text for text in own),
            f"the early answer is missing: the assistant said {own} in request 1",
        )

    @needs(Capability.FURTHER_TURNS)
    def test_what_sends_back_is_not_kept(self) -> None:
        """The reminder that asks for a further turn is not stored."""
        self._seeded()[0].run(says("Early."), says()).keeps_no_reminder()

    @needs(Capability.FURTHER_TURNS)
    def test_further_turns_are_capped(self) -> None:
        """
        The run ends after the number of further turns in the settings, even if tasks are open.
        """
        # LangChain continues up to a recursion limit of 9,999, so the adapter must stop by itself.
        same(len(self._seeded()[0].run(says()).requests), 3, "the requests")

    @needs(Capability.FURTHER_TURNS)
    def test_an_ignored_reminder_raises_if_told_so(self) -> None:
        """With `on_ignored="raise"` the run ends in `unfinished_error`; the next run works."""
        # A normal end would look as if all tasks were done. Frameworks wrap the error in one of
        # their own.
        harness, plan = self._seeded(_RAISES)
        error, wanted = harness.error(says()), str(unfinished_error(plan))
        last = error.rpartition("\n")[2] or "no error"
        must(wanted in error, f"the run ended in {last!r}, wanted an error with {wanted!r}")
        again = harness.error(_sets("completed", "1", "2"), says())
        same(again, "", "the error of the next run, which closes all")

    @needs(Capability.FURTHER_TURNS)
    def test_an_answer_passes_while_a_person_is_to_approve(self) -> None:
        """
        If the policy requires approval before work starts, an answer before the approval is not
        sent back.
        """
        # Without the toolbox's policy, guidance would nag a model that has nothing to work on.
        harness = self.harness(guidance=_TWICE, policy=_APPROVED_FIRST)
        harness.seed("Dig", "Lay")
        same(len(harness.run(says("Here is the plan.")).requests), 1, "the requests")

    @needs(Capability.FURTHER_TURNS)
    def test_progress_renews_the_cap(self) -> None:
        """When more tasks are resolved, the count of further turns starts again at zero."""
        # A cap that counts reminders instead of lack of progress leaves long plans half done.
        outcome = self._seeded()[0].run(says(), says(), _sets("completed", "1"), says())
        same(len(outcome.requests), 6, "the requests")

    @needs(Capability.FURTHER_TURNS)
    def test_only_progress_renews_the_cap(self) -> None:
        """A call that resolves no task gives no additional further turns."""
        outcome = self._seeded()[0].run(says(), says(), _sets("in_progress", "1"), says())
        same(len(outcome.requests), 4, "the requests")

    @needs(Capability.FURTHER_TURNS)
    def test_a_new_run_has_its_own_cap(self) -> None:
        """The count of further turns belongs to a run: the user's next request starts at zero."""
        # The further turns of one run must not use up those of the next, nor another user's.
        harness, _ = self._seeded()
        asked = [len(harness.run(says()).requests) for _ in range(2)]
        same(asked, [3, 3], "the requests of each run")

    @needs(Capability.FURTHER_TURNS)
    def test_a_finished_plan_is_let_go(self) -> None:
        """If no task is open, the first answer is accepted."""
        harness, _ = self._seeded()
        outcome = harness.run(_sets("completed", "1", "2"), says())
        same(len(outcome.requests), 2, "the requests")

    @needs(Capability.FURTHER_TURNS)
    def test_a_question_passes(self) -> None:
        """An answer that ends in a question mark is not sent back: an agent may always ask."""
        # If it were sent back, the person would be asked twice, or never: the model would answer
        # itself.
        harness, _ = self._seeded()
        outcome = harness.run(says("There are two beds. Which one should I dig?"), says())
        same(len(outcome.requests), 1, "the requests")

    @needs(Capability.FURTHER_TURNS, Capability.FINISH)
    def test_a_refusal_is_let_go(self) -> None:
        """
        After a refusal by the provider, nothing is sent back, since asking again does not help.
        """
        # The same request meets the same filter. An adapter that ignores the finish reason asks
        # until the cap, and the user waits for three refusals.
        outcome = self._seeded()[0].run(ModelTurn(text="I cannot.", finish="refusal"), says())
        same(len(outcome.requests), 1, "the requests")

    @needs(Capability.FURTHER_TURNS, Capability.THOUGHTS)
    def test_thoughts_are_no_answer(self) -> None:
        """
        A model that sent only thoughts and no text is asked once more, by the adapter or the
        framework.
        """
        # Thoughts are shown to nobody. Some frameworks continue by themselves then, so the test
        # does not check who asks.
        harness, _ = self._seeded(_SILENT, "Dig")
        outcome = harness.run(_sets("completed", "1"), ModelTurn(thoughts="All is dug."), says())
        same(len(outcome.requests), 3, "the requests")

    @needs(Capability.FURTHER_TURNS, Capability.THOUGHTS)
    def test_an_answer_beside_thoughts_is_one(self) -> None:
        """A text next to thoughts is a final answer."""
        harness, _ = self._seeded(_SILENT, "Dig")
        answer = ModelTurn(text="It is dug.", thoughts="All is dug.")
        same(len(harness.run(_sets("completed", "1"), answer).requests), 2, "the requests")

    def _sent_back_apart(self, side_by_side: SideBySide) -> None:
        harness = self.harness(guidance=_TWICE)
        plans = {name: harness.seed(f"{name} digs", session=name) for name in ("ann", "bo")}
        # In DeerFlow one user's reminders use up the cap of another user's new thread.
        runs = {name: (says("Early."), says("Still.")) for name in plans}
        for name, outcome in harness.together(side_by_side, runs).items():
            same(len(outcome.requests), 3, f"the requests of {name}")
            outcome.ends_with_reminder(1, "unfinished", plans[name])

    @needs(Capability.FURTHER_TURNS, Capability.THREADS)
    def test_users_in_threads_are_sent_back_apart(self) -> None:
        """Two users in threads each get their own open tasks, and each has their own cap."""
        self._sent_back_apart(in_threads)

    @needs(Capability.FURTHER_TURNS, Capability.TASKS)
    def test_users_in_tasks_are_sent_back_apart(self) -> None:
        """
        Two users in tasks of one event loop each get their own open tasks, and each has their own
        cap.
        """
        self._sent_back_apart(in_tasks)

"""Adapters that each do one thing wrongly with what the program sees of a task."""

import attrs
from support.conformance_sound import Sound
from support.faults import caught_by, edited

from todoplan.core.events.base import Base
from todoplan.planner import Verifier


class _Verified(Sound):
    """
    A sound host whose verifier is wrapped.
    """

    def __init__(self, setup):
        asked = setup.verify
        wrapped = asked and Verifier(lambda *given: self.look(asked.look, *given), by=asked.by)
        super().__init__(attrs.evolve(setup, verify=wrapped))

    def look(self, look, task, plan):
        return look(task, plan)


@caught_by(
    "a_passed_check_is_verified",
    "a_failed_check_keeps_its_task_open",
    "a_claim_against_a_check_is_told",
    "a_verifier_that_fails_leaves_the_task",
    "each_check_is_looked_at_once",
    "an_edit_while_the_program_looks_stays",
    "what_was_seen_survives_a_restart",
)
class TakesTheModelsWord(Sound):
    def __init__(self, setup):
        super().__init__(attrs.evolve(setup, verify=None))


@caught_by(
    "a_failed_check_keeps_its_task_open",
    "what_was_seen_is_no_news_beside_that_of_others",
    "what_was_seen_is_told_once",
    "what_was_seen_survives_a_restart",
)
class DropsWhatARefusalHasSeen(Sound):
    def answer_from(self, base, plan, turn):
        answered = super().answer_from(base, plan, turn)
        if any(not reply.is_error for reply in answered.replies):
            return answered
        return attrs.evolve(answered, plan=plan)


@caught_by("a_claim_against_a_check_is_told")
class SaysOneLineOnly(Sound):
    def answer_from(self, base, plan, turn):
        answered = super().answer_from(base, plan, turn)
        if not any("check" in reply.text for reply in answered.replies):
            return answered
        replies = (attrs.evolve(each, text=each.text.split("\n")[0]) for each in answered.replies)
        return attrs.evolve(answered, replies=tuple(replies))


@caught_by("an_edit_while_the_program_looks_stays")
class WritesOverWhatCameMeanwhile(Sound):
    def answered_upon(self, record, turn):
        base, plan = record.base, record.plan
        return base, self.answer_from(base, plan, turn) if base else self.answer(plan, turn)


@caught_by("what_was_seen_is_told_once", "what_was_seen_is_no_news_beside_that_of_others")
class TakesARefusalForAnothersWork(Sound):
    def answered(self, record, turn):
        before = record.plan
        events = super().answered(record, turn)
        task = record.plan.get("1")
        if events and task is not None and task.evidence and not task.evidence.passed:
            record.base = Base(before)
        return events


@caught_by(
    "what_was_seen_is_no_news_beside_that_of_others",
    "a_persons_edit_is_told",
    "an_answer_is_told_once",
    "the_first_list_of_a_session_removes_nothing",
    "what_a_program_seeded_stays",
    "what_was_seen_is_told_once",
)
class TellsItsOwnFindingWithTheNews(Sound):
    def answered(self, record, turn):
        base = record.base
        events = super().answered(record, turn)
        record.base = record.base and base
        return events


@caught_by("a_verifier_that_fails_leaves_the_task")
class TakesAFailureForAPass(_Verified):
    def look(self, look, task, plan):
        try:
            return look(task, plan)
        except OSError:
            return True, "not looked at"


@caught_by("each_check_is_looked_at_once")
class LooksTwice(_Verified):
    def look(self, look, task, plan):
        look(task, plan)
        return look(task, plan)


@caught_by("what_was_seen_survives_a_restart")
class ForgetsWhatWasSeen(Sound):
    def resume(self, saved):
        super().resume(saved)
        for session in self.kept:
            record = self.load(session)
            record.plan = edited(record.plan, lambda task: attrs.evolve(task, evidence=None))
            self.save(session, record)

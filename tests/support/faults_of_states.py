"""Adapters that each lose something that a task may be: failed, waiting, a subtask, claimed."""

import attrs
from support.conformance_sound import Sound
from support.faults import caught_by, edited

from todoplan.core.plan.model import Status, Waiting


class _Keeps(Sound):
    """
    Keeps each task as its framework has it.
    """

    def save(self, session, record):
        record.plan = edited(record.plan, self.kept_as)
        super().save(session, record)


@caught_by("a_failed_task_stays_failed", "what_a_task_is_survives_a_restart")
class HasNoWordForFailed(_Keeps):
    def kept_as(self, task):
        return task.but(status=Status.CANCELLED) if task.status is Status.FAILED else task


@caught_by(
    "a_waiting_task_keeps_its_reason",
    "an_answer_is_told_once",
    "what_a_task_is_survives_a_restart",
)
class KeepsThatItWaitsAndNotWhatFor(_Keeps):
    def kept_as(self, task):
        return task.but(waiting=Waiting()) if task.waiting else task


@caught_by("subtasks_stay_where_they_are", "what_a_task_is_survives_a_restart")
class KeepsAFlatList(_Keeps):
    def kept_as(self, task):
        return task.but(parent=None)


@caught_by("what_a_task_is_survives_a_restart")
class WakesUp(Sound):
    def resume(self, saved):
        super().resume(saved)
        for session in self.kept:
            record = self.load(session)
            record.plan = edited(record.plan, lambda task: task.but(waiting=None))
            self.save(session, record)


@caught_by("an_answer_is_told_once")
class TellsTheAnswerAgain(Sound):
    def answer_from(self, base, plan, turn):
        answered = super().answer_from(base, plan, turn)
        told = "".join(f" ({task.answer})" for task in plan if task.answer)
        replies = (attrs.evolve(each, text=each.text + told) for each in answered.replies)
        return attrs.evolve(answered, replies=tuple(replies))


@caught_by("what_a_person_has_claimed_is_left_to_them")
class TakesOver(Sound):
    def answer_from(self, base, plan, turn):
        return super().answer_from(base, edited(plan, lambda task: task.but(claim=None)), turn)

"""Adapters that each do one thing wrongly with what a person does to the plan, or with guesses."""

import attrs
from support.conformance_sound import Sound, with_arguments
from support.faults import caught_by

from todoplan.core.decide.assembly import plan_of
from todoplan.core.decide.decide import Rejected
from todoplan.core.events.base import Base
from todoplan.core.problems import Problem
from todoplan.errors import PlanError


@caught_by(
    "a_persons_edit_survives_the_next_write",
    "a_persons_edit_survives_a_restart",
    "a_persons_edit_is_told",
    "a_refused_call_has_told_nothing",
    "an_edit_during_a_run_is_in_the_plan_or_refused",
    "an_answer_is_told_once",
    "a_reminder_counts_for_the_response_to_it",
    "what_was_seen_is_no_news_beside_that_of_others",
)
class TakesTheListForTheWholeTruth(Sound):
    def answer_from(self, base, plan, turn):
        return super().answer_from(None, plan, turn)


@caught_by("a_persons_edit_survives_a_restart")
class ForgetsWhatWasUnseen(Sound):
    def resume(self, saved):
        super().resume(saved)
        for session in self.kept:
            record = self.load(session)
            record.base = None
            self.save(session, record)


@caught_by(
    "a_persons_edit_is_told",
    "a_refused_call_has_told_nothing",
    "an_edit_during_a_run_is_in_the_plan_or_refused",
    "an_answer_is_told_once",
    "a_reminder_counts_for_the_response_to_it",
    "what_was_seen_is_no_news_beside_that_of_others",
)
class SaysNothingOfIt(Sound):
    def answer_from(self, base, plan, turn):
        answered = super().answer_from(base, plan, turn)
        if base is None:
            return answered
        replies = (attrs.evolve(each, text=each.text.split("\n")[-1]) for each in answered.replies)
        return attrs.evolve(answered, replies=tuple(replies))


@caught_by(
    "what_was_told_may_be_removed",
    "a_persons_edit_is_told",
    "an_answer_is_told_once",
    "what_was_seen_is_no_news_beside_that_of_others",
)
class NeverTakesItForSeen(Sound):
    def answered(self, record, turn):
        base = record.base
        events = super().answered(record, turn)
        record.base = base
        return events


@caught_by("a_refused_call_has_told_nothing", "what_was_seen_is_no_news_beside_that_of_others")
class TakesARefusalForALook(Sound):
    def answered(self, record, turn):
        events = super().answered(record, turn)
        if turn.calls:
            record.base = None
        return events


@caught_by(
    "a_reminder_tells_of_a_persons_edit",
    "a_persons_edit_is_told",
    "a_refused_call_has_told_nothing",
    "what_was_seen_is_no_news_beside_that_of_others",
)
class RemindsOfNoName(Sound):
    def due(self, record):
        if record.base:
            record.base = Base(record.base.plan)
        return super().due(record)


@caught_by(
    "a_reminder_counts_for_the_response_to_it", "what_was_seen_is_no_news_beside_that_of_others"
)
class TakesAReminderForSeenForGood(Sound):
    def due(self, record):
        text = super().due(record)
        if record.base and record.base.shown:
            record.base = None
        return text


class _Aside(Sound):
    def edit(self, session, command, actor):
        live, self.live = self.live, {}
        try:
            return super().edit(session, command, actor)
        finally:
            self.live = live


@caught_by(
    "an_edit_during_a_run_is_in_the_plan_or_refused",
    "an_edit_while_the_program_looks_stays",
)
class WritesOverWhatWasEditedMeanwhile(_Aside):
    pass


@caught_by(
    "an_edit_during_a_run_is_in_the_plan_or_refused",
    "an_edit_while_the_program_looks_stays",
)
class CarriesOutWhatItRefuses(Sound):
    def edit(self, session, command, actor):
        decision = super().edit(session, command, actor)
        if session in self.live:
            msg = "a run goes on"
            raise PlanError(msg)
        return decision


@caught_by(
    "an_edit_during_a_run_is_in_the_plan_or_refused",
    "an_edit_while_the_program_looks_stays",
)
class RefusesWhatItClaimsToTake(Sound):
    def edit(self, session, command, actor):
        if session in self.live:
            return Rejected((Problem("nothing_to_undo"),))
        return super().edit(session, command, actor)


@caught_by("a_run_returns_the_plan")
class ReturnsTheListOnly(Sound):
    async def run(self, session, script):
        ran = await super().run(session, script)
        return attrs.evolve(ran, plan=plan_of(tuple(ran.plan)))


@caught_by("a_guess_never_removes")
class MakesAListOfIt(Sound):
    def answer(self, plan, turn):
        return super().answer(plan, with_arguments(turn, _listed))


def _listed(arguments):
    todos = arguments.get("todos")
    return {**arguments, "todos": [todos]} if isinstance(todos, dict) else arguments


@caught_by("a_question_passes")
class SendsQuestionsBack(Sound):
    def judged(self, record, said):
        return super().judged(record, attrs.evolve(said, text=said.text.replace("?", ".")))

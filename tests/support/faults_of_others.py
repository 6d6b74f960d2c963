"""Adapters that each do one thing wrongly with what a person does to the plan, or with guesses."""

import attrs
from support.conformance_sound import Sound, with_arguments
from support.faults import caught_by

from todoplan.core.decide import Rejected, plan_of
from todoplan.core.events.base import Base
from todoplan.core.problems import Problem
from todoplan.errors import PlanError


@caught_by(
    "a_persons_edit_survives_the_next_write",
    "a_persons_edit_is_told",
    "a_persons_edit_survives_a_restart",
    "a_refused_call_has_told_nothing",
    "a_reminder_counts_for_the_response_to_it",
    "a_reminder_tells_of_a_persons_edit",
    "a_sessions_own_task_goes",
    "an_answer_is_told_once",
    "an_edit_during_a_run_is_in_the_plan_or_refused",
    "old_words_mean_the_task_that_was_reworded",
    "the_first_list_of_a_session_removes_nothing",
    "what_a_person_closed_stays_closed",
    "what_a_program_seeded_stays",
    "what_others_added_never_goes_by_silence",
    "what_others_added_stays_over_restarts",
    "what_was_seen_is_no_news_beside_that_of_others",
)
class TakesTheListForTheWholeTruth(Sound):
    def answer_from(self, base, plan, turn):
        return super().answer_from(None, plan, turn)


@caught_by("a_persons_edit_survives_a_restart", "what_others_added_stays_over_restarts")
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
    "a_reminder_counts_for_the_response_to_it",
    "an_answer_is_told_once",
    "an_edit_during_a_run_is_in_the_plan_or_refused",
    "the_first_list_of_a_session_removes_nothing",
    "what_was_seen_is_no_news_beside_that_of_others",
)
class SaysNothingOfIt(Sound):
    def answer_from(self, base, plan, turn):
        answered = super().answer_from(base, plan, turn)
        if base is None:
            return answered
        replies = (attrs.evolve(each, text=each.text.split("\n")[-1]) for each in answered.replies)
        return attrs.evolve(answered, replies=tuple(replies))


class _Knows(Sound):
    """
    A host that gets what a session knows after its calls wrong.
    """

    def answered(self, record, turn):
        events = super().answered(record, turn)
        if record.base is not None and turn.calls:
            record.base = self.wrong(record.base)
        return events


@caught_by(
    "a_persons_edit_is_told",
    "an_answer_is_told_once",
    "the_first_list_of_a_session_removes_nothing",
    "what_a_program_seeded_stays",
    "what_was_seen_is_no_news_beside_that_of_others",
    "what_was_seen_is_told_once",
)
class NeverTakesItForSeen(Sound):
    def answered(self, record, turn):
        base = record.base
        events = super().answered(record, turn)
        record.base = base
        return events


@caught_by(
    "what_others_added_never_goes_by_silence",
    "a_sessions_own_task_goes",
    "the_first_list_of_a_session_removes_nothing",
    "what_a_person_closed_stays_closed",
    "what_a_program_seeded_stays",
    "what_others_added_stays_over_restarts",
)
class TakesWhatWasToldForListed(_Knows):
    def wrong(self, base):
        return attrs.evolve(base, listed=None)


@caught_by("the_first_list_of_a_session_removes_nothing", "what_a_program_seeded_stays")
class TakesANewSessionForTheOwner(Sound):
    def begin(self, record):
        if not record.messages:
            record.base = None
        super().begin(record)


@caught_by("what_a_program_seeded_stays")
class TakesASeededPlanForAList(Sound):
    def seed(self, session, plan):
        super().seed(session, plan)
        record = self.load(session)
        record.base = None
        self.save(session, record)


@caught_by(
    "a_sessions_own_task_goes",
    "what_a_program_seeded_stays",
    "what_others_added_never_goes_by_silence",
)
class DropsNothing(_Knows):
    def wrong(self, base):
        return attrs.evolve(base, listed=frozenset())


@caught_by(
    "old_words_mean_the_task_that_was_reworded",
    "what_a_person_closed_stays_closed",
    "what_others_added_never_goes_by_silence",
    "what_others_added_stays_over_restarts",
)
class ForgetsItsOwnWords(_Knows):
    def wrong(self, base):
        kept = {one.id: one for one in base.mine.values() if one.status.value != "pending"}
        return attrs.evolve(base, mine=kept)


@caught_by(
    "what_a_person_closed_stays_closed",
    "what_others_added_never_goes_by_silence",
    "what_others_added_stays_over_restarts",
)
class ForgetsWhatItSaidOfAStatus(_Knows):
    def wrong(self, base):
        now = base.plan
        kept = {one.id: one.but(status=now[one.id].status) for one in base.mine.values()}
        return attrs.evolve(base, mine=kept)


@caught_by("what_others_added_stays_over_restarts")
class ForgetsWhatItListed(Sound):
    def resume(self, saved):
        super().resume(saved)
        for session in self.kept:
            record = self.load(session)
            record.base = record.base and Base(record.base.plan, record.base.actors)
            self.save(session, record)


@caught_by("a_refused_call_has_told_nothing", "what_was_seen_is_no_news_beside_that_of_others")
class TakesARefusalForALook(Sound):
    def answered(self, record, turn):
        events = super().answered(record, turn)
        if record.base is not None and turn.calls:
            record.base = record.base.advanced(record.plan, record.plan, ())
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
            record.base = attrs.evolve(record.base, actors={})
        return super().due(record)


@caught_by(
    "a_reminder_counts_for_the_response_to_it",
    "a_persons_edit_is_told",
    "a_refused_call_has_told_nothing",
    "an_answer_is_told_once",
    "what_was_seen_is_no_news_beside_that_of_others",
)
class TakesAReminderForSeenForGood(Sound):
    def due(self, record):
        text = super().due(record)
        if record.base is not None:
            record.base = record.base.advanced(record.plan, record.plan, ())
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

"""Adapters that each do one thing wrongly, for the checks of the adapter suite to find."""

import html
import json
import threading
from asyncio import current_task
from typing import ClassVar

import attrs
from support.conformance_functions import Record
from support.conformance_sound import Resuming, Sound, singly, with_arguments, with_texts
from support.faults import caught_by, edited

from todoplan.core.decide import Rejected, plan_of
from todoplan.core.events.base import Base
from todoplan.core.events.types import TaskCreated
from todoplan.core.plan.model import Status, Waiting
from todoplan.core.problems import Problem
from todoplan.dialogue.guidance import Guidance, Memory, Message, ToolResult, reminder
from todoplan.errors import PlanError
from todoplan.planner import Verifier
from todoplan.testing.adapters import Seen


def reading(meant, change, kind: type = dict, others=""):
    """Make a fault that changes arguments of a kind before a call is answered."""

    class Reading(Sound):
        def answer(self, plan, turn):
            return super().answer(plan, with_arguments(turn, change, kind))

    return caught_by(meant, others)(Reading)


def storing(meant, change, others=""):
    """Make a fault that changes each message as it is stored."""

    class Storing(Sound):
        def stored(self, record):
            return list(map(change, super().stored(record)))

    return caught_by(meant, others)(Storing)


def judging(meant, change):
    """Make a fault that judges a changed answer of the model."""

    class Judging(Sound):
        def judged(self, record, said):
            return super().judged(record, change(said))

    return caught_by(meant)(Judging)


def hearing(meant, change):
    """Make a fault that takes another text for what the model has said in a turn."""

    class Hearing(Sound):
        def heard(self, record, turn):
            said = super().heard(record, turn)
            return attrs.evolve(said, text=change(turn))

    return caught_by(meant)(Hearing)


def by_keywords(runtime=None, **arguments):
    """Return arguments as a function gets them that has a parameter of its own."""
    return arguments if runtime is None else {"subject": runtime["messages"].pop()}


def without_colour(arguments):
    """Return arguments without one that the tool does not know."""
    return {key: arguments[key] for key in arguments if key != "colour"}


def unescaped(arguments):
    """Return arguments whose texts are read as HTML."""
    return json.loads(html.unescape(json.dumps(arguments)).replace("\ufeff", ""))


def listed(arguments):
    """Return arguments whose list was a single entry."""
    todos = arguments.get("todos")
    return {**arguments, "todos": [todos]} if isinstance(todos, dict) else arguments


# -------- calls of the model --------

ALIKE = "text_that_is_no_json_is_read_alike"
CUT_OFF = "arguments_that_were_cut_off_change_nothing"
TakesNoShortTexts = reading(
    "drawn_conversations_are_the_same",
    lambda given: json.loads(json.dumps(given).replace('"a"', '"aa"')),
)
HandsOnKeywords = reading("names_of_the_framework_are_answered", lambda given: by_keywords(**given))
DropsWhatItDoesNotKnow = reading("bad_arguments_are_read_alike", without_colour)
TakesJsonOnly = reading("text_that_is_no_json_is_answered", json.loads, str, f"{ALIKE} {CUT_OFF}")
ClosesBrackets = reading(
    CUT_OFF, lambda text: text + '"}' if text.endswith("me") else text, str, ALIKE
)
KeepsTheLastOfTwoKeys = reading(
    ALIKE, lambda text: json.loads(text) if text.count('"subject"') > 1 else text, str
)
Unescapes = reading("texts_that_attack_are_read_alike", unescaped)
MakesAListOfIt = reading("a_guess_never_removes", listed)
AddsToReplies = storing(
    "the_replies_are_the_same",
    lambda seen: attrs.evolve(seen, text=seen.text.replace("Priority:", "Rank:")),
    "work_goes_on_after_a_restart",
)
MarksNoError = storing(
    "exactly_the_errors_are_marked", lambda seen: attrs.evolve(seen, is_error=False)
)
SendsQuestionsBack = judging(
    "a_question_passes", lambda said: attrs.evolve(said, text=said.text.replace("?", "."))
)
IgnoresTheFinishReason = judging("a_refusal_is_let_go", lambda said: attrs.evolve(said, finish=""))
CountsThoughtsAsText = hearing("thoughts_are_no_answer", lambda turn: turn.thoughts + turn.text)
TakesThoughtsForTheWholeAnswer = hearing(
    "an_answer_beside_thoughts_is_one", lambda turn: "" if turn.thoughts else turn.text
)


@caught_by("the_tools_are_those_of_the_tool_set")
class DescribesNothing(Sound):
    def offered(self):
        return [attrs.evolve(tool, description="") for tool in super().offered()]


@caught_by("the_schemas_are_those_of_the_tool_set")
class OffersAnyArguments(Sound):
    def offered(self):
        return [attrs.evolve(tool, schema={}) for tool in super().offered()]


@caught_by("the_plans_are_the_same", "work_goes_on_after_a_restart")
class LosesEstimates(Sound):
    def answer(self, plan, turn):
        answered = super().answer(plan, turn)
        return attrs.evolve(
            answered, plan=edited(answered.plan, lambda task: task.but(estimate=None))
        )


@caught_by("the_events_are_the_same")
class TellsNoCreations(Sound):
    def answered(self, record, turn):
        events = super().answered(record, turn)
        return [event for event in events if not isinstance(event, TaskCreated)]


@caught_by("the_times_are_those_of_the_clock")
class StopsTheClock(Sound):
    def __init__(self, setup):
        noon = setup.clock()
        super().__init__(attrs.evolve(setup, clock=lambda: noon))


@caught_by("a_refusal_comes_back")
class RaisesRefusals(Sound):
    def answer(self, plan, turn):
        answered = super().answer(plan, turn)
        if any(p.code == "self_edge" for reply in answered.replies for p in reply.problems):
            raise RuntimeError
        return answered


@caught_by("bad_arguments_are_answered", "bad_arguments_are_read_alike")
class TakesStringsOnly(Sound):
    def answer(self, plan, turn):
        with_arguments(turn, lambda arguments: " ".join(map(str, arguments.get("subject", ""))))
        return super().answer(plan, turn)


@caught_by("the_catalogue_is_read_alike")
class MendsListsSilently(Sound):
    def stored(self, record):
        kept = super().stored(record)
        if self.setup.toolbox.toolset.by_id:
            return kept
        return [attrs.evolve(seen, text=seen.text.partition("\nnote: ")[0]) for seen in kept]


@caught_by("an_unknown_tool_is_answered")
class RaisesForUnknownTools(Sound):
    def missing(self, plan, call):
        raise KeyError(call.name)


@caught_by("parallel_calls_lose_nothing", "equal_calls_are_told_apart")
class TakesTheLastOfMany(Sound):
    def answer(self, plan, turn):
        if len(turn.calls) < 6:
            return super().answer(plan, turn)
        made = [super(TakesTheLastOfMany, self).answer(plan, one) for one in singly(turn)]
        replies = tuple(reply for each in made for reply in each.replies)
        return attrs.evolve(made[-1], replies=replies)


@caught_by("parallel_calls_are_in_order", "equal_calls_are_told_apart")
class ReadsBeforeItWrites(Sound):
    def answer(self, plan, turn):
        answered = super().answer(plan, turn)
        if len(turn.calls) < 5:
            return answered
        early = super().answer(plan, singly(turn)[-1])
        return attrs.evolve(answered, replies=(*answered.replies[:-1], *early.replies))


@caught_by("equal_calls_are_told_apart")
class FindsCallsByNameAndArguments(Sound):
    """Of equal calls the last one runs first, and is taken for the first."""

    def answer(self, plan, turn):
        answered = super().answer(plan, turn)
        equal = {}
        for call in turn.calls:
            equal.setdefault(repr((call.name, call.arguments)), []).append(call.call_id)
        ids = {
            call_id: other
            for each in equal.values()
            for call_id, other in zip(each, each[::-1], strict=True)
        }
        replies = (attrs.evolve(reply, call_id=ids[reply.call_id]) for reply in answered.replies)
        return attrs.evolve(answered, replies=tuple(replies))


@caught_by("two_whole_list_writes_are_refused")
class TakesOneCallAtATime(Sound):
    def answer(self, plan, turn):
        made = []
        for one in singly(turn):
            made.append(super().answer(plan, one))
            plan = made[-1].plan
        replies = tuple(reply for each in made for reply in each.replies)
        others = tuple(other for each in made for other in each.others)
        return attrs.evolve(made[-1], replies=replies, others=others)


# -------- what a task may be --------


class _Keeps(Sound):
    """Keeps each task as its framework has it."""

    def save(self, session, record):
        record.plan = edited(record.plan, self.kept_as)
        super().save(session, record)


@caught_by("a_failed_task_stays_failed", "what_a_task_is_survives_a_restart")
class HasNoWordForFailed(_Keeps):
    def kept_as(self, task):
        return task.but(status=Status.CANCELLED) if task.status is Status.FAILED else task


@caught_by(
    "a_waiting_task_keeps_its_reason",
    "an_answer_is_told_once what_a_task_is_survives_a_restart",
)
class KeepsThatItWaitsAndNotWhatFor(_Keeps):
    def kept_as(self, task):
        return task.but(waiting=Waiting()) if task.waiting else task


@caught_by("subtasks_stay_where_they_are", "what_a_task_is_survives_a_restart")
class KeepsAFlatList(_Keeps):
    def kept_as(self, task):
        return task.but(parent=None)


@caught_by("what_a_task_is_survives_a_restart")
class WakesUp(Resuming):
    def resumed(self, record):
        record.plan = edited(record.plan, lambda task: task.but(waiting=None))


@caught_by("an_answer_is_told_once")
class TellsTheAnswerAgain(Sound):
    def answer_from(self, base, plan, turn):
        answered = super().answer_from(base, plan, turn)
        told = "".join(f" ({task.answer})" for task in plan if task.answer)
        return with_texts(answered, lambda text: text + told)


@caught_by("what_a_person_has_claimed_is_left_to_them")
class TakesOver(Sound):
    def answer_from(self, base, plan, turn):
        return super().answer_from(base, edited(plan, lambda task: task.but(claim=None)), turn)


# -------- sessions and restarts --------


@caught_by(
    "two_sessions_are_apart",
    "sessions_in_threads_are_apart sessions_in_tasks_are_apart each_user_is_told_of_their_own"
    " what_was_told_is_remembered_for_each_user users_in_threads_are_sent_back_apart"
    " users_in_tasks_are_sent_back_apart",
)
class KeepsOnePlan(Sound):
    def load(self, session):
        return super().load("one")

    def save(self, session, record):
        super().save("one", record)


@caught_by("two_agents_share_nothing")
class SharesBetweenAgents(Sound):
    kept_by_all: ClassVar = {}

    def __init__(self, setup):
        super().__init__(setup)
        self.kept = self.kept_by_all


@caught_by("sessions_in_threads_are_apart", "users_in_threads_are_sent_back_apart")
class BelongsToOneThread(Sound):
    thread = None

    def begin(self, record):
        self.thread = self.thread or threading.get_ident()
        if self.thread != threading.get_ident():
            raise RuntimeError
        super().begin(record)


@caught_by("sessions_in_tasks_are_apart")
class KeepsARunInTheThread(Sound):
    def __init__(self, setup):
        super().__init__(setup)
        self.local = threading.local()

    def begin(self, record):
        super().begin(record)
        self.local.record = record

    def answered(self, record, turn):
        return super().answered(self.local.record, turn)


@caught_by("a_plan_is_resumed")
class SavesNoOwner(Resuming):
    def resumed(self, record):
        record.plan = edited(record.plan, lambda task: task.but(owner=None))


@caught_by("work_goes_on_after_a_restart")
class ForgetsItsToolbox(Sound):
    def resume(self, saved):
        super().resume(saved)
        toolbox = attrs.evolve(self.setup.toolbox, show_list=True)
        self.setup = attrs.evolve(self.setup, toolbox=toolbox)


OVER_A_RESTART = (
    "a_persons_edit_survives_a_restart guidance_remembers_over_a_restart"
    " no_id_is_used_again_after_a_restart what_a_task_is_survives_a_restart"
    " what_others_added_stays_over_restarts what_was_seen_survives_a_restart"
    " work_goes_on_after_a_restart"
)


@caught_by("a_plan_is_resumed", OVER_A_RESTART)
class RestartsInMemory(Sound):
    def saved(self):
        return self.kept

    def resume(self, saved):
        self.kept = saved


@caught_by("a_plan_is_resumed", OVER_A_RESTART)
class SavesTheConversationOnly(Resuming):
    def resumed(self, record):
        return Record(messages=record.messages, talk=record.talk)


@caught_by("no_id_is_used_again_after_a_restart")
class CountsAnewAfterARestart(Resuming):
    def resumed(self, record):
        record.plan = plan_of(tuple(record.plan), revision=record.plan.revision)


# -------- a person's edits, and guesses --------


@caught_by(
    "a_persons_edit_survives_the_next_write",
    "a_persons_edit_is_told a_persons_edit_survives_a_restart a_refused_call_has_told_nothing"
    " a_reminder_counts_for_the_response_to_it a_reminder_tells_of_a_persons_edit"
    " a_sessions_own_task_goes an_answer_is_told_once"
    " an_edit_during_a_run_is_in_the_plan_or_refused old_words_mean_the_task_that_was_reworded"
    " the_first_list_of_a_session_removes_nothing what_a_person_closed_stays_closed"
    " what_a_program_seeded_stays what_others_added_never_goes_by_silence"
    " what_others_added_stays_over_restarts what_was_seen_is_no_news_beside_that_of_others",
)
class TakesTheListForTheWholeTruth(Sound):
    def answer_from(self, base, plan, turn):
        return super().answer_from(None, plan, turn)


@caught_by("a_persons_edit_survives_a_restart", "what_others_added_stays_over_restarts")
class ForgetsWhatWasUnseen(Resuming):
    def resumed(self, record):
        record.base = None


@caught_by(
    "a_persons_edit_is_told",
    "a_refused_call_has_told_nothing a_reminder_counts_for_the_response_to_it"
    " an_answer_is_told_once an_edit_during_a_run_is_in_the_plan_or_refused"
    " the_first_list_of_a_session_removes_nothing what_was_seen_is_no_news_beside_that_of_others",
)
class SaysNothingOfIt(Sound):
    def answer_from(self, base, plan, turn):
        answered = super().answer_from(base, plan, turn)
        return with_texts(answered, lambda text: text.split("\n")[-1]) if base else answered


class _Knows(Sound):
    """A host that gets what a session knows after its calls wrong."""

    def answered(self, record, turn):
        events = super().answered(record, turn)
        if record.base is not None and turn.calls:
            record.base = self.wrong(record.base)
        return events


@caught_by(
    "a_persons_edit_is_told",
    "an_answer_is_told_once the_first_list_of_a_session_removes_nothing"
    " what_a_program_seeded_stays what_was_seen_is_no_news_beside_that_of_others"
    " what_was_seen_is_told_once",
)
class NeverTakesItForSeen(Sound):
    def answered(self, record, turn):
        base = record.base
        events = super().answered(record, turn)
        record.base = base
        return events


@caught_by(
    "what_others_added_never_goes_by_silence",
    "a_sessions_own_task_goes the_first_list_of_a_session_removes_nothing"
    " what_a_person_closed_stays_closed what_a_program_seeded_stays"
    " what_others_added_stays_over_restarts",
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
    "what_a_program_seeded_stays what_others_added_never_goes_by_silence",
)
class DropsNothing(_Knows):
    def wrong(self, base):
        return attrs.evolve(base, listed=frozenset())


@caught_by(
    "old_words_mean_the_task_that_was_reworded",
    "what_a_person_closed_stays_closed what_others_added_never_goes_by_silence"
    " what_others_added_stays_over_restarts",
)
class ForgetsItsOwnWords(_Knows):
    def wrong(self, base):
        kept = {one.id: one for one in base.mine.values() if one.status.value != "pending"}
        return attrs.evolve(base, mine=kept)


@caught_by(
    "what_a_person_closed_stays_closed",
    "what_others_added_never_goes_by_silence what_others_added_stays_over_restarts",
)
class ForgetsWhatItSaidOfAStatus(_Knows):
    def wrong(self, base):
        now = base.plan
        kept = {one.id: one.but(status=now[one.id].status) for one in base.mine.values()}
        return attrs.evolve(base, mine=kept)


@caught_by("what_others_added_stays_over_restarts")
class ForgetsWhatItListed(Resuming):
    def resumed(self, record):
        record.base = record.base and Base(record.base.plan, record.base.actors)


@caught_by("a_refused_call_has_told_nothing", "what_was_seen_is_no_news_beside_that_of_others")
class TakesARefusalForALook(Sound):
    def answered(self, record, turn):
        events = super().answered(record, turn)
        if record.base is not None and turn.calls:
            record.base = record.base.advanced(record.plan, record.plan, ())
        return events


@caught_by(
    "a_reminder_tells_of_a_persons_edit",
    "a_persons_edit_is_told a_refused_call_has_told_nothing"
    " what_was_seen_is_no_news_beside_that_of_others",
)
class RemindsOfNoName(Sound):
    def due(self, record):
        if record.base:
            record.base = attrs.evolve(record.base, actors={})
        return super().due(record)


@caught_by(
    "a_reminder_counts_for_the_response_to_it",
    "a_persons_edit_is_told a_refused_call_has_told_nothing an_answer_is_told_once"
    " what_was_seen_is_no_news_beside_that_of_others",
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


# -------- what the program sees of a task --------


class _Verified(Sound):
    """A sound host whose verifier is wrapped."""

    def __init__(self, setup):
        asked = setup.verify
        wrapped = asked and Verifier(lambda *given: self.look(asked.look, *given), by=asked.by)
        super().__init__(attrs.evolve(setup, verify=wrapped))

    def look(self, look, task, plan):
        return look(task, plan)


@caught_by(
    "a_passed_check_is_verified",
    "a_failed_check_keeps_its_task_open a_claim_against_a_check_is_told"
    " a_verifier_that_fails_leaves_the_task each_check_is_looked_at_once"
    " an_edit_while_the_program_looks_stays what_was_seen_survives_a_restart",
)
class TakesTheModelsWord(Sound):
    def __init__(self, setup):
        super().__init__(attrs.evolve(setup, verify=None))


@caught_by(
    "a_failed_check_keeps_its_task_open",
    "what_was_seen_is_no_news_beside_that_of_others what_was_seen_is_told_once"
    " what_was_seen_survives_a_restart",
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
        return with_texts(answered, lambda text: text.split("\n")[0])


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
    "a_persons_edit_is_told an_answer_is_told_once the_first_list_of_a_session_removes_nothing"
    " what_a_program_seeded_stays what_was_seen_is_told_once",
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
class ForgetsWhatWasSeen(Resuming):
    def resumed(self, record):
        record.plan = edited(record.plan, lambda task: attrs.evolve(task, evidence=None))


# -------- reminders, and answers that come too early --------


@caught_by("every_request_has_the_prompt")
class LeavesThePromptOut(Sound):
    def system(self, record):
        return "You work."


@caught_by("the_early_answer_is_shown_to_the_model")
class ForgetsTheEarlyAnswer(Sound):
    def request(self, record, text):
        sent = super().request(record, text)
        return [seen for seen in sent if seen.text != "Early."] if text else sent


@caught_by("nothing_is_said_unasked")
class SaysMoreThanIsAsked(Sound):
    def due(self, record):
        asked = self.setup.settings.plan_lost or self.setup.settings.changed
        text = super().due(record)
        return text if asked or self.setup.settings.unfinished else self.told(record)

    def told(self, record):
        plan = record.plan
        return reminder("plan_lost", plan, self.setup.toolbox.toolset) if len(plan) else ""


@caught_by(
    "a_lost_plan_is_told_at_the_tail",
    "a_failed_call_does_not_show_the_plan a_hostile_text_cannot_close_a_reminder"
    " each_user_is_told_of_their_own the_cached_prefix_stays",
)
class SaysMoreBehindIt(Sound):
    def request(self, record, text):
        sent = super().request(record, text)
        return [*sent, Seen("user", "Go on.")] if "conversation" in text else sent


@caught_by("a_visible_plan_is_not_told_again")
class LooksAtTheLastMessage(Sound):
    def due(self, record):
        kept, record.talk = record.talk, record.talk[-1:] if len(record.talk) < 4 else []
        text = super().due(record)
        record.talk = kept
        return text


@caught_by("a_failed_call_does_not_show_the_plan")
class TakesFailuresForSuccess(Sound):
    def result(self, reply):
        return ToolResult(reply.name, call_id=reply.call_id)


@caught_by("a_reminder_is_not_kept")
class StoresReminders(Sound):
    def due(self, record):
        text = super().due(record)
        record.memory = attrs.evolve(record.memory)
        self.said = text or getattr(self, "said", "")
        return text

    def stored(self, record):
        said = Seen("user", self.said) if getattr(self, "said", "") else None
        return [*super().stored(record), *([said] if said else [])]


@caught_by("the_cached_prefix_stays")
class CountsInTheSystemMessage(Sound):
    def system(self, record):
        return f"{super().system(record)}\n{len(record.plan)} tasks"


@caught_by("a_hostile_text_cannot_close_a_reminder")
class ShowsTextsAsTheyAre(Sound):
    def request(self, record, text):
        return super().request(record, html.unescape(text))


@caught_by("each_user_is_told_of_their_own")
class TellsTheFirstPlan(Sound):
    first = ""

    def due(self, record):
        text = super().due(record)
        self.first = self.first or text
        return self.first if text else ""


@caught_by("what_was_told_is_remembered_for_each_user")
class RemembersForAll(Sound):
    def load(self, session):
        record = super().load(session)
        for text in self.kept.values():
            record.memory = Record.loaded(text).memory
        return record

    def save(self, session, record):
        self.kept.pop(session, None)
        super().save(session, record)


@caught_by(
    "only_changes_by_others_are_told",
    "guidance_remembers_over_a_restart what_was_seen_is_told_once",
)
class TakesItsOwnForOthers(Sound):
    def saw(self, memory, plan):
        return memory


@caught_by("guidance_remembers_over_a_restart")
class ForgetsWhatItSaid(Resuming):
    def resumed(self, record):
        record.memory = Memory()


@caught_by(
    "an_early_answer_is_sent_back",
    "users_in_threads_are_sent_back_apart users_in_tasks_are_sent_back_apart",
)
class SendsBackWithoutAWord(Sound):
    def judged(self, record, said):
        verdict, _ = super().judged(record, said)
        return verdict, ""


@caught_by("what_sends_back_is_not_kept")
class StoresWhatSendsBack(Sound):
    def judged(self, record, said):
        verdict, text = super().judged(record, said)
        self.said = [Seen("user", text)] if text else getattr(self, "said", [])
        return verdict, text

    def stored(self, record):
        return [*super().stored(record), *getattr(self, "said", [])]


@caught_by(
    "further_turns_are_capped",
    "an_ignored_reminder_raises_if_told_so what_sends_back_is_not_kept progress_renews_the_cap"
    " only_progress_renews_the_cap a_new_run_has_its_own_cap"
    " users_in_threads_are_sent_back_apart users_in_tasks_are_sent_back_apart",
)
class NeverLetsGo(Sound):
    def judged(self, record, said):
        record.memory = attrs.evolve(record.memory, asked=0)
        return super().judged(record, said)


@caught_by("progress_renews_the_cap")
class NeverRenews(Sound):
    def judged(self, record, said):
        record.memory = attrs.evolve(record.memory, resolved=99)
        return super().judged(record, said)


@caught_by("only_progress_renews_the_cap")
class RenewsOnEveryCall(Sound):
    def answered(self, record, turn):
        if turn.calls:
            record.memory = attrs.evolve(record.memory, asked=0)
        return super().answered(record, turn)


@caught_by("a_new_run_has_its_own_cap")
class CountsOnAndOn(Sound):
    def begin(self, record):
        self.add(record, [{"role": "user", "content": "go"}], Message("user", "go"))


@caught_by("users_in_tasks_are_sent_back_apart")
class CountsForTheThread(Sound):
    def __init__(self, setup):
        super().__init__(setup)
        self.local = threading.local()

    @property
    def place(self):
        return self.local.__dict__

    def begin(self, record):
        super().begin(record)
        self.place["asked"] = 0

    def judged(self, record, said):
        record.memory = attrs.evolve(record.memory, asked=self.place["asked"])
        verdict, text = super().judged(record, said)
        self.place["asked"] = record.memory.asked
        return verdict, text


@caught_by("users_in_threads_are_sent_back_apart")
class CountsForAllThreads(CountsForTheThread):
    def __init__(self, setup):
        super().__init__(setup)
        self.places = {}

    @property
    def place(self):
        is_main = threading.current_thread() is threading.main_thread()
        return self.places.setdefault(is_main and current_task(), {})


@caught_by("a_finished_plan_is_let_go", "an_answer_beside_thoughts_is_one")
class AsksOnceMore(Sound):
    def judged(self, record, said):
        verdict, text = super().judged(record, said)
        done = len(record.plan) and not record.plan.counts.open and not said.calls
        asked, self.asked = getattr(self, "asked", False), bool(done)
        return ("again", "") if done and not asked else (verdict, text)


@caught_by("an_ignored_reminder_raises_if_told_so")
class LetsGoWhatShouldRaise(Sound):
    def judged(self, record, said):
        verdict, text = super().judged(record, said)
        return ("accept" if verdict == "raise" else verdict), text


@caught_by("an_answer_passes_while_a_person_is_to_approve")
class KeepsThePolicyFromGuidance(Sound):
    def __init__(self, setup):
        super().__init__(setup)
        self.guidance = Guidance(setup.toolbox.toolset, setup.settings)

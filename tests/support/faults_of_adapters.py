"""Adapters that each do one thing wrongly, for the checks of the adapter suite to find."""

import html
import json
import threading
from asyncio import current_task
from itertools import repeat
from typing import ClassVar

import attrs
from support import faults
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


def after(checks, **changes):
    return faults.after(checks, Sound, **changes)


def before(checks, **changes):
    return faults.before(checks, Sound, **changes)


def instead(checks, base=Sound, **methods):
    return faults.instead(checks, base, **methods)


def resuming(checks, change):
    """Make a fault that changes each session's record when it is restarted."""
    return instead(checks, Resuming, resumed=lambda _, record: change(record))


def reading(checks, change, kind: type = dict):
    """Make a fault that changes arguments of a kind before a call is answered."""
    return before(checks, answer=lambda _, plan, turn: (plan, with_arguments(turn, change, kind)))


def storing(checks, **changes):
    """Make a fault that changes each message as it is stored."""

    def stored(_, messages, record):
        return [
            attrs.evolve(s, **{n: change(s) for n, change in changes.items()}) for s in messages
        ]

    return after(checks, stored=stored)


def setting(plan, **fields):
    """Return a plan whose tasks all have these values."""
    return edited(plan, lambda task: task.but(**fields))


def put(thing, **fields):
    """Set attributes of a record, and return nothing."""
    for name, value in fields.items():
        setattr(thing, name, value)


def joined(made):
    """Return the answers of several turns as those of one."""
    replies = tuple(reply for each in made for reply in each.replies)
    others = tuple(other for each in made for other in each.others)
    return attrs.evolve(made[-1], replies=replies, others=others)


# -------- calls of the model --------


def _by_keywords(runtime=None, **arguments):
    # As if they were passed as keywords to a function with a parameter `runtime` of its own.
    return arguments if runtime is None else {"subject": runtime["messages"].pop()}


def _unescaped(arguments):
    return json.loads(html.unescape(json.dumps(arguments)).replace("\ufeff", ""))


def _listed(arguments):
    todos = arguments.get("todos")
    return {**arguments, "todos": [todos]} if isinstance(todos, dict) else arguments


ALIKE = "text_that_is_no_json_is_read_alike"
TakesNoShortTexts = reading(
    "drawn_conversations_are_the_same",
    lambda given: json.loads(json.dumps(given).replace('"a"', '"aa"')),
)
HandsOnKeywords = reading(
    "names_of_the_framework_are_answered", lambda given: _by_keywords(**given)
)
DropsWhatItDoesNotKnow = reading(
    "bad_arguments_are_read_alike",
    lambda given: {key: given[key] for key in given if key != "colour"},
)
LosesBlockers = reading(
    "two_sessions_are_apart",
    lambda given: {key: given[key] for key in given if key != "blockedBy"},
)
TakesJsonOnly = reading(f"text_that_is_no_json_is_answered {ALIKE}", json.loads, str)
ClosesBrackets = reading(
    "arguments_that_were_cut_off_change_nothing",
    lambda text: text + '"}' if text.endswith("me") else text,
    str,
)
KeepsTheLastOfTwoKeys = reading(
    ALIKE, lambda text: json.loads(text) if text.count('"subject"') > 1 else text, str
)
Unescapes = reading("texts_that_attack_are_read_alike", _unescaped)
MakesAListOfIt = reading("a_guess_never_removes", _listed)
TakesStringsOnly = reading(
    "bad_arguments_are_answered",
    lambda given: (list(given.get("subject", "")), given)[1],
)
AddsToReplies = storing(
    "the_replies_are_the_same", text=lambda seen: seen.text.replace("Priority:", "Rank:")
)
MarksNoError = storing("exactly_the_errors_are_marked", is_error=lambda _: False)
DescribesNothing = after(
    "the_tools_are_those_of_the_tool_set",
    offered=lambda _, tools: [attrs.evolve(tool, description="") for tool in tools],
)
OffersATwin = after(
    "the_tools_are_those_of_the_tool_set", offered=lambda _, tools: [*tools, tools[0]]
)
OffersAnyArguments = after(
    "the_schemas_are_those_of_the_tool_set",
    offered=lambda _, tools: [attrs.evolve(tool, schema={}) for tool in tools],
)
LosesEstimates = after(
    "the_plans_are_the_same",
    answer=lambda _, done, *__: attrs.evolve(done, plan=setting(done.plan, estimate=None)),
)
TellsNoCreations = after(
    "the_events_are_the_same",
    answered=lambda _, events, *__: [e for e in events if not isinstance(e, TaskCreated)],
)
StopsTheClock = before(
    "the_times_are_those_of_the_clock",
    __init__=lambda _, setup: (attrs.evolve(setup, clock=repeat(setup.clock()).__next__),),
)


def _fails_at_loops(_, done, *__):
    if any(problem.code == "self_edge" for reply in done.replies for problem in reply.problems):
        raise RuntimeError
    return done


RaisesRefusals = after("a_refusal_comes_back", answer=_fails_at_loops)


def _without_notes(host, kept, _):
    if host.setup.toolbox.toolset.by_id:
        return kept
    return [attrs.evolve(seen, text=seen.text.partition("\nnote: ")[0]) for seen in kept]


MendsListsSilently = after("the_catalogue_is_read_alike", stored=_without_notes)


def _raises(_, __, call):
    raise KeyError(call.name)


RaisesForUnknownTools = instead("an_unknown_tool_is_answered", missing=_raises)


def _last_of_many(host, done, plan, turn):
    if len(turn.calls) < 6:
        return done
    return joined([Sound.answer(host, plan, one) for one in singly(turn)])


TakesTheLastOfMany = after("parallel_calls_lose_nothing", answer=_last_of_many)


def _read_first(host, done, plan, turn):
    if len(turn.calls) < 5:
        return done
    early = Sound.answer(host, plan, singly(turn)[-1])
    return attrs.evolve(done, replies=(*done.replies[:-1], *early.replies))


ReadsBeforeItWrites = after("parallel_calls_are_in_order", answer=_read_first)


def _equal_ones_backwards(_, done, __, turn):
    equal = {}
    for call in turn.calls:
        equal.setdefault(repr((call.name, call.arguments)), []).append(call.call_id)
    ids = {
        own: other for each in equal.values() for own, other in zip(each, each[::-1], strict=True)
    }
    replies = (attrs.evolve(reply, call_id=ids[reply.call_id]) for reply in done.replies)
    return attrs.evolve(done, replies=tuple(replies))


FindsCallsByNameAndArguments = after("equal_calls_are_told_apart", answer=_equal_ones_backwards)


def _one_by_one(host, plan, turn):
    made = []
    for one in singly(turn):
        made.append(Sound.answer(host, plan, one))
        plan = made[-1].plan
    return joined(made)


TakesOneCallAtATime = instead("two_whole_list_writes_are_refused", answer=_one_by_one)


# -------- what a task may be --------


def keeping(checks, change):
    """Make a fault that changes each task before it is saved, as a framework's own list may do."""

    def save(_, session, record):
        record.plan = edited(record.plan, change)
        return session, record

    return before(checks, save=save)


HasNoWordForFailed = keeping(
    "a_failed_task_stays_failed what_a_task_is_survives_a_restart",
    lambda task: task.but(status="cancelled") if task.status is Status.FAILED else task,
)
KeepsThatItWaitsAndNotWhatFor = keeping(
    "a_waiting_task_keeps_its_reason an_answer_is_told_once",
    lambda task: task.but(waiting=Waiting()) if task.waiting else task,
)
KeepsAFlatList = keeping("subtasks_stay_where_they_are", lambda task: task.but(parent=None))
WakesUp = resuming(
    "what_a_task_is_survives_a_restart", lambda r: put(r, plan=setting(r.plan, waiting=None))
)


def _answers_again(_, done, __, plan, ___):
    told = "".join(f" ({task.answer})" for task in plan if task.answer)
    return with_texts(done, lambda text: text + told)


TellsTheAnswerAgain = after("an_answer_is_told_once", answer_from=_answers_again)
TakesOver = before(
    "what_a_person_has_claimed_is_left_to_them",
    answer_from=lambda _, base, plan, turn: (base, setting(plan, claim=None), turn),
)


# -------- sessions and restarts --------


KeepsOnePlan = before(
    "two_sessions_are_apart users_in_threads_are_sent_back_apart"
    " users_in_tasks_are_sent_back_apart",
    load=lambda _, session: ("one",),
    save=lambda _, session, record: ("one", record),
)


@caught_by("two_agents_share_nothing")
class SharesBetweenAgents(Sound):
    kept_by_all: ClassVar = {}

    def __init__(self, setup):
        super().__init__(setup)
        self.kept = self.kept_by_all


@caught_by("sessions_in_threads_are_apart users_in_threads_are_sent_back_apart")
class BelongsToOneThread(Sound):
    thread = None

    def begin(self, record):
        self.thread = self.thread or threading.get_ident()
        if self.thread != threading.get_ident():
            raise RuntimeError
        super().begin(record)


@caught_by("sessions_in_tasks_are_apart")
class KeepsARunInTheThread(Sound):
    local = threading.local()

    def begin(self, record):
        super().begin(record)
        self.local.record = record

    def answered(self, record, turn):
        return super().answered(self.local.record, turn)


SavesNoOwner = resuming("a_plan_is_resumed", lambda r: put(r, plan=setting(r.plan, owner=None)))


@caught_by("work_goes_on_after_a_restart")
class ForgetsItsToolbox(Sound):
    def resume(self, saved):
        super().resume(saved)
        toolbox = attrs.evolve(self.setup.toolbox, show_list=True)
        self.setup = attrs.evolve(self.setup, toolbox=toolbox)


RestartsInMemory = instead(
    "a_plan_is_resumed",
    saved=lambda self: self.kept,
    resume=lambda self, saved: put(self, kept=saved),
)
SavesTheConversationOnly = resuming(
    "a_plan_is_resumed work_goes_on_after_a_restart",
    lambda record: Record(messages=record.messages, talk=record.talk),
)
CountsAnewAfterARestart = resuming(
    "no_id_is_used_again_after_a_restart",
    lambda r: put(r, plan=plan_of(tuple(r.plan), revision=r.plan.revision)),
)


# -------- a person's edits, and guesses --------


NEWS = "what_was_seen_is_no_news_beside_that_of_others"
FIRST_LIST = "the_first_list_of_a_session_removes_nothing"
DURING_A_RUN = (
    "an_edit_during_a_run_is_in_the_plan_or_refused an_edit_while_the_program_looks_stays"
)
TakesTheListForTheWholeTruth = before(
    f"a_persons_edit_survives_the_next_write a_reminder_tells_of_a_persons_edit {NEWS}",
    answer_from=lambda _, base, plan, turn: (None, plan, turn),
)
ForgetsWhatWasUnseen = resuming(
    "a_persons_edit_survives_a_restart", lambda record: put(record, base=None)
)


def _last_line(_, done, base, *__):
    return with_texts(done, lambda text: text.split("\n")[-1]) if base else done


SaysNothingOfIt = after(
    "a_persons_edit_is_told an_answer_is_told_once an_edit_during_a_run_is_in_the_plan_or_refused"
    f" {FIRST_LIST} {NEWS}",
    answer_from=_last_line,
)


def knowing(checks, wrong):
    """Make a fault that changes what a session knows of the plan after its calls."""

    def answered(_, events, record, turn):
        if record.base is not None and turn.calls:
            record.base = wrong(record.base, record.plan)
        return events

    return after(checks, answered=answered)


TakesWhatWasToldForListed = knowing(
    "what_others_added_never_goes_by_silence", lambda base, _: attrs.evolve(base, listed=None)
)
DropsNothing = knowing(
    "a_sessions_own_task_goes", lambda base, _: attrs.evolve(base, listed=frozenset())
)
ForgetsItsOwnWords = knowing(
    "old_words_mean_the_task_that_was_reworded",
    lambda base, _: attrs.evolve(
        base, mine={o.id: o for o in base.mine.values() if o.status.value != "pending"}
    ),
)
ForgetsWhatItSaidOfAStatus = knowing(
    "what_a_person_closed_stays_closed",
    lambda base, _: attrs.evolve(
        base, mine={o.id: o.but(status=base.plan[o.id].status) for o in base.mine.values()}
    ),
)
TakesARefusalForALook = knowing(
    f"a_refused_call_has_told_nothing {NEWS}", lambda base, plan: base.advanced(plan, plan, ())
)


@caught_by(f"a_persons_edit_is_told {FIRST_LIST} {NEWS}")
class NeverTakesItForSeen(Sound):
    def answered(self, record, turn):
        base = record.base
        events = super().answered(record, turn)
        record.base = base
        return events


@caught_by(f"{FIRST_LIST} what_a_program_seeded_stays")
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


ForgetsWhatItListed = resuming(
    "what_others_added_stays_over_restarts",
    lambda r: put(r, base=r.base and Base(r.base.plan, r.base.actors)),
)


@caught_by("a_reminder_tells_of_a_persons_edit")
class RemindsOfNoName(Sound):
    def due(self, record):
        if record.base:
            record.base = attrs.evolve(record.base, actors={})
        return super().due(record)


@caught_by("a_reminder_counts_for_the_response_to_it an_answer_is_told_once")
class TakesAReminderForSeenForGood(Sound):
    def due(self, record):
        text = super().due(record)
        if record.base is not None:
            record.base = record.base.advanced(record.plan, record.plan, ())
        return text


@caught_by(DURING_A_RUN)
class WritesOverWhatWasEditedMeanwhile(Sound):
    def edit(self, session, command, actor):
        live, self.live = self.live, {}
        try:
            return super().edit(session, command, actor)
        finally:
            self.live = live


def _refuses_what_is_done(host, decision, session, *_):
    if session in host.live:
        msg = "a run goes on"
        raise PlanError(msg)
    return decision


CarriesOutWhatItRefuses = after(
    "an_edit_during_a_run_is_in_the_plan_or_refused", edit=_refuses_what_is_done
)


@caught_by(DURING_A_RUN)
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


def verified(checks, look):
    """Make a fault that replaces the verifier's function, which it calls with the task."""

    def wrapped(_, setup):
        asked = setup.verify
        verify = asked and Verifier(lambda *given: look(asked.look, *given), by=asked.by)
        return (attrs.evolve(setup, verify=verify),)

    return before(checks, __init__=wrapped)


def _passes_what_fails(look, task, plan):
    try:
        return look(task, plan)
    except OSError:
        return True, "not looked at"


TakesAFailureForAPass = verified("a_verifier_that_fails_leaves_the_task", _passes_what_fails)
LooksTwice = verified(
    "each_check_is_looked_at_once", lambda look, *given: (look(*given), look(*given))[1]
)
TakesTheModelsWord = before(
    "a_passed_check_is_verified", __init__=lambda _, setup: (attrs.evolve(setup, verify=None),)
)


def _as_before_a_refusal(_, done, __, plan, ___):
    taken = any(not reply.is_error for reply in done.replies)
    return done if taken else attrs.evolve(done, plan=plan)


DropsWhatARefusalHasSeen = after(
    "a_failed_check_keeps_its_task_open", answer_from=_as_before_a_refusal
)


def _first_line_of_checks(_, done, *__):
    if not any("check" in reply.text for reply in done.replies):
        return done
    return with_texts(done, lambda text: text.split("\n")[0])


SaysOneLineOnly = after("a_claim_against_a_check_is_told", answer_from=_first_line_of_checks)


def _answered_once(host, record, turn):
    base, plan = record.base, record.plan
    return base, host.answer_from(base, plan, turn) if base else host.answer(plan, turn)


WritesOverWhatCameMeanwhile = instead(
    "an_edit_while_the_program_looks_stays", answered_upon=_answered_once
)


@caught_by("what_was_seen_is_told_once")
class TakesARefusalForAnothersWork(Sound):
    def answered(self, record, turn):
        before = record.plan
        events = super().answered(record, turn)
        task = record.plan.get("1")
        if events and task is not None and task.evidence and not task.evidence.passed:
            record.base = Base(before)
        return events


@caught_by(f"{NEWS} {FIRST_LIST}")
class TellsItsOwnFindingWithTheNews(Sound):
    def answered(self, record, turn):
        base = record.base
        events = super().answered(record, turn)
        record.base = record.base and base
        return events


ForgetsWhatWasSeen = resuming(
    "what_was_seen_survives_a_restart", lambda r: put(r, plan=setting(r.plan, evidence=None))
)


# -------- reminders, and answers that come too early --------


LeavesThePromptOut = instead("every_request_has_the_prompt", system=lambda *_: "You work.")
ForgetsTheEarlyAnswer = after(
    "the_early_answer_is_shown_to_the_model",
    request=lambda _, sent, __, text: [s for s in sent if not text or s.text != "Early."],
)


def _more_than_is_asked(host, text, record):
    settings, plan = host.setup.settings, record.plan
    if settings.plan_lost or settings.changed or settings.unfinished or not len(plan):
        return text
    return reminder("plan_lost", plan, host.setup.toolbox.toolset)


SaysMoreThanIsAsked = after("nothing_is_said_unasked", due=_more_than_is_asked)
SaysMoreBehindIt = after(
    "a_lost_plan_is_told_at_the_tail a_hostile_text_cannot_close_a_reminder"
    " the_cached_prefix_stays",
    request=lambda _, sent, __, text: (
        [*sent, Seen("user", "Go on.")] if "conversation" in text else sent
    ),
)


@caught_by("a_visible_plan_is_not_told_again")
class LooksAtTheLastMessage(Sound):
    def due(self, record):
        kept, record.talk = record.talk, record.talk[-1:] if len(record.talk) < 4 else []
        text = super().due(record)
        record.talk = kept
        return text


TakesFailuresForSuccess = instead(
    "a_failed_call_does_not_show_the_plan",
    result=lambda _, reply: ToolResult(reply.name, call_id=reply.call_id),
)


@caught_by("a_reminder_is_not_kept")
class StoresReminders(Sound):
    said = ""

    def due(self, record):
        text = super().due(record)
        self.said = text or self.said
        return text

    def stored(self, record):
        return [*super().stored(record), *([Seen("user", self.said)] if self.said else [])]


CountsInTheSystemMessage = after(
    "the_cached_prefix_stays", system=lambda _, text, record: f"{text}\n{len(record.plan)} tasks"
)
ShowsTextsAsTheyAre = before(
    "a_hostile_text_cannot_close_a_reminder",
    request=lambda _, record, text: (record, html.unescape(text)),
)


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


TakesItsOwnForOthers = instead(
    "only_changes_by_others_are_told what_was_seen_is_told_once", saw=lambda _, memory, __: memory
)
ForgetsWhatItSaid = resuming(
    "guidance_remembers_over_a_restart", lambda record: put(record, memory=Memory())
)


def judging(checks, **changes):
    """Make a fault that judges a changed answer of the model."""

    def judged(_, record, said):
        return record, attrs.evolve(said, **{n: change(said) for n, change in changes.items()})

    return before(checks, judged=judged)


def remembering(checks, **fields):
    """Make a fault that changes the memory of guidance before it judges an answer."""

    def judged(_, record, said):
        record.memory = attrs.evolve(record.memory, **fields)
        return record, said

    return before(checks, judged=judged)


def hearing(checks, change):
    """Make a fault that takes another text for what the model has said in a turn."""
    return after(checks, heard=lambda _, said, __, turn: attrs.evolve(said, text=change(turn)))


SendsQuestionsBack = judging("a_question_passes", text=lambda said: said.text.replace("?", "."))
IgnoresTheFinishReason = judging("a_refusal_is_let_go", finish=lambda _: "")
CountsThoughtsAsText = hearing("thoughts_are_no_answer", lambda turn: turn.thoughts + turn.text)
TakesThoughtsForTheWholeAnswer = hearing(
    "an_answer_beside_thoughts_is_one", lambda turn: "" if turn.thoughts else turn.text
)
SendsBackWithoutAWord = after(
    "an_early_answer_is_sent_back users_in_threads_are_sent_back_apart"
    " users_in_tasks_are_sent_back_apart",
    judged=lambda _, judged, *__: (judged[0], ""),
)


@caught_by("what_sends_back_is_not_kept")
class StoresWhatSendsBack(Sound):
    said = ()

    def judged(self, record, said):
        verdict, text = super().judged(record, said)
        self.said = [Seen("user", text)] if text else self.said
        return verdict, text

    def stored(self, record):
        return [*super().stored(record), *self.said]


NeverLetsGo = remembering("further_turns_are_capped", asked=0)
NeverRenews = remembering("progress_renews_the_cap", resolved=99)


@caught_by("only_progress_renews_the_cap")
class RenewsOnEveryCall(Sound):
    def answered(self, record, turn):
        if turn.calls:
            record.memory = attrs.evolve(record.memory, asked=0)
        return super().answered(record, turn)


CountsOnAndOn = instead(
    "a_new_run_has_its_own_cap",
    begin=lambda self, record: self.add(
        record, [{"role": "user", "content": "go"}], Message("user", "go")
    ),
)


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


@caught_by("a_finished_plan_is_let_go")
class AsksOnceMore(Sound):
    asked = False

    def judged(self, record, said):
        verdict, text = super().judged(record, said)
        done = len(record.plan) and not record.plan.counts.open and not said.calls
        asked, self.asked = self.asked, bool(done)
        return ("again", "") if done and not asked else (verdict, text)


LetsGoWhatShouldRaise = after(
    "an_ignored_reminder_raises_if_told_so",
    judged=lambda _, judged, *__: ("accept" if judged[0] == "raise" else judged[0], judged[1]),
)


@caught_by("an_answer_passes_while_a_person_is_to_approve")
class KeepsThePolicyFromGuidance(Sound):
    def __init__(self, setup):
        super().__init__(setup)
        self.guidance = Guidance(setup.toolbox.toolset, setup.settings)

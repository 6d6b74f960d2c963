"""Adapters that each do one thing wrongly with reminders, or with answers that come too early."""

import html
import threading
from asyncio import current_task

import attrs
from support.conformance_functions import Record
from support.conformance_sound import Sound
from support.faults import caught_by

from todoplan.dialogue.guidance import Guidance, Memory, Message, ToolResult, reminder
from todoplan.testing.adapters import Seen


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
    "a_failed_call_does_not_show_the_plan",
    "a_hostile_text_cannot_close_a_reminder",
    "each_user_is_told_of_their_own",
    "the_cached_prefix_stays",
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
    "guidance_remembers_over_a_restart",
    "what_was_seen_is_told_once",
)
class TakesItsOwnForOthers(Sound):
    def saw(self, memory, plan):
        return memory


@caught_by("guidance_remembers_over_a_restart")
class ForgetsWhatItSaid(Sound):
    def resume(self, saved):
        super().resume(saved)
        for session in self.kept:
            record = self.load(session)
            record.memory = Memory()
            self.save(session, record)


@caught_by(
    "an_early_answer_is_sent_back",
    "users_in_threads_are_sent_back_apart",
    "users_in_tasks_are_sent_back_apart",
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
    "an_ignored_reminder_raises_if_told_so",
    "what_sends_back_is_not_kept",
    "progress_renews_the_cap",
    "only_progress_renews_the_cap",
    "a_new_run_has_its_own_cap",
    "users_in_threads_are_sent_back_apart",
    "users_in_tasks_are_sent_back_apart",
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


@caught_by("a_refusal_is_let_go")
class IgnoresTheFinishReason(Sound):
    def judged(self, record, said):
        return super().judged(record, attrs.evolve(said, finish=""))


@caught_by("thoughts_are_no_answer")
class CountsThoughtsAsText(Sound):
    def heard(self, record, turn):
        said = super().heard(record, turn)
        return attrs.evolve(said, text=turn.thoughts + turn.text)


@caught_by("an_answer_beside_thoughts_is_one")
class TakesThoughtsForTheWholeAnswer(Sound):
    def heard(self, record, turn):
        said = super().heard(record, turn)
        return attrs.evolve(said, text="") if turn.thoughts else said

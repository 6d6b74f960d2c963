"""Adapters that each do one thing wrongly with sessions, or over a restart."""

import threading
from typing import ClassVar

import attrs
from support.conformance_functions import Record
from support.conformance_sound import Sound
from support.faults import caught_by, edited

from todoplan.core.decide import plan_of


@caught_by(
    "two_sessions_are_apart",
    "sessions_in_threads_are_apart",
    "sessions_in_tasks_are_apart",
    "each_user_is_told_of_their_own",
    "what_was_told_is_remembered_for_each_user",
    "users_in_threads_are_sent_back_apart",
    "users_in_tasks_are_sent_back_apart",
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
class SavesNoOwner(Sound):
    def resume(self, saved):
        super().resume(saved)
        for session in self.kept:
            record = self.load(session)
            record.plan = edited(record.plan, lambda task: task.but(owner=None))
            self.save(session, record)


@caught_by("work_goes_on_after_a_restart")
class ForgetsItsToolbox(Sound):
    def resume(self, saved):
        super().resume(saved)
        toolbox = attrs.evolve(self.setup.toolbox, show_list=True)
        self.setup = attrs.evolve(self.setup, toolbox=toolbox)


RESUMED = (
    "a_plan_is_resumed",
    "work_goes_on_after_a_restart",
    "no_id_is_used_again_after_a_restart",
    "guidance_remembers_over_a_restart",
    "a_persons_edit_survives_a_restart",
    "what_a_task_is_survives_a_restart",
    "what_was_seen_survives_a_restart",
)


@caught_by(
    "a_plan_is_resumed",
    "a_persons_edit_survives_a_restart",
    "guidance_remembers_over_a_restart",
    "no_id_is_used_again_after_a_restart",
    "what_a_task_is_survives_a_restart",
    "what_others_added_stays_over_restarts",
    "what_was_seen_survives_a_restart",
    "work_goes_on_after_a_restart",
)
class RestartsInMemory(Sound):
    def saved(self):
        return self.kept

    def resume(self, saved):
        self.kept = saved


@caught_by(
    "a_plan_is_resumed",
    "a_persons_edit_survives_a_restart",
    "guidance_remembers_over_a_restart",
    "no_id_is_used_again_after_a_restart",
    "what_a_task_is_survives_a_restart",
    "what_others_added_stays_over_restarts",
    "what_was_seen_survives_a_restart",
    "work_goes_on_after_a_restart",
)
class SavesTheConversationOnly(Sound):
    def resume(self, saved):
        super().resume(saved)
        for session in self.kept:
            record = self.load(session)
            self.save(session, Record(messages=record.messages, talk=record.talk))


@caught_by("no_id_is_used_again_after_a_restart")
class CountsAnewAfterARestart(Sound):
    def resume(self, saved):
        super().resume(saved)
        for session in self.kept:
            record = self.load(session)
            record.plan = plan_of(tuple(record.plan), revision=record.plan.revision)
            self.save(session, record)

"""Adapters that each do one thing wrongly with sessions, or over a restart."""

import threading
from typing import ClassVar

import attrs
from support.conformance_sound import Sound, caught_by, edited

from todoplan.core.decide.assembly import plan_of


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

    def __init__(self, setup, kept=None):
        super().__init__(setup, kept)
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
    def __init__(self, setup, kept=None):
        super().__init__(setup, kept)
        self.local = threading.local()

    def begin(self, record):
        super().begin(record)
        self.local.record = record

    def answered(self, record, turn):
        return super().answered(self.local.record, turn)


@caught_by("a_plan_is_resumed")
class SavesNoOwner(Sound):
    def restarted(self):
        host = super().restarted()
        for session in host.kept:
            record = host.load(session)
            record.plan = edited(record.plan, owner=None)
            host.save(session, record)
        return host


@caught_by("work_goes_on_after_a_restart")
class ForgetsItsToolbox(Sound):
    def restarted(self):
        toolbox = attrs.evolve(self.setup.toolbox, show_list=True)
        return type(self)(attrs.evolve(self.setup, toolbox=toolbox), self.kept)


@caught_by("no_id_is_used_again_after_a_restart")
class CountsAnewAfterARestart(Sound):
    def restarted(self):
        host = super().restarted()
        for session in host.kept:
            record = host.load(session)
            record.plan = plan_of(tuple(record.plan), revision=record.plan.revision)
            host.save(session, record)
        return host

"""
What comes to a plan from outside: an answer, a time that has come, evidence, somebody's approval.
"""

from itertools import islice

from todoplan.core.decide.changes import edit, still_to_come
from todoplan.core.decide.transaction import Transaction
from todoplan.core.events.types import PlanApproved
from todoplan.core.plan.model import Evidence
from todoplan.core.problems import MOST_NAMED
from todoplan.core.teamwork import AnswerTask, ApprovePlan, RecordEvidence

__all__ = ["answer", "approve", "end_waits", "record_evidence"]


def answer(transaction: Transaction, command: AnswerTask) -> None:
    """
    Keep what was answered to a task that waits, and end its wait.
    """
    task = transaction.find(command.task_id, "task_id")
    if task is None:
        return
    if task.waiting is None:
        asking = ", ".join(each.id for each in islice(transaction.draft.waiting(), MOST_NAMED))
        transaction.refuse("not_waiting", task.id, seen=task.id, legal=asking, path="task_id")
        return
    edit(transaction, task, {"waiting": None, "answer": command.answer})


def end_waits(transaction: Transaction) -> None:
    """
    End the waits whose time has come: every command does, since time comes with it.
    """
    for task in tuple(transaction.draft.waiting()):
        if still_to_come(task.waiting, transaction.at) is None:
            edit(transaction, task, {"waiting": None})


def record_evidence(transaction: Transaction, command: RecordEvidence) -> None:
    """
    Keep what was found of a task.
    """
    task = transaction.find(command.task_id, "task_id")
    if task is not None:
        by = transaction.actor if command.by is None else command.by
        found = Evidence(command.passed, command.summary, by, transaction.at)
        edit(transaction, task, {"evidence": found} if found != task.evidence else {})


def approve(transaction: Transaction, command: ApprovePlan) -> None:
    """
    Keep that somebody agrees to the plan as it stands.
    """
    by = transaction.actor if command.by is None else command.by
    transaction.emit(PlanApproved(by, transaction.at))

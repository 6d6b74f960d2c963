"""Commands about things outside the plan: answers, the end of waits, evidence, approval."""

from itertools import islice

from todoplan.core.decide.changes import edit, still_to_come
from todoplan.core.decide.transaction import Transaction
from todoplan.core.events.types import PlanApproved
from todoplan.core.plan.model import Evidence
from todoplan.core.problems import MOST_NAMED
from todoplan.core.teamwork import AnswerTask, ApprovePlan, RecordEvidence

__all__ = ["answer", "approve", "end_waits", "record_evidence"]


def answer(transaction: Transaction, command: AnswerTask) -> None:
    """Store the answer in a waiting task, and end its wait."""
    task = transaction.find(command.task_id, "task_id")
    if task is None:
        return
    if task.waiting is None:
        asking = ", ".join(each.id for each in islice(transaction.draft.waiting(), MOST_NAMED))
        transaction.refuse("not_waiting", task.id, seen=task.id, legal=asking, path="task_id")
        return
    edit(transaction, task, {"waiting": None, "answer": command.answer})


def end_waits(transaction: Transaction) -> None:
    """End the waits whose time has come. Every command with a time does this."""
    for task in tuple(transaction.draft.waiting()):
        if still_to_come(task.waiting, transaction.at) is None:
            edit(transaction, task, {"waiting": None})


def record_evidence(transaction: Transaction, command: RecordEvidence) -> None:
    """Store the result of a check in a task."""
    task = transaction.find(command.task_id, "task_id")
    if task is not None:
        by = transaction.actor if command.by is None else command.by
        found = Evidence(command.passed, command.summary, by, transaction.at)
        edit(transaction, task, {"evidence": found} if found != task.evidence else {})


def approve(transaction: Transaction, command: ApprovePlan) -> None:
    """Record that an actor approves the plan as it is."""
    by = transaction.actor if command.by is None else command.by
    transaction.emit(PlanApproved(by, transaction.at))

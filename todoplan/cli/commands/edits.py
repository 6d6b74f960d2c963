"""
`todoplan add`, `start`, `done`, `fail`, `wait`, `answer`, `edit`, `link`, `release`, `remove`,
`undo`: one command on a plan, carried out as by a program's `Planner`, with the actor's name in the
history.

    {"format": "todoplan/edit", "version": 1, "plan": "garden", "accepted": true, "revision": 7,
     "events": [...], "counts": {...}, "ready": ["3"],
     "warnings": [{"code", "task_ids", "text"}], "problems": []}

`events` are as in a journal; `revision`, `counts` and `ready` are of the plan afterwards.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from todoplan.cli.exit_codes import REFUSED, UNREADABLE
from todoplan.cli.output.json_document import line
from todoplan.cli.output.screen import Screen
from todoplan.cli.plan_options import Judge, Place, Writer
from todoplan.cli.stored_plans import chosen_plan, plan_to_write
from todoplan.codec import entry_to_data
from todoplan.core.commands import Batch, Command, ReleaseClaim
from todoplan.core.decide.decide import Decision, Rejected
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import ready
from todoplan.core.problems import Problem, explain, ids_text
from todoplan.errors import TodoplanError
from todoplan.planner.planner import Planner
from todoplan.render.outline import summary
from todoplan.render.phrases import event_phrases

__all__ = ["FORMAT", "VERSION", "Edit", "carry_out", "free", "problem_data", "take_back"]

FORMAT = "todoplan/edit"
VERSION = 1


@attrs.frozen
class Edit:
    """
    How to change a plan: which one, by whom, under which rules; `creates` lets it be a new one.
    """

    place: Place
    writer: Writer
    judge: Judge
    as_json: bool = False
    creates: bool = False


def carry_out(make: Callable[[], Command], edit: Edit, screen: Screen) -> int:
    """
    Carry out the command that `make` gives, say what came of it, and return the exit code.
    """
    return _done(
        lambda planner: planner.apply(
            make(), actor=edit.writer.name, policy=edit.judge.rules_that_hold()
        ),
        edit,
        screen,
    )


def take_back(edit: Edit, screen: Screen) -> int:
    """
    Take the last accepted command back that still stands, whoever gave it; return the exit code.
    """
    return _done(lambda planner: planner.undo(actor=edit.writer.name), edit, screen)


def free(task_ids: Sequence[str], edit: Edit, screen: Screen) -> int:
    """
    Take tasks from whoever holds their claims, and return the exit code.
    """
    return _done(lambda planner: _freed(planner, task_ids, edit), edit, screen)


def _freed(planner: Planner, task_ids: Sequence[str], edit: Edit) -> Decision:
    plan = planner.plan
    claims = {task.id: task.claim for task in map(plan.get, task_ids) if task is not None}
    if unheld := [task_id for task_id, claim in claims.items() if claim is None]:
        return Rejected(tuple(Problem("not_claimed", (each,), seen=each) for each in unheld))
    # By the fence that stands now: who takes the task over in the same moment keeps it. What there
    # is not at all the decision tells.
    given = {task_id: claim.fence for task_id, claim in claims.items() if claim is not None}
    releases = tuple(ReleaseClaim(task_id, given.get(task_id, 1)) for task_id in task_ids)
    command = releases[0] if len(releases) == 1 else Batch(releases)
    return planner.apply(command, actor=edit.writer.name, policy=edit.judge.rules_that_hold())


def _done(act: Callable[[Planner], Decision], edit: Edit, screen: Screen) -> int:
    try:
        store = edit.place.store_itself()
        # A misspelled name is told: only what adds may begin a plan.
        find = plan_to_write if edit.creates else chosen_plan
        plan_id = find(store, edit.place.plan_id, edit.place.store)
        planner = Planner(store, plan_id)
        decision = act(planner)
        plan = planner.plan if isinstance(decision, Rejected) else decision.plan
    except TodoplanError as error:
        screen.complain(str(error))
        return UNREADABLE
    if edit.as_json:
        screen.write(f"{line(_data(plan_id, decision, plan))}\n")
    else:
        _tell(decision, screen)
    return REFUSED if isinstance(decision, Rejected) else 0


def _tell(decision: Decision, screen: Screen) -> None:
    if isinstance(decision, Rejected):
        for problem in decision.problems:
            screen.complain(f"refused: {explain(problem)}")
        if held := [each.seen for each in decision.problems if each.code == "claimed"]:
            # What a problem advises is for those who work on tasks, and not for who watches them.
            screen.complain(f"if its holder is gone, free it: todoplan release {' '.join(held)}")
        return
    phrases = event_phrases(decision.events, decision.plan) or ("no change",)
    coming = ids_text(task.id for task in ready(decision.plan))
    state = f"{summary(decision.plan)}; ready: {coming}" if coming else summary(decision.plan)
    screen.write("".join(f"{text}\n" for text in (*phrases, state)))
    for warning in decision.warnings:
        screen.complain(f"warning: {explain(warning)}")


def _data(plan_id: str, decision: Decision, plan: Plan) -> dict[str, Any]:
    refused = isinstance(decision, Rejected)
    events = () if isinstance(decision, Rejected) else decision.events
    return {
        "format": FORMAT,
        "version": VERSION,
        "plan": plan_id,
        "accepted": not refused,
        "revision": plan.revision,
        "events": entry_to_data(Entry(plan.revision, events))["events"],
        "counts": plan.counts._asdict(),
        "ready": [task.id for task in ready(plan)],
        "warnings": [] if isinstance(decision, Rejected) else problem_data(decision.warnings),
        "problems": problem_data(decision.problems) if isinstance(decision, Rejected) else [],
    }


def problem_data(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """
    Return problems as plain data, each with its sentence.
    """
    return [
        {"code": each.code, "task_ids": [*each.task_ids], "text": explain(each)}
        for each in problems
    ]

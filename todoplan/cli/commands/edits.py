"""
`todoplan add`, `start`, `done`, `fail`, `wait`, `answer`, `edit`, `link`, `release`, `remove`,
`undo`, `approve`: one command on a plan, carried out as by a program's `Planner`, with the actor's
name in the history.

    {"format": "todoplan/edit", "version": 1, "plan": "garden", "accepted": true, "revision": 7,
     "events": [...], "counts": {...}, "ready": ["3"],
     "warnings": [{"code", "task_ids", "text"}], "problems": []}

`events` are as in a journal; `revision`, `counts` and `ready` are of the plan afterwards.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs

from todoplan.cli.exit_codes import REFUSED, UNREADABLE
from todoplan.cli.output.changes import entry_phrases
from todoplan.cli.output.json_document import line
from todoplan.cli.output.screen import Screen
from todoplan.cli.plan_options import Judge, Place, Writer
from todoplan.cli.stored_plans import chosen_plan, plan_to_write
from todoplan.codec import entry_to_data
from todoplan.core.commands import Batch, Command, ReleaseClaim
from todoplan.core.decide.decide import Accepted, Decision, Rejected
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import StatusChanged
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import ready
from todoplan.core.problems import Problem, explain, ids_text
from todoplan.dialogue.undoing import last_change
from todoplan.errors import TodoplanError
from todoplan.planner.planner import Planner
from todoplan.render.cleaning import clip, one_line
from todoplan.render.outline import summary
from todoplan.render.phrases import event_phrases
from todoplan.stores.journals import follow, plan_after

__all__ = ["FORMAT", "VERSION", "Edit", "carry_out", "free", "problem_data", "take_back"]

FORMAT = "todoplan/edit"
VERSION = 1

_NAME = 40
_QUESTION = 200
_TYPED = {"blocked_by": "--after", "add_blocked_by": "--after", "remove_blocked_by": "--after"}


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
    return _done(lambda planner: _applied(planner, make(), edit), edit, screen)


def take_back(edit: Edit, screen: Screen) -> int:
    """
    Take the last accepted command back that still stands, whoever gave it; return the exit code.
    What would end a claim that holds is refused.
    """
    return _done(lambda planner: _undone(planner, edit.writer.name), edit, screen)


def free(task_ids: Sequence[str], edit: Edit, screen: Screen) -> int:
    """
    Take tasks from whoever holds their claims, and return the exit code.
    """
    return _done(lambda planner: _freed(planner, task_ids, edit), edit, screen)


@attrs.frozen
class _Came:
    """
    What came of it: the decision, and what is said of an accepted one.
    """

    decision: Decision
    said: tuple[str, ...] = ()


def _applied(planner: Planner, command: Command, edit: Edit) -> _Came:
    rules = edit.judge.rules_that_hold()
    before = planner.plan
    decision = planner.apply(command, actor=edit.writer.name, policy=rules)
    if isinstance(decision, Rejected):
        return _Came(decision)
    notes = tuple(_unanswered(before, decision))
    decision = attrs.evolve(decision, warnings=(*decision.warnings, *notes))
    return _Came(decision, event_phrases(decision.events, decision.plan))


def _unanswered(before: Plan, decision: Accepted) -> Iterator[Problem]:
    """
    Yield a note for each task that moved on though what it asks was not answered.
    """
    for event in decision.events:
        if not isinstance(event, StatusChanged) or event.new is Status.CANCELLED:
            continue
        was, now = before.get(event.task_id), decision.plan.get(event.task_id)
        question = was and was.waiting and was.waiting.question
        if question and now is not None and now.waiting is None and now.answer is None:
            asked = clip(one_line(question), _QUESTION)
            note = f'#{now.id} asked "{asked}", and was not answered.'
            yield Problem("not_answered", (now.id,), note=note)


def _undone(planner: Planner, actor: str | None) -> _Came:
    plan, journal = planner.plan, planner.history()
    target = last_change(journal)
    # What somebody does in this moment is not undone unseen.
    decision = planner.undo(actor=actor, seen=plan.revision)
    if target is None or isinstance(decision, Rejected):
        return _Came(decision)
    before = follow(Plan(), journal[: journal.index(target)])
    phrases = "; ".join(entry_phrases(target, plan_after(before, target), before))
    by = f" (by {clip(one_line(target.actor), _NAME)})" if target.actor else ""
    came = event_phrases(decision.events, decision.plan, plan)
    return _Came(decision, (f"undone: {phrases or 'no change'}{by}", *came))


def _freed(planner: Planner, task_ids: Sequence[str], edit: Edit) -> _Came:
    plan = planner.plan
    claims = {task.id: task.claim for task in map(plan.get, task_ids) if task is not None}
    if unheld := [task_id for task_id, claim in claims.items() if claim is None]:
        return _Came(Rejected(tuple(Problem("not_claimed", (each,), seen=each) for each in unheld)))
    # By the fence that stands now: who takes the task over in the same moment keeps it. What there
    # is not at all the decision tells.
    given = {task_id: claim.fence for task_id, claim in claims.items() if claim is not None}
    releases = tuple(ReleaseClaim(task_id, given.get(task_id, 1)) for task_id in task_ids)
    return _applied(planner, releases[0] if len(releases) == 1 else Batch(releases), edit)


def _done(act: Callable[[Planner], _Came], edit: Edit, screen: Screen) -> int:
    try:
        store = edit.place.store_itself()
        # A misspelled name is told: only what adds may begin a plan.
        find = plan_to_write if edit.creates else chosen_plan
        plan_id = find(store, edit.place.plan_id, edit.place.store)
        planner = Planner(store, plan_id)
        came = act(planner)
        decision = came.decision
        plan = planner.plan if isinstance(decision, Rejected) else decision.plan
    except TodoplanError as error:
        screen.complain(str(error))
        return UNREADABLE
    if edit.as_json:
        screen.write(f"{line(_data(plan_id, decision, plan))}\n")
    else:
        _tell(decision, came.said, screen)
    return REFUSED if isinstance(decision, Rejected) else 0


def _tell(decision: Decision, said: Iterable[str], screen: Screen) -> None:
    if isinstance(decision, Rejected):
        for problem in decision.problems:
            screen.complain(f"refused: {explain(_as_typed(problem))}")
        if held := [each.seen for each in decision.problems if each.code == "claimed"]:
            # What a problem advises is for those who work on tasks, and not for who watches them.
            screen.complain(f"if its holder is gone, free it: todoplan release {' '.join(held)}")
        return
    phrases = tuple(said) or ("no change",)
    coming = ids_text(task.id for task in ready(decision.plan))
    state = f"{summary(decision.plan)}; ready: {coming}" if coming else summary(decision.plan)
    screen.write("".join(f"{text}\n" for text in (*phrases, state)))
    for warning in decision.warnings:
        screen.complain(f"warning: {explain(warning)}")


def _as_typed(problem: Problem) -> Problem:
    """
    Return a problem with the option that it is about in place of a command's argument.
    """
    name = problem.path.rpartition(".")[2].partition("[")[0]
    option = _TYPED.get(name, f"--{name.replace('_', '-')}")
    # Ids and the text of a task are typed without a name, and the sentence says which is meant.
    return attrs.evolve(problem, path="" if name in {"", "task_id", "subject"} else option)


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

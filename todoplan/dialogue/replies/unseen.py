"""
The text about changes by others since a session last saw the plan (law 15).

A model that is not informed goes on from its old view and works against changes it never saw. So
the first reply after a change by others, or the reminder before it, says which tasks changed, how,
and by whom. If a whole-list write overwrote a value that somebody else had set, the reply says
which. If the list left out tasks that it cannot remove that way, the reply says that they are kept
and how to remove them. The text is short: a few tasks are named, and the others are counted. The
answer to a question is quoted in full, up to a maximum length, because the model has waited for it.
"""

from collections.abc import Iterator, Sequence

from todoplan.core.events.base import Base, Difference
from todoplan.core.plan.model import EDITABLE, OPEN, Evidence, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.slots import number_of
from todoplan.dialogue.calls import Reply
from todoplan.dialogue.replies.views import one_line, waiting_text
from todoplan.texts.wording import say

_MOST_TASKS = 5
_LONGEST_TITLE = 60
_LONGEST_ACTOR = 40
_LONGEST_QUESTION = 200
_LONGEST_ANSWER = 1_000
_FIELDS = ("status", *sorted(EDITABLE))


def news_text(base: Base, plan: Plan, reply: Reply) -> str:
    """
    Return the text that precedes a reply.

    It names the changes by others since the merge base, the values that the call overwrote, and the
    open tasks that its list left out and that are kept. `plan` is the plan before the call.
    """
    if base.plan is plan and base.listed is None and base.heard is None:
        return ""
    unseen = base.unseen(plan)
    parts = [_unseen(base, plan, unseen, reply.plan)]
    if reply.note.lines is not None:
        parts.append(_staying(base, plan, unseen, reply))
    return "; ".join(part for part in parts if part)


def unseen_text(base: Base, plan: Plan, after: Plan | None = None) -> str:
    """
    Return the changes by others between the merge base and the plan; "" if there are none.

    `after` is the plan after this session's own write; if given, the text also names the values
    that the write overwrote.
    """
    return _unseen(base, plan, base.unseen(plan), after)


def _unseen(base: Base, plan: Plan, unseen: Sequence[Difference], after: Plan | None) -> str:
    answered = [one for one in unseen if _is_answered(one)]
    others = [_said(one) for one in unseen if one not in answered or _differs_more(one)]
    if base.is_newly_approved(plan):
        others.insert(0, _approved(plan))
    parts = [say("replies", "unseen", items=_listed(others))] if others else []
    if answered:
        parts.append(say("replies", "answered", items=_listed([*map(_answer, answered)])))
    if after is not None and (over := [*_written_over(unseen, after)]):
        parts.append(say("replies", "written_over", items=_listed(over)))
    return "; ".join(parts)


def _staying(base: Base, plan: Plan, unseen: Sequence[Difference], reply: Reply) -> str:
    """
    Return the text about open tasks that a list left out and that are kept; each is named once.
    """
    said = {task_id for task_id, _ in reply.note.lines or ()}
    news = {one.task.id for one in unseen}
    # A task that was left out is kept if the session had not listed it, or if others changed it.
    left = [
        task
        for task in reply.plan
        if task.status in OPEN
        and task.id in plan
        and task.id not in said
        and (task.id in news or (not base.has_listed(task.id) and number_of(task.id) >= base.told))
    ]
    if not left:
        return ""
    if all(task.id in news for task in left):
        return say("replies", "stays_told")
    items = [f"#{task.id} {one_line(task.subject, _LONGEST_TITLE)}" for task in left]
    return say("replies", "stays", items=_listed(items))


def _approved(plan: Plan) -> str:
    text, by = say("replies", "approved"), plan.approved and plan.approved.by
    return say("replies", "by", text=text, actor=one_line(by, _LONGEST_ACTOR)) if by else text


def _listed(items: list[str]) -> str:
    shown = items[:_MOST_TASKS]
    if len(items) > _MOST_TASKS:
        shown.append(say("replies", "more", count=len(items) - _MOST_TASKS))
    return ", ".join(shown)


def _said(one: Difference) -> str:
    title = f"#{one.task.id} {one_line(one.task.subject, _LONGEST_TITLE)}"
    if one.was and one.was.subject != one.task.subject:
        # A whole-list write identifies a task by its text: with the old text it would become a new
        # task.
        was = one_line(one.was.subject, _LONGEST_TITLE)
        title = say("replies", "renamed", title=title, was=was)
    if taken := _taken(one, title):
        return taken
    if one.was is None:
        name = "created"
    elif one.now is None:
        name = "deleted"
    elif one.was.status is not one.now.status:
        name = one.now.status.value
    elif one.was.waiting != one.now.waiting:
        name = "waiting" if one.now.waiting else "resumed"
    elif one.was.parent != one.now.parent:
        name = "moved"
    else:
        name = "updated"
    return _by(say("replies", name, ids=title), one)


def _taken(one: Difference, title: str) -> str:
    """Return who has claimed a task since, and from whom it was taken over; "" for no new claim."""
    claim, lost = one.now and one.now.claim, one.was and one.was.claim
    if not claim or (lost and lost.fence == claim.fence):
        return ""
    text = say("replies", "claimed", ids=title)
    text = say("replies", "by", text=text, actor=one_line(claim.owner, _LONGEST_ACTOR))
    if lost:
        loser = one_line(lost.owner, _LONGEST_ACTOR)
        text = say("replies", "taken_over", text=text, loser=loser)
    return text


def _is_answered(one: Difference) -> bool:
    answer = one.now and one.now.answer
    return bool(answer) and answer != (one.was and one.was.answer)


def _differs_more(one: Difference) -> bool:
    """Return whether an answered task has other changes than the answer."""
    was, now = one.was, one.now
    return was is None or now is None or _unanswered(was) != _unanswered(now)


def _unanswered(task: Task) -> Task:
    return task.but(answer=None, waiting=None, updated_at=None)


def _answer(one: Difference) -> str:
    task, was = one.task, one.was
    asked = was.waiting.question or was.waiting.reason if was and was.waiting else ""
    # Only the last actor is known: if there are other changes, another actor may have answered.
    known = one.actor and not _differs_more(one)
    return say(
        "replies",
        "answer_by" if known else "answer",
        id=task.id,
        question=one_line(asked or task.subject, _LONGEST_QUESTION),
        answer=one_line(task.answer or "", _LONGEST_ANSWER),
        actor=one_line(one.actor or "", _LONGEST_ACTOR),
    )


def _by(text: str, one: Difference) -> str:
    if not one.actor:
        return text
    return say("replies", "by", text=text, actor=one_line(one.actor, _LONGEST_ACTOR))


def _written_over(unseen: Sequence[Difference], after: Plan) -> Iterator[str]:
    for one in unseen:
        final = after.get(one.task.id)
        if one.was is None or one.now is None or final is None:
            continue
        for name in _FIELDS:
            was, now = getattr(one.was, name), getattr(one.now, name)
            # Others changed the value, and the final value is not theirs.
            if now not in (was, getattr(final, name)):
                value = one_line(_shown(now), _LONGEST_TITLE)
                text = say("replies", "over", id=one.task.id, field=name, value=value)
                yield _by(text, one)


def _shown(value: object) -> str:
    """Return the value of a field as text, never as a repr."""
    if isinstance(value, Waiting):
        return waiting_text(value)
    return value.summary if isinstance(value, Evidence) else str(value)

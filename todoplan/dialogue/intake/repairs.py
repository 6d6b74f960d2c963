"""
The repairs of intake as values, and which of them are guesses.

Law 10: nothing is repaired silently; the reply names every repair. Law 17: a guess never removes a
task. A whole-list write replaces the plan, so values that are no list ("null", one object, "same as
before") used to empty plans and report success. If the container had to be guessed, the call may
add and change tasks, but is refused if it would remove a task that it does not name.
"""

from collections.abc import Iterable, Sequence

import attrs

from todoplan.core.commands import Batch, Command, DeleteTask, WriteTodos
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.texts.wording import say

__all__ = ["GUESSES", "Repair", "is_guess", "loss_by_guess", "unnamed"]

# An exact JSON text or Python literal of the whole list is no guess, even with a comma too many.
# Encoding a list twice is the most frequent fault of models, and such a text is as clear about its
# content and its end as the list itself. "noise" is a guess, because a comment is dropped, and
# models write comments such as `/* the rest as before */`.
GUESSES = frozenset({"bare_entry", "bare_list", "checklist", "noise", "wrapper"})
"""The repairs that guess the container of the arguments, or of a list in them."""


@attrs.frozen
class Repair:
    """
    One repair: its kind, the path in the arguments, the value sent, and the value used instead.
    """

    code: str
    path: str = ""
    seen: str = ""
    used: str = ""


def is_guess(repairs: Iterable[Repair]) -> bool:
    """Return whether the container of the arguments, or of a list in them, had to be guessed."""
    return any(repair.code in GUESSES for repair in repairs)


def unnamed(change: Change) -> tuple[str, ...]:
    """
    Return the ids of the tasks that a command removes without naming them, in the plan's order.

    A whole-list write names each task that it keeps, by id or by text. Other commands name every
    task by its id. `clear` with an empty list counts as naming all tasks.
    """
    # Closed tasks count too, since they are part of the plan's record.
    parts = _parts(change.command)
    if any(isinstance(part, WriteTodos) and part.clear and not part.todos for part in parts):
        return ()
    named = {part.task_id for part in parts if isinstance(part, DeleteTask)}
    return tuple(task.id for task in change.removed() if task.id not in named)


def _parts(command: Command | None) -> Sequence[Command]:
    if isinstance(command, Batch):
        return [inner for part in command.commands for inner in _parts(part)]
    return [command] if command is not None else []


def loss_by_guess(repairs: Sequence[Repair], change: Change) -> Problem | None:
    """Return the problem if a change with these repairs violates law 17, otherwise `None`."""
    guess = next((repair for repair in repairs if repair.code in GUESSES), None)
    lost = unnamed(change) if guess else ()
    if guess is None or not lost:
        return None
    how = say("repairs", guess.code, path=guess.path or say("repairs", "arguments"))
    return Problem("guessed_container", lost, seen=how)

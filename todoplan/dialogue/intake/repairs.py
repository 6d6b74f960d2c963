"""
What intake read differently from what was sent, as values; and which of that was a guess.

Law 10: nothing is repaired silently, the reply names every repair. Law 17: a guess never removes.
A whole-list write means "the plan is now this", so a list that was not one ("null", one object,
"same as before") used to empty plans, and to answer ok. Where the container had to be guessed, the
call may add and change, and is refused if a task would go that it does not name.
"""

from collections.abc import Iterable, Sequence

import attrs

from todoplan.core.commands import Batch, Command, DeleteTask, WriteTodos
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.texts.wording import say

__all__ = ["GUESSES", "Repair", "is_guess", "loss_by_guess", "unnamed"]

# No guess: an exact JSON text or Python literal of the whole list, also with a comma too many.
# Models encode lists twice more often than they break them in any other way, and such a text says
# as clearly as the list itself what is in it and where it ends. "noise" is one, because what a
# comment said is dropped, and `/* the rest as before */` is a thing that models write.
GUESSES = frozenset({"bare_entry", "bare_list", "checklist", "noise", "wrapper"})
"""The repairs that guess what the container of the arguments, or of a list in them, is."""


@attrs.frozen
class Repair:
    """
    One repair: what kind, where in the arguments, what was given, what it was read as.
    """

    code: str
    path: str = ""
    seen: str = ""
    used: str = ""


def is_guess(repairs: Iterable[Repair]) -> bool:
    """
    Say whether the container of what was sent had to be guessed.
    """
    return any(repair.code in GUESSES for repair in repairs)


def unnamed(change: Change) -> tuple[str, ...]:
    """
    Return the ids of the tasks that a command drops without naming them, in the plan's order.

    What a whole-list write keeps it has named, by id or by text, so that it closes nothing unnamed;
    other commands name every task by its id. `clear` with an empty list means all of them.
    """
    # Dropped tasks count whether they were open or closed: what was done is the plan's record too.
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
    """
    Return what law 17 has against a change that was read from these repairs; `None` if nothing.
    """
    guess = next((repair for repair in repairs if repair.code in GUESSES), None)
    lost = unnamed(change) if guess else ()
    if guess is None or not lost:
        return None
    how = say("repairs", guess.code, path=guess.path or say("repairs", "arguments"))
    return Problem("guessed_container", lost, seen=how)

"""
What a rule is: a named check, and what can break it.

A rule of your own is a `Rule` whose check is a function of a `Change`; `Policy.adding` takes it in.
"""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from itertools import islice

import attrs

from todoplan.core.events.types import Event, StatusChanged
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.validation import short_repr
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.errors import PlanError

__all__ = [
    "MOST_NAMED",
    "Check",
    "Rule",
    "Trigger",
    "first_ids",
    "moves",
    "registering",
    "trigger_of",
]

MOST_NAMED = 20
"""So many tasks does a problem name, however many there are."""

Trigger = type | tuple[Status, Status]
Check = Callable[[Change], Iterable[Problem]]


def _triggers(on: Iterable[Trigger]) -> frozenset[Trigger]:
    if isinstance(on, str | type) or not isinstance(on, Iterable):
        msg = (
            f"{short_repr(on)} was given as what a rule is on; give several, such as (TaskCreated,)"
        )
        raise PlanError(msg, seen=on)
    return frozenset(on)


@attrs.frozen
class Rule:
    """
    A named check. `about_plan`: it can also be asked of a plan as it stands (`inspect`).

    `on` names what can break it, so that nothing else need be looked at: types of events, moves as
    (old, new) status, `NoneType` for a command without events. Empty: it is asked of every change.
    `demands` is the field of a task that must be filled in: tools that do not take it cannot do
    right by the rule.
    """

    name: str
    check: Check
    about_plan: bool = False
    on: frozenset[Trigger] = attrs.field(default=frozenset(), converter=_triggers)
    demands: str = ""

    def heeds(self, triggers: AbstractSet[Trigger]) -> bool:
        """
        Say whether something among what happened can break the rule.
        """
        moved = StatusChanged in self.on and any(type(trigger) is tuple for trigger in triggers)
        return moved or not self.on or not self.on.isdisjoint(triggers)


def trigger_of(event: Event) -> Trigger:
    """
    Return what a rule's `on` calls an event.
    """
    return (event.old, event.new) if type(event) is StatusChanged else type(event)


def moves(to: Iterable[Status] = Status, *, of: Iterable[Status] = Status) -> set[Trigger]:
    """
    Return the triggers of all changes to some statuses, or of some.
    """
    return {(old, new) for old in of for new in to if old is not new}


def registering(rules: dict[str, Rule]) -> Callable[..., Callable[[Check], Check]]:
    """
    Return a decorator that takes a check into `rules`, under its own name without underscores.

    The check stays what it is and is found by its name in its module: a policy can be pickled.
    """

    def rule(*on: Trigger, about_plan: bool = False, demands: str = "") -> Callable[[Check], Check]:
        def keep(check: Check) -> Check:
            name = check.__name__.strip("_")
            rules[name] = Rule(name, check, about_plan, frozenset(on), demands)
            return check

        return keep

    return rule


def first_ids(tasks: Iterable[Task]) -> tuple[str, ...]:
    """
    Return the ids that a problem about these tasks names.
    """
    return tuple(task.id for task in islice(tasks, MOST_NAMED))

"""
`todoplan check`: whether a file of rules is right, and whether a stored plan keeps them.

    {"format": "todoplan/check", "version": 1, "rules": {"max_items": "error", ...},
     "limits": {"items": 10000, ...}, "plan": "garden" or null, "revision": 7 or null,
     "problems": [{"code", "task_ids", "text"}]}
"""

from typing import Any

import attrs

from todoplan.cli.commands.edits import problem_data
from todoplan.cli.exit_codes import REFUSED, UNREADABLE
from todoplan.cli.output.json_document import line
from todoplan.cli.output.screen import Screen
from todoplan.cli.plan_options import Judge, Place
from todoplan.core.events.apply import replay
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem, explain
from todoplan.core.rules.policy import Policy, Severity, inspect
from todoplan.errors import CodecError, TodoplanError
from todoplan.render.outline import summary

__all__ = ["FORMAT", "VERSION", "check"]

FORMAT = "todoplan/check"
VERSION = 1


@attrs.frozen
class _Stored:
    """
    The plan that was checked, and where it breaks rules about plans that are at error.
    """

    plan_id: str
    plan: Plan
    problems: tuple[Problem, ...]


def check(place: Place, judge: Judge, screen: Screen, *, as_json: bool) -> int:
    """
    Check the rules, and the plan where a store is given; return 1 if the plan breaks a rule.
    """
    try:
        policy = judge.rules_that_hold()
        stored = _stored(place, policy) if place.store else None
    except TodoplanError as error:
        screen.complain(str(error))
        return UNREADABLE
    if as_json:
        screen.write(f"{line(_data(policy, stored))}\n")
    else:
        screen.write(_text(judge, policy, stored))
    return REFUSED if stored and stored.problems else 0


def _stored(place: Place, policy: Policy) -> _Stored:
    store, plan_id = place.opened()
    plan, journal = store.load(plan_id), store.entries(plan_id)
    folded = replay(Plan(), (event for entry in journal for event in entry.events))
    # A store may keep both, and each can be damaged by itself. Somebody may write in between.
    if folded != plan and store.load(plan_id) == plan:
        msg = f"{place.store}: the journal of {plan_id!r} does not lead to the plan that is kept"
        raise CodecError(msg, plan_id=plan_id)
    return _Stored(plan_id, plan, inspect(plan, policy))


def _text(judge: Judge, policy: Policy, stored: _Stored | None) -> str:
    on = [(rule.name, level) for rule, level in policy.rules if level is not Severity.OFF]
    errors = sum(level is Severity.ERROR for _, level in on)
    rows = [f"rules of {judge.policy}: {errors} at error, {len(on) - errors} at warn"]
    rows += [f"  {name}: {level.value}" for name, level in on]
    if stored:
        plan = stored.plan
        rows.append(f"plan {stored.plan_id!r}, revision {plan.revision}: {summary(plan)}")
        rows += [f"  {each.code}: {explain(each)}" for each in stored.problems] or ["  keeps them"]
    return "".join(f"{row}\n" for row in rows)


def _data(policy: Policy, stored: _Stored | None) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "rules": {rule.name: level.value for rule, level in policy.rules},
        "limits": attrs.asdict(policy.limits),
        "plan": stored.plan_id if stored else None,
        "revision": stored.plan.revision if stored else None,
        "problems": problem_data(stored.problems) if stored else [],
    }

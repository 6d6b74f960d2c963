"""
Calls that are made twice and happen once: how a result is kept beside its key, and read again.

A framework makes a call again after a crash, a timeout or a resumed run, and cannot know whether
the first one was carried out: of 54 writers that were killed, 4 to 13 had appended what nobody was
told of. So the append carries the call's key, and what was answered is kept with it. To decide
again upon the plan of then was the other way; but an answer also depends on what its hand had seen,
on the policy and on the version of the texts, none of which the journal knows.

- The plan of a result that is given again is the plan as it stands: whoever keeps it (a framework's
  state) would otherwise go back to an older one.
- A call that changed nothing, a look or a refusal, is not kept: there is nothing in it to do twice,
  and the list that it showed may be long. Made again, it is answered anew.
"""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import attrs

from todoplan.core.commands import Command
from todoplan.core.decide.decide import Accepted
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.repairs import Repair
from todoplan.dialogue.toolbox import Call, Reply, Turn
from todoplan.planner.arguments import unfit
from todoplan.stores.hold import Key, Receipt

__all__ = ["Request", "request_of_command", "request_of_turn"]


@attrs.frozen
class Request:
    """
    What is carried out once: its key, how its result is written, and how it is read again.
    """

    key: Key
    write: Callable[[Any], str]
    read: Callable[[Plan, Receipt], Any]


def request_of_turn(key: str, calls: Sequence[Call], actor: str | None) -> Request:
    """
    Return the request that the calls of a turn are.

    Raises:
        PlanError: `key` is no name.
    """
    # Ids of calls are no part of it: a framework may give new ones to calls that it makes again.
    asked = [[call.name, call.arguments] for call in calls]
    ids = [call.call_id for call in calls]
    return Request(
        _key(key, ["turn", asked, actor]),
        _turn_text,
        lambda plan, receipt: _turn(plan, receipt, ids),
    )


def request_of_command(key: str, command: Command, actor: str | None) -> Request:
    """
    Return the request that a command is.

    Raises:
        PlanError: `key` is no name.
    """
    return Request(_key(key, ["apply", repr(command), actor]), _accepted_text, _accepted)


def _key(name: object, asked: Any) -> Key:
    if not isinstance(name, str) or not name:
        raise unfit(name, "a key is the name of one call: a text that is not empty, key='call_7'")
    try:
        text = json.dumps(asked, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = repr(asked)  # what is no JSON, as a model's arguments may be
    return Key(name, sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


def _turn_text(turn: Turn) -> str:
    kept = [
        {
            "name": reply.name,
            "text": reply.text,
            "is_error": reply.is_error,
            "has_entry": bool(reply.events),
            "problems": [attrs.asdict(each) for each in reply.problems],
            "warnings": [attrs.asdict(each) for each in reply.warnings],
            "repairs": [attrs.asdict(each) for each in reply.repairs],
        }
        for reply in turn.replies
    ]
    return json.dumps({"replies": kept}, separators=(",", ":"))


def _turn(plan: Plan, receipt: Receipt, call_ids: Sequence[str]) -> Turn:
    kept = json.loads(receipt.answer)["replies"]
    entries = iter(receipt.entries)
    replies = tuple(
        Reply(
            plan,
            each["text"],
            next(entries).events if each["has_entry"] else (),
            each["is_error"],
            _problems(each["problems"]),
            _problems(each["warnings"]),
            tuple(Repair(**repair) for repair in each["repairs"]),
            each["name"],
            call_id,
        )
        for each, call_id in zip(kept, call_ids, strict=True)
    )
    return Turn(plan, replies)


def _accepted_text(decision: Accepted) -> str:
    warnings = [attrs.asdict(each) for each in decision.warnings]
    return json.dumps({"warnings": warnings}, separators=(",", ":"))


def _accepted(plan: Plan, receipt: Receipt) -> Accepted:
    events = tuple(event for entry in receipt.entries for event in entry.events)
    return Accepted(plan, events, _problems(json.loads(receipt.answer)["warnings"]))


def _problems(kept: list[dict[str, Any]]) -> tuple[Problem, ...]:
    return tuple(Problem(**{**each, "task_ids": tuple(each["task_ids"])}) for each in kept)

"""
Register the strategies with Hypothesis, so that `st.from_type(Plan)` and the like work.

Hypothesis calls `register` when it is imported, through the entry point `hypothesis`; importing our
strategies also calls it. Only the core's classes are imported then; a strategy is built when its
type is first drawn. Hypothesis may be in the middle of its own import, so it is imported as late as
possible.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

from todoplan.core import commands
from todoplan.core.events import types as events
from todoplan.core.plan.model import Approval, Claim, Evidence, Task, Todo, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Limits, Policy

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_FUNCTIONS: dict[type, str] = {
    Plan: "values.plans",
    Task: "values.tasks",
    Todo: "values.todos",
    Waiting: "values.waits",
    Claim: "values.claims",
    Evidence: "values.evidence",
    Approval: "values.approvals",
    Policy: "values.policies",
    Limits: "values.limits",
    commands.CreateTask: "command.creations",
    commands.CreateTasks: "command.lists",
    commands.UpdateTask: "command.updates",
    commands.WriteTodos: "command.writes",
    commands.MoveTask: "command.places",
    commands.DeleteTask: "command.deletions",
    commands.ClaimTask: "command.claimings",
    commands.RenewClaim: "command.renewals",
    commands.ReleaseClaim: "command.releases",
    commands.AnswerTask: "command.answers",
    commands.RecordEvidence: "command.findings",
    commands.ApprovePlan: "command.agreements",
    commands.RestorePlan: "command.restores",
    commands.Batch: "command.batches",
}
_EVENTS: tuple[type, ...] = get_args(events.Event)


def register() -> None:
    """Register a strategy for each of our types. Calling it twice has no further effect."""
    from hypothesis import strategies as st  # noqa: PLC0415 - see above

    for type_, name in _FUNCTIONS.items():
        st.register_type_strategy(type_, _later(name))
    for type_ in _EVENTS:
        st.register_type_strategy(type_, _event)


def _later(name: str) -> Callable[[Any], "SearchStrategy[Any]"]:
    # Looked up by name: importing the strategies here would build them in every run of Hypothesis,
    # even in projects that only have todoplan installed.
    module, function = name.split(".")

    def drawn(_: Any) -> "SearchStrategy[Any]":
        strategy: SearchStrategy[Any] = getattr(_module(module), function)()
        return strategy

    return drawn


def _event(type_: Any) -> "SearchStrategy[Any]":
    strategy: SearchStrategy[Any] = _module("command").EVENTS[type_]
    return strategy


def _module(name: str) -> Any:
    return import_module(f"todoplan.testing.strategies.{name}")

"""
Planning for every agent of `create_deep_agent`: the main one and its subagents, each its own.

Subagents that are compiled or remote stay as they are. A `TodoListMiddleware` that a profile brings
is replaced in place.

The general-purpose subagent is declared, if it is not among yours, since deepagents gives its own
none of the agent's middleware. A declared one is not given the agent's `skills`, nor what a profile
says of it: a mapping as `general_purpose` adds to it or changes it, such as `{"skills": [...]}`.
`False` leaves it to deepagents, without a planner, unless a profile brings one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from todoplan.adapters.langgraph.middleware import PlanMiddleware
from todoplan.errors import MissingExtraError

__all__ = ["deep_planning"]


def deep_planning(
    *,
    subagents: Sequence[Mapping[str, Any]] = (),
    middleware: Sequence[Any] = (),
    make: Callable[[], PlanMiddleware] = PlanMiddleware,
    general_purpose: bool | Mapping[str, Any] = True,
) -> dict[str, Any]:
    """
    Return the arguments `middleware` and `subagents` of `create_deep_agent`, with planning in each.

        create_deep_agent(model=model, **deep_planning(subagents=[...]))

    Raises:
        MissingExtraError: deepagents is not installed.
    """
    named = [*subagents]
    if general_purpose is not False and not any(s["name"] == "general-purpose" for s in named):
        changes = general_purpose if isinstance(general_purpose, Mapping) else {}
        named.insert(0, {**_general_purpose(), **changes})
    chosen = [_planning(spec, make) for spec in named]
    return {"middleware": [*middleware, make()], "subagents": chosen}


def _general_purpose() -> Mapping[str, Any]:
    try:
        from deepagents.middleware.subagents import (  # noqa: PLC0415 - late: it may be missing
            GENERAL_PURPOSE_SUBAGENT,
        )
    except ModuleNotFoundError as error:
        msg = "deepagents is not installed; run: pip install 'todoplan[langgraph]' deepagents"
        raise MissingExtraError(msg, missing="deepagents") from error
    return dict(GENERAL_PURPOSE_SUBAGENT)


def _planning(spec: Mapping[str, Any], make: Callable[[], PlanMiddleware]) -> dict[str, Any]:
    if "runnable" in spec or "graph_id" in spec:
        return dict(spec)
    return {**spec, "middleware": [*spec.get("middleware", ()), make()]}

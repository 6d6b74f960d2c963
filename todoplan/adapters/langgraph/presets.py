"""
Ready-made planners: like three that are in use, and one for each agent of `create_deep_agent`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from todoplan.adapters.langgraph.middleware import PlanMiddleware
from todoplan.core.rules import CLAUDE, DEFAULT, LANGCHAIN, Policy
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import WRITE_TODOS
from todoplan.errors import MissingExtraError

_OFTEN = 100
Subagent = Mapping[str, Any]  # as `create_deep_agent` takes them
Maker = Callable[..., PlanMiddleware]


def langchain_like(*, policy: Policy = LANGCHAIN, **changes: Any) -> PlanMiddleware:
    """
    As LangChain's `TodoListMiddleware`: whatever is written passes, the whole list is in the reply,
    nobody is reminded. `changes` are further arguments of `PlanMiddleware`.
    """
    toolbox = Toolbox(WRITE_TODOS, policy, show_list=True)
    silent = Settings(plan_lost=False, unfinished=0, changed=False)
    return PlanMiddleware(**{"toolbox": toolbox, "settings": silent, **changes})


def claude_like(
    tool: str = "TodoWrite",
    *,
    policy: Policy = CLAUDE,
    on_ignored: Literal["let_go", "raise"] = "let_go",
    confirm: bool = False,
    show_list: bool = False,
    **changes: Any,
) -> PlanMiddleware:
    """
    As Claude-style TodoWrite with a stop check: one task in progress, a reminder while the list is
    empty, further turns while tasks are open, a note when all is done.

    `policy`: `CLAUDE` wants an active form for each item, `CLAUDE_STRICT` a priority as well.
    `confirm` asks once whether the answer itself was given. `changes` are those of
    `langchain_like`.
    """
    toolset = WRITE_TODOS.renamed(write_todos=tool)
    toolbox = Toolbox(toolset, policy, show_list=show_list, say_done=True)
    asks = Settings(
        empty=_OFTEN, unfinished=3, on_ignored=on_ignored, all_done="always" if confirm else "off"
    )
    return PlanMiddleware(**{"toolbox": toolbox, "settings": asks, **changes})


def deerflow_like(*, policy: Policy = DEFAULT, **changes: Any) -> PlanMiddleware:
    """
    As DeerFlow's `TodoMiddleware`: reminded of a lost plan and, twice, of open tasks, by messages
    whose names an interface can hide. `changes` are those of `langchain_like`.
    """
    # DeerFlow's own names, by which its interface hides them; two is its own cap.
    names = {"plan_lost": "todo_reminder", "unfinished": "todo_completion_reminder"}
    wanted = {"settings": Settings(unfinished=2), "reminder_names": names}
    return PlanMiddleware(**{"toolbox": Toolbox(WRITE_TODOS, policy), **wanted, **changes})


def deep_planning(
    *,
    subagents: Sequence[Subagent] = (),
    middleware: Sequence[Any] = (),
    make: Maker = PlanMiddleware,
    general_purpose: bool | Subagent = True,
    actor: str | None = None,
) -> dict[str, Any]:
    """
    Return the arguments `middleware` and `subagents` of `create_deep_agent`: planning for the main
    agent and for each subagent, each its own.

        create_deep_agent(model=model, **deep_planning(subagents=[...]))

    Each gets what `make` returns, unless a `PlanMiddleware` of your own stands in its `middleware`:
    so one agent gets a policy, or a store, that the others have not. Subagents that are compiled or
    remote stay as they are. A `TodoListMiddleware` that a profile brings is replaced in place.

    `actor` is the main agent's name in the history; subagents have their own names there. `make` is
    given each then:

        make=lambda actor: PlanMiddleware(store=store, plan_id="release", actor=actor)

    The general-purpose subagent is declared, if it is not among yours, since deepagents gives its
    own none of the agent's middleware. A declared one is not given the agent's `skills`, nor what a
    profile says of it: a mapping as `general_purpose` adds to it or changes it, such as
    `{"skills": [...]}`. `False` leaves it to deepagents, without a planner, unless a profile brings
    one.

    Raises:
        MissingExtraError: deepagents is not installed.
    """
    named = [*subagents]
    if general_purpose is not False and not any(s["name"] == "general-purpose" for s in named):
        try:
            from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT  # noqa: PLC0415 - it may be missing
        except ModuleNotFoundError as error:
            msg = "deepagents is not installed; run: pip install 'todoplan[langgraph]' deepagents"
            raise MissingExtraError(msg, missing="deepagents") from error
        changes = general_purpose if isinstance(general_purpose, Mapping) else {}
        named.insert(0, {**GENERAL_PURPOSE_SUBAGENT, **changes})
    chosen = []
    for spec in map(dict, named):
        if "runnable" not in spec and "graph_id" not in spec:
            # deepagents gives no middleware of the main agent to those that are declared.
            named_make = make if actor is None else partial(make, actor=spec["name"])
            spec["middleware"] = _planned(spec.get("middleware", ()), named_make)
        chosen.append(spec)
    main_make = make if actor is None else partial(make, actor=actor)
    return {"middleware": _planned(middleware, main_make), "subagents": chosen}


def _planned(given: Sequence[Any], make: Callable[[], PlanMiddleware]) -> list[Any]:
    # Two of one name end in "Please remove duplicate middleware instances", LangChain's own words.
    has_one = any(isinstance(each, PlanMiddleware) for each in given)
    return [*given] if has_one else [*given, make()]

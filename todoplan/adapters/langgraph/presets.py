"""Three planners in use, as configurations of ours."""

from typing import Any, Literal

from todoplan.adapters.langgraph.middleware import Options, PlanMiddleware
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import CLAUDE, LANGCHAIN
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.tools.todos import WRITE_TODOS

__all__ = ["claude_like", "deerflow_like", "langchain_like"]

_OFTEN = 100


def langchain_like(**changes: Any) -> PlanMiddleware:
    """
    As LangChain's `TodoListMiddleware`: whatever is written passes, the whole list is in the reply,
    nobody is reminded.
    """
    silent = Settings(plan_lost=False, unfinished=0)
    wanted = {"policy": LANGCHAIN, "settings": silent, "options": Options(show_list=True)}
    return PlanMiddleware(**{**wanted, **changes})


def claude_like(
    tool: str = "TodoWrite",
    *,
    policy: Policy = CLAUDE,
    on_ignored: Literal["let_go", "raise"] = "let_go",
    confirm: bool = False,
    show_list: bool = False,
) -> PlanMiddleware:
    """
    As Claude-style TodoWrite with a stop check: one task in progress, a reminder while the list is
    empty, further turns while tasks are open, a note when all is done.

    `policy`: `CLAUDE` wants an active form for each item, `CLAUDE_STRICT` a priority as well.
    `confirm` asks once whether the answer itself was given.
    """
    asks = Settings(
        empty=_OFTEN,
        unfinished=3,
        on_ignored=on_ignored,
        all_done="always" if confirm else "off",
    )
    return PlanMiddleware(
        toolset=WRITE_TODOS.renamed(write_todos=tool),
        policy=policy,
        settings=asks,
        options=Options(show_list=show_list, say_done=True),
    )


def deerflow_like(**changes: Any) -> PlanMiddleware:
    """
    As DeerFlow's `TodoMiddleware`: reminded of a lost plan and, twice, of open tasks, by messages
    whose names an interface can hide.
    """
    names = {"plan_lost": "todo_reminder", "unfinished": "todo_completion_reminder"}
    wanted = {"settings": Settings(unfinished=2), "options": Options(reminder_names=names)}
    return PlanMiddleware(**{**wanted, **changes})

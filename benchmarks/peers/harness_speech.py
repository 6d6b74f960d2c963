"""What the planning capability of pydantic-ai-harness says to a model."""

from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage
from pydantic_ai_harness.planning import Planning

from benchmarks.peers.pydantic_speech import definitions
from benchmarks.talks.speakers import Host

__all__ = ["host"]


def host(*, subtasks: bool = False) -> Host:
    """
    Return its definitions and its guidance. Its tools answer only within a run of an agent.
    """
    planning: Any = Planning(enable_subtasks=subtasks)
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    _, told = definitions(planning.get_toolset(), context)

    def answer(name: str, arguments: dict[str, Any]) -> str:
        msg = f"{name} {arguments}: not within a run"
        raise AssertionError(msg)

    return Host(told, lambda: planning.get_instructions() or "", answer)

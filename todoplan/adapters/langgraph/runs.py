"""What code can know of the run that it is part of."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

__all__ = ["INNER", "is_inner", "run_config", "run_room"]

INNER = "inner"


def run_config() -> Mapping[str, Any]:
    """
    Return the `configurable` of the run that this code is part of; empty outside of one.
    """
    return _config().get("configurable", {})


def run_room() -> int | None:
    """
    Return how many nodes and tools of this run there may be at work at once; `None` for any number.
    """
    return _config().get("max_concurrency")


def _config() -> RunnableConfig:
    try:
        return get_config()
    except RuntimeError:
        return {}


def is_inner() -> bool:
    """
    Say whether this code is part of a graph that runs inside another one.
    """
    # "node:id" in a graph of its own, "node:id|node:id" in one that runs inside another.
    return "|" in run_config().get("checkpoint_ns", "")

"""The contenders: the floor, todoplan, and the installed peers."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.floors import ChunkedFloor, Floor
from benchmarks.ours import Ours

__all__ = ["contenders", "installed", "peers"]

_PEERS = (
    ("agentscope", "benchmarks.peers.agentscope", "AgentScope"),
    ("agentscope", "benchmarks.peers.agentscope", "AgentScopeToolkit"),
    ("pydantic_ai_todo", "benchmarks.peers.pydantic_todo", "PydanticTodo"),
    ("langchain", "benchmarks.peers.langchain", "LangChain"),
)


def installed(module: str) -> bool:
    """Return whether a module can be imported; one within a package that is missing cannot."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def peers() -> tuple[Any, ...]:
    """Return the classes of the peers that are installed."""
    return tuple(
        getattr(import_module(module), name) for needs, module, name in _PEERS if installed(needs)
    )


def contenders() -> tuple[Any, ...]:
    """
    Return the classes of all contenders.

    Each class takes a size and has a method for each operation.
    """
    return (Floor, ChunkedFloor, Ours, *peers())

"""Growth of what is stored: the bytes that a plan has added when its life ends."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.contenders import installed

__all__ = ["run"]

_HOSTS = {
    "LangGraph checkpoints": ("langgraph", "benchmarks.peers.langchain_stored"),
    "AgentScope state": ("agentscope", "benchmarks.peers.agentscope_stored"),
    "Pydantic AI history": ("pydantic_ai_todo", "benchmarks.peers.pydantic_stored"),
    "Google ADK session": ("google.adk", "benchmarks.peers.adk_stored"),
}
_SIZES = (20, 100, 1_000)
_QUICK = 100


def run(
    *, quick: bool, say: Callable[[str], None], only: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Count the stored bytes of the lives in every installed framework."""
    found: list[dict[str, Any]] = []
    for where, (needs, module) in _HOSTS.items():
        if installed(needs) and (not only or needs in only):
            for size in _SIZES:
                if quick and size > _QUICK:
                    break
                for who, (last, kept) in import_module(module).lives(size).items():
                    row = {"where": where, "contender": who, "n": size, "last": last, "kept": kept}
                    found.append(row)
                    say(f"{where:22} n={size:<6,} {who:38} {last:12,} {kept:14,}")
    return found

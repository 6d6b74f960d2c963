"""The cost of a planning call within a framework: its own tool, ours, and one that does nothing."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.figures import rows
from benchmarks.measure import Effort, measure

__all__ = ["run"]

_HOSTS = {
    "langgraph": "benchmarks.peers.langchain_turns",
    "agentscope": "benchmarks.peers.agentscope_turns",
    "pydantic_ai_todo": "benchmarks.peers.pydantic_turns",
    "agents": "benchmarks.peers.openai_turns",
    "llama_index": "benchmarks.peers.llama_turns",
}
_SIZES = (20, 100)


def run(
    *, quick: bool, say: Callable[[str], None], only: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Measure a turn in every installed framework, compared with the framework's own tool."""
    effort = Effort(rounds=7 if quick else 15, budget=3_000_000_000)
    found: list[dict[str, Any]] = []
    for needs, module in _HOSTS.items():
        if find_spec(needs) and (not only or needs in only):
            for size in _SIZES:
                for way, calls in import_module(module).turns(size).items():
                    new = rows(way, size, measure(calls, effort), next(iter(calls)))
                    found += new
                    say("\n".join(map(_told, new)))
    return found


def _told(row: dict[str, Any]) -> str:
    head = f"{row['operation']:20} n={row['n']:<4} {row['contender']:26}"
    return f"{head}{row['us']:10,.1f} us {row['ratio']:6.2f}x"

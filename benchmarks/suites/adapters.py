"""The cost of a planning call within a framework: its own tool, ours, and one that does nothing."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.contenders import installed
from benchmarks.figures import rows
from benchmarks.measure import Effort, measure
from benchmarks.ours import NOTHING

__all__ = ["run"]

_HOSTS = {
    "langgraph": "benchmarks.peers.langchain_turns",
    "agentscope": "benchmarks.peers.agentscope_turns",
    "pydantic_ai_todo": "benchmarks.peers.pydantic_turns",
    "agents": "benchmarks.peers.openai_turns",
    "llama_index": "benchmarks.peers.llama_turns",
    "agent_framework": "benchmarks.peers.agent_framework_turns",
    "claude_agent_sdk": "benchmarks.peers.claude_turns",
    "google.adk": "benchmarks.peers.adk_turns",
    "strands": "benchmarks.peers.strands_turns",
}
_SIZES = (20, 100)


def run(
    *, quick: bool, say: Callable[[str], None], only: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Measure a turn in every installed framework, compared with the framework's own tool."""
    effort = Effort(rounds=7 if quick else 15, budget=3_000_000_000)
    found: list[dict[str, Any]] = []
    for needs, module in _HOSTS.items():
        if installed(needs) and (not only or needs in only):
            for size in _SIZES:
                for way, calls in import_module(module).turns(size).items():
                    taken = measure(calls, effort)
                    new = rows(way, size, taken, next(iter(calls)))
                    bare = rows(way, size, taken, NOTHING)
                    for row, beside in zip(new, bare, strict=True):
                        row["of_nothing"] = beside["ratio"]
                    found += new
                    say("\n".join(map(_told, new)))
    return found


def _told(row: dict[str, Any]) -> str:
    head = f"{row['operation']:20} n={row['n']:<4} {row['contender']:26}"
    return f"{head}{row['us']:10,.1f} us {row['ratio']:6.2f}x {row['of_nothing']:6.2f}x"

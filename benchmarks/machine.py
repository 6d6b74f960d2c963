"""The machine and the versions of a run."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["described"]

_PACKAGES = (
    "todoplan",
    "attrs",
    "cattrs",
    "agentscope",
    "langchain",
    "langgraph",
    "pydantic",
    "pydantic-ai-slim",
    "pydantic-ai-todo",
    "pydantic-ai-harness",
    "openai-agents",
    "agent-framework-core",
    "claude-agent-sdk",
    "google-adk",
    "llama-index-core",
    "strands-agents",
    "bpe-openai",
)


def described(*, quick: bool) -> dict[str, Any]:
    """Return the date, the kind of machine and the versions."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load": [round(each, 1) for each in os.getloadavg()],
        "quick": quick,
        "versions": {name: found for name in _PACKAGES if (found := _version(name))},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown")

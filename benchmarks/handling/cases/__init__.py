"""The cases: JSON files by column, those from recordings, and calls spoiled from a seed."""

import json
from importlib.resources import files
from typing import Any

from benchmarks.handling.spoiling import spoiled

__all__ = ["COLUMNS", "cases"]

_FILES = {
    "lost": "lost tasks",
    "recorded": "lost tasks",
    "coercion": "silent coercion",
    "half": "half-applied calls",
    "dead_ends": "dead ends",
    "ids": "ids used twice",
    "parallel": "parallel writes",
    "resume": "resume",
    "person": "a person's edit lost",
    "forged": "forged reminders",
}
COLUMNS = tuple(dict.fromkeys(_FILES.values()))


def cases(seed: int = 1, count: int = 12) -> list[dict[str, Any]]:
    """Return the written cases, and those of a number of plans that are drawn from a seed."""
    found: list[dict[str, Any]] = []
    for name, column in _FILES.items():
        text = files(__name__).joinpath(f"{name}.json").read_text("utf-8")
        found += [{**case, "column": column} for case in json.loads(text)]
    return [*found, *spoiled(seed, count)]

"""
Plays cases with one entry, and prints the results as JSON.

It runs in its own process, in the environment of the entry:
`python -m benchmarks.handling.player ENTRY < request`. The request is a JSON object with `cases`
and `titles`, the texts of the life.
"""

import json
import logging
import sys
import warnings
from importlib import import_module
from importlib.metadata import version

from benchmarks.handling.entries import ENTRIES
from benchmarks.handling.entry import Entry
from benchmarks.handling.playing import life, outcome

__all__ = ["entry_class", "main"]


def main() -> None:
    """Play the cases of the request."""
    warnings.simplefilter("ignore")
    logging.disable()
    asked = json.load(sys.stdin)
    make = entry_class(sys.argv[1])
    results = [outcome(case, make) for case in asked["cases"]]
    found = {
        "versions": {name: version(name) for name in make.packages},
        "results": [
            [case["name"], *each] for case, each in zip(asked["cases"], results, strict=True)
        ],
        "life": life(make, asked["titles"]) if asked["titles"] else None,
    }
    print(f"\n{json.dumps(found)}")


def entry_class(name: str) -> type[Entry]:
    """Return the class of an entry."""
    module, _, kind = ENTRIES[name].partition(":")
    found: type[Entry] = getattr(import_module(f"benchmarks.handling.entries.{module}"), kind)
    return found


if __name__ == "__main__":
    main()

"""
Mutants of the core and the dialogue, drawn by lot: how many of them do the tests kill?

`python tests/support/mutants.py 400 --seed 11` draws 400 of some 8,000, has mutmut run them and
names those that live. What mutmut mutates, and which tests it runs, stands in pyproject.toml. The
same seed draws the same mutants as long as the code is the same. What mutmut leaves alone, and this
therefore does not try: tables and fields of classes, and decorated functions, the rules among them.

No test can kill these, so that they may live:
- A plain call is read with care: the same is read, only later (`_column`, `_columns`,
  `required < set(keys)`).
- A default that is never reached: `place.get(end, ...)` of mirrored edges, whose ends are all there
  (`_lead_onwards`); `max(..., default=...)` of no lines (`_lines`).
- `zip(..., strict=True)` of what was seen to be equally long (`Plan.__eq__`).
- The first argument of `cast`, which is not looked at.
- The case of an alias: keys are compared without it (`folded`).
"""

import argparse
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

from mutmut.__main__ import create_mutants
from mutmut.configuration import config
from mutmut.mutation.data import SourceFileMutationData
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import copy_also_copy_files, copy_src_dir, walk_mutatable_files

COPY = Path("mutants")
LONGEST = 600
"""Seconds that all of the tests may take."""


def states() -> dict[str, str]:
    """
    Return what became of each mutant by its name, in the same order on every machine.
    """
    found: dict[str, str] = {}
    for path in sorted(walk_mutatable_files()):
        data = SourceFileMutationData(path=path)
        data.load()
        found |= {name: status_by_exit_code[code] for name, code in data.exit_code_by_key.items()}
    return found


def lives(name: str) -> bool:
    """
    Say whether a mutant passes all of the tests, in a process of its own.

    mutmut runs the tests that it saw in the mutated function. It cannot see those that use what the
    function made earlier: at import, or for another test, in a cache.
    """
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    arguments = [*config().pytest_add_cli_args, *config().pytest_add_cli_args_test_selection]
    environment = {**os.environ, "MUTANT_UNDER_TEST": name, "PYTHONPATH": str(COPY.resolve())}
    try:
        run = subprocess.run(
            [*pytest, *arguments],
            cwd=COPY,
            env=environment,
            capture_output=True,
            check=False,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def main() -> None:
    """
    Draw, run, count.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=400)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    COPY.mkdir(exist_ok=True)
    copy_src_dir()
    copy_also_copy_files()
    create_mutants(asked.workers)
    names = random.Random(asked.seed).sample(list(states()), asked.count)  # noqa: S311 - a lot
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # loading them took longer than most tests
    os.environ.pop("PYTHONPATH", None)  # the copy is to be imported, and nothing else
    mutmut = [str(Path(sys.executable).with_name("mutmut")), "run"]
    subprocess.run([*mutmut, "--max-children", str(asked.workers), *names], check=True)
    became = states()
    for name in names:
        if became[name] in {"survived", "no tests"} and not lives(name):
            became[name] = "killed"
    for name in names:
        if became[name] != "killed":
            print(became[name], name)  # noqa: T201 - it is a report
    print(dict(Counter(became[name] for name in names)))  # noqa: T201


if __name__ == "__main__":
    main()

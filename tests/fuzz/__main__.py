"""
Fuzzing for a time: `python -m tests.fuzz intake --minutes 10 --seed 1`, or `codec`, `recordings`.

atheris steers by the branches that an input reaches, and keeps inputs that fail in the working
directory. Without it, Hypothesis cuts and splices valid inputs, and shows the smallest that fails.
"""

import argparse
import sys
import time
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.targets import SEEDS, TARGETS

_ROUND = 1_000


def spliced(data, changes):
    """Return bytes in which pieces were replaced."""
    for at, length, text in changes:
        first = at % (len(data) + 1)
        data = data[:first] + text + data[first + length :]
    return data


def inputs(name):
    """Return a strategy of bytes for a target: any, and valid ones that were changed."""
    pieces = st.binary(max_size=4) | st.sampled_from([b'"', b"[", b"{", b"null", b"-1", b"1e999"])
    change = st.tuples(st.integers(0, 10_000), st.integers(0, 8), pieces)
    return st.binary(max_size=60) | st.builds(
        spliced, st.sampled_from(SEEDS[name]), st.lists(change, max_size=4)
    )


def run_hypothesis(name, minutes, number):
    """Draw inputs until the time is over, and return how many."""
    end, count = time.monotonic() + 60 * minutes, 0
    few = settings(
        max_examples=_ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    while time.monotonic() < end:

        @seed(number)
        @few
        @given(inputs(name))
        def holds(data):
            TARGETS[name](data)

        holds()
        number, count = number + 1, count + _ROUND
    return count


def run_atheris(name, minutes, number):
    """Run libFuzzer on the target, and end the process."""
    import atheris  # noqa: PLC0415 - optional

    atheris.instrument_all()
    options = [sys.argv[0], f"-max_total_time={round(60 * minutes)}", f"-seed={number}"]
    atheris.Setup(options, TARGETS[name])
    atheris.Fuzz()


def main():
    """Run one target."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=[*TARGETS])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if find_spec("atheris"):
        run_atheris(given.target, given.minutes, given.seed)
    count = run_hypothesis(given.target, given.minutes, given.seed)
    print(f"{given.target}: {count:,} inputs, none failed")  # noqa: T201


if __name__ == "__main__":
    main()

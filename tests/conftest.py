"""
Which tests run, and how many examples Hypothesis draws for them.

The markers stand in pyproject.toml. `slow` is set by hand; `drawn` is set here, on every test that
draws examples. `pytest` alone leaves the slow tests out; `pytest -m ""` runs all.

`HYPOTHESIS_PROFILE` names the number of examples: dev (15), default (25), ci (100), laws (400),
nightly (1,000) or mutants. newcomer is as default but draws the same examples each time, as ci and
laws do. mutants is as dev; a failure is neither made smaller nor tried on the next mutant.
"""

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings
from support.postgres import binaries, running
from support.shared import RECORDINGS

# A shell starts background jobs with SIGINT ignored, and children inherit that: the processes that
# the tests end by Ctrl-C would wait for ever. A handler, unlike that, is dropped at exec.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Images of containers often forbid bytecode beside the source. Without any, each of the tests'
# processes compiles every framework anew, a quarter of the time of all tests: so it is kept here.
if sys.dont_write_bytecode:
    kept = Path(__file__).parent.parent / ".pytest_cache" / "bytecode"
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(kept)
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Commands without a store would else use that of this checkout.
os.environ["TODOPLAN_STORE"] = "memory:"

# Haystack would write an id into the home directory when it is imported, and send statistics.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
_SAME_EACH_TIME = {"derandomize": True, "database": None}

settings.register_profile("default", max_examples=25, stateful_step_count=20, **_COMMON)
settings.register_profile("newcomer", settings.get_profile("default"), **_SAME_EACH_TIME)
settings.register_profile("dev", max_examples=15, stateful_step_count=15, **_COMMON)
settings.register_profile(
    "mutants",
    settings.get_profile("dev"),
    phases=(Phase.explicit, Phase.generate),
    database=None,
)
settings.register_profile(
    "ci", max_examples=100, stateful_step_count=30, **_SAME_EACH_TIME, **_COMMON
)
settings.register_profile("laws", settings.get_profile("ci"), max_examples=400)
settings.register_profile("nightly", max_examples=1_000, stateful_step_count=50, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

NO_RECORDINGS = pytest.mark.skip("the recordings of real agents are not beside the project")


@pytest.hookimpl(tryfirst=True)  # before pytest asks `-m` which tests to keep
def pytest_collection_modifyitems(items):
    """
    Mark the tests that draw examples, and skip those that read recordings where there are none.
    """
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("drawn")
        if item.get_closest_marker("recordings") and not RECORDINGS.is_dir():
            item.add_marker(NO_RECORDINGS)


def pytest_collection_finish():
    """Leave what was imported out of later garbage collections: a million objects of frameworks."""
    gc.freeze()


@pytest.fixture(scope="session")
def postgres():
    """
    A running PostgreSQL server, one for the whole session; `fresh` gives each test its own schema.
    """
    if binaries() is None:
        missing = "no PostgreSQL binaries; install the package postgresql"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    with running() as server:
        yield server

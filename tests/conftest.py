"""
Hypothesis profiles: `HYPOTHESIS_PROFILE` is dev (quick), default, ci, newcomer, or mutants.

ci draws many examples and newcomer as many as the default, both the same each time; mutants is as
dev, but what fails is not made smaller, and not tried on the next mutant.
"""

import os
import signal

from hypothesis import HealthCheck, Phase, settings

# A shell starts what runs in its background deaf to SIGINT, and children inherit that: those whose
# Ctrl-C is tested would wait for ever. A handler, unlike that, ends at exec.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("default", max_examples=100, stateful_step_count=30, **_COMMON)
settings.register_profile("dev", max_examples=15, stateful_step_count=15, **_COMMON)
settings.register_profile(
    "mutants",
    settings.get_profile("dev"),
    phases=(Phase.explicit, Phase.generate),
    database=None,
)
settings.register_profile(
    "ci", max_examples=400, stateful_step_count=40, derandomize=True, database=None, **_COMMON
)
settings.register_profile(
    "newcomer",
    max_examples=100,
    stateful_step_count=30,
    derandomize=True,
    database=None,
    **_COMMON,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

"""Policies: the presets, and any mix of rules with limits that bite."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from todoplan.core.rules.builtin import RULES
from todoplan.core.rules.limits import Limits
from todoplan.core.rules.policy import Policy, Severity
from todoplan.core.rules.presets import PRESETS

__all__ = ["limits", "policies"]


@cache
def limits() -> SearchStrategy[Limits]:
    """
    Draw the usual limits, or such that a short script reaches.
    """
    small = [st.integers(1, most) for most in (8, 6, 4, 4, 2)]
    texts = {"active_form": st.integers(1, 4), "owner": st.integers(1, 4)}
    sizes = {name: st.integers(1, 9) for name in ("metadata", "metadata_keys", "metadata_levels")}
    history = st.just(100_000) | st.integers(1, 60)
    drawn = st.builds(Limits, *small, **texts, **sizes, history=history)
    return st.just(Limits()) | drawn


@cache
def policies() -> SearchStrategy[Policy]:
    """
    Draw presets, and policies with a few rules at any severity.
    """
    severities = st.dictionaries(
        st.sampled_from(sorted(RULES)), st.sampled_from(Severity), max_size=4
    )
    mixed = st.builds(_policy, severities, limits())
    return st.sampled_from(list(PRESETS.values())) | mixed


def _policy(severities: dict[str, Severity], given: Limits) -> Policy:
    rules = ((rule, severities.get(name, Severity.OFF)) for name, rule in RULES.items())
    return Policy(tuple(rules), given)

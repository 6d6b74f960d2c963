"""Policies for tests, derived from the rules, so that a new rule changes no test."""

from todoplan.core.rules import STRICT
from todoplan.dialogue.tools import unmet_rules


def strict_for(toolset):
    """Return `STRICT` without the rules that a tool set cannot keep."""
    return STRICT.but(**dict.fromkeys(unmet_rules(toolset, STRICT), "off"))

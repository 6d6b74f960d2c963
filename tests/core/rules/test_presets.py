import re

from support.docs import page

from todoplan.core.rules import PRESETS, RULES, STEPS, Severity


def shown():
    """Return the rules at "error" and at "warn" of each preset, as the guide shows them."""
    _, _, rest = page("reference").partition("| preset | error | warn |\n| --- | --- | --- |\n")
    rows = [row.split("|")[1:4] for row in rest.partition("\n\n")[0].splitlines()]
    # The first row is "every preset"; none is only warned of in all of them.
    (_, always, _), *presets = ([re.findall(r"`([\w-]+)`", cell) for cell in row] for row in rows)
    return {name: ({*errors, *always}, {*warned}) for (name,), errors, warned in presets}


def test_what_each_rule_declares_is_what_the_presets_hold():
    """
    A table drawn from the rules, into the guide: it changes only on purpose, and each step is
    declared. In the strict one nothing is only a warning, but for rules that ask for somebody who
    looks or agrees.
    """
    held = {
        name: tuple(
            {rule.name for rule, level in policy.rules if level is wanted}
            for wanted in (Severity.ERROR, Severity.WARN)
        )
        for name, policy in PRESETS.items()
    }
    assert held == shown()
    assert list(held) == list(shown())
    assert held["strict"] == (RULES.keys() - {"approval_required", "evidence_required"}, set())
    assert all({rule.name for rule, _ in p.rules} == {*RULES} for p in PRESETS.values())
    assert {step for rule in RULES.values() for step, _ in rule.presets} <= {*STEPS}

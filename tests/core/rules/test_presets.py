from todoplan.core.rules import PRESETS, RULES, STEPS, Severity

SIZES = "max_depth max_edges max_history max_items max_metadata max_text"
CLAUDE = f"active_form_required empty_write {SIZES} single_in_progress"
WARNED = (
    "approved_changed blocked_complete blocked_start child_of_closed completed_is_final"
    " dropped_open_items no_op_write owner_taken parent_complete"
)
# The rules at "error" and those at "warn", of each preset.
LEVELS = {
    "default": (f"empty_write {SIZES}", f"{WARNED} single_in_progress"),
    "langchain": (SIZES, ""),
    "claude": (CLAUDE, WARNED),
    "claude-strict": (f"{CLAUDE} priority_required", WARNED),
    "agentscope": (SIZES, "blocked_complete blocked_start owner_taken"),
    "strict": (" ".join(RULES.keys() - {"approval_required", "evidence_required"}), ""),
}


def test_what_each_rule_declares_is_what_the_presets_hold():
    """
    A table drawn from the rules: it changes only on purpose, and each step is declared. In the
    strict one nothing is only a warning, but for rules that ask for somebody who looks or agrees.
    """
    held = {
        name: tuple(
            {rule.name for rule, level in policy.rules if level is wanted}
            for wanted in (Severity.ERROR, Severity.WARN)
        )
        for name, policy in PRESETS.items()
    }
    assert held == {
        n: ({*errors.split()}, {*warned.split()}) for n, (errors, warned) in LEVELS.items()
    }
    assert list(held) == list(LEVELS)
    assert all({rule.name for rule, _ in p.rules} == {*RULES} for p in PRESETS.values())
    assert {step for rule in RULES.values() for step, _ in rule.presets} <= {*STEPS}

"""What the seeded faults of both suites share: for which check a fault is meant, edited plans."""

from todoplan.core.decide import plan_of


def caught_by(check, others=""):
    """Note on a fault the check that is meant for it, and the others that also catch it."""

    def noted(fault):
        fault.meant, fault.others = f"test_{check}", {f"test_{other}" for other in others.split()}
        return fault

    return noted


def edited(plan, change):
    """Return a plan whose tasks are each changed by a function."""
    return plan_of(tuple(map(change, plan)), next_id=plan.next_id, revision=plan.revision)

"""
Seeded faults: a class that does everything right, in which one thing is wrong.

A fault is a subclass with the attribute `meant`: the names of the checks that must catch it.
"""

from todoplan.core.decide import plan_of


def caught_by(checks):
    """Decorate a fault with the checks that must catch it, given as one text."""

    def noted(fault):
        fault.meant = [f"test_{check}" for check in checks.split()]
        return fault

    return noted


def _seeded(checks, base, methods):
    return caught_by(checks)(type("Fault", (base,), methods))


def instead(checks, base, **methods):
    """Make a fault in which these methods are replaced."""
    return _seeded(checks, base, methods)


def before(checks, base, **changes):
    """Make a fault that changes the arguments of methods. A change returns them as a tuple."""

    def method(name, change):
        return lambda self, *given: getattr(base, name)(self, *change(self, *given))

    return _seeded(checks, base, {name: method(name, change) for name, change in changes.items()})


def after(checks, base, **changes):
    """Make a fault that changes results. A change gets the right result and the arguments."""

    def method(name, change):
        return lambda self, *given: change(self, getattr(base, name)(self, *given), *given)

    return _seeded(checks, base, {name: method(name, change) for name, change in changes.items()})


def faults_in(module):
    """Return the faults of a module by name."""
    return {name: fault for name, fault in vars(module).items() if hasattr(fault, "meant")}


def pairs_of(faults):
    """Return each fault with each check that must catch it, and an id for it."""
    return {
        f"{name}-{check.removeprefix('test_')}": (fault, check)
        for name, fault in faults.items()
        for check in fault.meant
    }


def edited(plan, change):
    """Return a plan whose tasks are each changed by a function."""
    return plan_of(tuple(map(change, plan)), next_id=plan.next_id, revision=plan.revision)

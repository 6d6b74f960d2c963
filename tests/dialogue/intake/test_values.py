"""The readers: one for each kind of field. The table is in test_bad_input."""

import pytest

from todoplan.core.plan.model import Priority, Status
from todoplan.dialogue.intake.fields import Kind
from todoplan.dialogue.intake.findings import MISSING, Findings
from todoplan.dialogue.intake.values import READERS


def test_every_kind_has_a_reader():
    """All but lists of entries, which intake reads itself."""
    assert set(READERS) == set(Kind) - {Kind.ITEMS}


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (Kind.LINE, "a", "a"),
        (Kind.STATUS, "pending", Status.PENDING),
        (Kind.STATUS_OR_DELETED, "deleted", "deleted"),
        (Kind.PRIORITY, "low", Priority.LOW),
        (Kind.ID, 7, "7"),
        (Kind.ID_HINT, "7", "7"),
        (Kind.ID_HINT, "x", MISSING),
        (Kind.IDS, [1, "2"], ("1", "2")),
        (Kind.REFS, ["#0", 2], ("#0", "2")),
        (Kind.MINUTES, 1.5, 1.5),
        (Kind.FLAG, False, False),
        (Kind.METADATA, {"k": [1]}, {"k": [1]}),
    ],
)
def test_what_is_right_is_read_in_silence(kind, value, read):
    """No repair, no problem."""
    findings = Findings()
    assert READERS[kind](value, "p", findings) == read
    assert findings == Findings()


@pytest.mark.parametrize("kind", [kind for kind in READERS if kind is not Kind.ID_HINT])
@pytest.mark.parametrize("value", [[[[]]], object(), b"a"])
def test_what_is_wrong_is_refused_with_its_path(kind, value):
    """Whatever its type: one problem, at the place or within it."""
    findings = Findings()
    assert READERS[kind](value, "p", findings) in (MISSING, ())
    assert findings.problems[0].path.startswith("p")
    assert findings.problems[0].legal

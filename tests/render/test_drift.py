import pytest
from hypothesis import given
from support.hostile import CORPUS, LONG, UNSAFE, everywhere, texts

from todoplan.core.decide import plan_of
from todoplan.core.events.base import differences
from todoplan.core.events.drift import Drift
from todoplan.core.plan.model import Approval, Task
from todoplan.render.outline import drift_to_text

AGREED = plan_of(
    [
        Task("1", "Draft", description="Short.", blocks=("3",)),
        Task("2", "Ask", parent="3", check='"ok"'),
        Task("3", "Sell", status="in_progress", blocked_by=("1",)),
        Task("4", "Tell", estimate=5),
    ]
)
NOW = plan_of(
    [
        Task("1", "Draft it", estimate=5),
        Task("2", "Ask", priority="low"),
        Task("3", "Sell", status="cancelled"),
        Task("5", "Dance"),
    ]
)


def drifted(was, now, approval, actors):
    """Return the drift from one plan to another."""
    found = differences(was, now, actors)
    return Drift(
        approval,
        tuple(each for each in found if each.was is None),
        tuple(each for each in found if each.now is None),
        tuple(each for each in found if Drift.fields(each)),
    )


def test_a_drift_as_text():
    """A line for each task, what it was, and who did it."""
    found = drifted(AGREED, NOW, Approval(6, "ann"), {"5": "model", "2": "bob"})
    assert drift_to_text(found).split("\n") == [
        'since revision 6, approved by "ann": 1 added, 1 removed, 3 changed',
        '+ 5 Dance ("model")',
        "- 4 Tell",
        '~ 1 Draft it: subject (was "Draft"), description (was "Short."), estimate (was none)',
        '~ 2 Ask: priority (was none), parent (was 3), check (was "\'ok\'") ("bob")',
        "~ 3 Sell: cancelled, blocked by (was 1)",
    ]


def test_no_drift_is_said():
    """With what it is no drift from."""
    assert drift_to_text(Drift(Approval(6))) == "no drift since revision 6, approved"
    assert drift_to_text(Drift(Approval(6, "ann"))).endswith('approved by "ann"')


def everything(text):
    """Return a drift in which whatever is said is this text."""
    was = everywhere(text)
    now = plan_of([task.but(description="d", check=None, blocks=(), blocked_by=()) for task in was])
    more = plan_of([Task("7", text)])
    changed = differences(was, now, dict.fromkeys("123456", text))
    came = differences(plan_of([]), more, {"7": text})
    return Drift(Approval(6, text), came, differences(more, plan_of([])), changed)


@given(texts)
def test_any_text_stays_on_its_line(text):
    """No control but the newline, as many lines as tasks, and no title of a million characters."""
    check(text)


@pytest.mark.parametrize("text", [*CORPUS, *LONG], ids=range(len(CORPUS) + len(LONG)))
def test_the_corpus_is_shown_as_text(text):
    """Each known attack."""
    check(text)


def check(text):
    if not text.strip():
        return
    shown = drift_to_text(everything(text))
    assert not UNSAFE.search(shown)
    assert len(shown.split("\n")) == 9

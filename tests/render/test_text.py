from hypothesis import given
from hypothesis import strategies as st
from support.hostile import UNSAFE, plan_with, plans

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Evidence, Task, Waiting
from todoplan.render.outline import clip, lines, summary, to_text


def test_a_plan_as_text():
    """The summary, then a line a task with mark, id, text, owner and blockers."""
    plan = plan_of(
        (
            Task("1", "Write parser", status="completed"),
            Task("2", "Write tests", status="in_progress", owner="ann", blocks=("4",)),
            Task("3", "Ask Bob", status="cancelled"),
            Task("5", "Measure", blocks=("4",)),
            Task("4", "Ship\nit", blocked_by=("2", "5")),
        )
    )
    assert to_text(plan).split("\n") == [
        "1/5 completed, 1 in progress, 1 cancelled",
        "[x] 1 Write parser",
        "[~] 2 Write tests (ann)",
        "[-] 3 Ask Bob",
        "[ ] 5 Measure",
        "[ ] 4 Ship it (waits for 2, 5)",
    ]


def test_a_tree_as_text():
    """Subtasks are indented; why a task does not go on, and who says that it is done, is told."""
    seen = Evidence(passed=True, summary="40 passed", by="ci")
    plan = plan_of(
        (
            Task("1", "Release", owner="ann"),
            Task("2", "Parse", parent="1", status="completed", check="pytest", evidence=seen),
            Task("3", "Print", parent="1", status="completed", check="pytest"),
            Task("4", "Draw", parent="1", status="failed", blocks=("5",)),
            Task("5", "Colour", parent="1", blocked_by=("4",)),
            Task("6", "Tell", waiting=Waiting("the press"), answer="soon"),
        )
    )
    assert to_text(plan).split("\n") == [
        "2/6 completed, 1 waiting, 1 failed",
        "[ ] 1 Release (ann)",
        '  [v] 2 Parse (check: "pytest"; verified by "ci": "40 passed")',
        '  [x] 3 Print (unverified; check: "pytest")',
        "  [!] 4 Draw",
        "  [ ] 5 Colour (waits for 4; can never start: 4 failed)",
        '[ ] 6 Tell (waiting: "the press"; answered: "soon")',
    ]


@given(plans(), st.none() | st.integers(0, 60))
def test_text_is_safe_for_a_terminal(plan, width):
    """No control but the newline, and one line a task, whatever the texts."""
    shown = to_text(plan, width=width)
    assert not UNSAFE.search(shown)
    assert len(shown.split("\n")) == 1 + len(plan)
    head = summary(plan)
    assert shown.split("\n")[0] == (head if width is None else clip(head, width))


@given(plans())
def test_text_shows_every_title_whole(plan):
    """Without a width nothing is cut."""
    rows = to_text(plan).split("\n")[1:]
    for row, line in zip(rows, lines(plan), strict=True):
        assert row.startswith(f"{'  ' * line.level}{line.mark} {line.id} {line.text}")


@given(plans(), st.integers(1, 60))
def test_no_line_is_wider_than_asked(plan, width):
    """Every row is its own clipping."""
    for row in to_text(plan, width=width).split("\n"):
        assert clip(row, width) == row


def test_the_title_is_cut_before_the_notes():
    """In a narrow terminal what a task waits for is still seen."""
    plan = plan_with("a", "word " * 20)
    assert to_text(plan, width=50).split("\n")[2] == (
        "[ ] 2 word word word word word word… (waits for 1)"
    )
    assert to_text(plan, width=24).split("\n")[2] == "[ ] 2 word word word wo…"
    plan = plan_with("a", "x" * 40)
    assert to_text(plan, width=30).split("\n")[2] == f"[ ] 2 {'x' * 19}… (w…"


def test_what_others_say_is_cut_before_the_title():
    """A long reason takes no room from the title, nor from what the task waits for."""
    plan = plan_of(
        [
            Task("1", "a", blocks=("2",)),
            Task("2", "word " * 4, blocked_by=("1",), waiting=Waiting("because " * 9)),
        ]
    )
    assert to_text(plan, width=52).split("\n")[2] == (
        '[ ] 2 word word word word (waits for 1; waiting: "b…'
    )
    assert to_text(plan, width=40).split("\n")[2] == "[ ] 2 word word word word (waits for 1;…"

"""Whatever a plan holds and a model sends: replies and reminders are safe to show, and short."""

import json
import re
from datetime import UTC, date, datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import CORPUS, UNSAFE, plans, texts
from support.talk import BOXES

from todoplan import DEFAULT, Problem, Rule, plan_of
from todoplan.core.plan.model import TASK_FIELDS, Claim, Evidence, FieldKind, Status, Task, Waiting
from todoplan.core.problems import explain
from todoplan.dialogue.guidance import ReminderKind, reminder
from todoplan.dialogue.intake import Repair
from todoplan.dialogue.replies import LONGEST_LIST, LONGEST_TASK, list_text, repairs_text, task_text
from todoplan.dialogue.toolbox import Toolbox
from todoplan.texts import wording

LONGEST_ANSWER = 12_000
TOOLS = [(box, tool) for box in BOXES for tool in box.toolset.tools]
arguments = st.recursive(
    st.none() | st.integers(0, 9) | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            texts
            | st.sampled_from(
                ["todos", "write", "edit", "id", "taskId", "subject", "metadata", "text"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


def assert_safe(text, most):
    """Assert that a text holds nothing that hides, reorders or controls, and has a bound."""
    shown = text.replace("\t", "")  # a description keeps its tabs
    assert not UNSAFE.search(shown), UNSAFE.search(shown)
    assert len(text) <= most


@given(plans(), st.sampled_from(TOOLS), arguments | texts, texts)
def test_no_reply_shows_what_hides(plan, pair, sent, name):
    """Every tool of every set, whatever it is sent, and a tool that there is not."""
    box, tool = pair
    most = LONGEST_ANSWER + LONGEST_LIST if tool.read_only else LONGEST_ANSWER
    assert_safe(box.call(plan, tool.key, sent).text, most)
    assert_safe(box.call(plan, name, sent).text, LONGEST_ANSWER)
    assert_safe(Toolbox(box.toolset, show_list=True).call(plan, tool.key, sent).text, 2 * most)


@given(plans())
def test_no_task_shows_what_hides(plan):
    """Nor does the list, a task in full, or a reminder."""
    assert_safe(list_text(plan), LONGEST_LIST)
    for task in plan:
        assert_safe(task_text(plan, task), LONGEST_TASK)
    for kind in get_args(ReminderKind):
        assert_safe(reminder(kind, plan, BOXES[1].toolset), LONGEST_ANSWER)


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_no_detail_shows_what_hides(text):
    """Each field of a task, also as a key and a value of its metadata."""
    task = Task("1", f"a{text}", text, owner=text, active_form=text, metadata={f"k{text}": [text]})
    assert_safe(task_text(plan_of([task]), task), LONGEST_TASK)
    asking = task.but(
        waiting=Waiting(text, question=text),
        check=text,
        answer=text,
        evidence=Evidence(passed=True, summary=text, by=text),
    )
    plan = plan_of([asking])
    assert_safe(task_text(plan, asking), LONGEST_TASK)
    assert_safe(list_text(plan), LONGEST_LIST)
    assert_safe(reminder("plan_lost", plan, BOXES[1].toolset), LONGEST_ANSWER)


def test_metadata_is_shown_to_the_letter():
    """What hides stands there as JSON escapes, so that nothing of a value is lost."""
    metadata = {"k\u202e": ["\x1b[1mred\x9b", "tag\U000e0041", "one\u2028line", "\u4f60\u597d"]}
    task = Task("1", "a", metadata=metadata)
    line = task_text(plan_of([task]), task).splitlines()[-1]
    assert json.loads(line.removeprefix("Metadata: ")) == metadata
    task = Task("1", "a", metadata={"k": "\u4f60\u597d"})
    assert task_text(plan_of([task]), task).endswith('Metadata: {"k": "\u4f60\u597d"}')


@given(texts)
def test_no_problem_and_no_repair_shows_what_hides(text):
    """Neither what was seen nor what is allowed, nor a note of the user's own rule."""
    for problem in (
        Problem("my_rule", (text,), text, text, text),
        Problem("my_rule", note=f"a{text}", path=text),
        Problem("owner_taken", ("1",), text),
    ):
        assert_safe(explain(problem), 1_500)
    assert_safe(repairs_text([Repair("word", text, text, text)]), 1_500)


def test_every_reply_has_a_bound():
    """Ten thousand tasks of any length, a task of megabytes, rules that quote them."""
    huge = "x\x1b[1m" * 1_000_000
    task = Task("1", huge, huge, owner=huge, active_form=huge, metadata={"k": huge})
    plan = plan_of([task, *(Task(str(n), f"{n} {'long ' * 200}") for n in range(2, 3_000))])
    assert_safe(task_text(plan, task), LONGEST_TASK)
    listed = list_text(plan)
    assert_safe(listed, LONGEST_LIST + 30)
    shown = len(listed.splitlines()) - 1
    assert listed.endswith(f"\nand {2_999 - shown} more")
    assert_safe(reminder("unfinished", plan, BOXES[1].toolset), LONGEST_ANSWER)
    rule = Rule("quoting", lambda change: tuple(Problem("quoting", note=huge) for _ in range(50)))
    for level in ("warn", "error"):
        box = Toolbox(BOXES[1].toolset, DEFAULT.adding(rule, level))
        assert_safe(box.call(plan, "TaskCreate", {"subject": "a"}).text, LONGEST_ANSWER)


def test_a_cut_description_says_so():
    """The model is told how much of it there is."""
    task = Task("1", "a", "d" * 20_000)
    assert task_text(plan_of([task]), task).endswith("d\n(The first 16384 of 20000 characters.)")


TEXTS = {FieldKind.TEXT, FieldKind.TEXT_OR_NONE}
WAITS = Waiting("the waiting", datetime(2031, 1, 1, tzinfo=UTC), "the question")
FULL = {
    **{name: f"the {name}" for name, field in TASK_FIELDS.items() if field.kind in TEXTS},
    "id": "7",
    "status": "in_progress",
    "priority": "high",
    "blocks": ("8",),
    "blocked_by": ("6",),
    "estimate": 90,
    "due": date(2031, 1, 2),
    "metadata": {"the": "metadata"},
    "parent": "5",
    "evidence": Evidence(passed=False, summary="the evidence", by="the looker"),
    "claim": Claim("the holder", 3, datetime(2031, 1, 1, tzinfo=UTC)),
    "claims": 3,
}
SHOWN = {**FULL, "blocks": "#8", "blocked_by": "#6", "estimate": "90 min", "id": "#7"}
SHOWN |= {"parent": "Part of: #5", "evidence": "not passed: the evidence by the looker"}
SHOWN["due"] = "Due: 2031-01-02"
SHOWN["metadata"] = '{"the": "metadata"}'
SHOWN["claim"] = "Claimed: by the holder, until 2031-01-01 00:00:00+00:00"
del SHOWN["claims"]
NOT_SHOWN = {"claims", "failed_attempts", "created_at", "updated_at", "started_at", "completed_at"}


def test_every_field_of_a_task_is_shown_or_named_here():
    """A new field of a task is shown to a model, or somebody has decided that it is not."""
    assert set(FULL) | NOT_SHOWN | {"waiting"} == set(TASK_FIELDS)
    times = dict.fromkeys(
        NOT_SHOWN - {"claims", "failed_attempts"}, datetime(1999, 1, 1, tzinfo=UTC)
    )
    task = Task(**FULL, **times)
    plan = plan_of(
        [
            Task("5", "around"),
            Task("6", "before", blocks=("7",)),
            task,
            Task("8", "after", blocked_by=("7",)),
        ]
    )
    text = task_text(plan, task)
    assert "1999" not in text
    for name, shown in SHOWN.items():
        assert shown in text, name
    waiting = task.but(status=Status.PENDING, waiting=WAITS, claim=None)
    assert "Waiting: the waiting, until 2031-01-01 00:00+00:00\nQuestion: the question" in (
        task_text(plan, waiting)
    )


@pytest.mark.parametrize("name", sorted(set(TASK_FIELDS) - NOT_SHOWN - {"id"}))
def test_every_field_has_a_label(name):
    """Each of its own, before the value: a model could not tell blockers from dependents."""
    assert set(re.findall(r"\$(\w+)", wording("replies", f"task.{name}"))) <= {"id", "value"}
    labels = [wording("replies", f"task.{each}") for each in set(TASK_FIELDS) - NOT_SHOWN - {"id"}]
    assert len(set(labels)) == len(labels)

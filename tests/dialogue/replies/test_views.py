"""The plan as a model reads it."""

import pickle
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import full_plans

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Claim, Evidence, FrozenDict, Status, Task, Waiting
from todoplan.core.plan.plan import Draft, Plan
from todoplan.core.plan.questions import stuck, unresolved_blockers
from todoplan.core.problems import ids_text
from todoplan.dialogue.replies import list_text, one_line, task_text


@given(st.text(st.characters(exclude_categories=()), max_size=80), st.integers(8, 40))
def test_a_line_is_one_line(text, most):
    """Clipped, single, without control characters; a short plain line is left alone."""
    line = one_line(text, most)
    assert len(line) <= most
    assert len(line.splitlines()) <= 1
    assert not any(ord(letter) < 0x20 or 0x7F <= ord(letter) < 0xA0 for letter in line)
    assert one_line(line, most) == line


@given(full_plans)
def test_a_list_has_a_line_for_each_task(plan):
    """Whatever the texts hold; an empty plan says so."""
    text = list_text(plan)
    assert len(text.splitlines()) == max(1, len(plan))
    for line, task in zip(text.splitlines(), plan, strict=False):
        assert line.lstrip().startswith(f"#{task.id} [{task.status.value}] ")


def afresh(plan):
    """Return the list as each line is made by itself, from nothing that was kept."""
    lines, depth = [], {None: -1}
    for task in plan:
        depth[task.id] = depth[task.parent] + 1
        owner = f" ({one_line(task.owner)})" if task.owner else ""
        waits = f" [waiting: {task.waiting.reason}]" if task.waiting else ""
        claim = f" [claimed by {task.claim.owner}]" if task.claim else ""
        blockers = ids_text(unresolved_blockers(plan, task))
        blocked = f" [blocked by {blockers}]" if blockers else ""
        failed = ids_text(stuck(plan).get(task.id, ()))
        vain = f" [cannot start: {failed} failed]" if failed else ""
        line = f"#{task.id} [{task.status.value}] {one_line(task.subject)}"
        lines.append(f"{'  ' * depth[task.id]}{line}{owner}{waits}{claim}{blocked}{vain}")
    return "\n".join(lines) or "The plan is empty."


@given(full_plans, st.sampled_from(Status), st.text(min_size=1).filter(str.strip), st.data())
def test_a_kept_line_is_never_stale(plan, status, subject, data):
    """After any change, and from a pickle, the list is what it is when all lines are made anew."""
    assert list_text(plan) == afresh(plan)
    draft = Draft(plan)
    if len(plan):
        task = data.draw(st.sampled_from([*plan]))
        draft.put(task.but(status=status, subject=subject, owner=data.draw(st.none() | st.text())))
    changed = draft.freeze()
    assert list_text(changed) == afresh(changed)
    assert list_text(plan) == afresh(plan)
    assert list_text(pickle.loads(pickle.dumps(changed))) == afresh(changed)  # noqa: S301 - our own


@given(st.lists(st.tuples(*[st.integers(1, 140)] * 2), max_size=12), st.data())
def test_blockers_on_a_line_are_those_of_now(pairs, data):
    """Whatever is linked, moved or removed, in this chunk or another; older versions stay right."""
    parents = {n: str(n - n % 5) for n in range(141) if n % 5 and n > 100}
    plans = [plan_of([Task(str(n), "a", parent=parents.get(n)) for n in range(1, 141)])]
    near = st.sampled_from(sorted({str(n) for pair in pairs for n in pair} | {"140"}))
    for blocker, blocked in pairs:
        draft = Draft(plans[-1])
        if blocker < blocked:
            draft.link(str(blocker), str(blocked), None)
        draft.move(data.draw(near), data.draw(st.sampled_from(Status)), None)
        if data.draw(st.booleans()):
            task = draft.get(data.draw(near))
            if task is not None and task.status is Status.PENDING:
                draft.put(
                    task.but(waiting=data.draw(st.none() | st.builds(Waiting, st.just("ann"))))
                )
        if not data.draw(st.integers(0, 4)):
            draft.remove(data.draw(near), None)
        plans.append(draft.freeze())
    for plan in data.draw(st.permutations(plans)):
        assert list_text(plan) == afresh(plan)


def test_a_line_names_all_that_a_task_waits_for():
    """Some of its blockers, all of them, or none."""
    draft = Draft(plan_of([Task(str(n), "a") for n in range(1, 6)]))
    for blocker in "1234":
        draft.link(blocker, "5", None)
    lines = [list_text(plan := draft.freeze()).splitlines()[-1]]
    for done in ("13", "2", "4"):
        draft = Draft(plan)
        for task_id in done:
            draft.move(task_id, Status.COMPLETED, None)
        lines.append(list_text(plan := draft.freeze()).splitlines()[-1])
    assert [line.removeprefix("#5 [pending] a") for line in lines] == [
        " [blocked by #1-#4]",
        " [blocked by #2, #4]",
        " [blocked by #4]",
        "",
    ]


@given(st.text(st.sampled_from("a \t\x85\u2028\u00a0é"), max_size=12), st.integers(5, 9))
def test_a_short_way_to_a_line_changes_nothing(text, most):
    """Whatever blanks and breaks: controls become blanks, blanks become one, then it is clipped."""
    folded = " ".join(re.sub("[\x00-\x1f\x7f-\x9f]", " ", text).split())
    assert one_line(text, most) == (folded if len(folded) <= most else folded[: most - 3] + "...")


def test_a_long_subject_is_clipped_beside_short_ones():
    """One odd subject does not hide behind the others."""
    lines = list_text(plan_of((Task("1", "a"), Task("2", "b" * 501), Task("3", "c")))).splitlines()
    assert [len(line) for line in lines] == [14, 13 + 500, 14]
    assert list_text(plan_of((Task("1", "a"), Task("2", "b \n c")))).endswith("b c")


@pytest.mark.parametrize("odd", ["", " b", "b ", "b  c", "b\nc", "b\x7fc", "b\x9f", "\u3000b", "é"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_odd_subject_is_seen_among_neat_ones(odd, place):
    """At the start, in the middle or at the end of the list."""
    subjects = ["a", "a"]
    subjects.insert(place, odd)
    draft = Draft(Plan())
    for number, subject in enumerate(subjects, 1):
        draft.add(Task(str(number), subject))
    plan = draft.freeze()
    assert list_text(plan) == afresh(plan)


def test_owner_and_blockers_stand_on_the_line():
    """Only unresolved blockers are shown."""
    tasks = (
        Task("1", "a", status="completed", blocks=("3",)),
        Task("2", "b", blocks=("3",), owner="ann\nlee"),
        Task("3", "c", blocked_by=("1", "2")),
    )
    assert list_text(plan_of(tasks)).splitlines() == [
        "#1 [completed] a",
        "#2 [pending] b (ann lee)",
        "#3 [pending] c [blocked by #2]",
    ]
    assert list_text(Plan()) == "The plan is empty."


def test_one_task_is_told_in_full():
    """What is empty has no line; the description stands last, its further lines indented."""
    task = Task(
        "1",
        "a",
        "first\n second\nStatus: completed\rTask #7: b",
        owner="ann",
        estimate=90,
        metadata=FrozenDict({"k": [1]}),
    )
    assert task_text(plan_of((task,)), task).splitlines() == [
        "Task #1: a",
        "Status: pending",
        "Owner: ann",
        "Estimate: 90 minutes",
        'Metadata: {"k": [1]}',
        "Description: first",
        "   second",
        "  Status: completed",
        "  Task #7: b",
    ]


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [(1_234_567, "1234567"), (90.0, "90"), (0.5, "0.5"), (1e8 + 0.25, "100000000.25")],
)
def test_an_estimate_is_shown_as_it_was_given(estimate, shown):
    """All its digits, and none beyond them."""
    plan = plan_of([Task("1", "a", estimate=estimate)])
    assert f"Estimate: {shown} minutes" in task_text(plan, plan["1"]).splitlines()


def test_a_list_is_a_tree_and_says_what_waits():
    """Two spaces a level, the reason of a wait, and why a task can never start."""
    tasks = (
        Task("1", "a", status="in_progress"),
        Task("2", "b", parent="1", waiting=Waiting("the answer of\nann")),
        Task("3", "c", parent="2", waiting=Waiting(question="Which?")),
        Task("4", "d", status="failed", blocks=("5",)),
        Task("5", "e", blocked_by=("4",), owner="bob", waiting=Waiting()),
        Task("6", "f", parent="5"),
    )
    assert list_text(plan_of(tasks)).splitlines() == [
        "#1 [in_progress] a",
        "  #2 [pending] b [waiting: the answer of ann]",
        "    #3 [pending] c [waiting: Which?]",
        "#4 [failed] d",
        "#5 [pending] e (bob) [waiting] [blocked by #4] [cannot start: #4 failed]",
        "  #6 [pending] f [cannot start: #4 failed]",
    ]


def test_a_list_is_not_indented_for_ever():
    """Ten thousand tasks in each other would be a hundred megabytes of blanks."""
    tasks = [Task(str(n), "a", parent=str(n - 1) if n > 1 else None) for n in range(1, 3_001)]
    plan = plan_of(tasks)
    text = list_text(plan)
    assert len(text) < 150_000
    assert max(len(line) - len(line.lstrip()) for line in text.splitlines()) == 24


PASSED = Evidence(passed=True, summary="40 passed", by="ci")
REFUTED = Evidence(passed=False, summary="3 failed")


@pytest.mark.parametrize(
    ("evidence", "status", "line"),
    [
        (None, "completed", "Evidence: none; completed, unverified"),
        (None, "pending", None),
        (PASSED, "completed", "Evidence: verified: 40 passed by ci"),
        (REFUTED, "in_progress", "Evidence: not passed: 3 failed"),
    ],
)
def test_a_claim_is_told_from_what_was_verified(evidence, status, line):
    """Of a task with a check: what was found, or that nobody has looked."""
    task = Task("1", "a", status=status, check="the tests pass", evidence=evidence)
    lines = task_text(plan_of([task]), task).splitlines()
    assert lines[2] == "Done when: the tests pass"
    assert lines[3:] == ([line] if line else [])


def test_a_task_in_full_names_what_it_is_part_of_and_its_parts():
    """Its parent and its subtasks, what it waits for and asks, and the answer that it got."""
    waits = Waiting(question="Which?", until=None)
    tasks = (Task("1", "a"), Task("2", "b", parent="1", waiting=waits), Task("3", "c", parent="2"))
    plan = plan_of([*tasks, Task("4", "d", parent="2", answer="this one")])
    assert task_text(plan, plan["2"]).splitlines()[2:] == [
        "Part of: #1",
        "Waiting: something outside the plan",
        "Question: Which?",
        "Subtasks: #3-#4",
    ]
    assert task_text(plan, plan["4"]).splitlines()[2:] == ["Part of: #2", "Answer: this one"]


@pytest.mark.parametrize(
    ("until", "shown"),
    [(None, "by w1"), (datetime(2026, 1, 1, 12, tzinfo=UTC), "by w1, until 2026-01-01 12:00:00")],
)
def test_a_claim_is_shown_with_its_end_if_it_has_one(until, shown):
    """A claim without an end, of a host without a clock, names its owner alone."""
    claimed = Task("1", "a", status="in_progress", claim=Claim("w1", 1, until), claims=1)
    assert shown in task_text(plan_of((claimed,)), claimed)
    assert ("until" in task_text(plan_of((claimed,)), claimed)) is (until is not None)

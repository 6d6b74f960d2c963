"""Markdown files with tasks: what is read, what is written, what stays as its authors wrote it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents import around, full_tasks

from todoplan import Plan
from todoplan.codec import from_markdown, not_held, to_markdown
from todoplan.codec.foreign.markdown import (
    FORMS,
    MOST,
    match_nodes,
    names_for,
    read_document,
    write_document,
)
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import TASK_FIELDS, Task
from todoplan.errors import CodecError
from todoplan.testing.strategies import plans

CHECKLIST = """# My list

Some prose, with a [link](x).

- [ ] Write it
  more about it

  - a plain point
  - [x] Sub one
    * [ ] Sub *sub*
- [x] ~~Dropped~~
10. [X] Test it

```
- [ ] no task
```

Tail.
"""
STATES = "- [/] Begun\n- [-] Dropped\n- [ ] Open\n"
SPEC_KIT = """# Tasks: X

## Format

text

## Phase 1: Setup

**Purpose**: init

- [x] T001 Create project
- [ ] T002 [P] Lint [it]

## Phase 2: Story

### Tests

- [ ] T003 [P] [US1] Contract test
  - [ ] T004 Part of it

# Notes

## No tasks here
"""
TASKS_MD = """# Tasks

- [ ] In no section

## P0

- [ ] Fix auth
  - **ID**: auth-fix
  - **Details**: JWT returns 500
    on expiry
  - **Tags**: backend
  - [ ] Part of it

## Other

## P2

- [ ] Add dark mode
  more of it
  - **Blocked by**: auth-fix

## P2

## P3
"""
FILES = {"checklist": CHECKLIST, "states": STATES, "spec-kit": SPEC_KIT, "tasks.md": TASKS_MD}
INDENTED = "- [ ] a\n\nProse ends the list.\n\n  - [ ] b\n"


def rows(plan):
    return [(task.subject, task.status.value, task.parent) for task in plan]


def test_a_checklist_has_subtasks_descriptions_and_statuses():
    """Code is no task, and struck-through tasks are cancelled."""
    plan = from_markdown(CHECKLIST)
    assert rows(plan) == [
        ("Write it", "pending", None),
        ("Sub one", "completed", "1"),
        ("Sub *sub*", "pending", "2"),
        ("Dropped", "cancelled", None),
        ("Test it", "completed", None),
    ]
    assert plan["1"].description == "more about it\n\n- a plain point"


def test_a_subtask_of_the_tenth_task_is_below_it():
    """Ids have any number of digits."""
    text = "".join(f"- [ ] Task {number}\n" for number in range(1, 11)) + "  - [ ] Below\n"
    assert from_markdown(text)["11"].parent == "10"


def test_boxes_of_more_than_two_states_are_read_and_written():
    """A file that has them gets them for other tasks as well."""
    plan = from_markdown(STATES)
    assert [task.status.value for task in plan] == ["in_progress", "cancelled", "pending"]
    begun = plan_of(
        [*plan, Task("4", "More", status="in_progress"), Task("5", "No", status="failed")]
    )
    document = read_document(STATES)
    text = write_document(document, begun, match_nodes(document, begun))
    assert text == f"{STATES.removesuffix(chr(10))}\n- [/] More\n- [ ] No\n"


def test_spec_kit_has_ids_labels_and_phases():
    """A phase is the parent of its tasks, and a heading without tasks is prose."""
    plan = from_markdown(SPEC_KIT)
    assert rows(plan) == [
        ("Phase 1: Setup", "pending", None),
        ("Create project", "completed", "1"),
        ("Lint [it]", "pending", "1"),
        ("Phase 2: Story", "pending", None),
        ("Contract test", "pending", "4"),
        ("Part of it", "pending", "5"),
    ]
    assert dict(plan["5"].metadata) == {"original_id": "T003", "parallel": True, "story": "US1"}
    done = from_markdown(SPEC_KIT.replace("- [ ] T002", "- [x] T002"))
    assert done["1"].status == "completed"


def test_tasks_md_has_priorities_fields_and_blockers():
    """What has no field of ours stays in the metadata."""
    plan = from_markdown(TASKS_MD)
    assert [task.priority for task in plan] == [None, "high", None, "medium"]
    assert plan["2"].description == "JWT returns 500\non expiry"
    assert dict(plan["2"].metadata) == {"original_id": "auth-fix", "Tags": "backend"}
    assert plan["4"].blocked_by == ("2",)
    assert plan["4"].description == "more of it"


@pytest.mark.parametrize("text", [*FILES.values(), INDENTED], ids=[*FILES, "indented"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_file_without_changes_is_written_as_it_was(text, newline):
    """To the letter."""
    text = text.replace("\n", newline)
    document, plan = read_document(text), from_markdown(text)
    assert write_document(document, plan, match_nodes(document, plan)) == text


class Counted(list):
    """A list that counts how often it is walked."""

    walks = 0

    def __iter__(self):
        self.walks += 1
        return super().__iter__()


def test_writing_a_file_walks_its_tasks_a_few_times():
    """Not once for each task: 8,000 took 40 seconds."""
    plan = plan_of([Task(str(number), f"t{number}") for number in range(1, 50)])
    document = read_document(to_markdown(plan))
    nodes = match_nodes(document, plan)
    document.nodes = Counted(document.nodes)
    assert write_document(document, plan, nodes) == to_markdown(plan)
    assert document.nodes.walks < 10


@given(plans(), st.sampled_from(FORMS))
def test_what_is_written_is_read(plan, form):
    """A second round changes nothing, and `not_held` names the fields that the first changed."""
    text = to_markdown(plan, form)
    again = from_markdown(text, form)
    assert len(again) == len(plan)
    assert to_markdown(again, form) == text
    document = read_document(text, form)
    assert write_document(document, again, match_nodes(document, again)) == text
    lost = not_held(plan, form)
    if "order" not in lost:
        for task, other in zip(plan, again, strict=True):
            for name in ("subject", "status", "description", "priority", "owner", "check"):
                assert (task.id in lost.get(name, ())) == (
                    getattr(task, name) != getattr(other, name)
                )


@given(st.text(st.sampled_from("ab \t\n-*[]x#T012P~`\\:")), st.sampled_from([None, *FORMS]))
def test_any_text_is_read(text, form):
    """As tasks or as prose, and is written as it was; or it is a CodecError."""
    try:
        document, plan = read_document(text, form), from_markdown(text, form)
    except CodecError:
        return
    nodes = dict(zip((task.id for task in plan), document.nodes, strict=True))
    again = read_document(write_document(document, plan, nodes), form or document.form)
    assert [node.subject for node in again.nodes] == [node.subject for node in document.nodes]


def test_what_no_form_holds_is_named():
    """By field, with the ids of the tasks."""
    tasks = [
        Task("1", "a", status="failed", owner="ann", blocks=("2",)),
        Task("2", "b", blocked_by=("1",), priority="low"),
        Task("3", "c", priority="high"),
    ]
    assert not_held(plan_of(tasks)) == {
        "status": ("1",),
        "owner": ("1",),
        "blocked_by": ("2",),
        "priority": ("2", "3"),
    }
    assert not_held(plan_of(tasks), "tasks.md") == {
        "status": ("1",),
        "owner": ("1",),
        "order": ("1", "3", "2"),
    }
    assert to_markdown(Plan()) == ""


@pytest.mark.parametrize("form", FORMS)
def test_no_field_is_lost_unnamed(form):
    """Whatever a task holds is in the file, or is named; but times, and counts of claims."""
    for full in full_tasks().values():
        plan = around(full)
        again = {task.subject: task for task in from_markdown(to_markdown(plan, form), form)}
        lost = not_held(plan, form)
        for name in TASK_FIELDS.keys() - {"id", "metadata", "parent", "blocks", "blocked_by"}:
            is_kept = getattr(again[full.subject], name) == getattr(full, name)
            assert is_kept or full.id in lost.get(name, ()) or name in UNNAMED, name


UNNAMED = {"claims", "failed_attempts", "created_at", "updated_at", "started_at", "completed_at"}


def test_texts_are_no_markup():
    """A model's text makes no link, no HTML and no task (law 14)."""
    plan = plan_of([Task("1", "<b> [x](y) ![i](j) `", description="- [ ] no task\n```\n<script>")])
    text = to_markdown(plan)
    assert "<b>" not in text
    assert "\n  - [ ]" not in text
    assert rows(from_markdown(text)) == rows(plan)
    assert from_markdown(text)["1"].description == plan["1"].description


@pytest.mark.parametrize(
    ("text", "form", "problem"),
    [
        ("x" * (MOST + 1), None, "too_large"),
        ("- [ ] a", "xml", "unknown_form"),
        ("- [ ] T001 a\n- [ ] T001 b", None, "duplicate_id"),
        ("## P0\n- [ ] a\n  - **Blocked by**: b", None, "unknown_ids"),
        ("## P0\n- [ ] a\n  - **ID**: a\n  - **Blocked by**: a", None, "no_plan"),
        ("- [ ] a\n<!-- todoplan {} -->", None, "damaged_mark"),
        ("- [ ] a\n<!-- todoplan {x} -->", None, "damaged_mark"),
    ],
)
def test_what_is_no_plan_is_an_error(text, form, problem):
    """It says what was seen, and what to do."""
    with pytest.raises(CodecError) as caught:
        from_markdown(text, form)
    assert caught.value.data["problem"] == problem


def test_the_mark_says_what_was_written():
    """It is the last line; whatever the plan's id is, it closes no comment."""
    document = read_document("- [/] a\n\nTail")
    plan = from_markdown("- [/] a")
    text = write_document(document, plan, match_nodes(document, plan), mark="a-->b")
    assert text.splitlines()[:-1] == ["- [/] a", "", "Tail", ""]
    again = read_document(text)
    assert (again.plan_id, again.revision, again.had_states) == ("a-->b", 0, True)
    assert write_document(again, plan, match_nodes(again, plan), mark="a-->b") == text


def test_new_words_are_found_between_the_same_neighbours():
    """A line that is another text is a new task."""
    plan = from_markdown("- [ ] Dig the beds\n- [ ] Lay pipes\n- [ ] Mow")
    document = read_document("- [ ] Dig all the beds\n- [ ] Sing\n- [ ] Mow")
    found = match_nodes(document, plan)
    assert {task_id: node.subject for task_id, node in found.items()} == {
        "3": "Mow",
        "1": "Dig all the beds",
    }
    assert set(match_nodes(document, plan, reworded=False)) == {"3"}


def test_tasks_move_change_and_go_where_the_plan_says():
    """Prose stays: that above the first task at the top, other prose above its task or the next."""
    document = read_document("Top\n\n- [ ] a\n- [ ] b\n  more\n\nAbove c\n\n- [ ] c\n- [ ] d\n")
    plan = from_markdown("- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d")
    nodes = match_nodes(document, plan)
    after = plan_of(
        [
            Task("4", "d"),
            Task("2", "b", parent="4", description="else"),
            Task("1", "a", status="cancelled"),
            Task("5", "e", description="new\n\nlines"),
        ]
    )
    assert write_document(document, after, nodes) == (
        "Top\n\n\nAbove c\n\n- [ ] d\n  - [ ] b\n    else\n- [x] ~~a~~\n- [ ] e\n  new\n\n  lines\n"
    )
    inner = plan_of([Task("1", "a"), Task("3", "c", parent="1"), Task("4", "d")])
    assert write_document(document, inner, nodes) == (
        "Top\n\n- [ ] a\n  - [ ] c\n\nAbove c\n\n- [ ] d\n"
    )
    assert write_document(document, plan_of([Task("4", "d")]), nodes).startswith("Top\n\n\nAbove c")
    deep = read_document("- [ ] a\n  - [ ] b\n    more\n\n    text\n- [ ] c\n")
    nodes = match_nodes(deep, plan_of([Task("1", "a"), Task("2", "b", parent="1"), Task("3", "c")]))
    lifted = [Task("1", "a"), Task("2", "b", description="more\n\ntext"), Task("3", "c")]
    assert write_document(deep, plan_of(lifted), nodes) == (
        "- [ ] a\n- [ ] b\n  more\n\n  text\n- [ ] c\n"
    )
    assert from_markdown("```\n~~~\n- [ ] no\n```\n- [ ] a")["1"].subject == "a"


def test_sections_and_headings_are_made_where_they_lack():
    """A phase without tasks becomes a task on a line, and ids that lack are given."""
    plan = plan_of(
        [
            Task("1", "Phase", metadata={"original_id": "T009"}),
            Task("2", "x", parent="1", metadata={"parallel": 1, "story": 3}),
            Task("3", "y"),
            Task("4", "z", parent="3", metadata={"original_id": "T004"}),
        ]
    )
    text = to_markdown(plan, "spec-kit")
    assert text == "## Phase\n\n- [ ] T002 x\n\n## y\n\n- [ ] T004 z\n"
    document = read_document(text, "spec-kit")
    nodes = match_nodes(document, plan)
    alone = plan_of([plan["1"].but(subject="Stage"), plan["3"], plan["4"].but(parent=None)])
    assert names_for(document, alone) == {"3": "T003"}
    assert write_document(document, alone, nodes) == (
        "- [ ] T009 Stage\n\n- [ ] T003 y\n\n- [ ] T004 z\n"
    )
    again = plan_of([plan["1"].but(subject="Stage"), *[plan[one] for one in "234"]])
    assert write_document(document, again, nodes).startswith("## Stage\n\n- [ ] T003 x")
    taken = plan_of([Task("1", "a", metadata={"original_id": "T002"}), Task("2", "b")])
    assert names_for(read_document("", "spec-kit"), taken) == {"2": "T003"}
    odd = plan_of([Task("1", "a", metadata={"ID": "x", "Details": "y", "k": " ", "More": "z"})])
    assert to_markdown(odd, "tasks.md") == "- [ ] a\n  - **More**: z\n"
    low = plan_of([Task("1", "a", priority="low"), Task("2", "b", priority="high")])
    assert to_markdown(low, "tasks.md") == "## P1\n\n- [ ] b\n\n## P3\n\n- [ ] a\n"

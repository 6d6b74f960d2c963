"""A Markdown file and a plan in step: edits of both sides stay, and conflicts are named."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.talk import texts_of

from todoplan import Planner
from todoplan.codec.foreign.markdown import FORMS
from todoplan.core.commands import ClaimTask, CreateTask, DeleteTask, UpdateTask
from todoplan.core.decide import Rejected
from todoplan.errors import PlanError, ReadError
from todoplan.planner import markdown
from todoplan.planner.markdown import Synced, sync_file, sync_text

GARDEN = "# Garden\n\nprose\n\n- [ ] Dig\n- [ ] Lay pipes\n- [ ] Mow\n"
WORDS = ["Dig", "Lay pipes", "Mow", "Plant a tree", "Tell Ann"]


def synced(planner, text, **given):
    done = sync_text(planner, text, **given)
    assert isinstance(done, Synced)
    return done


@pytest.fixture
def planner():
    return Planner()


@pytest.fixture
def text(planner):
    """The file after it was joined with an empty plan."""
    return synced(planner, GARDEN).text


def test_the_first_time_file_and_plan_are_joined(planner):
    """Nothing is removed or reopened on either side; equal texts are one task."""
    planner.apply(CreateTask("Lay pipes", status="completed"))
    planner.apply(CreateTask("Sow"))
    done = synced(planner, GARDEN, actor="tom")
    assert done.is_first
    assert {*texts_of(done.plan)} == {"Dig", "Lay pipes", "Mow", "Sow"}
    assert done.plan["1"].status == "completed"
    assert "- [x] Lay pipes" in done.text
    assert planner.history()[-1].actor == "tom"


def test_edits_of_both_sides_stay(planner, text):
    """What the file says otherwise goes into the plan, and the other way round."""
    planner.apply(CreateTask("Sow"), actor="bot")
    planner.apply(UpdateTask("1", status="completed"), actor="bot")
    edited = text.replace("[ ] Mow", "[x] Mow").replace("Lay pipes", "Lay all pipes")
    done = synced(planner, edited)
    assert [(task.subject, task.status.value) for task in done.plan] == [
        ("Dig", "completed"),
        ("Lay all pipes", "pending"),
        ("Mow", "completed"),
        ("Sow", "pending"),
    ]
    assert done.conflicts == ()
    assert [one.task.id for one in done.changed] == ["1", "4"]
    assert done.text.startswith(
        "# Garden\n\nprose\n\n- [x] Dig\n- [ ] Lay all pipes\n- [x] Mow\n- [ ] Sow\n"
    )
    again = synced(planner, done.text)
    assert (again.events, again.text) == ((), done.text)


def test_lines_that_were_moved_move_their_tasks(planner, text):
    """Tasks of others stand behind what they followed."""
    planner.apply(CreateTask("Sow"))
    done = synced(planner, text.replace("- [ ] Dig\n", "").replace("Mow\n", "Mow\n- [ ] Dig\n"))
    assert texts_of(done.plan) == ["Lay pipes", "Mow", "Sow", "Dig"]
    assert done.text.index("Mow") < done.text.index("Dig")


def test_conflicts_are_named(planner, text):
    """The file's words stand, a changed task is not dropped, a tick of a removed task is."""
    planner.apply(UpdateTask("1", subject="Dig deep"), actor="bot")
    planner.apply(UpdateTask("2", description="of copper"))
    planner.apply(DeleteTask("3"))
    edited = text.replace("- [ ] Dig", "- [ ] Dig wide").replace("- [ ] Lay pipes\n", "")
    done = synced(planner, edited.replace("[ ] Mow", "[x] Mow"))
    assert done.conflicts == (
        '#1 "Dig": subject was set to "Dig deep" by bot; the file\'s "Dig wide" is kept',
        '#2 "Lay pipes" was changed since: it stays, though the file left it out',
        '#3 "Mow" was removed: your edit of it is dropped',
    )
    assert texts_of(done.plan) == ["Dig wide", "Lay pipes"]
    assert "of copper" in done.text


def test_new_words_for_a_removed_task_are_a_new_task(planner, text):
    """No text of the file is lost."""
    planner.apply(DeleteTask("1"))
    done = synced(planner, text.replace("- [ ] Dig", "- [ ] Dig it"))
    assert "Dig it" in texts_of(done.plan)
    assert synced(planner, done.text.replace("- [ ] Mow\n", "")).conflicts == ()


def test_tasks_that_were_moved_below_each_other_stay_where_the_plan_has_them(planner, text):
    """It is said, and the rest is taken over."""
    planner.apply(UpdateTask("1", parent="2"))
    edited = text.replace("- [ ] Lay pipes", "  - [ ] Lay pipes").replace("[ ] Mow", "[x] Mow")
    done = synced(planner, edited)
    assert done.plan["1"].parent == "2"
    assert done.plan["3"].status == "completed"
    assert done.conflicts == (markdown._TREE,)


def test_a_refusal_changes_nothing(planner, text):
    """A worker's task is not completed over its head; nor is half of the file taken over."""
    planner.apply(ClaimTask("ann", task_id="1"))
    before = planner.plan
    done = sync_text(planner, text.replace("[ ]", "[x]"))
    assert isinstance(done, Rejected)
    assert planner.plan == before
    tasks = "## P0\n\n- [ ] a\n  - **ID**: a\n- [ ] b\n  - **ID**: b\n"
    other = Planner()
    text = synced(other, tasks).text.replace(": b", ": b\n  - **Blocked by**: a")
    text = text.replace(": a\n-", ": a\n  - **Blocked by**: b\n-", 1)
    before = other.plan
    assert isinstance(sync_text(other, text), Rejected)
    assert other.plan == before


def test_fields_below_a_task_are_merged():
    """Descriptions, ids, blockers and other fields of TASKS.md, each on its own."""
    planner = Planner()
    tasks = "## P0\n\n- [ ] a\n- [ ] b\n  - **Tags**: x\n  - **ID**: b\n\n## P2\n\n- [ ] c\n"
    text = synced(planner, tasks).text
    planner.apply(UpdateTask("1", description="ours", add_blocked_by=("2",)))
    planner.apply(CreateTask("d", blocks=("2",), priority="low"))
    edited = text.replace("- [ ] c", "- [x] c\n  - **Details**: file\n  - **Blocked by**: b")
    done = synced(planner, edited.replace("Tags**: x", "Tags**: y"))
    assert done.plan["1"].description == "ours"
    assert done.plan["3"].description == "file"
    assert (done.plan["1"].blocked_by, done.plan["3"].blocked_by) == (("2",), ("2",))
    assert done.plan["2"].metadata["Tags"] == "y"
    planner.apply(UpdateTask("2", metadata={"Tags": "ours"}))
    done = synced(planner, done.text)
    assert done.plan["2"].metadata["Tags"] == "ours"
    assert done.plan["4"].metadata["original_id"] == "task-4"
    assert "## P3\n\n- [ ] d" in done.text
    done = synced(planner, done.text.replace("  - **Blocked by**: b\n", "", 1))
    assert done.plan["1"].blocked_by == ()
    done = synced(planner, done.text.replace("## P2", "## P1"))
    assert done.plan["3"].priority == "high"


def test_new_tasks_of_a_spec_get_ids():
    """In the file and in the plan."""
    planner = Planner()
    text = synced(planner, "## Phase\n\n- [x] T001 a\n\n## Next\n\n- [ ] T002 b\n").text
    planner.apply(CreateTask("c", parent="3"))
    done = synced(planner, text.replace("- [ ] T002 b", "- [ ] T002 b\n- [ ] new"))
    assert [task.metadata.get("original_id") for task in done.plan] == [
        *(None, "T001", None, "T002"),
        *("T006", "T005"),
    ]
    assert "T005 c" in done.text


def test_a_plan_that_went_back_is_joined(planner, text):
    """The file names a revision that the journal does not have: nothing is removed."""
    other = Planner()
    other.apply(CreateTask("Else"))
    done = synced(other, text)
    assert done.is_first
    assert {*texts_of(done.plan)} == {"Else", "Dig", "Lay pipes", "Mow"}


def test_another_plans_file_and_an_empty_one_are_errors(planner, text):
    """They say what to do, and change nothing."""
    with pytest.raises(PlanError, match="belongs to the plan 'x'"):
        sync_text(planner, text.replace('"plan": "plan"', '"plan": "x"'))
    mark = text.splitlines()[-1]
    with pytest.raises(PlanError, match="has no task any more, and had 3"):
        sync_text(planner, f"# Garden\n\n{mark}\n")
    assert len(planner.plan) == 3
    assert synced(Planner(), "").text.startswith("<!-- todoplan")


def test_a_file_is_replaced_as_a_whole(planner, tmp_path):
    """Its permissions and links stay; one that is not there is written."""
    path, link = tmp_path / "a.md", tmp_path / "link.md"
    path.write_text(GARDEN)
    path.chmod(0o640)
    link.symlink_to(path)
    done = sync_file(planner, link)
    assert path.read_text() == done.text
    assert (path.stat().st_mode & 0o777, link.is_symlink()) == (0o640, True)
    assert [*tmp_path.iterdir()] == [path, link] or len([*tmp_path.iterdir()]) == 2
    new = tmp_path / "new.md"
    assert sync_file(planner, new).text == new.read_text()
    at = new.stat().st_mtime_ns
    sync_file(planner, new)
    assert new.stat().st_mtime_ns == at
    planner.apply(ClaimTask("ann", task_id="1"))
    new.write_text(new.read_text().replace("[ ]", "[x]"))
    assert isinstance(sync_file(planner, new), Rejected)


def test_a_file_that_is_edited_meanwhile_is_read_again(planner, tmp_path, monkeypatch):
    """The edit is not written over; a file that never rests is an error."""
    path = tmp_path / "a.md"
    path.write_text(GARDEN)
    real, edits = markdown.sync_text, iter(["- [ ] Sow\n"])

    def edited(*args, **given):
        done = real(*args, **given)
        path.write_text(path.read_text() + next(edits, ""))
        return done

    monkeypatch.setattr(markdown, "sync_text", edited)
    assert "- [ ] Sow" in sync_file(planner, path).text
    edits = iter("\n" * 100)
    with pytest.raises(ReadError, match="was edited during"):
        sync_file(planner, path)


def test_what_cannot_be_read_or_written_is_an_error(planner, tmp_path, monkeypatch):
    """And no temporary file is left behind."""
    with pytest.raises(ReadError, match="cannot read"):
        sync_file(planner, tmp_path)
    bad = tmp_path / "bad.md"
    bad.write_bytes(b"\xff")
    with pytest.raises(ReadError, match="no UTF-8"):
        sync_file(planner, bad)
    with pytest.raises(ReadError, match="cannot write"):
        sync_file(planner, tmp_path / "none" / "a.md")

    def fails(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(ReadError, match="Permission denied"):
        sync_file(planner, tmp_path / "a.md")
    assert [path.name for path in Path(tmp_path).iterdir()] == ["bad.md"]


FILE_EDITS = st.tuples(
    st.sampled_from(["tick", "untick", "drop", "reword", "add", "swap", "indent"]),
    st.integers(0, 9),
    st.sampled_from(WORDS),
)
PLAN_EDITS = st.tuples(
    st.sampled_from(["completed", "in_progress", "failed", "drop", "reword", "add", "nest"]),
    st.integers(0, 9),
    st.sampled_from(WORDS),
)


def edit_file(text, edits, made):
    """Edit lines as a person would; `made` gets the texts of new ones."""
    for kind, number, word in edits:
        lines = text.split("\n")
        items = [at for at, line in enumerate(lines) if "[ ]" in line or "[x]" in line]
        at = items[number % len(items)] if items else 0
        if kind == "add":
            made.append(f"{word} f{len(made)}")
            lines.insert(at + bool(items), f"- [ ] {made[-1]}")
        elif items:
            follows, leads = at + 1 in items, at - 1 in items
            match kind:
                case "tick":
                    lines[at] = lines[at].replace("[ ]", "[x]")
                case "untick":
                    lines[at] = lines[at].replace("[x]", "[ ]")
                case "reword":
                    lines[at] += " now"
                case "drop" if len(items) > 1:
                    del lines[at]
                case "swap" if follows:
                    lines[at], lines[at + 1] = lines[at + 1], lines[at]
                case "indent" if leads:
                    lines[at] = f"  {lines[at]}"
        text = "\n".join(lines)
    return text


def edit_plan(planner, edits):
    """Edit tasks as others would."""
    for kind, number, word in edits:
        ids = [task.id for task in planner.plan]
        if kind == "add" or not ids:
            planner.apply(CreateTask(f"{word} p{planner.plan.next_id}"))
            continue
        one, other = ids[number % len(ids)], ids[(number + 1) % len(ids)]
        match kind:
            case "drop":
                planner.apply(DeleteTask(one))
            case "reword":
                planner.apply(UpdateTask(one, subject=f"{planner.plan[one].subject} soon"))
            case "nest":
                planner.apply(UpdateTask(one, parent=other))
            case _:
                planner.apply(UpdateTask(one, status=kind))


@given(
    st.sampled_from(FORMS),
    st.lists(
        st.tuples(st.lists(FILE_EDITS, max_size=3), st.lists(PLAN_EDITS, max_size=3)), max_size=4
    ),
)
def test_for_any_edits_of_both_sides_nothing_is_lost(form, rounds):
    """New lines and changed tasks stay, prose stays, and a second time nothing changes."""
    planner, text, made = Planner(), GARDEN, []
    for file_edits, plan_edits in rounds:
        done = synced(planner, text, form=form)
        before, old = done.plan, len(made)
        text = edit_file(done.text, file_edits, made)
        edit_plan(planner, plan_edits)
        theirs = planner.plan
        done = synced(planner, text, form=form)
        assert all(
            any(name in each for each in texts_of(done.plan)) for name in made[old:] if name in text
        )
        assert all(task.id in done.plan for task in theirs if before.get(task.id) != task)
        assert "prose" in done.text
        assert all(task.subject in done.text for task in done.plan)
        again = synced(planner, done.text, form=form)
        assert (again.events, again.conflicts, again.text) == ((), (), done.text)
        text = done.text


def test_lines_below_the_comment_are_tasks_like_others(planner, text):
    """People append to a file: the merge base is still known, so that a missing line is removed."""
    appended = text.replace("- [ ] Mow\n", "") + "- [ ] Plant a tree\n"
    done = synced(planner, appended)
    assert texts_of(done.plan) == ["Dig", "Lay pipes", "Plant a tree"]
    assert (done.is_first, done.text.count("<!-- todoplan")) == (False, 1)
    assert done.text.rstrip().endswith("-->")
    twice = f"{text}\n{text.rpartition(chr(10) * 2)[2]}- [ ] Sow\n"
    assert synced(planner, twice).text.count("<!-- todoplan") == 1


@pytest.mark.parametrize("box", ["[?]", "[]", "[ x ]", "[done]"])
def test_a_mistyped_box_removes_no_task(planner, text, box):
    """The line is no task, so its task would be missing. Where there was no task, it is prose."""
    wrong = text.replace("- [ ] Mow", f"- {box} Mow")
    if box == "[done]":  # a word in brackets may be anything
        assert texts_of(synced(planner, wrong).plan) == ["Dig", "Lay pipes"]
        return
    with pytest.raises(PlanError, match="is no task, because of its box; nothing was changed"):
        synced(planner, wrong)
    for wrong in (f"  - {box} Mow", f"-{box} Mow"):
        with pytest.raises(PlanError, match="is no task, because of its box"):
            synced(planner, text.replace("- [ ] Mow", wrong))
    assert len(planner.plan) == 3
    assert f"- {box} Weed" in synced(planner, text.replace("# Garden", f"- {box} Weed")).text


@pytest.mark.parametrize("name", ["plan.json", "setup.py", "conf.YAML", "notes.md.bak"])
def test_a_file_of_another_kind_is_left_alone(planner, tmp_path, name):
    """A checklist in it would break it."""
    file = tmp_path / name
    file.write_text("{}", "utf-8")
    with pytest.raises(ReadError, match="is no Markdown file by its name"):
        sync_file(planner, file)
    assert file.read_text("utf-8") == "{}"
    for good in ("TODO", "plan.MD", "rules.mdc"):
        assert isinstance(sync_file(planner, tmp_path / good), Synced)


def test_a_line_in_the_place_of_another_one_is_that_task_reworded(planner, text):
    """Whatever its words: the task keeps its other fields. Of two new lines none is meant."""
    planner.apply(UpdateTask("2", owner="ann"))
    done = synced(planner, synced(planner, text).text.replace("Lay pipes", "Quux"))
    assert (done.plan["2"].subject, done.plan["2"].owner) == ("Quux", "ann")
    done = synced(planner, done.text.replace("- [ ] Quux", "- [ ] Aaa\n- [ ] Bbb"))
    assert "2" not in done.plan

"""`todoplan import` and `todoplan sync`: plans in Markdown files."""

import json

import pytest

from todoplan import Planner
from todoplan.cli import markdown
from todoplan.core.commands import ClaimTask
from todoplan.errors import REFUSED, UNREADABLE
from todoplan.stores.file import FileStore

GARDEN = "# Garden\n\n- [ ] Dig\n- [x] Mow\n"
TASK = "---\nid: task-1\ntitle: Dig\nstatus: To Do\n---\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A Markdown file beside a store that is not there yet."""
    monkeypatch.setenv("TODOPLAN_STORE", str(tmp_path / "plans.json"))
    monkeypatch.setenv("TODOPLAN_ACTOR", "ann")
    path = tmp_path / "garden.md"
    path.write_text(GARDEN)
    return path


def test_a_file_begins_a_plan(file, invoke):
    """A plan that was written to is not written over."""
    assert invoke("import", str(file)).stdout == f"2 tasks read from {file}\n1/2 completed\n"
    again = invoke("import", str(file))
    assert again.exit_code == UNREADABLE
    assert "name a new one by --plan" in again.stderr
    other = invoke("import", str(file), "--plan", "b", "--form", "spec-kit", "--json")
    assert json.loads(other.stdout)["tasks"] == 2


def test_a_shown_plan_begins_another_one(file, invoke, tmp_path):
    """All fields come along, because it is a plan document; a damaged one is an error."""
    for words in (["Dig", "--due", "2027-01-02"], ["Sow", "--after", "1", "--owner", "bob"]):
        assert invoke("add", *words).exit_code == 0
    document = tmp_path / "plan.json"
    document.write_text(invoke("show", "--format", "json").stdout)
    assert invoke("import", str(document), "--plan", "b").stdout.startswith("2 tasks read")
    stored = FileStore(tmp_path / "plans.json")
    assert tuple(stored.load("b")) == tuple(stored.load("plan"))
    document.write_text('{"format": ')
    damaged = invoke("import", str(document), "--plan", "c")
    assert (damaged.exit_code, stored.plan_ids()) == (UNREADABLE, ("plan", "b"))
    assert f"todoplan: {document}: " in damaged.stderr


def test_a_folder_of_backlog_begins_a_plan(file, invoke, tmp_path):
    """Each of its files is a task."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "task-1 - Dig.md").write_text(TASK)
    assert invoke("import", str(folder)).stdout.startswith("1 task read")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("LICENSE", "LICENSE has no task, such as a line `- [ ] Write it`\n"),
        ("plan.json", "plan.json: "),  # an error about JSON, not about Markdown
        ("empty", "empty has no task of Backlog.md"),
        ("no.md", "there is no file "),
    ],
)
def test_what_has_no_plan_begins_none(invoke, tmp_path, name, reason):
    """Probably it is the wrong file."""
    (tmp_path / "LICENSE").write_text("You may do anything.\n", "utf-8")
    (tmp_path / "plan.json").write_text("[1, 2", "utf-8")
    (tmp_path / "empty").mkdir()
    result = invoke("import", tmp_path / name)
    assert (result.exit_code, result.stdout) == (UNREADABLE, "")
    assert reason in result.stderr


def test_file_and_plan_are_kept_in_step(file, invoke):
    """What went either way is said, and conflicts on stderr."""
    first = invoke("sync", str(file)).stdout
    assert first == (
        f"from {file}: created #1-#2; completed #2 Mow\n"
        f"{file} and the plan are joined\n1/2 completed\n"
    )
    invoke("edit", "1", "--subject", "Dig deep")
    file.write_text(file.read_text().replace("- [ ] Dig", "- [ ] Dig wide"))
    both = invoke("sync", str(file))
    assert f"to {file}: 1 changed tasks" in both.stdout
    assert 'conflict: #1 "Dig": subject was set to "Dig deep" by ann' in both.stderr
    assert invoke("sync", str(file)).stdout == "no change\n1/2 completed\n"
    data = json.loads(invoke("sync", str(file), "--json").stdout)
    assert data == {"plan": "plan", "revision": 4, "from_file": 0, "from_plan": [], "conflicts": []}
    assert invoke("sync", str(file), "--plan", "b").exit_code == UNREADABLE


def test_a_refusal_is_told(file, invoke, tmp_path):
    """As text, or as data."""
    invoke("sync", str(file))
    Planner(FileStore(tmp_path / "plans.json"), "plan").apply(ClaimTask("bob", task_id="1"))
    file.write_text(file.read_text().replace("[ ]", "[x]"))
    refused = invoke("sync", str(file))
    assert (refused.exit_code, refused.stderr[:18]) == (REFUSED, "todoplan: refused:")
    data = json.loads(invoke("sync", str(file), "--json").stdout)
    assert data["problems"][0]["code"] == "claimed"


def test_it_goes_on_until_ctrl_c(file, invoke, monkeypatch):
    """Each edit of the file or the plan is taken over."""
    edits = [
        lambda: file.write_text(file.read_text().replace("- [ ] Dig", "- [x] Dig")),
        lambda: invoke("add", "Sow"),
        lambda: None,
    ]

    def sleep(_):
        if not edits:
            raise KeyboardInterrupt
        edits.pop(0)()

    monkeypatch.setattr(markdown.time, "sleep", sleep)
    watched = invoke("sync", str(file), "--watch")
    assert watched.exit_code == 0
    assert "completed #1 Dig" in watched.stdout
    assert "- [ ] Sow" in file.read_text()
    assert watched.stdout.count("completed\n") == 3

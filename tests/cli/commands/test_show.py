"""Showing a plan document."""

import json
from pathlib import Path

import pytest

from todoplan import Planner, Task, plan_of
from todoplan.cli import views as show_command
from todoplan.cli.plans import Place
from todoplan.cli.views import show
from todoplan.codec import dump_plan
from todoplan.core.commands import CreateTask
from todoplan.errors import ReadError
from todoplan.render.markup import to_dot, to_html, to_markdown, to_mermaid
from todoplan.render.outline import to_text
from todoplan.stores.file import FileStore

PLAN = plan_of(
    [
        Task("1", "Sow the [beans]", status="completed", blocks=("2",)),
        Task("2", "Reap \x1b[31m them", status="in_progress", blocked_by=("1",)),
        Task("3", "Rest", status="cancelled"),
        Task("4", "Eat"),
    ]
)


@pytest.fixture
def saved(tmp_path):
    """A plan on disk."""
    path = tmp_path / "plan.json"
    path.write_text(dump_plan(PLAN), encoding="utf-8")
    return path


def test_text_is_the_default(invoke, saved):
    """The plan as the renderer shows it, indented."""
    result = invoke("show", saved)
    assert result.exit_code == 0
    assert result.stdout == "".join(f"  {line}\n" for line in to_text(PLAN).split("\n"))


@pytest.mark.parametrize(
    ("form", "printer"),
    [
        ("markdown", to_markdown),
        ("mermaid", to_mermaid),
        ("dot", to_dot),
        ("html", to_html),
        ("json", dump_plan),
    ],
)
def test_other_forms_are_the_renderers_own(invoke, saved, form, printer):
    """Nothing is added or wrapped."""
    result = invoke("show", saved, "--format", form)
    assert (result.exit_code, result.stdout) == (0, f"{printer(PLAN)}\n")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "truncated"),
        (b'{"format": "todoplan/plan", "ver', "truncated"),
        (b"[]", ""),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"format": "todoplan/plan", "version": 99}', "99"),
    ],
)
def test_what_is_no_plan_is_exit_2(invoke, tmp_path, content, reason):
    """One line that names the file."""
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    result = invoke("show", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"todoplan: {path}: ")
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["missing.json", ""])
def test_what_cannot_be_opened_is_exit_2(invoke, tmp_path, name):
    """A missing file, a directory."""
    result = invoke("show", f"{tmp_path}/{name}")
    assert result.exit_code == 2
    assert result.stderr.startswith("todoplan: cannot read ")


def test_an_impossible_name_is_exit_2(screen):
    """No traceback, whatever the shell lets through."""
    with pytest.raises(ReadError, match="cannot read nul"):
        show(screen, Path("nul\0.json"), place=Place())


def test_a_huge_file_is_not_read_whole(monkeypatch, saved, screen):
    """Beyond the codec's limit nothing is parsed."""
    monkeypatch.setattr(show_command, "LIMIT", 20)
    with pytest.raises(ReadError, match="larger than 20 bytes"):
        show(screen, saved, place=Place())


def test_on_a_terminal_marks_are_coloured_and_lines_cut(saved, terminal, text):
    """A terminal gets colours, and no line is wider than it."""
    show(terminal, saved, place=Place())
    assert "\x1b[32m[x]\x1b[0m 1 Sow the [beans]" in text(terminal)
    assert "\x1b[31m" not in text(terminal)


@pytest.fixture
def kept(tmp_path):
    """What makes a file in which these plans are kept, each with a task of its name."""
    path = tmp_path / "plans.json"

    def keep(*names):
        for name in names:
            Planner(FileStore(path), name).apply(CreateTask(f"Work on {name}"))
        return path

    return keep


def test_the_only_plan_of_a_store_needs_no_name(invoke, kept):
    """What `todoplan mcp --file` keeps is shown like a document."""
    result = invoke("show", kept("garden"))
    assert (result.exit_code, result.stdout) == (0, "  0/1 completed\n  [ ] 1 Work on garden\n")


@pytest.mark.parametrize(
    ("chosen", "seen"), [((), "2 plans"), (("--plan", "attic"), "no plan 'attic'")]
)
def test_a_plan_that_is_not_told_is_exit_2(invoke, kept, chosen, seen):
    """The line says which plans there are."""
    path = kept("garden", "house")
    result = invoke("show", path, *chosen)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"todoplan: {path}: {seen}; choose by --plan: 'garden', 'house'\n"


def test_of_many_plans_some_are_named(screen, kept):
    """A file of many does not fill the screen."""
    path = kept(*(f"p{number}" for number in range(22)))
    with pytest.raises(ReadError, match=r"'p18', 'p19' and 2 more$"):
        show(screen, path, place=Place())


def test_a_document_has_no_plans_to_choose_from(invoke, saved):
    """A name that cannot be meant is refused, not ignored."""
    result = invoke("show", saved, "--plan", "garden")
    assert result.exit_code == 2
    assert result.stderr == (
        f"todoplan: {saved} has one plan, which has no id: leave out --plan garden\n"
    )


@pytest.mark.parametrize("journals", ['{"a": [{}]}', "[]"])
def test_a_damaged_store_is_exit_2(invoke, tmp_path, journals):
    """One line, and the file is named once."""
    path = tmp_path / "plans.json"
    path.write_text(f'{{"format": "todoplan/plans", "version": 1, "plans": {journals}}}')
    result = invoke("show", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"todoplan: {path} holds no plans that can be trusted: ")
    assert result.stderr.count(str(path)) == 1


def test_one_task_is_shown_with_all_its_fields(invoke, tmp_path, monkeypatch):
    """By its id, unless a file has that name; its texts cannot act on a terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TODOPLAN_STORE", "plans.json")
    planner = Planner(FileStore("plans.json"), "plan")
    planner.apply(CreateTask("Dig", description="deep\x1b[31m", estimate=90, priority="low"))
    planner.apply(CreateTask("Lay", blocked_by=["1"]))
    for given in ("1", "#1"):
        shown = invoke("show", given).stdout.splitlines()
        assert shown[:3] == ["[ ] 1 Dig (low priority)", "  description: deep", "  priority: low"]
        assert {"  blocks: #2", "  estimate: 90"} <= {*shown}
        assert not any("\x1b" in line or "subject" in line for line in shown)
    data = json.loads(invoke("show", "1", "--format", "json").stdout)
    assert (data["subject"], data["estimate"]) == ("Dig", 90)
    assert "not as dot" in invoke("show", "1", "--format", "dot").stderr
    assert "the plan has no task 7" in invoke("show", "7").stderr
    (tmp_path / "7").write_text(dump_plan(PLAN), "utf-8")
    assert "Eat" in invoke("show", "7").stdout

"""Showing a plan document."""

from pathlib import Path

import pytest

from todoplan import Task, plan_of
from todoplan.cli import show_command
from todoplan.cli.show_command import show
from todoplan.codec import dump_plan
from todoplan.render.markdown import to_markdown
from todoplan.render.mermaid import to_mermaid
from todoplan.render.text import to_text

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


@pytest.mark.parametrize(("form", "printer"), [("markdown", to_markdown), ("mermaid", to_mermaid)])
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


def test_an_impossible_name_is_exit_2(screen, complaints):
    """No traceback, whatever the shell lets through."""
    assert show(Path("nul\0.json"), "text", screen) == 2
    assert complaints(screen).startswith("todoplan: cannot read nul")


def test_a_huge_file_is_not_read_whole(monkeypatch, saved, screen, complaints):
    """Beyond the codec's limit nothing is parsed."""
    monkeypatch.setattr(show_command, "LIMIT", 20)
    assert show(saved, "text", screen) == 2
    assert "larger than 20 bytes" in complaints(screen)


def test_on_a_terminal_marks_are_coloured_and_lines_cut(saved, terminal, text):
    """A terminal gets colours, and no line is wider than it."""
    assert show(saved, "text", terminal) == 0
    assert "\x1b[32m[x]\x1b[0m 1 Sow the [beans]" in text(terminal)
    assert "\x1b[31m" not in text(terminal)

"""Showing the guides: a list of them, one in a terminal, one for programs."""

import re

import pytest
from support.docs import GUIDES

from todoplan.cli.documents import READING_ORDER, guide, page_names


def test_every_page_stands_in_the_order_once():
    """A page that is added is listed, and none is listed that is not there."""
    assert sorted(page_names()) == sorted(path.stem for path in GUIDES.glob("*.md"))


def test_without_a_name_the_pages_are_listed(invoke):
    """A line for each, with its heading, below what somebody came for."""
    result = invoke("guide")
    assert result.exit_code == 0
    for name in page_names():
        heading = (GUIDES / f"{name}.md").read_text("utf-8").splitlines()[0].removeprefix("# ")
        assert re.search(rf"^  {name} +{re.escape(heading)}$", result.stdout, re.MULTILINE)
    for group in READING_ORDER:
        assert f"{group}\n" in result.stdout
    assert all(len(line) < 80 for line in result.stdout.splitlines())


@pytest.mark.parametrize("name", page_names())
def test_what_is_piped_is_the_page_to_the_letter(invoke, name):
    """Coding agents read Markdown."""
    result = invoke("guide", name)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (GUIDES / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize("name", page_names())
def test_a_terminal_shows_every_page_rendered(terminal, text, name):
    """Fences, marks and heads are drawn, not printed, and no line is wider than the terminal."""
    guide(terminal, name)
    shown = re.sub(r"\x1b\[[\d;]*m", "", text(terminal))
    assert "```" not in shown
    assert "<!--" not in shown
    assert all(len(line) <= 70 for line in shown.splitlines())


@pytest.mark.parametrize("given", ["Rules", "rules.md"])
def test_a_file_s_name_will_do(invoke, given):
    """Whoever has seen the folder or a link writes it so."""
    assert invoke("guide", given).stdout == invoke("guide", "rules").stdout


@pytest.mark.parametrize(
    ("given", "told"), [("recipe", "did you mean recipes? the guides are"), ("zzz", "")]
)
def test_an_unknown_name_is_told_the_nearest_and_all(invoke, given, told):
    """It is exit code 2, and the next command can be written from the answer."""
    result = invoke("guide", given)
    assert (result.exit_code, result.stdout) == (2, "")
    said = " ".join(result.stderr.split())
    assert f"no guide is called '{given}'" in said
    assert told in said
    assert ("did you mean" in said) is bool(told)
    assert all(name in said for name in page_names())

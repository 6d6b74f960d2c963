"""The scripts of reports and of the page for MCP hosts: the board's modules in one piece."""

import re

import pytest

from todoplan.board.bundle import app_page, report_scripts, report_style

PAGE = app_page("todoplan://plan/garden", "1.0")
SCRIPTS = {
    "report": report_scripts(),
    "app": re.findall(r"<script>(.*?)</script>", PAGE, re.DOTALL),
}
STYLES = {
    "report": report_style(),
    "app": "".join(re.findall(r"<style>(.*?)</style>", PAGE, re.DOTALL)),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_can_end_its_element(name):
    """Inside of a page a script would end at the first such text, and so would a style."""
    assert len(SCRIPTS[name]) == 2
    for text in (*SCRIPTS[name], STYLES[name]):
        assert "</" not in re.sub(r"</?(?!script|style)", "", text, flags=re.IGNORECASE)
        assert "<!--" not in text


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_modules_are_joined(name):
    """No line of import or export is left, and no name is there twice."""
    text = SCRIPTS[name][1]
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)
    named = re.findall(r"^(?:const|let|function|class) (\w+)", text, re.MULTILINE)
    assert len(named) == len(set(named)) > 20

"""The scripts of a report: the board's modules in one piece."""

import re

from todoplan.board.bundle import report_scripts, report_style


def test_no_script_can_end_its_element():
    """Inside of a page a script would end at the first such text, and so would a style."""
    for text in (*report_scripts(), report_style()):
        assert "</" not in re.sub(r"</?(?!script|style)", "", text, flags=re.IGNORECASE)
        assert "<!--" not in text


def test_the_modules_are_joined():
    """No line of import or export is left, and no name is there twice."""
    text = report_scripts()[1]
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)
    named = re.findall(r"^(?:const|let|function|class) (\w+)", text, re.MULTILINE)
    assert len(named) == len(set(named)) > 20

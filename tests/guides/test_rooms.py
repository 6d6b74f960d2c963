"""The page about the architecture knows every room and every law."""

import re

from support.architecture import ROOT
from support.docs import page

TEXT = page("architecture")
ROOMS = TEXT.partition("| rooms, from the top |")[2].partition("##")[0]
ROWS = re.findall(r"^\| (`.+?) \|", ROOMS, re.MULTILINE)
SHOWN = {name for row in ROWS for name in row.split("`")[1::2]}
LAWS = [int(number) for number in re.findall(r"^(\d+)\. ", TEXT, re.MULTILINE)]


def folders(*parents):
    """Return the packages in some rooms, as the page names them."""
    found = [init.parent for parent in parents for init in (ROOT / parent).glob("*/__init__.py")]
    return {str(folder.relative_to(ROOT)) for folder in found}


def test_every_room_is_in_the_table():
    """Those side by side at the top, and those within the layers that are read in order."""
    rooms = folders("core", "dialogue", "planner") | folders(".") - {"core", "dialogue"}
    assert rooms - SHOWN == set()


def test_every_row_is_a_room():
    """What was renamed or went is not shown."""
    assert SHOWN
    for name in SHOWN:
        assert (ROOT / name).is_dir() or (ROOT / f"{name}.py").is_file(), name


def test_every_law_that_the_code_names_is_in_the_list():
    """They are numbered from 1 on without a gap."""
    assert list(range(1, len(LAWS) + 1)) == LAWS
    named = set()
    for folder in (ROOT, ROOT.parent / "tests"):
        for path in folder.rglob("*.py"):
            named |= set(map(int, re.findall(r"\blaws? (\d+)\b", path.read_text("utf-8"))))
    assert max(named) <= len(LAWS)
    assert {18, 19, 20} <= named

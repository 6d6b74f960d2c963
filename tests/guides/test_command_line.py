"""The guide to the command line: its session is run as it is shown."""

import re
import shlex

from support.docs import PAGES, fenced, page
from typer.testing import CliRunner

from todoplan.cli.app import COMMANDS, make_app

ON_PLANS = COMMANDS["See the plan"].keys() - {"show"} | COMMANDS["Change the plan"].keys()


def test_the_session_is_real(tmp_path, monkeypatch):
    """Each line that is typed prints what stands below it."""
    monkeypatch.chdir(tmp_path)
    shown = fenced("command-line", "output: session", "text")
    for typed in shown.removeprefix("$ ").split("\n$ "):
        line, _, output = typed.partition("\n")
        name, *arguments = shlex.split(line)
        if name == "export":
            for assignment in arguments:
                monkeypatch.setenv(*assignment.split("=", 1))
            continue
        assert CliRunner().invoke(make_app(), arguments).stdout.strip("\n") == output.strip("\n"), (
            line
        )


def test_every_command_on_a_plan_has_its_row():
    """What the guide does not name is not found."""
    rows = "".join(re.findall(r"^\| `.*$", page("command-line"), re.MULTILINE))
    assert {name for name in ON_PLANS if not re.search(rf"`{name}\b", rows)} == set()


def test_every_command_is_named_in_a_page():
    """A guide or the README shows it. Only plugins call `hook`."""
    text = "".join(map(page, PAGES))
    names = {name for group in COMMANDS.values() for name in group} - {"hook"}
    assert {name for name in names if not re.search(rf"(?:todoplan |`){name}\b", text)} == set()
